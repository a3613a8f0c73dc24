"""A run's commands from a table, by machine code: no Python, no GIL, and no signal between two of them.

Recorded call by call through cffi a dispatch takes 1.05 µs of one core, from a table 0.2 (and what is
recorded costs 0.5 more when the command buffer is completed). The code knows nothing but the functions of
the wgpu-native that is loaded, whose types are compared with those that are used here, and a table of rows:
what it is, and five arguments. Whoever calls it holds the queue's lock, and all that the table names.
"""

from __future__ import annotations

import ctypes
import re
from array import array
from typing import Any

from dala.backends.cpu.llvm.jit import Module
from dala.backends.webgpu.wgpu_private import address_of, load_library
from dala.once import once

DISPATCH, COPY = 0, 1  # what a row is
ROW = 6  # words
DEVICE, QUEUE, ENCODER, PASS, BUFFER, RUNS = range(6)  # words of what is open

_TEXT = """
define internal void @end_pass(ptr %open) {
  %pass.at = getelementptr ptr, ptr %open, i64 3
  %pass = load ptr, ptr %pass.at
  %none = icmp eq ptr %pass, null
  br i1 %none, label %done, label %end
end:
  store ptr null, ptr %pass.at
  call void @wgpuComputePassEncoderEnd(ptr %pass)
  call void @wgpuComputePassEncoderRelease(ptr %pass)
  br label %done
done:
  ret void
}

define void @record(ptr %open, ptr %rows, i64 %count) {
  %encoder.at = getelementptr ptr, ptr %open, i64 2
  %pass.at = getelementptr ptr, ptr %open, i64 3
  %runs.at = getelementptr i64, ptr %open, i64 5
  %begun = load ptr, ptr %encoder.at
  %fresh = icmp eq ptr %begun, null
  br i1 %fresh, label %begin, label %enter
begin:
  %device = load ptr, ptr %open
  %made = call ptr @wgpuDeviceCreateCommandEncoder(ptr %device, ptr null)
  store ptr %made, ptr %encoder.at
  br label %enter
enter:
  %encoder = load ptr, ptr %encoder.at
  br label %next
next:
  %number = phi i64 [ 0, %enter ], [ %number.next, %dispatch ], [ %number.next, %copy ]
  %number.next = add i64 %number, 1
  %over = icmp eq i64 %number, %count
  br i1 %over, label %done, label %row
row:
  %word = mul i64 %number, 6
  %kind.at = getelementptr i64, ptr %rows, i64 %word
  %a.at = getelementptr i64, ptr %kind.at, i64 1
  %b.at = getelementptr i64, ptr %kind.at, i64 2
  %c.at = getelementptr i64, ptr %kind.at, i64 3
  %d.at = getelementptr i64, ptr %kind.at, i64 4
  %e.at = getelementptr i64, ptr %kind.at, i64 5
  %kind = load i64, ptr %kind.at
  %a = load ptr, ptr %a.at
  %is.copy = icmp eq i64 %kind, 1
  br i1 %is.copy, label %copy, label %in.pass
copy:
  call void @end_pass(ptr %open)
  %start = load i64, ptr %b.at
  %target = load ptr, ptr %c.at
  %to = load i64, ptr %d.at
  %size = load i64, ptr %e.at
  call void @wgpuCommandEncoderCopyBufferToBuffer(
      ptr %encoder, ptr %a, i64 %start, ptr %target, i64 %to, i64 %size)
  br label %next
in.pass:
  %current = load ptr, ptr %pass.at
  %outside = icmp eq ptr %current, null
  br i1 %outside, label %begin.pass, label %dispatch
begin.pass:
  %entered = call ptr @wgpuCommandEncoderBeginComputePass(ptr %encoder, ptr null)
  store ptr %entered, ptr %pass.at
  br label %dispatch
dispatch:
  %pass = phi ptr [ %current, %in.pass ], [ %entered, %begin.pass ]
  %group = load ptr, ptr %b.at
  %x = load i32, ptr %c.at
  %y = load i32, ptr %d.at
  %z = load i32, ptr %e.at
  call void @wgpuComputePassEncoderSetPipeline(ptr %pass, ptr %a)
  call void @wgpuComputePassEncoderSetBindGroup(ptr %pass, i32 0, ptr %group, i64 0, ptr null)
  call void @wgpuComputePassEncoderDispatchWorkgroups(ptr %pass, i32 %x, i32 %y, i32 %z)
  br label %next
done:
  %before = load i64, ptr %runs.at
  %runs = add i64 %before, 1
  store i64 %runs, ptr %runs.at
  ret void
}

define void @finish(ptr %open) {
  %encoder.at = getelementptr ptr, ptr %open, i64 2
  %buffer.at = getelementptr ptr, ptr %open, i64 4
  call void @end_pass(ptr %open)
  %encoder = load ptr, ptr %encoder.at
  store ptr null, ptr %encoder.at
  %buffer = call ptr @wgpuCommandEncoderFinish(ptr %encoder, ptr null)
  call void @wgpuCommandEncoderRelease(ptr %encoder)
  store ptr %buffer, ptr %buffer.at
  ret void
}

define void @submit(ptr %open) {
  %queue.at = getelementptr ptr, ptr %open, i64 1
  %buffer.at = getelementptr ptr, ptr %open, i64 4
  %runs.at = getelementptr i64, ptr %open, i64 5
  %queue = load ptr, ptr %queue.at
  %buffer = load ptr, ptr %buffer.at
  call void @wgpuQueueSubmit(ptr %queue, i64 1, ptr %buffer.at)
  call void @wgpuCommandBufferRelease(ptr %buffer)
  store ptr null, ptr %buffer.at
  store i64 0, ptr %runs.at
  ret void
}
"""


