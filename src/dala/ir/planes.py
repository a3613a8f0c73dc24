"""Planes: the images that a video frame in one u8 array is made of.

A frame of H × W pixels (both even) is an array of (H · 3/2, W): the luma, then the chroma at half the
size, as FFmpeg and OpenCV have it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dala.ir.arrays import ArrayType


@dataclass(frozen=True, slots=True)
class Plane:
    """One image inside a frame."""

    name: str
    channels: int
    mip: int  # mip level; 0: the frame's own size; 1: half of it
    begin: int  # in quarters of the luma's size

    def type_in(self, frame: ArrayType) -> ArrayType:
        """Shape and element type of the plane in such a frame."""
        height, width = picture_size(frame)
        return ArrayType((height >> self.mip, width >> self.mip, self.channels), frame.dtype)

    def offset_in(self, frame: ArrayType) -> int:
        """Where the plane begins, in bytes."""
        height, width = picture_size(frame)
        return height * width * self.begin // 4 * frame.dtype.bytes


def picture_size(frame: ArrayType) -> tuple[int, int]:
    """Height and width of the picture in a frame."""
    return frame.shape[0] // 3 * 2, frame.shape[1]


FORMATS: dict[str, tuple[Plane, ...]] = {
    "yuv420p": (Plane("y", 1, 0, 0), Plane("u", 1, 1, 4), Plane("v", 1, 1, 5)),
    "nv12": (Plane("y", 1, 0, 0), Plane("uv", 2, 1, 4)),
}


def shrink(size: int, mip: int) -> int:
    """How many pixels of a mip level cover so many of the picture: rounded up."""
    return (size + (1 << mip) - 1) >> mip
