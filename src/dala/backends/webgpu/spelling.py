"""Each op of the table in WGSL. A spelling takes operand names and returns an expression.

Types on this device: f32 f64 i32 i64 u32 bool; a ``u8`` element is a u32 in 0..255, a ``u16`` one a u32
in 0..65535, so whatever may leave that range is masked. The corners follow ``ir/ops.py`` as far as WGSL
lets them: ``EXCEPTIONS`` in tests/helpers/precision.py lists what a WebGPU driver may do otherwise.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from dala.ir.dtypes import BOOL, F32, F64, S32, S64, U8, U16, U32, DType

Spelling = Callable[[DType, list[str]], str]

WGSL_TYPES = {F32: "f32", F64: "f64", S32: "i32", S64: "i64", U32: "u32", BOOL: "bool"}
WGSL_TYPES |= {U16: "u32", U8: "u32"}
MASKS = {U16: "65535u", U8: "255u"}  # what is narrower than its WGSL type
NEEDS = {F64: "shader-f64", S64: "shader-int64"}  # element types that an adapter may lack


def type_name(dtype: DType) -> str:
    """How WGSL calls values of an element type."""
    return WGSL_TYPES[dtype]


def constant(dtype: DType, value: float | int | bool) -> str:
    """A literal of exactly that value."""
    match dtype.name:
        case "bool":
            return "true" if value else "false"
        case "f32":
            return _f32(float(value))
        case "f64":
            return _f64(float(value))
        case "s32":
            return f"i32({value})" if value == -(2**31) else f"{value}i"
        case "s64":
            return f"(-{2**63 - 1}li - 1li)" if value == -(2**63) else f"{value}li"
    return f"{value}u"


def _f32(value: float) -> str:
    if math.isfinite(value):
        return f"{value!r}f"
    return f"bitcast<f32>({struct.unpack('<I', struct.pack('<f', value))[0]:#010x}u)"


def _f64(value: float) -> str:
    if math.isfinite(value):
        return f"{value!r}lf"
    return (
        "(0.0lf / zero64())"
        if math.isnan(value)
        else f"({'-' if value < 0 else ''}1.0lf / zero64())"
    )


def spell(op: str, dtype: DType, operand: DType, args: list[str]) -> str:
    """The expression of ``op``; ``dtype`` is the result's type, ``operand`` the first argument's."""
    if op in _COMPARE:
        return f"({args[0]} {_COMPARE[op]} {args[1]})"
    if op == "ne":  # WGSL's own is false for NaN on some drivers
        return f"!({args[0]} == {args[1]})"
    if op == "cast":
        return cast(dtype, operand, args[0])
    return SPELLINGS[op](dtype, args)


_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}


def _wrap(dtype: DType, text: str) -> str:
    return f"({text} & {MASKS[dtype]})" if dtype in MASKS else f"({text})"


def _infix(symbol: str) -> Spelling:
    return lambda t, a: _wrap(
        t, f"({a[0]} {symbol} {a[1]})" if t in MASKS else f"{a[0]} {symbol} {a[1]}"
    )


def _bitwise(symbol: str, logic: str) -> Spelling:
    def emit(t: DType, a: list[str]) -> str:
        if t != BOOL:
            return f"({a[0]} {symbol} {a[1]})"
        return f"({a[0]} {logic} {a[1]})"

    return emit


def _function(name: str) -> Spelling:
    return lambda t, a: f"{name}({', '.join(a)})"


def _mathematics(name: str) -> Spelling:
    """f32: the driver's own, guarded where it is known to fail; f64: ours, in ``functions.py``."""

    def emit(t: DType, a: list[str]) -> str:
        prefix = "f64_" if t == F64 else "safe_"
        return f"{prefix}{name}({', '.join(a)})"

    return emit


def _neg(t: DType, a: list[str]) -> str:
    if t.kind == "u":
        return _wrap(t, f"(0u - {a[0]})")
    return f"(-{a[0]})"


def _abs(t: DType, a: list[str]) -> str:
    return a[0] if t.kind == "u" else f"abs({a[0]})"


def _extreme(symbol: str) -> Spelling:
    return lambda t, a: f"select({a[1]}, {a[0]}, {a[0]} {symbol} {a[1]})"


def _of_type(name: str) -> Spelling:
    """A function of ours for each type."""
    return lambda t, a: f"{type_name(t)}_{name}({', '.join(a)})"


