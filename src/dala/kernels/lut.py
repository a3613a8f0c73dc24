"""Colours through a look-up table: between its nodes, four of them are mixed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.kernels.color import keep_alpha
from dala.kernels.declare import builtin
from dala.kernels.lutfile import read_lut
from dala.language.parameter import array_param
from dala.language.values import Image, Scalar, Value, Vec
from dala.language.vocabulary import clamp, floor, max, min, mix, rgb, s32, where

Array = npt.NDArray[Any]
_DOMAIN = " with domain"


def load_lut(given: Array | Path) -> tuple[Array, str]:
    """A table as a picture: a curve is one row, a cube a row per red, with green and blue along it.

    If it does not begin at 0 and end at 1, one more row says how colours get there: c · first + second.
    """
    lut = read_lut(given)
    kind = "curve" if lut.nodes.ndim == 2 else "cube"
    picture = lut.nodes.reshape(1 if kind == "curve" else len(lut.nodes), -1, 3)
    low, high = np.array(lut.low), np.array(lut.high)
    if low.any() or (high != 1).any():
        last = np.zeros((1, picture.shape[1], 3))
        last[0, 0], last[0, 1] = 1 / (high - low), -low / (high - low)
        picture, kind = np.concatenate([picture, last]), kind + _DOMAIN
    return picture, kind


_LUT = array_param(
    load=load_lut,
    help="An array (n, n, n, 3) indexed [red, green, blue], or (n, 3); a .cube or .png file.",
)


@builtin("image")
def lut(src: Image, lut: Image = _LUT) -> Vec:
    """Colours by a grading table (.cube), 1-D (linear) or 3-D (tetrahedral); alpha is kept.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> negative = np.linspace([1.0, 1, 1], [0.0, 0, 0], 2)
    >>> media.lut(photo, negative)[0, 0].tolist()
    [155, 155, 155]
    """
    p = src[0, 0]
    color: Value = p.rgb
    with_domain = lut.kind.endswith(_DOMAIN)
    is_curve = lut.kind.startswith("curve")
    rows = lut.height - 1 if with_domain else lut.height
    if with_domain:
        color = color * lut.at(0, rows).rgb + lut.at(1, rows).rgb
    nodes = lut.width if is_curve else rows
    place = clamp(color, 0.0, 1.0) * (nodes - 1)
    cell = min(floor(place), nodes - 2)
    look_up = _between_two if is_curve else _in_tetrahedron
    return keep_alpha(look_up(lut, nodes, _vec(s32(cell)), _vec(place - cell)), p)


def _between_two(lut: Image, nodes: Scalar, cell: Vec, part: Vec) -> Value:
    """Each channel along its own curve."""
    ends = [(lut.at(cell[k], 0)[k], lut.at(cell[k] + 1, 0)[k]) for k in range(3)]
    return rgb(*(mix(a, b, part[k]) for k, (a, b) in enumerate(ends)))


def _in_tetrahedron(lut: Image, nodes: Scalar, cell: Vec, part: Vec) -> Value:
    """From the nearest node below along the axes, the longest way first.

    Four nodes instead of the eight of a trilinear mix: half the reads, and greys stay on the cube's
    diagonal. On a border between two tetrahedra both give the same colour.
    """
    r, g, b = part
    red_first, green_first = (r >= g) & (r >= b), g >= b  # else blue
    blue_last, green_last = (b <= r) & (b <= g), g <= r  # else red
    row, column = cell[0], cell[1] * nodes + cell[2]
    first_column = column + where(red_first, 0, where(green_first, nodes, 1))
    second_column = column + where(blue_last, nodes, where(green_last, 1, nodes + 1))
    start = lut.at(column, row).rgb
    first = lut.at(first_column, row + where(red_first, 1, 0)).rgb
    second = lut.at(second_column, row + where(blue_last | green_last, 1, 0)).rgb
    third = lut.at(column + (nodes + 1), row + 1).rgb
    long, short = max(r, g, b), min(r, g, b)
    middle = max(min(r, g), min(max(r, g), b))
    return start + (first - start) * long + (second - first) * middle + (third - second) * short


def _vec(value: Value) -> Vec:
    assert isinstance(value, Vec)
    return value
