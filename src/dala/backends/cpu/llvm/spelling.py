"""Each op of the table in LLVM text, for scalars and for vectors alike.

A spelling takes the code being written and operand names and returns the result's name. The corner
cases (NaN, division by zero, shifts) follow the policy written on top of ``ir/ops.py``.
"""

from __future__ import annotations

from collections.abc import Callable

from dala.backends.cpu.llvm import isa, mathlib
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import BOOL, F32, F64

Spelling = Callable[[Code, Type, list[str]], str]

_COMPARE_FLOAT = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_COMPARE_INT = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


def spell(code: Code, op: str, type_: Type, operand: Type, args: list[str]) -> str:
    """The value of ``op``; ``type_`` is the result's type, ``operand`` the first argument's."""
    if op in _COMPARE_FLOAT:
        return _compare(code, op, operand, args)
    if op == "cast":
        return _cast(code, type_, operand, args[0])
    if op == "select":
        condition = Type(BOOL, type_.lanes)
        return code.op(f"select {condition} {args[0]}, {type_} {args[1]}, {type_} {args[2]}")
    return SPELLINGS[op](code, type_, args)


def _arithmetic(float_name: str, int_name: str) -> Spelling:
    def emit(code: Code, t: Type, args: list[str]) -> str:
        name = float_name if t.dtype.is_float else int_name
        return code.op(f"{name} {t} {args[0]}, {args[1]}")

    return emit


def _intrinsic(name: str) -> Spelling:
    return lambda code, t, args: code.intrinsic(name, t, args)


def _neg(code: Code, t: Type, args: list[str]) -> str:
    if t.dtype.is_float:
        return code.op(f"fneg {t} {args[0]}")
    return code.op(f"sub {t} {code.constant(t, 0)}, {args[0]}")


def _abs(code: Code, t: Type, args: list[str]) -> str:
    if t.dtype.is_float:
        return code.intrinsic("fabs", t, args)
    if t.dtype.kind == "u":
        return args[0]
    negative = code.op(f"sub {t} {code.constant(t, 0)}, {args[0]}")
    below = code.op(f"icmp slt {t} {args[0]}, {code.constant(t, 0)}")
    return code.select(t, below, negative, args[0])


def _extreme(op: str) -> Spelling:
    return lambda code, t, args: isa.extreme(code, op, t, args)


def _compare(code: Code, op: str, t: Type, args: list[str]) -> str:
    if t.dtype.is_float:
        return code.op(f"fcmp {_COMPARE_FLOAT[op]} {t} {args[0]}, {args[1]}")
    if op in _COMPARE_INT:
        sign = "s" if t.dtype.kind == "s" else "u"
        return code.op(f"icmp {sign}{_COMPARE_INT[op]} {t} {args[0]}, {args[1]}")
    return code.op(f"icmp {op} {t} {args[0]}, {args[1]}")


def _safe_divisor(code: Code, t: Type, a: str, b: str) -> tuple[str, str]:
    """A divisor that cannot trap, and where it was zero: MIN / -1 divides by 1, which is MIN too."""
    zero = code.op(f"icmp eq {t} {b}, {code.constant(t, 0)}")
    unsafe = zero
    if t.dtype.kind == "s":
        lowest = code.constant(t, -(1 << (t.dtype.bytes * 8 - 1)))
        at_lowest = code.op(f"icmp eq {t} {a}, {lowest}")
        minus_one = code.op(f"icmp eq {t} {b}, {code.constant(t, -1)}")
        mask = Type(BOOL, t.lanes)
        both = code.op(f"and {mask} {at_lowest}, {minus_one}")
        unsafe = code.op(f"or {mask} {zero}, {both}")
    return code.select(t, unsafe, code.constant(t, 1), b), zero


def _floordiv(code: Code, t: Type, args: list[str]) -> str:
    a, b = args
    if t.dtype.is_float:
        return code.intrinsic("floor", t, [code.op(f"fdiv {t} {a}, {b}")])
    divisor, zero = _safe_divisor(code, t, a, b)
    if t.dtype.kind == "u":
        quotient = code.op(f"udiv {t} {a}, {divisor}")
    else:
        truncated = code.op(f"sdiv {t} {a}, {divisor}")
        off = _signs_differ(code, t, code.op(f"srem {t} {a}, {divisor}"), divisor)
        below = code.op(f"sub {t} {truncated}, {code.constant(t, 1)}")
        quotient = code.select(t, off, below, truncated)
    return code.select(t, zero, code.constant(t, 0), quotient)


def _mod(code: Code, t: Type, args: list[str]) -> str:
    a, b = args
    if t.dtype.is_float:
        whole = code.op(f"fmul {t} {b}, {_floordiv(code, t, args)}")
        return code.op(f"fsub {t} {a}, {whole}")
    divisor, zero = _safe_divisor(code, t, a, b)
    if t.dtype.kind == "u":
        rest = code.op(f"urem {t} {a}, {divisor}")
    else:
        truncated = code.op(f"srem {t} {a}, {divisor}")
        off = _signs_differ(code, t, truncated, divisor)
        above = code.op(f"add {t} {truncated}, {divisor}")
        rest = code.select(t, off, above, truncated)
    return code.select(t, zero, code.constant(t, 0), rest)


