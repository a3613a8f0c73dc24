"""What dala uses of wgpu-py that is not public: all of it is here.

wgpu-py wraps wgpu-native, a library in C. Calls on the library itself are cheaper (record.py), and it can
be asked what wgpu-py only waits for (waiting.py, timers.py). A version of wgpu-py that lacks a part of this
raises ImportError or AttributeError, and whoever asked goes the public way.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, cast

from dala.once import once

handle_of = operator.attrgetter("_internal")  # an object of wgpu-py, as the library knows it


@functools.lru_cache(1)
def load_library() -> tuple[Any, Any]:
    """The library's functions, and what makes arguments for them."""
    from wgpu.backends.wgpu_native import _api

    return _api.lib, _api.ffi


def address_of(pointer: Any) -> int:
    """What a handle, or a function, of the library is to machine code."""
    return int(_cast()("uintptr_t", pointer))


@once
def _cast() -> Callable[[str, Any], Any]:
    _, ffi = load_library()
    return cast("Callable[[str, Any], Any]", ffi.cast)


class ErrorSlots:
    """Where wgpu-py collects a thread's errors."""

    def __init__(self) -> None:
        from wgpu.backends.wgpu_native import _api, _helpers

        self._handler, self._kinds = _api.error_handler, _helpers.ERROR_TYPES
        self.of_this_thread()  # it is there, or the public way serves

    def of_this_thread(self) -> list[Any]:
        """The open slots; the last one gets the next error."""
        slots: list[Any] = self._handler._get_proxy_stack()
        return slots

    def open(self) -> None:
        """Let errors be collected, rather than logged."""
        self._handler.capture("dala")

    def error(self, kind: str, message: str) -> Exception:
        """An error as wgpu-py raises it."""
        made: Exception = self._kinds.get(kind, self._kinds[""])(message)
        return made


def begin_to_map(buffer: Any, mode: int, info: Any) -> None:
    """Ask for the whole of a buffer, with a callback of one's own."""
    from wgpu.backends.wgpu_native import _api

    buffer._map_state = "pending"
    _api.libf.wgpuBufferMapAsync(handle_of(buffer), mode, 0, buffer.size, info[0])


def note_mapped(buffer: Any, mode: int) -> None:
    """Tell wgpu-py what its own callback would tell it: the buffer can be read or written."""
    buffer._mapped_status = 0, buffer.size, mode
    buffer._mapped_memoryviews = []
    buffer._map_state = "mapped"


def mapped_address(buffer: Any) -> int:
    """Where the whole of a mapped buffer is."""
    return address_of(_mapped_range(buffer))


def mapped_content(buffer: Any, size: int) -> bytearray:
    """A copy of the first bytes of a mapped buffer."""
    _, ffi = load_library()
    return bytearray(ffi.buffer(_mapped_range(buffer), size))


def _mapped_range(buffer: Any) -> Any:
    lib, ffi = load_library()
    found = lib.wgpuBufferGetMappedRange(handle_of(buffer), 0, buffer.size)
    if found == ffi.NULL:
        raise RuntimeError(f"a buffer of {buffer.size} bytes is not mapped")
    return found


def wait_inside(gpu: Any) -> None:
    """Let wgpu wait for all that was submitted; no other thread can submit meanwhile."""
    gpu._poll_wait()


def replace_poll(
    gpu: Any, instead: Callable[[Callable[[bool], None]], Callable[[bool], None]]
) -> None:
    """Have wgpu-py's own thread call what is made of the function that it calls now."""
    poller = gpu._poller
    poller._poll_func = instead(poller._poll_func)


def nanoseconds_of_tick(gpu: Any) -> float:
    """How long a tick of the GPU's clock is."""
    lib, _ = load_library()
    return float(lib.wgpuQueueGetTimestampPeriod(handle_of(gpu.queue)))
