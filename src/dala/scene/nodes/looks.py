"""Values of several parts: a border, a shadow, a gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Rgba: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True)
class Border:
    """A line around a node, outside of it.

    >>> from dala.scene import Border
    >>> Border(4, (255, 255, 255, 255)).width
    4
    """

    width: float
    color: Rgba = (255, 255, 255, 255)


@dataclass(frozen=True)
class Shadow:
    """What a node throws: a soft copy of its shape below it. None: a size that suits the node.

    >>> from dala.scene import Shadow
    >>> Shadow(offset=(0, 12), blur=24).blur
    24
    """

    color: Rgba = (0, 0, 0, 140)
    offset: tuple[float, float] | None = None
    blur: float | None = None


@dataclass(frozen=True)
class Box:
    """What lies behind a text.

    >>> from dala.scene import Box
    >>> Box((0, 0, 128, 255), padding=8).padding
    8
    """

    color: Rgba = (0, 0, 0, 160)
    padding: float | None = None
    radius: float | None = None


@dataclass(frozen=True)
class Outline:
    """A line around letters.

    >>> from dala.scene import Outline
    >>> Outline((0, 0, 0, 255), width=3).width
    3
    """

    color: Rgba = (0, 0, 0, 255)
    width: float | None = None


@dataclass(frozen=True)
class Gradient:
    """Colours across a node: along an angle (0 to the right, 90 down), or from its middle outwards.

    >>> from dala.scene import Gradient
    >>> Gradient(((255, 0, 0, 255), (0, 0, 255, 255)), angle=90).way
    'linear'
    """

    colors: tuple[Rgba, ...]
    angle: float = 0.0
    way: Literal["linear", "radial", "conic"] = "linear"
