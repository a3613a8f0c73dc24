"""Memory that was freed, given back to the system.

FFmpeg has threads of its own for each decoder and encoder, and glibc a heap for each of them (eight for
every core). What is freed there stays with the process, and a broadcast whose camera and server come and
go would have more of it each time, though nothing is in use.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

from dala.once import once


@once
def _malloc_trim() -> Callable[[int], int] | None:
    """glibc's; others give back by themselves, or cannot be asked."""
    if sys.platform != "linux":
        return None
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found


def give_back_freed() -> None:
    """Some milliseconds; for when a decoder or an encoder was closed, not for every frame."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)
