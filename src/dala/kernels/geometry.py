"""Kernels whose output has another size or reads at computed positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dala.errors import ParameterError
from dala.ir.arrays import ArrayType
from dala.kernels.declare import builtin
from dala.language import vocabulary
from dala.language.parameter import ParamValue, static
from dala.language.values import Image, Scalar, Value, Vec
from dala.language.vocabulary import floor, x, y


def _resized(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...] | None:
    rows, columns = values["height"], values["width"]
    if (rows is None) != (columns is None):
        raise ParameterError("resize: give width and height together, or neither")
    if rows is None or columns is None:
        return None
    assert isinstance(rows, int) and isinstance(columns, int)
    return rows, columns


@builtin("image", shape_rule=_resized)
def resize(
    src: Image,
    width: int | None = static(None, min=1, max=65_536, help="Columns of the output."),
    height: int | None = static(None, min=1, max=65_536, help="Rows of the output."),
    interpolation: str = static(
        "bilinear", choices=("nearest", "bilinear", "bicubic"), help="How to mix pixels."
    ),
) -> Value:
    """The image scaled to the output's size; pixel centres keep their place."""
    u = (x + 0.5) * (src.width / vocabulary.width) - 0.5
    v = (y + 0.5) * (src.height / vocabulary.height) - 0.5
    if interpolation == "nearest":
        return src.at(floor(u + 0.5), floor(v + 0.5))
    if interpolation == "bilinear":
        return src.sample(u, v)
    return sample_bicubic(src, u, v)


def sample_bicubic(src: Image, u: Scalar, v: Scalar) -> Value:
    """Sixteen pixels mixed with Keys' cubic, a = -0.75 (as OpenCV does)."""
    left, top = floor(u), floor(v)
    across, down = cubic_weights(u - left), cubic_weights(v - top)
    total: Value | None = None
    for j in range(4):
        row: Value | None = None
        for i in range(4):
            tap = src.at(left + (i - 1), top + (j - 1)) * across[i]
            row = tap if row is None else row + tap
        assert row is not None
        total = row * down[j] if total is None else total + row * down[j]
    assert isinstance(total, Vec)
    return total


def cubic_weights(t: Scalar, a: float = -0.75) -> list[Value]:
    """The four weights of Keys' cubic at fraction ``t``."""
    before, after = t + 1.0, 1.0 - t
    first = ((a * before - 5.0 * a) * before + 8.0 * a) * before - 4.0 * a
    second = ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0
    third = ((a + 2.0) * after - (a + 3.0)) * after * after + 1.0
    return [first, second, third, 1.0 - first - second - third]
