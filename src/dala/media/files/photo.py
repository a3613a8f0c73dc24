"""A picture of a file as its user has it: shown, saved, and taken by every function of ``dala.media``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dala.compute.notebook import as_preview
from dala.media.files.content import Content, Pixels
from dala.media.files.writing import save_photo
from dala.png import encode_png


@dataclass(frozen=True, slots=True, eq=False)
class Photo(Content):
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
        save_photo(self, path, quality=quality, strict=strict)

    def _repr_png_(self) -> bytes:
        """What a notebook shows: a small picture."""
        return encode_png(as_preview(self.pixels))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Pixels:
        return np.array(self.pixels, dtype, copy=copy)

    def __repr__(self) -> str:
        several = "pages" if self.format == "TIFF" else "frames"
        count = f"{len(self.frames)} {several}, " if len(self.frames) > 1 else ""
        depth = "floats" if self.bits == 32 else f"{self.bits} bits"
        kind = f", {self.format}" if self.format else ""
        return f"<dala photo {self.width} × {self.height}, {count}{self.channels}, {depth}{kind}>"
