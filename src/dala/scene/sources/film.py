"""A video's file: the frame at any time, exactly, decoded ahead on a thread."""

from __future__ import annotations

import weakref
from fractions import Fraction

from dala import locks
from dala.errors import VideoError
from dala.scene.sources.ahead import Ahead
from dala.scene.sources.decoding import Decoding
from dala.scene.sources.source import Content, Supply, new_key
from dala.video.places import Place
from dala.video.source import OnDamage


class FilmSource:
    """Frames of a file. Asked in any order it gives the same frames, byte for byte.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from dala import video
    >>> from dala.scene.sources import open_media
    >>> with video.Writer("clip.mp4", fps=25) as writer:
    ...     for level in range(0, 250, 10):
    ...         writer.write(np.full((48, 64, 3), level, np.uint8))
    >>> film = open_media("clip.mp4")
    >>> film.size, film.duration, film.frame_at(Fraction(1, 2)).version[1]
    ((64, 48), Fraction(1, 1), Fraction(12, 25))
    >>> film.close()
    """

    def __init__(
        self, place: Place, supply: Supply | None = None, *, on_damage: OnDamage = "error"
    ) -> None:
        self.name = place.name
        self._place = place
        self._supply = supply or Supply()
        self._on_damage: OnDamage = on_damage
        self._key = new_key()
        self._lock = locks.lock()
        self._ahead: Ahead | None = None
        self._end: weakref.finalize | None = None  # type: ignore[type-arg]
        self._closed = False
        self._last: Content | None = None
        self._told = ""
        first = Decoding(place, self._key, on_damage)
        self._size = first.size
        self._duration = first.duration
        self.rate = first.rate
        self.zero = first.zero  # the first frame on the file's own clock
        self._opened: list[Decoding] = [first]  # the first run takes it over

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""
        return self._size

    @property
    def duration(self) -> Fraction | None:
        """Seconds, as the file's head says them."""
        return self._duration

    def frame_at(self, time: Fraction) -> Content:
        """The frame shown at that time after the first one."""
        self._supply.touch(self)
        with self._lock:
            if self._closed:
                raise VideoError(f"{self.name}: this source has been closed")
            if self._ahead is None:
                self._begin()
            assert self._ahead is not None
            try:
                self._last = self._ahead.frame_at(max(time, Fraction(0)))
            except VideoError as error:
                if not self._supply.forgiving or self._last is None:
                    raise
                if str(error) != self._told:
                    self._told = str(error)
                    self._supply.report(self.name, self._told)
            return self._last

    def park(self) -> None:
        """Close the file until a frame is asked for."""
        with self._lock:
            self._stop()

    def close(self) -> None:
        """End the thread, close the file. Twice does nothing."""
        self._supply.forget(self)
        with self._lock:
            self._closed = True
            self._stop()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def _begin(self) -> None:
        opened, place, key, damage = self._opened, self._place, self._key, self._on_damage

        def open_() -> Decoding:
            return opened.pop() if opened else Decoding(place, key, damage)

        self._ahead = Ahead(open_, self._supply)
        self._end = weakref.finalize(self, Ahead.stop, self._ahead, wait=False)
        self._end.atexit = False

    def _stop(self) -> None:
        ahead, self._ahead = self._ahead, None
        if self._end is not None:
            self._end.detach()
        if ahead is not None:
            ahead.stop()
        while self._opened:
            self._opened.pop().close()

    def __repr__(self) -> str:
        return f"<film {self.name}, {self._size[0]} × {self._size[1]}>"
