"""A pool of textures: a fixed number of pictures that are handed out and come back."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dala.closing import Closing
from dala.errors import ArgumentError, ParameterError, PoolExhaustedError, SceneError
from dala.locks import Condition

LARGEST = 1 << 15
MOST_BYTES = 4 << 30


class PoolStats(NamedTuple):
    """How many textures there are.

    >>> from dala import scene
    >>> scene.TexturePool(8, 8, count=2).stats
    PoolStats(available=2, in_use=0, total=2)
    """

    available: int
    in_use: int
    total: int


class Texture:
    """One picture of a pool, ``pixels`` (H, W, 4) u8; ``with`` gives it back at the end.

    >>> from dala import scene
    >>> pool = scene.TexturePool(8, 8)
    >>> with pool.acquire() as texture:
    ...     texture.pixels[:] = 255
    >>> pool.stats.in_use
    0
    """

    __slots__ = ("_pool", "pixels")

    def __init__(self, pool: TexturePool, pixels: npt.NDArray[np.uint8]) -> None:
        self._pool = pool
        self.pixels = pixels

    def release(self) -> None:
        """Give it back."""
        self._pool.release(self)

    def __enter__(self) -> Texture:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


class TexturePool(Closing):
    """So many textures of one size, made when they are first needed.

    >>> from dala import scene
    >>> pool = scene.TexturePool(1920, 1080, count=2)
    >>> texture = pool.acquire()
    >>> pool.stats
    PoolStats(available=1, in_use=1, total=2)
    >>> pool.release(texture)
    """

    def __init__(self, width: int, height: int, count: int = 6) -> None:
        for name, value, most in (
            ("width", width, LARGEST),
            ("height", height, LARGEST),
            ("count", count, 1024),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ParameterError(f"TexturePool: {name} is 1 to {most}, got {value!r}")
        if width * height * 4 * count > MOST_BYTES:
            raise ParameterError(f"TexturePool: at most {MOST_BYTES} bytes in all; ask for fewer")
        self.width, self.height = width, height
        self._count = count
        self._free: list[npt.NDArray[np.uint8]] = []
        self._used: set[Texture] = set()
        self._changed = Condition()
        self._closed = False

    @property
    def stats(self) -> PoolStats:
        """How many are there, and how many are handed out."""
        with self._changed:
            return PoolStats(self._count - len(self._used), len(self._used), self._count)

    def acquire(self, timeout: float | None = 5) -> Texture:
        """A texture; waits so many seconds for one that comes back. Its old pixels are still in it."""
        if timeout is not None and (
            isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout < 0
        ):
            raise ParameterError(
                f"acquire: a timeout is seconds from 0 up or None, got {timeout!r}"
            )
        with self._changed:
            there_is = self._changed.wait_for(self._has_room, timeout)
            if not there_is:
                raise PoolExhaustedError(
                    f"all {self._count} textures are in use for {timeout:g} s; release some, or make "
                    "the pool larger"
                )
            if self._closed:
                raise SceneError("the texture pool is closed")
            pixels = (
                self._free.pop() if self._free else np.zeros((self.height, self.width, 4), np.uint8)
            )
            texture = Texture(self, pixels)
            self._used.add(texture)
            return texture

    def _has_room(self) -> bool:
        return self._closed or len(self._used) < self._count

    def release(self, texture: Texture) -> None:
        """Take a texture back."""
        if not isinstance(texture, Texture):
            raise ArgumentError(f"release: expected a texture of this pool, got {texture!r}")
        with self._changed:
            if texture not in self._used:
                raise SceneError(
                    "release: this texture is not handed out by this pool, or is back already"
                )
            self._used.remove(texture)
            if not self._closed:
                self._free.append(texture.pixels)
            self._changed.notify()

    def close(self) -> None:
        """Free its memory; who waits for a texture gets an error."""
        with self._changed:
            self._closed = True
            self._free.clear()
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed
