"""ArrayType: shape and element type of a buffer, without its data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dala.ir.dtypes import DType


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Shape and element type; images are ``(height, width[, channels])``."""

    shape: tuple[int, ...]
    dtype: DType

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.bytes

    @property
    def channels(self) -> int:
        return self.shape[2] if len(self.shape) == 3 else 1
