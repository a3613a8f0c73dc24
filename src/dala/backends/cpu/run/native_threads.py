"""Threads that only the system knows: Python has no state for them, and they have no interpreter.

So nobody waits for the GIL when one begins, and a sub-interpreter can end that started some.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from dala.once import once

_FOREVER = 0xFFFFFFFF  # milliseconds


def start(code: int, argument: int) -> int | None:
    """Call a native function of one address on a new thread; None if the system gives no more threads.

    The thread must be joined, and whoever calls this holds the code until then.
    """
    if sys.platform == "win32":
        return _library().CreateThread(None, 0, code, argument, 0, None) or None
    thread = ctypes.c_size_t()
    refused = _library().pthread_create(ctypes.byref(thread), None, code, argument)
    return None if refused else thread.value


def join(thread: int) -> None:
    """Wait until it has ended. The GIL is released meanwhile."""
    if sys.platform == "win32":
        _library().WaitForSingleObject(thread, _FOREVER)
        _library().CloseHandle(thread)
    else:
        _library().pthread_join(thread, None)


@once
def _library() -> Any:
    address, word = ctypes.c_void_p, ctypes.c_size_t
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32")
        kernel.CreateThread.argtypes = (address, word, address, address, ctypes.c_uint32, address)
        kernel.CreateThread.restype = address
        kernel.WaitForSingleObject.argtypes = (address, ctypes.c_uint32)
        kernel.CloseHandle.argtypes = (address,)
        return kernel
    system = ctypes.CDLL(None)
    system.pthread_create.argtypes = (address, address, address, address)
    system.pthread_join.argtypes = (word, address)
    return system