def spell_with_nan(op: str, dtype: DType, args: list[str]) -> str:
    """``min`` or ``max`` of floats whose second operand may be NaN."""
    return f"{type_name(dtype)}_{op}({', '.join(args)})"


def spell_is_nan(dtype: DType, name: str) -> str:
    """Whether a float is NaN: by its bits, since WGSL lets a driver assume that there is none."""
    return f"is_nan({name})" if dtype == F32 else f"!({name} == {name})"


def spell_by_power_of_two(op: str, dtype: DType, args: list[str], divisor: float) -> str:
    """``floordiv`` or ``mod`` by a power of two: every step is exact, contracted or not."""
    quotient = f"floor({args[0]} * {constant(dtype, 1 / divisor)})"
    return quotient if op == "floordiv" else f"({args[0]} - {args[1]} * {quotient})"


def is_power_of_two(number: object) -> bool:
    """Whether a number and its inverse are powers of two that f32 has."""
    return (
        isinstance(number, float)
        and math.frexp(number)[0] in (0.5, -0.5)
        and abs(math.frexp(number)[1]) < 100
    )


def _as_count(number: str) -> str:
    """By how much to shift, as u32; naga does not convert a literal of 64 bits."""
    literal = number.strip("()").removesuffix("li")
    return f"{int(literal) % 2**32}u" if literal.lstrip("-").isdigit() else f"u32({number})"


def _shift(left: bool) -> Spelling:
    def emit(t: DType, a: list[str]) -> str:
        bits = t.bytes * 8
        zero, width = constant(t, 0), constant(t, bits)
        inside = f"({a[1]} < {width})"
        if t.kind == "s":
            inside = f"({a[1]} >= {zero} && {a[1]} < {width})"
        count = f"select({0 if left or t.kind == 'u' else bits - 1}u, {_as_count(a[1])}, {inside})"
        if left:
            return f"select({zero}, {_wrap(t, f'({a[0]} << {count})')}, {inside})"
        if t.kind == "s":
            return f"({a[0]} >> {count})"
        return f"select({zero}, {a[0]} >> {count}, {inside})"

    return emit


def _trunc(t: DType, a: list[str]) -> str:
    if t == F64:  # some drivers drop the sign of zero
        return f"select(floor({a[0]}), ceil({a[0]}), {a[0]} < 0.0lf)"
    return f"trunc({a[0]})"


def _select(t: DType, a: list[str]) -> str:
    return f"select({a[2]}, {a[1]}, {a[0]})"


def cast(target: DType, source: DType, value: str) -> str:
    """The cast policy: integers wrap, floats truncate and saturate, NaN becomes 0."""
    name = type_name(target)
    if source == BOOL:
        return f"select({constant(target, 0)}, {constant(target, 1)}, {value})"
    if source.is_float and not target.is_float:
        return f"{type_name(source)}_to_{target.name}({value})"
    if target in MASKS:
        return f"(u32({value}) & {MASKS[target]})"
    if target == S64 and source.kind == "u":
        return f"u32_to_s64({value})"
    return f"{name}({value})"


SPELLINGS: dict[str, Spelling] = {
    "add": _infix("+"),
    "sub": _infix("-"),
    "mul": _infix("*"),
    "div": _infix("/"),
    "floordiv": _of_type("floordiv"),
    "mod": _of_type("mod"),
    "neg": _neg,
    "abs": _abs,
    "min": _extreme("<"),
    "max": _extreme(">"),
    "fma": _function("fma"),
    "and": _bitwise("&", "&&"),
    "or": _bitwise("|", "||"),
    "xor": _bitwise("^", "!="),
    "not": lambda t, a: f"!{a[0]}",
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "select": _select,
    "floor": _function("floor"),
    "ceil": _function("ceil"),
    "trunc": _trunc,
    "round": lambda t, a: f"f64_round({a[0]})" if t == F64 else f"round({a[0]})",
    "level": lambda t, a: f"round(saturate({a[0]}) * 255.0f)",
    "level16": lambda t, a: f"round(saturate({a[0]}) * 65535.0f)",
    "sqrt": _function("sqrt"),
    **{name: _mathematics(name) for name in ("exp", "log", "sin", "cos", "tanh", "atan2", "pow")},
}
SPELLED_APART = frozenset({*_COMPARE, "ne", "cast"})
