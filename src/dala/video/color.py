"""Which colours the numbers of a frame mean: matrix, range, primaries, transfer.

What a stream says is honoured. Where it says nothing, pictures of 720 rows or 1280 columns and more
are taken for bt709, smaller ones for bt601, and the range is taken for limited: so do most players.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from dala.errors import ParameterError, VideoError
from dala.kernels.yuv import WEIGHTS

Matrix = Literal["bt601", "bt709", "bt2020"]
Range = Literal["limited", "full"]
UNSPECIFIED = 2  # FFmpeg's number, for matrix, primaries and transfer alike
# FFmpeg's numbers (those of ITU-T H.273); fcc's weights differ from bt601's in the third place
_MATRICES: dict[int, Matrix] = {
    1: "bt709", 4: "bt601", 5: "bt601", 6: "bt601", 9: "bt2020", 10: "bt2020",
}  # fmt: skip
_MATRIX_NUMBER = {"bt709": 1, "bt601": 6, "bt2020": 9}
_PRIMARIES = {"bt709": 1, "bt601": 6, "bt2020": 9}
_TRANSFER = {"bt709": 1, "bt601": 6, "bt2020": 14}
_RANGES: dict[int, Range] = {1: "limited", 2: "full"}
_RGB = 0


@dataclass(frozen=True)
class Color:
    """How a frame's numbers are meant. Primaries and transfer are FFmpeg's numbers; 2: not said."""

    matrix: Matrix
    range: Range = "limited"
    primaries: int = UNSPECIFIED
    transfer: int = UNSPECIFIED
    matrix_number: int = UNSPECIFIED  # as the stream had it: bt601 has several

    @property
    def kernel_params(self) -> dict[str, object]:
        """For the kernels that convert frames."""
        return {"matrix": self.matrix, "range": self.range}

    def tag(self, target: Any) -> None:
        """Write it into a codec context or a frame."""
        known = _MATRICES.get(self.matrix_number) == self.matrix
        target.colorspace = self.matrix_number if known else _MATRIX_NUMBER[self.matrix]
        target.color_range = 2 if self.range == "full" else 1
        target.color_primaries = self.primaries
        target.color_trc = self.transfer


def usual_matrix(width: int, height: int) -> Matrix:
    """The matrix of a picture that does not say."""
    return "bt709" if height >= 720 or width >= 1280 else "bt601"


def usual_color(width: int, height: int) -> Color:
    """For pictures that come as RGB: by size, with all four tags."""
    matrix = usual_matrix(width, height)
    return Color(matrix, "limited", _PRIMARIES[matrix], _TRANSFER[matrix])


def color_of(tagged: Any, *, matrix: Matrix | None = None, range: Range | None = None) -> Color:
    """What a frame or a codec context says; ``matrix`` and ``range`` overrule it.

    For RGB it is what the picture will be written with.
    """
    width, height = tagged.width, tagged.height
    number = int(tagged.colorspace)
    if matrix is None and number not in (UNSPECIFIED, _RGB) and number not in _MATRICES:
        raise VideoError(
            f"the colour matrix has FFmpeg's number {number}; expected one of {', '.join(WEIGHTS)}; "
            "say matrix='bt709' to take it for that"
        )
    if tagged.format is not None and (tagged.format.is_rgb or tagged.format.has_palette):
        return with_choice(usual_color(width, height), matrix, range)
    full = tagged.format is not None and tagged.format.name.startswith("yuvj")
    return Color(
        matrix or _MATRICES.get(number) or usual_matrix(width, height),
        range or _RANGES.get(int(tagged.color_range)) or ("full" if full else "limited"),
        int(tagged.color_primaries),
        int(tagged.color_trc),
        number,
    )


def check_color(matrix: object, range: object) -> None:
    """Refuse names that mean nothing."""
    if matrix is not None and matrix not in WEIGHTS:
        raise ParameterError(f"matrix is one of {', '.join(WEIGHTS)}, got {matrix!r}")
    if range is not None and range not in ("limited", "full"):
        raise ParameterError(f"range is 'limited' or 'full', got {range!r}")


def with_choice(color: Color, matrix: Matrix | None, range: Range | None) -> Color:
    """The colour with another matrix or range, where given."""
    if matrix is not None and matrix != color.matrix:
        color = replace(
            color,
            matrix=matrix,
            matrix_number=UNSPECIFIED,
            primaries=_PRIMARIES[matrix],
            transfer=_TRANSFER[matrix],
        )
    return replace(color, range=range) if range is not None else color
