"""Arrays of another library, as far as DLPack tells."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt


class Foreign:
    """An array of another library, as far as DLPack shows it."""

    def __init__(self, data: npt.NDArray[Any], device: tuple[int, int] = (1, 0)) -> None:
        self.data = data
        self.where = device

    def __dlpack__(self, **options: Any) -> Any:
        if self.where != (1, 0):
            raise BufferError("device memory")
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.where
