"""Element types. Users write them as strings: ``"f32" "f64" "s32" "s64" "u32" "u16" "u8"``.

As images, ``u8`` and ``u16`` hold levels (0..255, 0..65535) of what kernels see as 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dala.errors import DTypeError


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type: its dala name, its NumPy type, its kind and its size. Each exists once."""

    name: str
    kind: str  # "f" float, "s" signed, "u" unsigned, "b" bool
    bytes: int
    numpy: np.dtype[Any]

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_int(self) -> bool:
        return self.kind in "su"

    def __repr__(self) -> str:
        return self.name


F32 = DType("f32", "f", 4, np.dtype(np.float32))
F64 = DType("f64", "f", 8, np.dtype(np.float64))
S32 = DType("s32", "s", 4, np.dtype(np.int32))
S64 = DType("s64", "s", 8, np.dtype(np.int64))
U32 = DType("u32", "u", 4, np.dtype(np.uint32))
U16 = DType("u16", "u", 2, np.dtype(np.uint16))
U8 = DType("u8", "u", 1, np.dtype(np.uint8))
BOOL = DType("bool", "b", 1, np.dtype(np.bool_))

BUFFER_DTYPES = (F32, F64, S32, S64, U32, U16, U8)
IMAGE_DTYPES = (U8, U16, F32)
_BY_NAME = {d.name: d for d in BUFFER_DTYPES}
_BY_NUMPY = {d.numpy: d for d in BUFFER_DTYPES}


def parse_dtype(spec: object) -> DType:
    """The DType for a dala name, a DType or anything NumPy takes as a dtype."""
    if isinstance(spec, DType):
        return spec
    if isinstance(spec, str) and spec in _BY_NAME:
        return _BY_NAME[spec]
    try:
        if spec is None:  # NumPy would take it for float64
            raise TypeError
        return _BY_NUMPY[np.dtype(spec)]  # type: ignore[call-overload]
    except (TypeError, KeyError, ValueError):
        names = " ".join(_BY_NAME)
        raise DTypeError(f"dtype: expected one of {names}, got {spec!r}") from None
