"""THE op table. One row is one op: arity, type rule, NumPy meaning, tolerance.

The NumPy meaning drives the reference device and constant folding; a backend adds only its spelling.
The tolerance is what a compiled device may differ by, relative, for f32 (f64 uses libm: a few ulp).

Policy for the corners, the same on every device:

* integers wrap; integer division by zero gives 0, and MIN // -1 gives MIN (as NumPy does);
* floats follow IEEE 754: x/0 is ±inf, 0/0 is NaN, overflow is ±inf;
* ``min(a, b)`` is ``a if a < b else b`` and ``max(a, b)`` is ``a if a > b else b``: with a NaN the
  second operand wins, exactly as one SIMD instruction (and one WGSL select) does it;
* comparisons with NaN are false, except ``ne``;
* casting a float to an integer truncates, saturates at the ends of the range, and NaN becomes 0;
* ``level`` (what a ``u8`` image stores) rounds to nearest even, clamps to 0..255, and NaN becomes 0;
  ``level16`` (what a ``u16`` image stores) is the same for 0..65535;
* ``average(v…, w…)`` is Σ v·w / Σ w; a weight below zero (or NaN) counts as zero, so the result lies
  between the smallest and the largest value: what lets a device compute it in 16 bits;
* ``half(v)`` is v; where images are bytes a device may compute v in f16, within a level;
* shifts by a negative count or by the width or more give 0 (arithmetic right shift: the sign).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dala.ir.dtypes import BOOL, F32, S32, DType

Array = npt.NDArray[Any]
T = TypeVar("T")
VARIADIC = -1  # an arity: any even number of operands
TypeRule = Callable[[Sequence[DType]], "DType | str"]


@dataclass(frozen=True, slots=True)
class Op:
    """One row of the table. ``types`` returns the result type, or a sentence saying what it wants."""

    name: str
    arity: int
    types: TypeRule
    numpy: Callable[..., Array] | None
    tolerance: float = 0.0
    length: int = 1  # instructions that it is spelled out as, roughly


def _same(wanted: Callable[[DType], bool], words: str, result: DType | None = None) -> TypeRule:
    def rule(types: Sequence[DType]) -> DType | str:
        if any(t != types[0] for t in types):
            listed = " and ".join(t.name for t in types)
            return f"needs operands of one type, got {listed}; cast one of them"
        if not wanted(types[0]):
            return f"needs {words}, got {types[0].name}"
        return result or types[0]

    return rule


_number = _same(lambda t: t.kind != "b", "numbers")
_float = _same(lambda t: t.is_float, "a float type (f32 or f64)")
_int = _same(lambda t: t.is_int, "an integer type")
_bits = _same(lambda t: not t.is_float, "integers or booleans")
_bool = _same(lambda t: t.kind == "b", "booleans")
_compare = _same(lambda t: t.kind != "b", "numbers", BOOL)
_f32 = _same(lambda t: t == F32, "f32")


def _select(types: Sequence[DType]) -> DType | str:
    if types[0] != BOOL:
        return f"needs a condition (a comparison), got {types[0].name}"
    if types[1] != types[2]:
        return f"needs both choices of one type, got {types[1].name} and {types[2].name}"
    return types[1]


def _power(a: Any, b: Any) -> Any:
    """NumPy takes one exponent of 0.5 for many bases as a square root, which differs (of -∞, and of -0): so
    every base has its own, and a number is an array of one.
    """
    wide_a, wide_b = np.broadcast_arrays(a, b)
    power = np.power(np.array(wide_a, ndmin=1), np.array(wide_b, ndmin=1))
    return power.reshape(wide_a.shape)


def _quiet(function: Callable[..., Any]) -> Callable[..., Array]:
    def call(*args: Any) -> Array:
        with np.errstate(all="ignore"):
            return function(*args)  # type: ignore[no-any-return]

    return call


def _floordiv(a: Array, b: Array) -> Array:
    if np.asarray(a).dtype.kind == "f":
        return np.floor(np.divide(a, b))
    return np.floor_divide(a, b)


def _mod(a: Array, b: Array) -> Array:
    # For floats this is the formula the compilers use, not fmod: a - b * floor(a / b).
    if np.asarray(a).dtype.kind == "f":
        return np.subtract(a, np.multiply(b, np.floor(np.divide(a, b))))
    return np.remainder(a, b)


def _fma(a: Array, b: Array, c: Array) -> Array:
    if np.asarray(a).dtype == np.float32:
        wide = np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64)
        return np.asarray(wide).astype(np.float32)
    return np.add(np.multiply(a, b), c)


def _average(*operands: Array) -> Array:
    values, weights = split_average(operands)
    weights = tuple(np.where(np.greater(w, 0), w, np.zeros_like(w)) for w in weights)
    total = weights[0]
    for weight in weights[1:]:
        total = np.add(total, weight)
    result = np.multiply(values[0], np.divide(weights[0], total))
    for value, weight in zip(values[1:], weights[1:], strict=True):
        result = np.add(result, np.multiply(value, np.divide(weight, total)))
    return result


def split_average(operands: Sequence[T]) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """The operands of ``average``: values first, then as many weights."""
    half = len(operands) // 2
    return tuple(operands[:half]), tuple(operands[half:])


def _shift(left: bool) -> Callable[[Array, Array], Array]:
    def call(a: Array, n: Array) -> Array:
        bits = np.asarray(a).dtype.itemsize * 8
        in_range = (np.asarray(n) >= 0) & (np.asarray(n) < bits)
        safe = np.where(in_range, n, 0).astype(np.asarray(a).dtype)
        if left:
            return np.where(in_range, np.left_shift(a, safe), 0).astype(np.asarray(a).dtype)
        beyond = np.where(np.asarray(a) < 0, -1, 0) if np.asarray(a).dtype.kind == "i" else 0
        return np.where(in_range, np.right_shift(a, safe), beyond).astype(np.asarray(a).dtype)

    return call


def _level(white: int) -> Callable[[Array], Array]:
    top = np.float32(white)

    def call(v: Array) -> Array:
        scaled = np.asarray(v, np.float32) * top
        low = np.where(scaled > 0, scaled, np.float32(0))
        return np.rint(np.where(low < top, low, top)).astype(np.float32)

    return call


def cast_array(value: Array, target: DType) -> Array:
    """The meaning of ``cast``: integers wrap, floats to integers truncate and saturate, NaN → 0."""
    array = np.asarray(value)
    if array.dtype.kind != "f" or target.kind not in "su":
        with np.errstate(all="ignore"):
            return array.astype(target.numpy)
    info = np.iinfo(target.numpy)
    with np.errstate(all="ignore"):
        whole = np.trunc(np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf))
        low, high = array.dtype.type(info.min), array.dtype.type(info.max)
        inside = (whole > low) & (whole < high)
        result = np.where(inside, whole, 0).astype(target.numpy)
        result = np.where(whole >= high, info.max, result)
        return np.where(whole <= low, info.min, result).astype(target.numpy)


_ROWS = [
    # leaves: their meaning is the pass's geometry, so the interpreter supplies it
    Op("const", 0, lambda types: F32, None),
    Op("param", 0, lambda types: F32, None),
    Op("coord", 0, lambda types: S32, None),
    Op("extent", 0, lambda types: S32, None),
    Op("load", 0, lambda types: F32, None),
    Op("gather", -1, lambda types: F32, None),
    Op("cast", 1, lambda types: types[0], None, length=5),
    # arithmetic
    Op("add", 2, _number, _quiet(np.add)),
    Op("sub", 2, _number, _quiet(np.subtract)),
    Op("mul", 2, _number, _quiet(np.multiply)),
    Op("div", 2, _float, _quiet(np.divide)),
    Op("floordiv", 2, _number, _quiet(_floordiv), length=13),
    Op("mod", 2, _number, _quiet(_mod), length=12),
    Op("neg", 1, _number, _quiet(np.negative)),
    Op("abs", 1, _number, _quiet(np.abs)),
    Op("min", 2, _number, _quiet(lambda a, b: np.where(np.less(a, b), a, b))),
    Op("max", 2, _number, _quiet(lambda a, b: np.where(np.greater(a, b), a, b))),
    Op("fma", 3, _float, _quiet(_fma), 2e-7),
    Op("average", VARIADIC, _float, _quiet(_average), 1e-6),
    # comparison, logic, choice
    Op("lt", 2, _compare, _quiet(np.less)),
    Op("le", 2, _compare, _quiet(np.less_equal)),
    Op("gt", 2, _compare, _quiet(np.greater)),
    Op("ge", 2, _compare, _quiet(np.greater_equal)),
    Op("eq", 2, _compare, _quiet(np.equal)),
    Op("ne", 2, _compare, _quiet(np.not_equal)),
    Op("and", 2, _bits, _quiet(np.bitwise_and)),
    Op("or", 2, _bits, _quiet(np.bitwise_or)),
    Op("xor", 2, _bits, _quiet(np.bitwise_xor)),
    Op("not", 1, _bool, _quiet(np.logical_not)),
    Op("shl", 2, _int, _quiet(_shift(left=True))),
    Op("shr", 2, _int, _quiet(_shift(left=False))),
    Op("select", 3, _select, _quiet(np.where)),
    # rounding
    Op("floor", 1, _float, _quiet(np.floor)),
    Op("ceil", 1, _float, _quiet(np.ceil)),
    Op("trunc", 1, _float, _quiet(np.trunc)),
    Op("round", 1, _float, _quiet(np.rint)),
    Op("level", 1, _f32, _quiet(_level(255))),
    Op("level16", 1, _f32, _quiet(_level(65535))),
    Op("half", 1, _float, _quiet(np.positive)),
    # mathematics
    Op("sqrt", 1, _float, _quiet(np.sqrt)),
    Op("exp", 1, _float, _quiet(np.exp), 4e-7, 30),
    Op("log", 1, _float, _quiet(np.log), 4e-7, 40),
    Op("sin", 1, _float, _quiet(np.sin), 1e-6, 30),
    Op("cos", 1, _float, _quiet(np.cos), 1e-6, 30),
    Op("tanh", 1, _float, _quiet(np.tanh), 1e-6, 45),
    Op("atan2", 2, _float, _quiet(np.arctan2), 1e-6, 30),
    Op("pow", 2, _float, _quiet(_power), 2e-5, 85),
]

OPS: dict[str, Op] = {row.name: row for row in _ROWS}
LEAVES = frozenset({"const", "param", "coord", "extent", "load", "gather"})
