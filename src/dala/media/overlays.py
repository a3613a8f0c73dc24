"""A logo on a picture: in a corner, in a size that follows the picture's, as transparent as one likes.

Unlike ``blend``, which lays one picture over all of another, ``overlay`` keeps the proportions of what it
puts on top. The smaller picture is made with premultiplied alpha, so that its rim has no dark seam.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import cast

from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.pipelines import Pipeline
from dala.kernels.blend import composite
from dala.kernels.geometry import ANCHORS, any_size
from dala.language import vocabulary
from dala.language.kernel import make_kernel
from dala.language.parameter import ParamValue, param, static
from dala.language.values import Image, Scalar, Value, Vec
from dala.language.vocabulary import floor, luma, max, min, mix, s32, where, x, y
from dala.media.stages import SWAP


def overlay(
    base: Image,
    top: Image,
    at: str = static("bottom-right", choices=tuple(ANCHORS), help="Which corner or side."),
    scale: float = static(
        0.2, min=0.001, max=1, help="Its width, as a part of the picture's width."
    ),
    opacity: float = param(1.0, min=0, max=1, help="0 is invisible."),
    margin: float = param(
        0.03, min=0, max=0.5, help="Room to the border, as a part of the picture's shorter side."
    ),
) -> Value:
    """A logo or watermark in a corner of the picture, in proportion to it.

    >>> photo = np.full((10, 20, 3), 100, np.uint8)
    >>> marked = media.overlay(photo, np.full((2, 4), 200, np.uint8), "top-left", 0.1, margin=0)
    >>> marked[0, :3, 0].tolist()
    [200, 200, 100]
    """
    across, down = ANCHORS[at]
    room = s32(floor(min(vocabulary.width, vocabulary.height) * margin))
    column = x - _begin(vocabulary.width, top.width, across, room)
    row = y - _begin(vocabulary.height, top.height, down, room)
    inside = (column >= 0) & (column < top.width) & (row >= 0) & (row < top.height)
    above = top.at(column, row)  # premultiplied
    color = above.rgb / max(above.a, 1e-6)
    assert isinstance(color, Vec)
    covered = where(inside, above.a * opacity, 0.0)
    if base.channels == 1:
        return mix(base[0, 0].r, luma(color), covered)
    return composite(base[0, 0], color, covered)


def _begin(room: Scalar, size: Scalar, halves: int, margin: Value) -> Value:
    """Where the smaller picture begins along one axis."""
    return (((room - size) * halves) >> 1) + margin * (1 - halves)


def premultiply(src: Image) -> Vec:
    """Colours times alpha: pixels that mix in proportion to how much is seen of them."""
    p = src[0, 0]
    color = p.rgb * p.a
    assert isinstance(color, Vec)
    return color.with_alpha(p.a)


OVERLAY = make_kernel(overlay, inputs=2, domain="image", shape_rule=any_size, alpha="kept")
PREMULTIPLY = make_kernel(premultiply, domain="image")


def fit_overlay(
    pipeline: Pipeline,
    image: Buffer,
    values: Mapping[str, ParamValue],
    width: int,
    *,
    swap: bool,
) -> Scratch:
    """The image that is put on a picture of that width: scaled, RGBA, premultiplied."""
    rows, columns = image.shape[:2]
    wide = builtins.max(1, round(width * cast("float", values["scale"])))
    high = builtins.max(1, round(rows * wide / columns))
    source: Buffer | Scratch = image
    if swap and image.type.channels == 4:
        source = Scratch(image.type)
        pipeline.add({"kernel": SWAP, "inputs": [image], "output": source})
    whole = Scratch(array_type((rows, columns, 4), "f32"))
    pipeline.add({"kernel": PREMULTIPLY, "inputs": [source], "output": whole})
    small = Scratch(array_type((high, wide, 4), "f32"))
    params = {"interpolation": "area"}
    pipeline.add({"kernel": "resize", "inputs": [whole], "output": small, "params": params})
    return small
