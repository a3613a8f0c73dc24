"""A picture as it lies in a file: its pixels, turned upright, and what else the file says about it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.notebook import as_preview
from dala.png import encode_png

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
    durations: tuple[float, ...] = ()  # of an animation's frames, in milliseconds
    loop: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Photo:
    """A picture of a file. Every function of ``dala.media`` takes it and gives such a one back.

    >>> import tempfile, numpy as np
    >>> from dala import media
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     media.save(np.full((2, 3, 3), 40000, np.uint16), f"{folder}/deep.png")
    ...     photo = media.invert(media.open(f"{folder}/deep.png"))
    >>> photo
    <dala photo 3 × 2, rgb, 16 bits, PNG>
    >>> int(photo.pixels[0, 0, 0])
    25535
    """

    frames: tuple[Pixels, ...]  # one, or those of an animation
    metadata: Metadata = field(default_factory=Metadata)
    format: str = ""  # Pillow's name of the format that it was read from
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # of that format: subsampling, compression
    inks: bool = False  # it was CMYK, and its pixels are RGB now
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

    def with_frames(self, frames: Sequence[Pixels]) -> Photo:
        """The same file with other pixels."""
        return replace(self, frames=tuple(frames))

    def save(
        self, path: str | os.PathLike[str], *, quality: int = 92, strict: bool = False
    ) -> None:
        """Write it in the format of the path's ending; the same as ``media.save``.

        >>> import tempfile, numpy as np
        >>> from dala import media
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     media.save(np.full((2, 3, 3), 100, np.uint8), f"{folder}/photo.png")
        ...     media.blur(f"{folder}/photo.png", 3).save(f"{folder}/soft.png")
        ...     media.open(f"{folder}/soft.png")
        <dala photo 3 × 2, rgb, 8 bits, PNG>
        """
        from dala.media.files.writing import save_photo  # which imports this file

        save_photo(self, path, quality=quality, strict=strict)

    def _repr_png_(self) -> bytes:
        """What a notebook shows: a small picture."""
        return encode_png(as_preview(self.pixels))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Pixels:
        return np.array(self.pixels, dtype, copy=copy)

    def __repr__(self) -> str:
        count = f"{len(self.frames)} frames, " if len(self.frames) > 1 else ""
        depth = "floats" if self.bits == 32 else f"{self.bits} bits"
        kind = f", {self.format}" if self.format else ""
        return f"<dala photo {self.width} × {self.height}, {count}{self.channels}, {depth}{kind}>"
