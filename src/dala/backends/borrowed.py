"""A frame in somebody else's memory, read where it lies.

A decoder's planes have their own places and line sizes. Passes of host devices take an address and a stride
for every plane anyway, so such a frame need not be copied. It holds its owner, whoever still reads holds
it, and nobody writes it.

A pass reads rows in whole vectors, so the last one of a plane's last row may end past it. All that is known
of foreign memory is that the rows are there; but a page that has one byte of them can be read to its end.
A plane is not lent where such a vector would reach into the next page.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.backends.base import Storage
from dala.errors import VerificationError
from dala.ir.arrays import ArrayType
from dala.ir.planes import Plane
from dala.plan.fuse import PassArray

# bytes of a row that are read at once, at most; otherwise half of that, or a quarter, …
VECTOR = 64


class Rows(NamedTuple):
    """Where the first row of a plane begins, and how far it is from one row to the next, in bytes."""

    address: int
    stride: int


class BorrowedFrame(Storage):
    """The planes of a frame, each with its rows; ``owner`` is what keeps them in memory."""

    __slots__ = ("_owner", "_rows", "address", "type")

    def __init__(
        self, type_: ArrayType, planes: Sequence[Plane], rows: Sequence[Rows], owner: object
    ) -> None:
        self.type = type_
        self.address = None  # there are several
        self._rows = {p.offset_in(type_): r for p, r in zip(planes, rows, strict=True)}
        self._owner = owner

    def rows_at(self, offset: int) -> Rows:
        """The rows of the plane that would begin at ``offset`` if the frame were one array."""
        try:
            return self._rows[offset]
        except KeyError:
            raise VerificationError(f"a borrowed frame has no plane at byte {offset}") from None

    def plane(self, part: PassArray) -> npt.NDArray[Any]:
        """A plane as an array that cannot be written; it holds nothing."""
        address, stride = self.rows_at(part.offset)
        height, row_bytes = part.type.shape[0], _row_bytes(part.type)
        memory = (ctypes.c_uint8 * ((height - 1) * stride + row_bytes)).from_address(address)
        each = part.type.dtype.bytes
        strides = (stride, part.type.channels * each, each)[: len(part.type.shape)]
        plane: npt.NDArray[Any] = np.ndarray(
            part.type.shape, part.type.dtype.numpy, memoryview(memory), strides=strides
        )
        plane.flags.writeable = False
        return plane


def borrow_frame(
    type_: ArrayType, planes: Sequence[Plane], rows: Sequence[Rows], owner: object
) -> BorrowedFrame | None:
    """The frame where it lies, or None where it must be copied."""
    for plane, found in zip(planes, rows, strict=True):
        if not _may_be_read(plane.type_in(type_), found):
            return None
    return BorrowedFrame(type_, planes, rows, owner)


def _may_be_read(type_: ArrayType, rows: Rows) -> bool:
    """Whether a plane's rows follow each other, and whole vectors of the last one do no harm."""
    row_bytes = _row_bytes(type_)
    end = rows.address + (type_.shape[0] - 1) * rows.stride + row_bytes
    return rows.stride >= row_bytes and -end % mmap.PAGESIZE >= -row_bytes % VECTOR


def _row_bytes(type_: ArrayType) -> int:
    return type_.shape[1] * type_.channels * type_.dtype.bytes
