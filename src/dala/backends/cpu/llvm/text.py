"""LLVM text being written: types, constants, fresh names, declarations."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from dala.ir.dtypes import S64, DType

_WORDS = {"s32": "i32", "s64": "i64", "u32": "i32", "u16": "i16", "u8": "i8"}
_LLVM = {"f32": "float", "f64": "double", **_WORDS}
_SUFFIX = {"f32": "f32", "f64": "f64", **_WORDS}


class Type(NamedTuple):
    """An element type, alone (``lanes`` 0) or as a vector."""

    dtype: DType
    lanes: int = 0

    @property
    def element(self) -> str:
        return _LLVM.get(self.dtype.name, "i1")

    @property
    def suffix(self) -> str:
        """The name intrinsics use for this type: ``v16f32``."""
        scalar = _SUFFIX.get(self.dtype.name, "i1")
        return f"v{self.lanes}{scalar}" if self.lanes else scalar

    def __str__(self) -> str:
        return _type_text(self.dtype, self.lanes)


@functools.cache
def _type_text(dtype: DType, lanes: int) -> str:
    element = Type(dtype).element
    return f"<{lanes} x {element}>" if lanes else element


LoopBody: TypeAlias = "Callable[[Code, str, list[str]], list[str]]"  # code, index, carried values


class Names:
    """Fresh names and the declarations a module needs, shared by all of its sections."""

    def __init__(self, fma: bool = False, x86: bool = False) -> None:
        self.fma = fma  # whether the machine multiplies and adds in one instruction
        self.x86 = x86
        self.count = 0
        self.declarations: dict[str, str] = {}
        self.functions: dict[str, str] = {}

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"


class Code:
    """One section of text: lines are appended, values get fresh names.

    A section is straight-line code without a store that its own loads could see, so the same text
    is the same value: writing it once spares LLVM the work of finding out (its loop passes took a
    third of the compile time). ``block`` is the label under which the next line stands.
    """

    def __init__(self, names: Names, block: str = "entry") -> None:
        self.names = names
        self.block = block
        self.lines: list[str] = []
        self._known: dict[str, str] = {}

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.block = name
        self.lines.append(f"{name}:")

    def repeat(
        self, count: int | str, step: int, carried: Sequence[tuple[str, str]], body: LoopBody
    ) -> list[str]:
        """``for i in range(0, count, step)``: ``body`` turns the carried values (type, first value)
        into those of the next round; the last ones are returned."""
        label, before = f"loop{self.names.fresh()[1:]}", self.block
        inner = Code(self.names, label)
        phis = [self.names.fresh() for _ in carried]
        results = body(inner, f"%{label}.i", phis)
        self.line(f"br label %{label}")
        self.label(label)
        back = inner.block
        self.line(f"%{label}.n = phi i64 [ 0, %{before} ], [ %{label}.next, %{back} ]")
        for (type_, first), name, result in zip(carried, phis, results, strict=True):
            self.line(f"{name} = phi {type_} [ {first}, %{before} ], [ {result}, %{back} ]")
        self.line(f"%{label}.i = {counted(f'%{label}.n')}")
        self.lines += inner.lines
        self.line(f"%{label}.next = add nuw nsw i64 %{label}.n, {step}")
        self.line(f"%{label}.on = icmp slt i64 %{label}.next, {count}")
        self.line(f"br i1 %{label}.on, label %{label}, label %{label}.end")
        self.label(f"{label}.end")
        return results

    def op(self, text: str) -> str:
        """``%fresh = text``, or the name that already has this value."""
        name = self._known.get(text)
        if name is None:
            name = self._known[text] = self.names.fresh()
            self.lines.append(f"  {name} = {text}")
        return name

    def add(self, a: str, b: int) -> str:
        """``a + b`` in 64 bits."""
        return self.op(f"add i64 {a}, {b}") if b else a

    def shift_down(self, a: str, bits: int) -> str:
        """``a >> bits`` in 64 bits."""
        return self.op(f"ashr i64 {a}, {bits}") if bits else a

    def least(self, a: str, b: str | int) -> str:
        """The smaller one of two numbers of 64 bits."""
        return self.intrinsic("smin", Type(S64), [a, str(b)])

    def largest(self, a: str, b: str | int) -> str:
        """The larger one of two numbers of 64 bits."""
        return self.intrinsic("smax", Type(S64), [a, str(b)])

    def moved(self, pointer: str, by: int, unit: str = "i8") -> str:
        """An address ``by`` units further."""
        return self.op(f"getelementptr {unit}, ptr {pointer}, i64 {by}") if by else pointer

    def select(self, t: Type, condition: str, yes: str, no: str) -> str:
        mask = f"<{t.lanes} x i1>" if t.lanes else "i1"
        return self.op(f"select {mask} {condition}, {t} {yes}, {t} {no}")

    @staticmethod
    def constant(t: Type, value: float | int | bool) -> str:
        """A literal, repeated over the lanes."""
        literal = literal_text(t.dtype, value)
        if not t.lanes:
            return literal
        return f"splat ({t.element} {literal})"

    def call(self, result: Type | str, name: str, operand: Type | str, args: list[str]) -> str:
        """A function that is declared with it."""
        types = ", ".join([str(operand)] * len(args))
        self.names.declarations[name] = f"declare {result} @{name}({types})"
        listed = ", ".join(f"{operand} {a}" for a in args)
        return self.op(f"call {result} @{name}({listed})")

    def intrinsic(self, name: str, t: Type, args: list[str]) -> str:
        """An LLVM intrinsic whose operands and result have one type."""
        return self.call(t, f"llvm.{name}.{t.suffix}", t, args)

    def shuffle(self, t: Type | str, a: str, order: Iterable[int], b: str = "poison") -> str:
        """Elements of two vectors in another order; those of the second are counted after the first's."""
        listed = [f"i32 {i}" for i in order]
        mask = f"<{len(listed)} x i32> <{', '.join(listed)}>"
        return self.op(f"shufflevector {t} {a}, {t} {b}, {mask}")

    def blend(self, t: Type | str, chosen: Sequence[bool], yes: str, no: str) -> str:
        """Elements of one vector or of another, as is known now."""
        mask = ", ".join(f"i1 {str(one).lower()}" for one in chosen)
        return self.op(f"select <{len(chosen)} x i1> <{mask}>, {t} {yes}, {t} {no}")

    def prefetch(self, pointer: str, locality: int) -> None:
        """Ask for the memory at an address that will be read; it may be anywhere."""
        name = "llvm.prefetch.p0"
        self.names.declarations[name] = f"declare void @{name}(ptr, i32, i32, i32)"
        self.line(f"call void @{name}(ptr {pointer}, i32 0, i32 {locality}, i32 1)")

    def splat(self, t: Type, scalar: str) -> str:
        """A scalar repeated over the lanes of ``t``."""
        single = self.op(f"insertelement {t} poison, {t.element} {scalar}, i64 0")
        return self.op(f"shufflevector {t} {single}, {t} poison, <{t.lanes} x i32> zeroinitializer")


def splat(value: int, element: str = "i16") -> str:
    """An integer on all lanes, as a literal."""
    return f"splat ({element} {value})"


def counted(name: str) -> str:
    """A loop's counter as the loop's body sees it: a number that LLVM knows nothing of.

    Its loop strength reduction would weigh every address of a stencil against every other (a third of the
    compile time), to find what we already wrote. An empty piece of assembly hides where the number is from.
    """
    return f'call i64 asm "", "=r,0"(i64 {name})'


def signed(bits: int) -> int:
    """32 bits as LLVM writes an i32."""
    return bits - (1 << 32) if bits >= 1 << 31 else bits


def literal_text(dtype: DType, value: float | int | bool) -> str:
    """A number as LLVM writes it; floats in hexadecimal, so that no bit is lost."""
    if dtype.is_float:
        number = struct.unpack("<f", struct.pack("<f", value))[0] if dtype.bytes == 4 else value
        return "0x" + struct.pack(">d", float(number)).hex().upper()
    if dtype.kind == "b":
        return "true" if value else "false"
    return str(int(value))
