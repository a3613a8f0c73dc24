"""How native threads sleep until a number in memory changes: the system's own calls, as LLVM text.

    wait(ptr, ptr, i32)   sleep while the number is this one; may return for no reason
    wake(ptr, ptr, i32)   wake so many of those who wait for a change of this number
    now()                 nanoseconds of a clock that only goes forward
    malloc, free, relax   memory, and what a loop does that waits

The first argument is memory for their own use (``BYTES``, made ready by ``prepare``). Linux has futexes,
Windows has WaitOnAddress; elsewhere it is a mutex and a condition for all.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

_FUTEX = {"x86_64": 202, "amd64": 202, "aarch64": 98, "arm64": 98, "riscv64": 98, "ppc64le": 221}
_PRIVATE_WAIT, _PRIVATE_WAKE = 128, 129  # among the threads of one process
_POSIX_BYTES = 256  # more than a mutex or a condition takes on any system
BYTES = 2 * _POSIX_BYTES

_PAUSE = {  # what tells the core that a loop only waits: its declaration and call
    **dict.fromkeys(("x86_64", "amd64"), ("@llvm.x86.sse2.pause()", "@llvm.x86.sse2.pause()")),
    **dict.fromkeys(("aarch64", "arm64"), ("@llvm.aarch64.hint(i32)", "@llvm.aarch64.hint(i32 1)")),
}

_FUTEX_TEXT = """
define internal void @wait(ptr %own, ptr %at, i32 %value) {{
  %r = call i64 (i64, ...) {syscall}(i64 {number}, ptr %at, i64 {wait}, i32 %value, ptr null)
  ret void
}}
define internal void @wake(ptr %own, ptr %at, i32 %count) {{
  %r = call i64 (i64, ...) {syscall}(i64 {number}, ptr %at, i64 {wake}, i32 %count)
  ret void
}}
"""

_WINDOWS_TEXT = """
define internal void @wait(ptr %own, ptr %at, i32 %value) {{
  %expected = alloca i32
  store i32 %value, ptr %expected
  %r = call i32 {wait}(ptr %at, ptr %expected, i64 4, i32 -1)
  ret void
}}
define internal void @wake(ptr %own, ptr %at, i32 %count) {{
entry:
  br label %next
next:
  %n = phi i32 [ 0, %entry ], [ %n.next, %one ]
  %more = icmp slt i32 %n, %count
  br i1 %more, label %many, label %end
many:
  %lots = icmp sgt i32 %count, 64
  br i1 %lots, label %all, label %one
one:
  call void {wake_one}(ptr %at)
  %n.next = add i32 %n, 1
  br label %next
all:
  call void {wake_all}(ptr %at)
  br label %end
end:
  ret void
}}
define i64 @now() {{
  %ticks.at = alloca i64
  %r = call i32 {counter}(ptr %ticks.at)
  %ticks = load i64, ptr %ticks.at
  %whole = sdiv i64 %ticks, {frequency}
  %rest = srem i64 %ticks, {frequency}
  %whole.ns = mul i64 %whole, 1000000000
  %rest.n = mul i64 %rest, 1000000000
  %rest.ns = sdiv i64 %rest.n, {frequency}
  %ns = add i64 %whole.ns, %rest.ns
  ret i64 %ns
}}
"""

_POSIX_TEXT = """
define internal void @wait(ptr %own, ptr %at, i32 %value) {{
  %condition = getelementptr i8, ptr %own, i64 {bytes}
  %l = call i32 {lock}(ptr %own)
  %now = load atomic i32, ptr %at seq_cst, align 4
  %same = icmp eq i32 %now, %value
  br i1 %same, label %sleep, label %end
sleep:
  %w = call i32 {wait}(ptr %condition, ptr %own)
  br label %end
end:
  %u = call i32 {unlock}(ptr %own)
  ret void
}}
define internal void @wake(ptr %own, ptr %at, i32 %count) {{
  %condition = getelementptr i8, ptr %own, i64 {bytes}
  %l = call i32 {lock}(ptr %own)   ; nobody is between looking at the number and falling asleep
  %u = call i32 {unlock}(ptr %own)
  %b = call i32 {broadcast}(ptr %condition)
  ret void
}}
"""

_CLOCK_TEXT = """
define i64 @now() {{
  %time = alloca [2 x i64]
  %r = call i32 {clock}(i32 {monotonic}, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %whole = mul i64 %seconds, 1000000000
  %ns = add i64 %whole, %rest
  ret i64 %ns
}}
"""

_MEMORY_TEXT = """
define internal ptr @malloc(i64 %size) {{
  %p = call ptr {malloc}(i64 %size)
  ret ptr %p
}}
define internal void @free(ptr %p) {{
  call void {free}(ptr %p)
  ret void
}}
define internal void @relax() {{
  {pause}
  ret void
}}
{declaration}
"""


class System(NamedTuple):
    """LLVM text with the functions above, and what makes memory ready for them."""

    text: str
    prepare: Callable[[int], None] = lambda _address: None


def find_system(*, plainly: bool = False) -> System:
    """The functions for this system; ``plainly`` those that every POSIX system has."""
    if sys.platform == "win32":
        return _windows()
    library = ctypes.CDLL(None)
    rest = _memory() + _CLOCK_TEXT.format(
        clock=_at(library.clock_gettime), monotonic=6 if sys.platform == "darwin" else 1
    )
    number = _FUTEX.get(platform.machine().lower())
    if sys.platform == "linux" and number is not None and not plainly:
        text = _FUTEX_TEXT.format(
            syscall=_at(library.syscall), number=number, wait=_PRIVATE_WAIT, wake=_PRIVATE_WAKE
        )
        return System(text + rest)

    def prepare(address: int) -> None:
        library.pthread_mutex_init(ctypes.c_void_p(address), None)
        library.pthread_cond_init(ctypes.c_void_p(address + _POSIX_BYTES), None)

    text = _POSIX_TEXT.format(
        lock=_at(library.pthread_mutex_lock), unlock=_at(library.pthread_mutex_unlock),
        wait=_at(library.pthread_cond_wait), broadcast=_at(library.pthread_cond_broadcast),
        bytes=_POSIX_BYTES,
    )  # fmt: skip
    return System(text + rest, prepare)


def _windows() -> System:
    load: Any = ctypes.WinDLL  # type: ignore[attr-defined,unused-ignore]
    kernel, synch = load("kernel32"), load("api-ms-win-core-synch-l1-2-0")
    frequency = ctypes.c_int64()
    kernel.QueryPerformanceFrequency(ctypes.byref(frequency))
    text = _WINDOWS_TEXT.format(
        wait=_at(synch.WaitOnAddress), wake_one=_at(synch.WakeByAddressSingle),
        wake_all=_at(synch.WakeByAddressAll), counter=_at(kernel.QueryPerformanceCounter),
        frequency=frequency.value,
    )  # fmt: skip
    return System(text + _memory())


def _memory() -> str:
    declared, called = _PAUSE.get(platform.machine().lower(), ("", ""))
    return _MEMORY_TEXT.format(
        malloc=c_function("malloc"), free=c_function("free"),
        declaration=f"declare void {declared}" if declared else "",
        pause=f"call void {called}" if called else "",
    )  # fmt: skip


def c_function(name: str) -> str:
    """A function of the C library, as LLVM text that can be called."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return _at(getattr(library, name))


def _at(function: Callable[..., Any]) -> str:
    """A function by where it is: LLVM would look for it in the libraries it knows."""
    return _pointer(ctypes.cast(function, ctypes.c_void_p).value)  # type: ignore[arg-type]


def _pointer(address: int | None) -> str:
    return f"inttoptr (i64 {address} to ptr)"
