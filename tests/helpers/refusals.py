"""What is refused, and what must survive it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dala import compute
from dala.errors import (
    DalaError,
)

zeros = compute.buffer_zeros


def refuse(error: type[Exception], message: str, action: Callable[[], object]) -> None:
    """The action raises exactly this, and it is one of dala's errors."""
    with pytest.raises(error) as caught:
        action()
    assert str(caught.value) == message
    assert type(caught.value) is error
    assert isinstance(caught.value, DalaError)


class Things:
    """Buffers with a content that must survive every refusal."""

    def __init__(self) -> None:
        self.a = compute.buffer([1.0, 2.0, 3.0])
        self.b = compute.buffer([4.0, 5.0, 6.0])
        self.out = compute.buffer([7.0, 8.0, 9.0])
        self.ints = compute.buffer([1, 2, 3], dtype="s32")
        self.matrix = compute.buffer([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        self.image = compute.from_array(np.full((4, 6, 4), 100, np.uint8))
        self.result = compute.from_array(np.full((4, 6, 4), 200, np.uint8))
        self.scratch = compute.scratch((4, 6, 4))
        self.freed = zeros((3,))
        self.freed.free()

    def content(self) -> list[bytes]:
        named = [getattr(self, n) for n in ("a", "b", "out", "ints", "matrix", "image", "result")]
        return [b.read().tobytes() for b in named]
