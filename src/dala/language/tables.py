"""Arrays given as parameters: a look-up table, a curve, a map of weights.

given (array, nested list, path)  →  the parameter's loader  →  Table  →  one more input of the kernel

What was loaded is remembered for a while, an array by its content and a file by its name, time and
size. The same content gives the same Table object, so a device finds its own copy again (Engine.hold),
and that copy goes when the Table does.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala import forking
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32

Array = npt.NDArray[Any]
Loader = Callable[["Array | Path"], "Array | tuple[Array, str]"]
REMEMBERED = 16  # tables
REMEMBERED_BYTES = 64 << 20  # of all of them; the newest stays however large it is


class NoTableError(Exception):
    """What was given is neither an array nor a path."""


class Table:
    """A loaded array: an f32 image of four channels that does not change any more.

    >>> Table(np.zeros((2, 8)), source="zeros")
    <dala table (2, 8, 4) of zeros>
    """

    __slots__ = ("__weakref__", "array", "kind", "load", "source", "type")

    def __init__(
        self, array: Array, kind: str = "", *, source: str = "", load: Loader | None = None
    ) -> None:
        self.array = _as_picture(array)
        self.array.flags.writeable = False
        self.kind = kind  # a word for the kernel, known while it is traced
        self.source = source
        self.load = load
        self.type = ArrayType(self.array.shape, F32)

    def __repr__(self) -> str:
        return f"<dala table {self.type.shape} of {self.source}>"


_recent: OrderedDict[Hashable, Table] = OrderedDict()
_lock = forking.lock()


def load_table(load: Loader | None, value: object) -> Table:
    """The Table of what was given; a loader's ValueError or OSError says why there is none."""
    if isinstance(value, Table) and value.load == load:
        return value
    given: Array | Path
    if isinstance(value, str | os.PathLike):
        if load is None:
            raise NoTableError
        given = Path(os.fsdecode(value))
        facts, source = os.stat(given), str(given)
        key: Hashable = (load, os.path.abspath(given), facts.st_mtime_ns, facts.st_size)
    else:
        given = _as_numbers(value.array if isinstance(value, Table) else value)
        source = f"{given.dtype} {given.shape}"
        key = (load, given.shape, given.dtype.str, _digest(given))
    with _lock:
        found = _recent.get(key)
        if found is not None:
            _recent.move_to_end(key)
            return found
    loaded = given if load is None else load(given)
    array, kind = loaded if isinstance(loaded, tuple) else (loaded, "")
    fresh = Table(np.asarray(array), kind, source=source, load=load)
    with _lock:
        found = _recent.setdefault(key, fresh)
        _drop_oldest()
    return found


def _drop_oldest() -> None:
    while len(_recent) > 1 and (len(_recent) > REMEMBERED or _bytes_held() > REMEMBERED_BYTES):
        _recent.popitem(last=False)


def _bytes_held() -> int:
    return sum(t.type.nbytes for t in _recent.values())


def _digest(array: Array) -> bytes:
    # By content, not by identity: an array that was changed in place is another table.
    return hashlib.blake2b(np.ascontiguousarray(array), digest_size=16).digest()  # type: ignore[arg-type,unused-ignore]


def _as_numbers(value: object) -> Array:
    try:
        array = np.asarray(value)
    except TypeError:
        raise NoTableError from None
    except ValueError as error:
        if type(error) is not ValueError:  # a dala error: a buffer that was freed
            raise
        raise ValueError("its rows have different lengths") from None
    if array.dtype.kind not in "fiu":
        raise NoTableError
    return array


def _as_picture(array: Array) -> Array:
    """The array as an image of four f32 channels of its own; levels of 8 or 16 bits become 0..1."""
    if array.dtype.kind != "f" and array.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"expected floats, uint8 or uint16, got {array.dtype}; convert it first")
    levels = array.reshape(1, -1) if array.ndim == 1 else array
    levels = levels[..., None] if levels.ndim == 2 else levels
    if array.size == 0 or levels.ndim != 3 or levels.shape[2] not in (1, 3, 4):
        raise ValueError(
            "expected (rows, columns, 4), (rows, columns, 3), (rows, columns) or (columns,), "
            f"got {array.shape}"
        )
    scale = np.float32(1 if array.dtype.kind == "f" else 1 / np.iinfo(array.dtype).max)
    picture = np.ones((*levels.shape[:2], 4), np.float32)
    with np.errstate(over="ignore"):
        picture[..., : max(3, levels.shape[2])] = levels.astype(np.float32) * scale
    return picture


TRIAL = Table(np.zeros((1, 1), np.float32), source="zeros")  # for a trace before there is a value
