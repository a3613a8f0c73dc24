"""What a picture file holds: pixels, turned upright, and what else the file says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

Pixels = npt.NDArray[Any]  # (H, W), (H, W, 3) or (H, W, 4); uint8, uint16 or float32


@dataclass(frozen=True, slots=True)
class Metadata:
    """What belongs to a picture besides its pixels. Nothing of it is interpreted; the orientation is gone,
    since the pixels are upright.
    """

    icc_profile: bytes | None = None
    exif: bytes | None = None
    xmp: bytes | None = None
    comment: bytes | None = None
    text: Mapping[str, str] = field(default_factory=dict)  # of a PNG
    dpi: tuple[float, float] | None = None
    iptc: bytes | None = None  # captions and keywords of agencies, as they are
    color_chunks: Mapping[bytes, bytes] = field(
        default_factory=dict
    )  # of a PNG: what it says of colours
    durations: tuple[float, ...] = ()  # of an animation's frames, in milliseconds
    loop: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """All that is read of a file, and written into one."""

    frames: tuple[Pixels, ...]  # one, or those of an animation
    metadata: Metadata = field(default_factory=Metadata)
    format: str = ""  # Pillow's name of the format that it was read from
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # of that format: subsampling, compression
    unread: tuple[
        str, ...
    ] = ()  # what of the file is not here, in words: inks, bits, further pictures
    grey: bool = False  # it was grey in the file, whatever it is made of now
    opaque: bool = False  # it is RGB in four channels, the last of them 255 everywhere

    @property
    def pixels(self) -> Pixels:
        """The picture, or the first one of an animation."""
        return self.frames[0]

    @property
    def width(self) -> int:
        """In pixels."""
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        """In pixels."""
        return int(self.pixels.shape[0])

    @property
    def bits(self) -> int:
        """Of one value: 8, 16, or 32 for floats."""
        return self.pixels.itemsize * 8

    @property
    def channels(self) -> str:
        """``grey``, ``rgb`` or ``rgba``."""
        count = 3 if self.opaque else self.pixels.shape[2] if self.pixels.ndim == 3 else 1
        return {1: "grey", 3: "rgb", 4: "rgba"}[count]
