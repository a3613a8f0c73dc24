"""Contents that are pictures after all: a group is painted, a transition mixed, effects are applied."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

import numpy as np

from dala.scene.effects import filtered
from dala.scene.layers import (
    Bytes,
    Composition,
    Content,
    Group,
    Layer,
    Mixed,
    Planes,
    Rgba,
    Solid,
    key_of_effects,
)  # fmt: skip
from dala.scene.transitions import mixed

Paint: TypeAlias = Callable[[Composition], Bytes]
Plain: TypeAlias = Rgba | Planes | Solid


def resolve(layer: Layer, paint: Paint, device: str | None = None) -> Plain:
    """What of the layer can be sampled; ``paint`` paints what has to be painted for that. Effects run on
    the device of that name; without one, on the default device."""
    content = _plain(layer.content, paint, device)
    if not layer.effects:
        return content
    key = layer.content.key, key_of_effects(layer.effects)
    picture = as_picture(content, paint, device)
    return as_version(filtered(picture, layer.effects, layer.upcoming, device), key)


def as_picture(content: Content, paint: Paint, device: str | None = None) -> Bytes:
    """The content's own pixels, (H, W, 4)."""
    if isinstance(content, Rgba):
        return content.pixels
    if isinstance(content, Solid):
        return np.full((content.height, content.width, 4), content.color, np.uint8)
    if isinstance(content, Group):
        return paint(Composition(content.width, content.height, (0, 0, 0, 0), content.layers))
    if isinstance(content, Mixed):
        a, b = (as_picture(part, paint, device) for part in (content.a, content.b))
        return mixed(a, b, content.transition, content.progress, content.params, device)
    return paint(Composition(content.width, content.height, (0, 0, 0, 255), (Layer(content),)))


def _plain(content: Content, paint: Paint, device: str | None) -> Plain:
    if isinstance(content, Rgba | Planes | Solid):
        return content
    return as_version(as_picture(content, paint, device), content.key)


def as_version(pixels: Bytes, made_of: Hashable) -> Rgba:
    """A picture that was made; what it was made of stands for it."""
    return Rgba(pixels, bool((pixels[..., 3] == 255).all()), ("made", made_of))
