"""Pillow's memory read where it lies: no copies of large photos.

Pillow keeps RGB as four bytes a pixel, the last of them 255: an opaque RGBA picture, as devices have it.
By Apache Arrow's interface it hands such memory out, if the picture is in one block. Fresh memory is what
costs most: the system clears a photo of 24 megapixels page by page, which takes as long as decoding it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from dala import forking
from dala.media.files.content import Pixels
from dala.media.files.formats import pillow

WHOLE = 1 << 30  # bytes; a larger picture is in several blocks, and is copied


class _ArrowArray(ctypes.Structure):
    """An array in Arrow's C interface."""


_ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_ArrowArray))),
    ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private", ctypes.c_void_p),
]  # fmt: skip

_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Blocks:
    """The size of Pillow's blocks, which is one number for the whole process."""

    def __init__(self) -> None:
        self._lock = forking.lock()
        self._users = 0
        self._usual = 0

    def enlarge(self, core: Any) -> None:
        with self._lock:
            if not self._users:
                self._usual = core.get_block_size()
                core.set_block_size(WHOLE)
            self._users += 1

    def restore(self, core: Any) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                core.set_block_size(self._usual)


_blocks = _Blocks()


@contextlib.contextmanager
def in_one_block(image: Any) -> Iterator[None]:
    """Pictures that are decoded in here lie in one block each; ``image`` is Pillow's module."""
    _blocks.enlarge(image.core)
    try:
        yield
    finally:
        _blocks.restore(image.core)


def keep_blocks(count: int) -> None:
    """Have Pillow use the memory of that many pictures again for others, instead of giving it back."""
    pillow("filter").core.set_blocks_max(count)


def lend_pixels(opened: Any) -> Pixels | None:
    """The memory of a decoded picture, not to be written: (H, W) of L, (H, W, 4) of RGBA and of RGB, which
    is opaque then; None in other modes, and where Pillow has it in several blocks."""
    if opened.mode not in ("L", "RGB", "RGBA"):
        return None
    try:
        capsule = opened.__arrow_c_array__()[1]
    except ValueError:  # several blocks
        return None
    array = _ArrowArray.from_address(_pointer_in(capsule, b"arrow_array"))
    values = array.children[0].contents if array.n_children else array
    memory = (ctypes.c_uint8 * values.length).from_address(values.buffers[1])
    memory.owner = capsule  # which lets go of the picture's memory at its end
    shape = (opened.height, opened.width, 4)[: 2 if opened.mode == "L" else 3]
    pixels: Pixels = np.frombuffer(memory, np.uint8).reshape(shape)
    pixels.setflags(write=False)
    return pixels
