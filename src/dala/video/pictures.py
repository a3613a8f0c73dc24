"""FFmpeg's pictures as arrays, upright, and arrays as FFmpeg's pictures.

A frame in YUV is one array of (H · 3/2, W) with even H and W, as the kernels have it: all of Y,
then U, then V at half the size; u8, or u16 whose low bits are used for more than 8. Odd
pictures repeat their last row or column.
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

Array = npt.NDArray[Any]  # u8, or u16 for more than 8 bits
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
    bits: int = 8

    def borrow(self, type_: ArrayType) -> BorrowedFrame | None:
        """Its planes where they lie, if an array of ``frame_shape`` would hold them just like that.

        A flipped picture (negative line sizes) is none of those.
        """
        picture = self.picture
        straight = self.turn == Turn() and picture.format.name in self._as_they_are
        if not straight or type_.shape != (picture.height * 3 // 2, picture.width):
            return None
        rows = [Rows(plane.buffer_ptr, plane.line_size) for plane in picture.planes]
        return borrow_frame(type_, FORMATS["yuv420p"], rows, owner=picture)

    def fill(self, out: Array) -> None:
        """The upright picture into an array of ``frame_shape``."""
        if out.ndim == 3:
            np.copyto(out, self.turn.apply(_rgba(self.picture, self.color, out.dtype)))
        else:
            _fill_planar(self._planar(), self.turn, out)

    @property
    def _as_they_are(self) -> tuple[str, ...]:
        """The formats whose planes are those of a frame."""
        return ("yuv420p", "yuvj420p") if self.bits == 8 else (planar_format(self.bits),)

    def _planar(self) -> Any:
        """Less chroma, and fewer bits where the pass has fewer; 4:2:0 stays as it is."""
        name = self.picture.format.name
        if name in self._as_they_are or (name == "nv12" and self.bits == 8):
            return self.picture
        return converted(self.picture, planar_format(self.bits), self.color)


def planar_format(bits: int) -> str:
    """FFmpeg's name of 4:2:0 in planes, with so many bits."""
    return "yuv420p" if bits == 8 else f"yuv420p{bits}le"


def _rgba(picture: Any, color: Color, dtype: Any) -> Array:
    rgba = converted(picture, "rgba" if dtype == np.uint8 else "rgba64le", color)
    return view(rgba.planes[0], rgba.width, 4, dtype)


def view(plane: Any, columns: int, channels: int = 1, dtype: Any = np.uint8) -> Array:
    """The used part of a plane. Bottom-up pictures have negative line sizes."""
    line = abs(plane.line_size) // np.dtype(dtype).itemsize
    rows: Array = np.frombuffer(plane, dtype)[: line * plane.height].reshape(plane.height, line)
    used = rows[:, : columns * channels]
    if plane.line_size < 0:
        used = used[::-1]
    return used if channels == 1 else used.reshape(plane.height, columns, channels)


def planes_of(frame: Array) -> tuple[Array, Array, Array]:
    """Y, U and V of a frame in one array."""
    rows, columns = frame.shape[0] // 3 * 2, frame.shape[1]
    chroma = frame[rows:].reshape(2, rows // 2, columns // 2)
    return frame[:rows], chroma[0], chroma[1]


def _fill_planar(picture: Any, turn: Turn, out: Array) -> None:
    luma, blue, red = planes_of(out)
    planes = picture.planes
    half = -(-picture.width // 2)
    dtype = out.dtype
    stored = turn.apply(view(planes[0], picture.width, dtype=dtype))
    height, width = stored.shape
    np.copyto(luma[:height, :width], stored)
    if width < luma.shape[1]:
        luma[:, width] = luma[:, width - 1]
    if height < luma.shape[0]:
        luma[height] = luma[height - 1]
    if len(planes) == 2:  # nv12: U and V in turn
        both = view(planes[1], half, 2)
        np.copyto(blue, turn.apply(both[..., 0]))
        np.copyto(red, turn.apply(both[..., 1]))
    else:
        np.copyto(blue, turn.apply(view(planes[1], half, dtype=dtype)))
        np.copyto(red, turn.apply(view(planes[2], half, dtype=dtype)))


def picture_of(frame: Array, color: Color, bits: int = 8) -> Any:
    """FFmpeg's picture on the memory of a frame, which it keeps alive; nothing is copied.

    (``from_numpy_buffer`` takes one array, but loses two rows of heights that are no multiple of four.)
    """
    if frame.ndim == 3:
        return _rgba_picture(frame)
    av = load_av()
    planes = planes_of(frame)
    if int(av.__version__.split(".")[0]) >= 18:
        picture = av.VideoFrame.from_dlpack(planes, format=planar_format(bits))
    else:  # PyAV 17 shares no three planes
        picture = av.VideoFrame(frame.shape[1], planes[0].shape[0], planar_format(bits))
        for plane, stored in zip(planes, picture.planes, strict=True):
            np.copyto(view(stored, plane.shape[1], dtype=frame.dtype), plane)
    color.tag(picture)
    return picture


def _rgba_picture(frame: Array) -> Any:
    name = "rgba" if frame.dtype == np.uint8 else "rgba64le"
    picture = load_av().VideoFrame(frame.shape[1], frame.shape[0], name)
    np.copyto(view(picture.planes[0], frame.shape[1], 4, frame.dtype), frame)
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
