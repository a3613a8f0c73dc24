"""A short run as one C function of Python's own: checked and done without a line of Python.

On small images Python's part of a call costs more than the pixels. So a plan whose passes are short is
also a built-in function of its buffers and numbers. Behind it is a piece of machine code that knows no
kernel, only lists (the frame): which buffers to look at, where their addresses and the numbers go, and
which passes to call. It says whether it did that; if not, the run is put in order as any other.

It keeps the GIL from the first look to the last pixel. That is what makes it safe without a lock: no
other thread of Python can start anything meanwhile, free a buffer, or use the same arguments and
scratch. It is also kinder than letting go: whoever takes the GIL keeps it for 5 ms. Only for passes
that are over in some microseconds, and only where there is a GIL to keep.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, cast

from dala.backends.base import Guard
from dala.backends.cpu.llvm.jit import Module
from dala.backends.cpu.run.launch import PassLauncher, run_passes
from dala.backends.host import HostArray, HostExecutable, Numbers, RunPass
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, F64, U8, DType
from dala.once import once
from dala.plan.planner import Plan

BRIEF_NS = 65_000  # of all passes, on one core
METH_FASTCALL = 0x80
END = -1  # of a list in the frame
_API = (
    "PyTuple_GetItem", "PyLong_AsVoidPtr", "PyLong_AsLongLong", "PyFloat_AsDouble", "PyDict_Size",
    "PyObject_GetAttr", "PyErr_Occurred", "PyErr_Clear", "Py_DecRef", "PyBool_FromLong",
)  # fmt: skip

# Whatever Python answers is checked: on an error, and on anything unusual, the run is put in order as any
# other, whose checks say what is wrong.
#
# The frame, in words: how many arguments it looks at; the dict that must be empty; the names of three
# attributes, and None; then the arrays (which argument, where its address goes, what is added to it), the
# numbers (which argument, where it goes, 0 for f64, 1 for f32 or the bits of an integer), the passes (code,
# arguments, scratch).
_TEXT = """
define internal ptr @borrow(ptr %object, ptr %name) {
  %found = call ptr @PyObject_GetAttr(ptr %object, ptr %name)
  call void @Py_DecRef(ptr %found) ; the object keeps it; null is allowed
  ret ptr %found
}

define internal i1 @failed() {
  %error = call ptr @PyErr_Occurred()
  %some = icmp ne ptr %error, null
  ret i1 %some
}