def _signs_differ(code: Code, t: Type, rest: str, divisor: str) -> str:
    """Where a truncating division must be corrected to a flooring one."""
    mask = Type(BOOL, t.lanes)
    inexact = code.op(f"icmp ne {t} {rest}, {code.constant(t, 0)}")
    mixed = code.op(f"xor {t} {rest}, {divisor}")
    negative = code.op(f"icmp slt {t} {mixed}, {code.constant(t, 0)}")
    return code.op(f"and {mask} {inexact}, {negative}")


def _shift(left: bool) -> Spelling:
    def emit(code: Code, t: Type, args: list[str]) -> str:
        a, count = args
        bits = t.dtype.bytes * 8
        inside = code.op(f"icmp ult {t} {count}, {code.constant(t, bits)}")
        if not left and t.dtype.kind == "s":
            capped = code.select(t, inside, count, code.constant(t, bits - 1))
            return code.op(f"ashr {t} {a}, {capped}")
        safe = code.select(t, inside, count, code.constant(t, 0))
        shifted = code.op(f"{'shl' if left else 'lshr'} {t} {a}, {safe}")
        return code.select(t, inside, shifted, code.constant(t, 0))

    return emit


def _not(code: Code, t: Type, args: list[str]) -> str:
    return code.op(f"xor {t} {args[0]}, {code.constant(t, True)}")


def _level(white: float) -> Spelling:
    def emit(code: Code, t: Type, args: list[str]) -> str:
        zero, top = code.constant(t, 0.0), code.constant(t, white)
        scaled = code.op(f"fmul {t} {args[0]}, {top}")
        low = code.select(t, code.op(f"fcmp ogt {t} {scaled}, {zero}"), scaled, zero)
        high = code.select(t, code.op(f"fcmp olt {t} {low}, {top}"), low, top)
        return code.intrinsic("roundeven", t, [high])

    return emit


def _cast(code: Code, target: Type, source: Type, value: str) -> str:
    a, b = source.dtype, target.dtype
    if a.is_float and b.is_float:
        return code.op(f"{'fpext' if b == F64 else 'fptrunc'} {source} {value} to {target}")
    if a.is_float:
        return _saturate(code, target, source, value)
    if b.is_float:
        signed = "sitofp" if a.kind == "s" else "uitofp"
        return code.op(f"{signed} {source} {value} to {target}")
    if a.bytes == b.bytes and a.kind != "b":
        return value  # s32 ↔ u32: the same bits
    if a.kind == "b":
        return code.op(f"zext {source} {value} to {target}")
    word = "trunc" if b.bytes < a.bytes else ("sext" if a.kind == "s" else "zext")
    return code.op(f"{word} {source} {value} to {target}")


def _saturate(code: Code, target: Type, source: Type, value: str) -> str:
    """Float to integer by compares and selects: LLVM's own saturating cast goes lane by lane."""
    bits, signed = target.dtype.bytes * 8, target.dtype.kind == "s"
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    first, beyond = code.constant(source, float(low)), code.constant(source, float(high))
    above = code.op(f"fcmp oge {source} {value}, {first}")
    below = code.op(f"fcmp olt {source} {value}, {beyond}")
    inside = code.op(f"and {Type(BOOL, source.lanes)} {above}, {below}")  # not so for NaN
    safe = code.select(source, inside, value, code.constant(source, 0.0))
    whole = code.op(f"{'fptosi' if signed else 'fptoui'} {source} {safe} to {target}")
    too_high = code.op(f"fcmp oge {source} {value}, {beyond}")
    whole = code.select(target, too_high, code.constant(target, high - 1), whole)
    too_low = code.op(f"fcmp olt {source} {value}, {first}")
    return code.select(target, too_low, code.constant(target, low), whole)


def _mathematics(name: str) -> Spelling:
    def emit(code: Code, t: Type, args: list[str]) -> str:
        if t.dtype == F32:
            return mathlib.emit(code, name, t, args)
        return code.intrinsic(name, t, args)  # f64: the C library's own function, lane by lane

    return emit


SPELLINGS: dict[str, Spelling] = {
    "add": _arithmetic("fadd", "add"),
    "sub": _arithmetic("fsub", "sub"),
    "mul": _arithmetic("fmul", "mul"),
    "div": _arithmetic("fdiv", "udiv"),
    "floordiv": _floordiv,
    "mod": _mod,
    "neg": _neg,
    "abs": _abs,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "fma": _intrinsic("fma"),
    "and": _arithmetic("and", "and"),
    "or": _arithmetic("or", "or"),
    "xor": _arithmetic("xor", "xor"),
    "not": _not,
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "trunc": _intrinsic("trunc"),
    "round": _intrinsic("roundeven"),
    "level": _level(255.0),
    "level16": _level(65535.0),
    "sqrt": _intrinsic("sqrt"),
    **{name: _mathematics(name) for name in ("exp", "log", "sin", "cos", "tanh", "atan2", "pow")},
}
SPELLED_APART = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "cast", "select"})
