"""FFmpeg's pictures as arrays, upright, and arrays as FFmpeg's pictures.

A frame in YUV is one u8 array of (H · 3/2, W) with even H and W, as the kernels have it: all of Y,
then U, then V at half the size. Odd pictures repeat their last row or column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dala.backends.borrowed import BorrowedFrame, Rows, borrow_frame
from dala.ir.arrays import ArrayType
from dala.ir.planes import FORMATS
from dala.video.color import Color
from dala.video.library import load_av
from dala.video.pixels import pixels_of

Array = npt.NDArray[np.uint8]
Kind = Literal["yuv420p", "rgba"]
_RANGES = {"full": "JPEG", "limited": "MPEG"}
_SWSCALE = {"bt601": "ITU601", "bt709": "ITU709", "bt2020": "BT2020"}  # its names of the matrices


@dataclass(frozen=True)
class Turn:
    """How a stored picture is brought upright: mirrored first, then quarters counter-clockwise."""

    quarters: int = 0
    mirrored: bool = False

    @property
    def degrees(self) -> int:
        """Counter-clockwise, in 0..270."""
        return 90 * self.quarters

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of the upright picture."""
        return (height, width) if self.quarters % 2 else (width, height)

    def apply(self, stored: Array) -> Array:
        """An upright view."""
        return np.rot90(stored[:, ::-1] if self.mirrored else stored, self.quarters)


def turn_of(picture: Any) -> Turn:
    """What a picture's display matrix asks for; turns by other than quarters are ignored."""
    matrix = picture.side_data.get(
        "DISPLAYMATRIX"
    )  # iterating gives keys from PyAV 19 on, values before
    if matrix is None:
        return Turn()
    a, b, _, c, d, *_ = np.frombuffer(matrix, np.int32).tolist()
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    angle = -math.degrees(math.atan2(b, a))
    quarters = round(angle / 90)
    return Turn(quarters % 4 if abs(angle - 90 * quarters) < 1 else 0, mirrored)


def even(size: int) -> int:
    """The size, or the next one."""
    return size + size % 2


def frame_shape(kind: Kind, width: int, height: int) -> tuple[int, ...]:
    """Of the array that holds a picture."""
    if kind == "rgba":
        return height, width, 4
    return even(height) * 3 // 2, even(width)


def kind_of(picture: Any) -> Kind:
    """How a picture goes to the device: what is opaque and in YUV as yuv420p, everything else as RGBA."""
    held = pixels_of(picture.format.name)
    return "rgba" if held.rgb or held.alpha else "yuv420p"


@dataclass(frozen=True)
class Decoded:
    """A picture of FFmpeg's on its way to a device."""

    picture: Any
    color: Color
    turn: Turn

    def borrow(self, type_: ArrayType) -> BorrowedFrame | None:
        """Its planes where they lie, if an array of ``frame_shape`` would hold them just like that.

        A flipped picture (negative line sizes) is none of those.
        """
        picture = self.picture
        straight = self.turn == Turn() and picture.format.name in ("yuv420p", "yuvj420p")
        if not straight or type_.shape != (picture.height * 3 // 2, picture.width):
            return None
        rows = [Rows(plane.buffer_ptr, plane.line_size) for plane in picture.planes]
        return borrow_frame(type_, FORMATS["yuv420p"], rows, owner=picture)

    def fill(self, out: Array) -> None:
        """The upright picture into an array of ``frame_shape``."""
        if out.ndim == 3:
            np.copyto(out, self.turn.apply(_rgba(self.picture, self.color)))
        else:
            _fill_planar(_as_yuv420p(self.picture, self.color), self.turn, out)


def _rgba(picture: Any, color: Color) -> Array:
    rgba = converted(picture, "rgba", color)
    return _view(rgba.planes[0], rgba.width, 4)


def _view(plane: Any, columns: int, channels: int = 1) -> Array:
    """The used part of a plane. Bottom-up pictures have negative line sizes."""
    line = abs(plane.line_size)
    rows: Array = np.frombuffer(plane, np.uint8)[: line * plane.height].reshape(plane.height, line)
    used = rows[:, : columns * channels]
    if plane.line_size < 0:
        used = used[::-1]
    return used if channels == 1 else used.reshape(plane.height, columns, channels)


def _as_yuv420p(picture: Any, color: Color) -> Any:
    """Fewer bits, less chroma: the same matrix and range. 4:2:0 of 8 bits stays as it is."""
    if picture.format.name in ("yuv420p", "yuvj420p", "nv12"):
        return picture
    return converted(picture, "yuv420p", color)


def planes_of(frame: Array) -> tuple[Array, Array, Array]:
    """Y, U and V of a frame in one array."""
    rows, columns = frame.shape[0] // 3 * 2, frame.shape[1]
    chroma = frame[rows:].reshape(2, rows // 2, columns // 2)
    return frame[:rows], chroma[0], chroma[1]


def _fill_planar(picture: Any, turn: Turn, out: Array) -> None:
    luma, blue, red = planes_of(out)
    planes = picture.planes
    half = -(-picture.width // 2)
    stored = turn.apply(_view(planes[0], picture.width))
    height, width = stored.shape
    np.copyto(luma[:height, :width], stored)
    if width < luma.shape[1]:
        luma[:, width] = luma[:, width - 1]
    if height < luma.shape[0]:
        luma[height] = luma[height - 1]
    if len(planes) == 2:  # nv12: U and V in turn
        both = _view(planes[1], half, 2)
        np.copyto(blue, turn.apply(both[..., 0]))
        np.copyto(red, turn.apply(both[..., 1]))
    else:
        np.copyto(blue, turn.apply(_view(planes[1], half)))
        np.copyto(red, turn.apply(_view(planes[2], half)))


def picture_of(frame: Array, color: Color) -> Any:
    """FFmpeg's picture on the memory of a frame, which it keeps alive; nothing is copied.

    (``from_numpy_buffer`` takes one array, but loses two rows of heights that are no multiple of four.)
    """
    if frame.ndim == 3:
        return _rgba_picture(frame)
    av = load_av()
    planes = planes_of(frame)
    if int(av.__version__.split(".")[0]) >= 18:
        picture = av.VideoFrame.from_dlpack(planes, format="yuv420p")
    else:  # PyAV 17 shares no three planes
        picture = av.VideoFrame(frame.shape[1], planes[0].shape[0], "yuv420p")
        for plane, stored in zip(planes, picture.planes, strict=True):
            np.copyto(_view(stored, plane.shape[1]), plane)
    color.tag(picture)
    return picture


def _rgba_picture(frame: Array) -> Any:
    picture = load_av().VideoFrame(frame.shape[1], frame.shape[0], "rgba")
    np.copyto(_view(picture.planes[0], frame.shape[1], 4), frame)
    return picture


def converted(picture: Any, format_: str, color: Color) -> Any:
    """A picture in another of FFmpeg's formats, its colours as ``color`` says."""
    enums = load_av().video.reformatter
    full, own = enums.ColorRange["JPEG"], enums.ColorRange[_RANGES[color.range]]
    matrix = enums.Colorspace[_SWSCALE[color.matrix]]
    to_rgb = pixels_of(format_).rgb
    made = picture.reformat(
        format=format_,
        src_colorspace=matrix,
        dst_colorspace=matrix,
        src_color_range=full if pixels_of(picture.format.name).rgb else own,
        dst_color_range=full if to_rgb else own,
        threads=1,
    )
    if not to_rgb:
        color.tag(made)
    return made
