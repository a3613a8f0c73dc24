"""What the rasteriser's functions may say beside arithmetic: memory, unsigned numbers, roots.

Each word has its LLVM spelling and its meaning in Python, on the same memory.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

from dala.gpu.raster.language import FloatWord, Word

_WRAP = 1 << 64
_LOAD = """define internal i64 @{name}(i64 %address) alwaysinline {{
  %p = inttoptr i64 %address to ptr
  %v = load {type}, ptr %p, align 1
  {widen}
  ret i64 %r
}}"""
_STORE = """define internal i64 @{name}(i64 %address, i64 %value) alwaysinline {{
  %p = inttoptr i64 %address to ptr
  %v = {narrow}
  store {type} %v, ptr %p, align 1
  ret i64 0
}}"""


def _load(name: str, kind: Any, llvm: str, extend: str) -> Word:
    widen = f"%r = {extend} {llvm} %v to i64" if extend else "%r = add i64 %v, 0"
    text = _LOAD.format(name=name, type=llvm, widen=widen)
    return Word(name, lambda: text, lambda address: int(kind.from_address(address).value))


def _store(name: str, kind: Any, llvm: str) -> Word:
    narrow = f"trunc i64 %value to {llvm}" if llvm != "i64" else "add i64 %value, 0"

    def meaning(address: int, value: int) -> int:
        kind.from_address(address).value = value
        return 0

    text = _STORE.format(name=name, type=llvm, narrow=narrow)
    return Word(name, lambda: text, meaning)


load8 = _load("load8", ctypes.c_uint8, "i8", "zext")
load_u32 = _load("load_u32", ctypes.c_uint32, "i32", "zext")
load_s32 = _load("load_s32", ctypes.c_int32, "i32", "sext")
load64 = _load("load64", ctypes.c_int64, "i64", "")
store8 = _store("store8", ctypes.c_uint8, "i8")
store32 = _store("store32", ctypes.c_uint32, "i32")
store64 = _store("store64", ctypes.c_int64, "i64")

_BINARY = """define internal i64 @{name}(i64 %a, i64 %b) alwaysinline {{
  {line}
  ret i64 %r
}}"""
udiv = Word(  # the quotient of two unsigned numbers; the second is not zero
    "udiv",
    lambda: _BINARY.format(name="udiv", line="%r = udiv i64 %a, %b"),
    lambda a, b: (a % _WRAP) // (b % _WRAP),
)
below = Word(  # a < b for unsigned numbers
    "below",
    lambda: _BINARY.format(name="below", line="%c = icmp ult i64 %a, %b\n  %r = zext i1 %c to i64"),
    lambda a, b: int(a % _WRAP < b % _WRAP),
)
take_some = (
    Word(  # the number at an address, which is larger for whoever comes next, of all threads
        "take_some",
        lambda: (
            """define internal i64 @take_some(i64 %address, i64 %many) {
  %p = inttoptr i64 %address to ptr
  %r = atomicrmw add ptr %p, i64 %many monotonic
  ret i64 %r
}"""
        ),
        lambda address, many: (number := load64(address), store64(address, number + many))[0],
    )
)


def take_next(address: int) -> int:
    """The same for one: numbers one after the other."""
    return take_some(address, 1)


copy_bytes = Word(  # bytes from one place to another that does not overlap
    "copy_bytes",
    lambda: (
        """declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal i64 @copy_bytes(i64 %to, i64 %from, i64 %count) {
  %p = inttoptr i64 %to to ptr
  %q = inttoptr i64 %from to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %count, i1 false)
  ret i64 0
}"""
    ),
    lambda to, origin, count: (ctypes.memmove(to, origin, count), 0)[1],
)
# The whole part of the square root of an unsigned number. The double is off by at most one (its
# 53 bits are fewer than 64), so one step down and one up make it exact.
root = Word(
    "root",
    lambda: (
        """declare double @llvm.sqrt.f64(double)