define ptr @quick(ptr %self, ptr %args, i64 %count) {
start:
  %number = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %numberless = icmp eq ptr %number, null
  br i1 %numberless, label %wrong, label %find_frame
find_frame:
  %frame = call ptr @PyLong_AsVoidPtr(ptr %number)
  %frameless = icmp eq ptr %frame, null
  br i1 %frameless, label %wrong, label %begin
begin:
  %expected = load i64, ptr %frame
  %as_expected = icmp sge i64 %count, %expected
  %under_way_at = getelementptr i64, ptr %frame, i64 1
  %under_way = load ptr, ptr %under_way_at
  %name_at = getelementptr i64, ptr %frame, i64 2
  %storage_name = load ptr, ptr %name_at
  %name_at.1 = getelementptr i64, ptr %frame, i64 3
  %writer_name = load ptr, ptr %name_at.1
  %name_at.2 = getelementptr i64, ptr %frame, i64 4
  %address_name = load ptr, ptr %name_at.2
  %none_at = getelementptr i64, ptr %frame, i64 5
  %none = load ptr, ptr %none_at
  %lists = getelementptr i64, ptr %frame, i64 6
  br i1 %as_expected, label %quiet, label %refused
quiet:
  %commands = call i64 @PyDict_Size(ptr %under_way)
  switch i64 %commands, label %refused [ i64 0, label %arrays
                                         i64 -1, label %wrong ]

arrays:
  %a = phi ptr [ %lists, %quiet ], [ %a.next, %placed ]
  %a.arg = load i64, ptr %a
  %a.next = getelementptr i64, ptr %a, i64 3
  %a.end = icmp eq i64 %a.arg, -1
  br i1 %a.end, label %arrays.done, label %look
look:
  %buffer_at = getelementptr ptr, ptr %args, i64 %a.arg
  %buffer = load ptr, ptr %buffer_at
  %storage = call ptr @borrow(ptr %buffer, ptr %storage_name)
  %strange = icmp eq ptr %storage, null
  br i1 %strange, label %wrong, label %known
known:
  %writer = call ptr @borrow(ptr %buffer, ptr %writer_name)
  %writerless = icmp eq ptr %writer, null
  br i1 %writerless, label %wrong, label %usable
usable:
  %there = icmp ne ptr %storage, %none
  %written = icmp eq ptr %writer, %none
  %free = and i1 %there, %written
  br i1 %free, label %place, label %refused
place:
  %address.object = call ptr @borrow(ptr %storage, ptr %address_name)
  %addressless = icmp eq ptr %address.object, null
  br i1 %addressless, label %wrong, label %whole_array
whole_array:
  %scattered = icmp eq ptr %address.object, %none ; a borrowed frame has an address for each plane
  br i1 %scattered, label %refused, label %address
address:
  %address.pointer = call ptr @PyLong_AsVoidPtr(ptr %address.object)
  %nowhere = icmp eq ptr %address.pointer, null
  br i1 %nowhere, label %wrong, label %placed
placed:
  %a.target_at = getelementptr i64, ptr %a, i64 1
  %a.target = load ptr, ptr %a.target_at
  %a.offset_at = getelementptr i64, ptr %a, i64 2
  %a.offset = load i64, ptr %a.offset_at
  %moved = getelementptr i8, ptr %address.pointer, i64 %a.offset
  store ptr %moved, ptr %a.target
  br label %arrays

arrays.done:
  %numbers.first = getelementptr i64, ptr %a, i64 1
  br label %numbers
numbers:
  %n = phi ptr [ %numbers.first, %arrays.done ], [ %n.next, %stored ], [ %n.next, %minus_one ]
  %n.arg = load i64, ptr %n
  %n.next = getelementptr i64, ptr %n, i64 3
  %n.end = icmp eq i64 %n.arg, -1
  br i1 %n.end, label %numbers.done, label %number.kind
number.kind:
  %value_at = getelementptr ptr, ptr %args, i64 %n.arg
  %value = load ptr, ptr %value_at
  %n.target_at = getelementptr i64, ptr %n, i64 1
  %n.target = load ptr, ptr %n.target_at
  %kind_at = getelementptr i64, ptr %n, i64 2
  %kind = load i64, ptr %kind_at
  switch i64 %kind, label %whole [ i64 0, label %double
                                   i64 1, label %float ]
double:
  %as.double = call double @PyFloat_AsDouble(ptr %value)
  store double %as.double, ptr %n.target
  %doubtful = fcmp oeq double %as.double, -1.0
  br i1 %doubtful, label %minus_one, label %stored
float:
  %as.double.1 = call double @PyFloat_AsDouble(ptr %value)
  %as.float = fptrunc double %as.double.1 to float
  store float %as.float, ptr %n.target
  %doubtful.1 = fcmp oeq double %as.double.1, -1.0
  br i1 %doubtful.1, label %minus_one, label %stored
whole:
  %as.whole = call i64 @PyLong_AsLongLong(ptr %value)
  %as.bits = and i64 %as.whole, %kind
  store i64 %as.bits, ptr %n.target
  %doubtful.2 = icmp eq i64 %as.whole, -1
  br i1 %doubtful.2, label %minus_one, label %stored
stored:
  br label %numbers
minus_one: ; a number like others, or an error
  %error = call i1 @failed()
  br i1 %error, label %wrong, label %numbers

numbers.done:
  %passes.first = getelementptr i64, ptr %n, i64 1
  br label %passes
passes:
  %p = phi ptr [ %passes.first, %numbers.done ], [ %p.next, %run ]
  %code = load i64, ptr %p
  %p.next = getelementptr i64, ptr %p, i64 3
  %p.end = icmp eq i64 %code, -1
  br i1 %p.end, label %done, label %run
run:
  %function = inttoptr i64 %code to ptr
  %block_at = getelementptr i64, ptr %p, i64 1
  %block = load ptr, ptr %block_at
  %scratch_at = getelementptr i64, ptr %p, i64 2
  %scratch = load ptr, ptr %scratch_at
  store i64 0, ptr %block ; the first band
  call void %function(ptr %block, ptr %scratch)
  br label %passes

done:
  %yes = call ptr @PyBool_FromLong(i64 1)
  ret ptr %yes
wrong:
  call void @PyErr_Clear()
  br label %refused
refused:
  %no = call ptr @PyBool_FromLong(i64 0)
  ret ptr %no
}
"""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Entry:
    """The machine code in front of the passes, compiled once; and how to make functions of it."""

    def __init__(self) -> None:
        self._module = Module(_with_addresses(_TEXT))
        code = self._module.address("quick")
        self._definition = _MethodDef(b"quick", code, METH_FASTCALL, None)
        prototype = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p
        )
        self._new: Any = prototype(("PyCFunction_NewEx", ctypes.pythonapi))

    def function(self, owned: tuple[object, ...]) -> Callable[..., bool]:
        """The function that has ``owned`` as its self: a frame's address, and what must live as long."""
        owned = (*owned, self)  # the code it runs in, too
        return cast("Callable[..., bool]", self._new(ctypes.byref(self._definition), owned, None))


