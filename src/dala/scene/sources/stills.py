"""Pictures without a film: one for all times, numbered files, arrays."""

from __future__ import annotations

from collections import OrderedDict
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dala import locks
from dala.errors import ShapeError, VideoError
from dala.media.packing import add_alpha
from dala.scene.layers import Rgba
from dala.scene.sources.contents import bytes_of, content_of
from dala.scene.sources.source import Content, Supply, new_key
from dala.video.color import color_of
from dala.video.pictures import turn_of
from dala.video.places import Place
from dala.video.rgba import as_rgba
from dala.video.source import Source as Container
from dala.video.source import first_picture

KEPT = 8  # pictures of a sequence


class ImageSource:
    """One picture: a path, an array, a PIL image, a buffer, a surface.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from dala.scene.sources import ImageSource
    >>> image = ImageSource(np.zeros((4, 6, 3), np.uint8))
    >>> image.size, image.duration, image.frame_at(Fraction(0)).opaque
    ((6, 4), None, True)
    """

    def __init__(self, picture: object) -> None:
        pixels = as_rgba(picture, who="scene").copy()
        opaque = bool((pixels[..., 3] == 255).all())
        self._content = Rgba(pixels, opaque, (new_key(), 0))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self._content.width, self._content.height

    @property
    def duration(self) -> None:
        """It is there for ever."""
        return

    def frame_at(self, time: Fraction) -> Rgba:
        """The picture."""
        return self._content

    def close(self) -> None:
        """Nothing is open."""


class ArraySource:
    """Pictures in an array of (N, H, W, 1, 3 or 4) or (N, H, W) u8, so many a second.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from dala.scene.sources import ArraySource
    >>> levels = np.repeat(np.arange(3, dtype=np.uint8), 4).reshape(3, 2, 2)
    >>> film = ArraySource(levels, fps=Fraction(10))
    >>> [int(film.frame_at(Fraction(n, 20)).pixels[0, 0, 0]) for n in range(6)]
    [0, 0, 1, 1, 2, 2]
    """

    def __init__(self, frames: npt.NDArray[np.uint8], fps: Fraction = Fraction(25)) -> None:
        shape = frames.shape
        fits = len(shape) in (3, 4) and shape[0] and (len(shape) == 3 or shape[3] in (1, 3, 4))
        if not fits or frames.dtype != np.uint8:
            raise ShapeError(
                f"expected pictures of (N, H, W, 3 or 4) u8, got {shape} {frames.dtype}"
            )
        self._frames = frames
        self._fps = fps
        self._key = new_key()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return int(self._frames.shape[2]), int(self._frames.shape[1])

    @property
    def duration(self) -> Fraction:
        """So many pictures at so many a second."""
        return len(self._frames) / self._fps

    def frame_at(self, time: Fraction) -> Rgba:
        """The picture shown then."""
        number = min(max(int(time * self._fps // 1), 0), len(self._frames) - 1)
        frame = self._frames[number]
        if frame.ndim == 2 or frame.shape[2] == 1:
            frame = np.repeat(frame.reshape(*frame.shape[:2], 1), 3, axis=2)
        if frame.shape[2] == 3:
            return Rgba(add_alpha(frame), True, (self._key, number))
        pixels = np.ascontiguousarray(frame)
        return Rgba(pixels, bool((pixels[..., 3] == 255).all()), (self._key, number))

    def close(self) -> None:
        """Nothing is open."""


class PicturesSource:
    """Numbered pictures, each in a file of its own, at a steady rate; any of them at once."""

    def __init__(self, place: Place, supply: Supply | None = None) -> None:
        self._place = place
        self._supply = supply or Supply()
        self._key = new_key()
        self._lock = locks.lock()
        self._kept: OrderedDict[int, Content] = OrderedDict()
        self._closed = False
        first = self.frame_at(Fraction(0))
        self._size = first.width, first.height

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the first one."""
        return self._size

    @property
    def duration(self) -> Fraction:
        """So many pictures at so many a second."""
        return len(self._place.files) / self._place.fps

    def frame_at(self, time: Fraction) -> Content:
        """The picture shown then."""
        number = min(max(int(time * self._place.fps // 1), 0), len(self._place.files) - 1)
        with self._lock:
            if self._closed:
                raise VideoError(f"{self._place.name}: this source has been closed")
            found = self._kept.get(number)
            if found is None:
                found = self._load(number)
                self._supply.take(bytes_of(found), anyway=True)
                self._kept[number] = found
                if len(self._kept) > KEPT:
                    self._supply.give_back(bytes_of(self._kept.popitem(last=False)[1]))
            self._kept.move_to_end(number)
            return found

    def close(self) -> None:
        """Give the memory back. Twice does nothing."""
        with self._lock:
            self._closed = True
            for content in self._kept.values():
                self._supply.give_back(bytes_of(content))
            self._kept.clear()

    def _load(self, number: int) -> Content:
        path = self._place.files[number]
        one = Container(Place("file", path, f"file:{path}"), timeout=1)
        try:
            picture = first_picture(one)
            version = (self._key, number)
            return content_of(picture, color_of(picture), turn_of(picture), version)
        finally:
            one.close()