_CALL = re.compile(r"call (\w+) @(wgpu\w+)\(([^)]*)\)")


class Open:
    """What is under way on a device: the words that the code above reads and writes."""

    def __init__(self, device: int, queue: int) -> None:
        self.words = array("Q", [device, queue, 0, 0, 0, 0])
        self.address = self.words.buffer_info()[0]

    @property
    def runs(self) -> int:
        """How many are recorded."""
        return self.words[RUNS]

    @property
    def is_complete(self) -> bool:
        """Whether there is a command buffer to submit."""
        return self.words[BUFFER] != 0

    def forget(self) -> None:
        """Drop what is recorded."""
        lib, ffi = load_library()
        held = self.words[:]
        self.words[ENCODER:] = array("Q", bytes(self.words.itemsize * (len(held) - ENCODER)))
        for word, kind in (
            (PASS, "ComputePassEncoder"), (ENCODER, "CommandEncoder"), (BUFFER, "CommandBuffer"),
        ):  # fmt: skip
            if held[word]:
                getattr(lib, f"wgpu{kind}Release")(ffi.cast(f"WGPU{kind}", held[word]))


class Replay:
    """The code, as functions: ``record`` adds a table to what is open, ``finish`` makes a command buffer
    of that, ``submit`` hands it to the GPU. All of them let go of the GIL."""

    def __init__(self) -> None:
        module = Module(_CALL.sub(_bound, _TEXT))
        self._record = module.function(
            "record", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
        )
        self._finish = module.function("finish", None, ctypes.c_void_p)
        self._submit = module.function("submit", None, ctypes.c_void_p)

    def record(self, what: Open, table: array[int]) -> None:
        self._record(what.address, table.buffer_info()[0], len(table) // ROW)

    def finish(self, what: Open) -> None:
        self._finish(what.address)

    def submit(self, what: Open) -> None:
        self._submit(what.address)


def _bound(call: re.Match[str]) -> str:
    """A call of wgpu-native by where the function is; AttributeError if it is not what is called here."""
    lib, ffi = load_library()
    result, name, arguments = call.groups()
    function = getattr(lib, name)
    kind = ffi.typeof(function)
    wanted = [result, *(argument.split()[0] for argument in arguments.split(","))]
    if [_llvm(ffi, type_) for type_ in (kind.result, *kind.args)] != wanted:
        raise AttributeError(f"{name} is another function by now: {kind}")
    return f"call {result} inttoptr (i64 {address_of(function)} to ptr)({arguments})"


def _llvm(ffi: Any, type_: Any) -> str:
    return {"pointer": "ptr", "void": "void"}.get(type_.kind) or f"i{8 * ffi.sizeof(type_)}"


@once
def make_replay() -> Replay:
    """Compiled once; raises AttributeError where this version of wgpu-native is unknown."""
    return Replay()