def _with_addresses(text: str) -> str:
    """Python's functions by where they are: LLVM would look for them in the libraries it knows."""
    for name in _API:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        text = text.replace(f"@{name}(", f"inttoptr (i64 {address} to ptr)(")
    return text


@once
def _entry() -> _Entry | None:
    """None on a Python without a GIL, or without CPython's functions: then every run is a command."""
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return _Entry() if sys.implementation.name == "cpython" and gil else None


class CpuExecutable(HostExecutable):
    """Native passes that follow each other are one native call; and all of them are a function of Python's
    as well, if they are short."""

    def __init__(self, plan: Plan, passes: Sequence[RunPass]) -> None:
        super().__init__(plan, passes)
        grouped = itertools.groupby(self.passes, lambda each: isinstance(each, PassLauncher))
        self._steps = [(native, tuple(group)) for native, group in grouped]

    def run(self, arrays: Sequence[Any], params: Numbers) -> None:
        for native, passes in self._steps:
            if native:
                run_passes(cast("tuple[PassLauncher, ...]", passes), arrays, params)
            else:
                for run_pass in passes:
                    run_pass(arrays, params)

    def quick(self, slots: Sequence[bool], guard: Guard) -> Callable[..., bool] | None:
        passes = [p for p in self.passes if isinstance(p, PassLauncher)]
        native = len(passes) == len(self.passes) and not self.temps
        if not native or sum(p.ns for p in passes) > BRIEF_NS or any(p.helpers for p in passes):
            return None
        entry = _entry()
        if entry is None:
            return None
        unread = array("q", [0])  # where the address of a buffer goes that no pass touches
        touched = {position for p in passes for _, position, _ in p.addresses}
        rest = [slot for slot, real in enumerate(slots) if real and slot not in touched]
        arrays = [n for slot in rest for n in (slot, _address(unread), 0)]
        numbers: list[int] = []
        calls: list[int] = []
        blocks = [p.block[:] for p in passes]
        scratch = _common_scratch(max((p.scratch_bytes for p in passes), default=0))
        for run, block in zip(passes, blocks, strict=True):
            start = _address(block)
            for word, position, offset in run.addresses:
                arrays += (position, start + 8 * word, offset)
            for number, dtype in enumerate(run.params):
                numbers += (len(slots) + number, start + 8 * (run.params_at + number), _kind(dtype))
            calls += (run.code.address, start, scratch.address)
        names = (guard.storage, guard.writer, "address")
        count = len(slots) + max((len(p.params) for p in passes), default=0)
        fixed = [count, id(guard.idle), *map(id, names), id(None)]
        frame = array("q", [*fixed, *arrays, END, *numbers, END, *calls, END])
        codes = [run.code for run in passes]
        owned = (frame, unread, blocks, scratch, codes, names, guard.idle)
        return entry.function((_address(frame), *owned))


def _address(words: array[int]) -> int:
    return words.buffer_info()[0]


def _kind(dtype: DType | None) -> int:
    """How a number is written: a parameter that a pass does not read may be of any kind."""
    if dtype is None or dtype is F64:
        return 0
    bits = 8 * dtype.bytes
    return 1 if dtype is F32 else (1 << bits) - 1 if bits < 64 else -1


_scratch: HostArray | None = None


def _common_scratch(size: int) -> HostArray:
    """Memory for what short runs keep in between; one is enough, as only one of them runs at a time."""
    global _scratch
    found = _scratch
    if found is None or found.type.shape[0] < size:  # twice as much: older runs keep theirs
        _scratch = found = HostArray(ArrayType((1 << size.bit_length(),), U8))
    return found
