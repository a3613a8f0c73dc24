"""What FFmpeg's threads have freed goes back to the system when a decoder or an encoder is closed."""

from __future__ import annotations

import ctypes
import sys

import pytest
from growth import resident

from dala.video.trimming import give_back_freed

MIB = 1 << 20
PIECE = 100_000  # bytes: less than glibc maps by itself


@pytest.mark.skipif(sys.platform != "linux", reason="memory is asked for as Linux says it")
def test_freed_memory_goes_back_though_a_piece_above_it_is_in_use() -> None:
    library = ctypes.CDLL(None)
    if not hasattr(library, "malloc_trim"):
        pytest.skip("not glibc")
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    pieces = [library.malloc(PIECE) for _ in range(800)]
    for piece in pieces:
        ctypes.memset(piece, 1, PIECE)
    above = pieces.pop()
    for piece in pieces:
        library.free(piece)
    held = resident()
    give_back_freed()
    library.free(above)
    assert held - resident() > 60 * MIB
