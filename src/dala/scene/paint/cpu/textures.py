"""Pictures as layers read them: multiplied by their alpha, reduced. Kept by version while there is room."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable

import numpy as np

from dala import forking
from dala.backends.cpu.run import cores
from dala.backends.cpu.run.pool import pool, useful_helpers
from dala.scene.layers import Bytes, Planes, Rgba
from dala.scene.paint.cpu.code import code
from dala.scene.paint.cpu.layout import PAD
from dala.scene.paint.placing import Taps

BUDGET = 256 << 20  # bytes


class Textures:
    """The pictures that were made last, up to a number of bytes."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._used = 0
        self._made: OrderedDict[Hashable, Bytes] = OrderedDict()
        self._lock = forking.lock()

    def picture(self, content: Rgba, taps: Taps) -> tuple[Bytes, Taps]:
        """Of a picture what its layer reads, and where it is read there."""
        level = taps.level_x + taps.level_y
        if content.opaque and not level:
            return content.pixels, taps
        pixels = content.pixels
        if not content.opaque:
            pixels = self.get(
                ("times alpha", content.version), lambda: premultiplied(content.pixels)
            )
        if not level:
            return pixels, taps
        return self._reduced(("rgba", content.version), pixels, taps)

    def plane(self, content: Planes, name: str, values: Bytes, taps: Taps) -> tuple[Bytes, Taps]:
        """The same of a plane that is read in no order."""
        if not taps.level_x + taps.level_y:
            return values, taps
        return self._reduced((name, content.version), values, taps)

    def _reduced(self, key: Hashable, values: Bytes, taps: Taps) -> tuple[Bytes, Taps]:
        part = taps[:6]
        made = self.get((key, part), lambda: reduced(values, taps))
        return made, taps.of_reduced

    def get(self, key: Hashable, make: Callable[[], Bytes]) -> Bytes:
        """What was made for this key, or is made now. Two who ask at once may both make it."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = make()
        with self._lock:
            if key not in self._made:
                self._made[key] = made
                self._used += made.nbytes
            self._drop_oldest()
        return made

    def _drop_oldest(self) -> None:
        while self._used > self._budget and len(self._made) > 1:
            _, oldest = self._made.popitem(last=False)
            self._used -= oldest.nbytes


def premultiplied(pixels: Bytes) -> Bytes:
    """``reducing.premultiply``, compiled."""
    rows, columns = pixels.shape[:2]
    pixels = _with_rows(pixels)
    made = _room((rows, columns, 4))
    _run(
        code().premultiply_bands,
        pixels,
        Taps(0, 0, columns, rows, 0, 0, (0, 0, 0), (0, 0, 0)),
        made,
        0,
    )
    return made


def reduced(values: Bytes, taps: Taps) -> Bytes:
    """``reducing.reduce_plane`` of the part that is in use, compiled."""
    values = _with_rows(values)
    size = values.shape[2:]
    made = _room((taps.reduced_height, taps.reduced_width, *size))
    sums = (taps.reduced_width << taps.level_x) * (4 if size else 1) * 2 + 2 * PAD
    _run(code().reduce_bands, values, taps, made, sums)
    return made


def _with_rows(values: Bytes) -> Bytes:
    inner = (4, 1) if values.ndim == 3 else (1,)
    return values if values.strides[1:] == inner else np.ascontiguousarray(values)


def _room(shape: tuple[int, ...]) -> Bytes:
    """An array whose rows have room for a vector behind their end."""
    columns = shape[1] + (PAD if len(shape) == 2 else PAD // 4)
    return np.empty((shape[0], columns, *shape[2:]), np.uint8)[:, : shape[1]]


def _run(work: int, values: Bytes, taps: Taps, made: Bytes, sums: int) -> None:
    """Row by row, by as many threads as that is worth."""
    size = 4 if values.ndim == 3 else 1
    at = int(values.ctypes.data) + taps.top * values.strides[0] + taps.left * size
    plane = array(
        "q", [at, values.strides[0], taps.width, taps.height, taps.level_x, taps.level_y] + [0] * 6
    )
    block = array(
        "q",
        [0, made.shape[0], plane.buffer_info()[0], int(made.ctypes.data), made.strides[0], size],
    )
    helpers = useful_helpers(taps.width * taps.height * size * 0.2)
    room = np.empty(sums + PAD, np.uint8)
    pool().run(
        work, block.buffer_info()[0], int(room.ctypes.data), room.size,
        min(helpers, cores.thread_count() - 1),
    )  # fmt: skip
