"""Protobuf's wire format: the fields of one message, with where they stand in the file.

Nothing is copied: what has a length is a view of the file's own bytes. So a damaged file can be wrong but
not large: no number in it makes more memory than the file has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from dala.errors import ModelError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10  # bytes


class Field(NamedTuple):
    """One field of a message."""

    number: int
    kind: int  # of the four above
    value: int | memoryview
    offset: int  # in the file


class Message(NamedTuple):
    """A message that is not read yet, and where it begins in the file."""

    data: memoryview
    offset: int
    what: str  # for errors: "the graph", "node 12"

    def error(self, reason: str, offset: int | None = None) -> ModelError:
        """What is wrong, and where."""
        at = self.offset if offset is None else offset
        return ModelError(f"{self.what}: {reason} (byte {at} of the file)")

    def fields(self) -> Iterator[Field]:
        """The fields in the order they come."""
        data, end, place = self.data, len(self.data), 0
        while place < end:
            start = place
            key, place = self._varint(place)
            number, kind = key >> 3, key & 7
            value: int | memoryview
            if number == 0:
                raise self.error("a field has number 0", self.offset + start)
            if kind == VARINT:
                value, place = self._varint(place)
            elif kind == BYTES:
                size, place = self._varint(place)
                if size > end - place:
                    left = end - place
                    raise self.error(f"ends early: {size} bytes announced, {left} left",
                                     self.offset + start)  # fmt: skip
                value, place = data[place : place + size], place + size
            elif kind in (FIXED32, FIXED64):
                size = 4 if kind == FIXED32 else 8
                if size > end - place:
                    raise self.error("ends within a number", self.offset + start)
                value = int.from_bytes(data[place : place + size], "little")
                place += size
            else:
                raise self.error(f"a field of unknown kind {kind}", self.offset + start)
            tail = len(value) if isinstance(value, memoryview) else 0
            yield Field(number, kind, value, self.offset + place - tail)

    def _varint(self, place: int) -> tuple[int, int]:
        data, end, value = self.data, len(self.data), 0
        for count in range(_LONGEST_VARINT):
            if place + count >= end:
                raise self.error("ends within a number", self.offset + place)
            byte = data[place + count]
            value |= (byte & 127) << (7 * count)
            if byte < 128:
                return value & (2**64 - 1), place + count + 1
        raise self.error("a number has more than ten bytes", self.offset + place)

    # -- what a field holds ------------------------------------------------------------------------

    def number(self, field: Field) -> int:
        """A whole number with its sign."""
        if field.kind != VARINT or not isinstance(field.value, int):
            raise self.error(f"field {field.number} is no whole number", field.offset)
        return field.value - 2**64 if field.value >= 2**63 else field.value

    def real(self, field: Field) -> float:
        """A float of four bytes."""
        if field.kind != FIXED32 or not isinstance(field.value, int):
            raise self.error(f"field {field.number} is no float", field.offset)
        return float(struct.unpack("<f", struct.pack("<I", field.value))[0])

    def bytes(self, field: Field) -> memoryview:
        """What has a length."""
        if not isinstance(field.value, memoryview):
            raise self.error(f"field {field.number} has no length", field.offset)
        return field.value

    def text(self, field: Field) -> str:
        """UTF-8 of a bounded length."""
        raw = self.bytes(field)
        if len(raw) > 1 << 16:
            raise self.error(f"a text of {len(raw)} bytes; 65536 are allowed", field.offset)
        try:
            return str(raw, "utf-8")
        except UnicodeDecodeError:
            raise self.error("a text is not UTF-8", field.offset) from None

    def message(self, field: Field, what: str) -> Message:
        """A message within this one."""
        return Message(self.bytes(field), field.offset, what)

    def numbers(self, field: Field, most: int) -> list[int]:
        """Whole numbers: one, or several packed together."""
        if field.kind == VARINT:
            return [self.number(field)]
        inner = self.message(field, self.what)
        found: list[int] = []
        place = 0
        while place < len(inner.data):
            value, place = inner._varint(place)
            found.append(value - 2**64 if value >= 2**63 else value)
            if len(found) > most:
                raise self.error(f"more than {most} numbers in a row", field.offset)
        return found

    def reals(self, field: Field) -> list[float]:
        """Floats of four bytes: one, or several packed together."""
        if field.kind == FIXED32:
            return [self.real(field)]
        raw = self.bytes(field)
        if len(raw) % 4:
            raise self.error("packed floats end within a number", field.offset)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