declare i64 @llvm.umin.i64(i64, i64)
define internal i64 @root(i64 %v) alwaysinline {
  %d = uitofp i64 %v to double
  %s = call double @llvm.sqrt.f64(double %d)
  %i = fptoui double %s to i64
  %g = call i64 @llvm.umin.i64(i64 %i, i64 4294967295)
  %gg = mul i64 %g, %g
  %over = icmp ugt i64 %gg, %v
  %down = zext i1 %over to i64
  %h = sub i64 %g, %down
  %n = add i64 %h, 1
  %nn = mul i64 %n, %n
  %fits = icmp ule i64 %nn, %v
  %small = icmp ult i64 %h, 4294967295
  %more = and i1 %fits, %small
  %up = zext i1 %more to i64
  %r = add i64 %h, %up
  ret i64 %r
}"""
    ),
    lambda v: math.isqrt(v % _WRAP),
)


# -- floats ------------------------------------------------------------------------------------------


def _load_float(name: str, kind: Any, llvm: str, widen: str) -> FloatWord:
    text = f"""define internal double @{name}(i64 %address) alwaysinline {{
  %p = inttoptr i64 %address to ptr
  %v = load {llvm}, ptr %p, align 1
  {widen}
  ret double %r
}}"""
    return FloatWord(name, lambda: text, lambda address: kind.from_address(address).value)


load_f32 = _load_float("load_f32", ctypes.c_float, "float", "%r = fpext float %v to double")
load_f64 = _load_float("load_f64", ctypes.c_double, "double", "%r = fadd double %v, -0.0")


def _store_f64(address: int, value: float) -> int:
    ctypes.c_double.from_address(address).value = value
    return 0


store_f64 = Word(
    "store_f64",
    lambda: (
        """define internal i64 @store_f64(i64 %address, double %value) alwaysinline {
  %p = inttoptr i64 %address to ptr
  store double %value, ptr %p, align 1
  ret i64 0
}"""
    ),
    _store_f64,
    floats=(1,),
)


def _store_f32(address: int, value: float) -> int:
    ctypes.c_float.from_address(address).value = value
    return 0


store_f32 = Word(
    "store_f32",
    lambda: (
        """define internal i64 @store_f32(i64 %address, double %value) alwaysinline {
  %p = inttoptr i64 %address to ptr
  %v = fptrunc double %value to float
  store float %v, ptr %p, align 1
  ret i64 0
}"""
    ),
    _store_f32,
    floats=(1,),
)


def _unary(name: str, intrinsic: str, meaning: Any) -> FloatWord:
    text = f"""declare double @llvm.{intrinsic}.f64(double)

define internal double @{name}(double %x) alwaysinline {{
  %r = call double @llvm.{intrinsic}.f64(double %x)
  ret double %r
}}"""
    return FloatWord(name, lambda: text, meaning, floats=(0,))


square_root = _unary("square_root", "sqrt", math.sqrt)
floor = _unary("floor", "floor", lambda x: float(math.floor(x)))
magnitude = _unary("magnitude", "fabs", abs)

truncate = Word(  # the whole part of a float that is known to be below 2⁶³; int() holds others
    "truncate",
    lambda: (
        """define internal i64 @truncate(double %x) alwaysinline {
  %r = fptosi double %x to i64
  ret i64 %r
}"""
    ),
    math.trunc,
    floats=(0,),
)


ask_for = Word(  # have a cache line come, to be written, while something else is done
    "ask_for",
    lambda: (
        """declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal i64 @ask_for(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to ptr
  call void @llvm.prefetch.p0(ptr %p, i32 1, i32 3, i32 1)
  ret i64 0
}"""
    ),
    lambda address: 0,
)


def _call_at(address: int, a: int, b: int, c: int) -> int:
    kinds = [ctypes.c_int64] * 4
    return int(ctypes.CFUNCTYPE(*kinds)(address)(a, b, c))


call_at = Word(  # a function of three numbers, by its address
    "call_at",
    lambda: (
        """define internal i64 @call_at(i64 %address, i64 %a, i64 %b, i64 %c) alwaysinline {
  %f = inttoptr i64 %address to ptr
  %r = call i64 %f(i64 %a, i64 %b, i64 %c)
  ret i64 %r
}"""
    ),
    _call_at,
)
