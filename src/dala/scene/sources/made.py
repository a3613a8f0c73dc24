"""Pictures that a program makes: by a function of the time, or pushed when it has one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dala import locks
from dala.scene.layers import Rgba
from dala.scene.sources.source import new_key
from dala.video.rgba import as_rgba


class CallSource:
    """A function of the time in seconds that gives a picture. It is asked once for the same time in a row.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from dala.scene.sources import CallSource
    >>> source = CallSource(lambda time: np.full((2, 2, 3), int(time * 10), np.uint8))
    >>> int(source.frame_at(Fraction(3, 2)).pixels[0, 0, 0])
    15
    """

    def __init__(
        self, function: Callable[[Fraction], object], duration: Fraction | None = None
    ) -> None:
        self._function = function
        self._duration = duration
        self._key = new_key()
        self._lock = locks.lock()
        self._last: tuple[Fraction, Rgba] | None = None
        first = self.frame_at(Fraction(0))
        self._size = first.width, first.height

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of its picture at 0."""
        return self._size

    @property
    def duration(self) -> Fraction | None:
        """As it was said."""
        return self._duration

    def frame_at(self, time: Fraction) -> Rgba:
        """What the function gives."""
        with self._lock:
            if self._last is None or self._last[0] != time:
                pixels = as_rgba(self._function(time), who="scene").copy()
                opaque = bool((pixels[..., 3] == 255).all())
                self._last = time, Rgba(pixels, opaque, (self._key, time))
            return self._last[1]

    def close(self) -> None:
        """Nothing is open."""


class Feed:
    """Pictures that a program pushes, from any thread; a scene shows the newest.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from dala.scene.sources import Feed
    >>> feed = Feed(64, 48)
    >>> feed.push(np.full((48, 64, 3), 200, np.uint8))
    >>> int(feed.frame_at(Fraction(0)).pixels[0, 0, 0]), feed.count
    (200, 1)
    """

    def __init__(self, width: int, height: int) -> None:
        import numpy as np

        self._key = new_key()
        self._content = Rgba(np.zeros((height, width, 4), np.uint8), False, (self._key, 0))
        self.count = 0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the newest."""
        content = self._content
        return content.width, content.height

    @property
    def duration(self) -> None:
        """It has no end."""
        return

    def push(self, picture: object) -> None:
        """The newest picture; it is copied."""
        pixels = as_rgba(picture, who="Feed.push").copy()
        opaque = bool((pixels[..., 3] == 255).all())
        self.count += 1
        self._content = Rgba(pixels, opaque, (self._key, self.count))

    def frame_at(self, time: Fraction) -> Rgba:
        """The newest, whatever the time."""
        return self._content

    def close(self) -> None:
        """Nothing is open."""
