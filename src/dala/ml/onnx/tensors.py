"""Numbers in a tensor message. A tensor is exactly as large as its shape says, or refused."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.ml.onnx.wire import VARINT, Field, Message

Array = npt.NDArray[Any]
MOST_AXES = 8
MOST_ELEMENTS = 1 << 31

# ONNX's numbers of element types
ELEMENTS: dict[int, np.dtype[Any]] = {
    1: np.dtype("<f4"), 2: np.dtype("u1"), 3: np.dtype("i1"), 4: np.dtype("<u2"), 5: np.dtype("<i2"),
    6: np.dtype("<i4"), 7: np.dtype("<i8"), 9: np.dtype("?"), 10: np.dtype("<f2"), 11: np.dtype("<f8"),
    12: np.dtype("<u4"), 13: np.dtype("<u8"),
}  # fmt: skip
_NAMES = {8: "string", 14: "complex64", 15: "complex128", 16: "bfloat16"}
_IN_INT32 = (2, 3, 4, 5, 6, 9, 10)  # types whose numbers may stand in int32_data
_LISTS = {4: (1,), 5: _IN_INT32, 7: (7,), 10: (11,), 11: (12, 13)}  # field → types


def element_type(number: int, message: Message) -> np.dtype[Any]:
    """NumPy's type for ONNX's number."""
    if number not in ELEMENTS:
        name = _NAMES.get(number, f"number {number}")
        raise message.error(f"elements of type {name} are not supported")
    return ELEMENTS[number]


def read_tensor(message: Message) -> tuple[str, Array]:
    """A tensor's name and its numbers."""
    shape: list[int] = []
    kind, name = 0, ""
    raw: memoryview | None = None
    lists: dict[int, list[Field]] = {}
    for field in message.fields():
        number = field.number
        if number == 1:
            shape += message.numbers(field, MOST_AXES)
        elif number == 2:
            kind = message.number(field)
        elif number == 8:
            name = message.text(field)
        elif number == 9:
            raw = message.bytes(field)
        elif number == 13 or (number == 14 and message.number(field) != 0):
            raise message.error("its numbers are in another file; external data is refused",
                                field.offset)  # fmt: skip
        elif number in _LISTS:
            lists.setdefault(number, []).append(field)
        elif number in (3, 6):
            raise message.error("segments and texts are not supported", field.offset)
    named = Message(message.data, message.offset, f"tensor {name!r}" if name else message.what)
    dtype = element_type(kind, named)
    count = _count(shape, named)
    if raw is not None and lists:
        raise named.error("has its numbers twice")
    if raw is not None:
        if len(raw) != count * dtype.itemsize:
            raise named.error(
                f"{shape} of {dtype} has {count * dtype.itemsize} bytes, got {len(raw)}"
            )
        array = np.frombuffer(raw, dtype)
    else:
        array = _listed(named, lists, kind, dtype, count)
    if len(array) != count:
        raise named.error(f"{shape} has {count} elements, got {len(array)}")
    array = array.reshape(shape)
    array.flags.writeable = False
    return name, array


def _count(shape: list[int], message: Message) -> int:
    if len(shape) > MOST_AXES:
        raise message.error(f"{len(shape)} axes; {MOST_AXES} are allowed")
    if any(n < 0 for n in shape) or math.prod(max(1, n) for n in shape) > MOST_ELEMENTS:
        raise message.error(f"an impossible shape {shape}")
    return math.prod(shape)


def _listed(
    message: Message, lists: dict[int, list[Field]], kind: int, dtype: np.dtype[Any], count: int
) -> Array:
    """Numbers in one of the typed lists."""
    if len(lists) > 1:
        raise message.error("has its numbers twice")
    for number, fields in lists.items():
        if kind not in _LISTS[number]:
            raise message.error(f"its numbers stand in a list for another type (field {number})")
        if number in (4, 10):
            return np.concatenate([_fixed(message, f, dtype) for f in fields])
        values = [v for f in fields for v in message.numbers(f, count)]
        return _whole(message, values, kind, dtype)
    return np.empty(0, dtype)


def _fixed(message: Message, field: Field, dtype: np.dtype[Any]) -> Array:
    if isinstance(field.value, memoryview):
        if len(field.value) % dtype.itemsize:
            raise message.error("its list ends within a number", field.offset)
        return np.frombuffer(field.value, dtype)
    if field.kind == VARINT:
        raise message.error("its list holds no floats", field.offset)
    packed = struct.pack("<I" if dtype.itemsize == 4 else "<Q", field.value)
    if len(packed) != dtype.itemsize:
        raise message.error("its list holds no floats", field.offset)
    return np.frombuffer(packed, dtype)


def _whole(message: Message, values: list[int], kind: int, dtype: np.dtype[Any]) -> Array:
    if kind == 10:  # f16: its bits
        if not all(0 <= v < 1 << 16 for v in values):
            raise message.error("a half float has more than 16 bits")
        return np.array(values, np.uint16).view(dtype)
    if kind == 13:
        values = [v + (1 << 64) if v < 0 else v for v in values]
    try:
        return np.array(values, dtype)
    except OverflowError:
        raise message.error(f"a number does not fit into {dtype}") from None
