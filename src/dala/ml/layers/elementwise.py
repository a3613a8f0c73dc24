"""Element-wise operations in NumPy: the meaning of a Step. Whole numbers stay whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.ml.layers.program import Step

Array = npt.NDArray[Any]


def _sigmoid(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)), x.dtype)


def _erf(x: Array) -> Array:
    """Abramowitz and Stegun 7.1.26, in f64: right to 1.5e-7."""
    a = np.abs(x.astype(np.float64))
    t = 1 / (1 + 0.3275911 * a)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t
              + 0.254829592) * t  # fmt: skip
    return np.asarray(np.sign(x) * (1 - series * np.exp(-a * a)), x.dtype)


def _divide(a: Array, b: Array) -> Array:
    if np.issubdtype(a.dtype, np.integer):  # towards zero, as in C
        with np.errstate(divide="ignore"):
            whole = np.abs(a) // np.abs(b)
        return np.asarray(np.where((a < 0) != (b < 0), -whole, whole), a.dtype)
    return np.asarray(a / b)


def _power(a: Array, b: Array) -> Array:
    return np.asarray(np.power(a.astype(np.float64), b), a.dtype)


def _clip(x: Array, low: Array, high: Array) -> Array:
    return np.asarray(np.minimum(np.maximum(x, low), high), x.dtype)


class Operation(NamedTuple):
    """What it computes of the running value and its other arguments; ``logical``: true or false."""

    numpy: Callable[..., Array]
    arguments: int = 0
    logical: bool = False
    floats: bool = False  # of floats alone


OPERATIONS: dict[str, Operation] = {
    "relu": Operation(lambda x: np.maximum(x, x.dtype.type(0))),
    "clip": Operation(_clip, 2),
    "sigmoid": Operation(_sigmoid, floats=True),
    "silu": Operation(lambda x: x * _sigmoid(x), floats=True),
    "tanh": Operation(np.tanh, floats=True),
    "exp": Operation(np.exp, floats=True),
    "log": Operation(np.log, floats=True),
    "sqrt": Operation(np.sqrt, floats=True),
    "erf": Operation(_erf, floats=True),
    "abs": Operation(np.abs),
    "neg": Operation(np.negative),
    "floor": Operation(np.floor, floats=True),
    "ceil": Operation(np.ceil, floats=True),
    "round": Operation(np.round, floats=True),  # halves to even
    "reciprocal": Operation(np.reciprocal, floats=True),
    "softplus": Operation(lambda x: np.logaddexp(x, x.dtype.type(0)), floats=True),
    "hardswish": Operation(lambda x: x * _clip(x / 6 + x.dtype.type(0.5), 0, 1), floats=True),  # type: ignore[arg-type]
    "hardsigmoid": Operation(lambda x, a, b: _clip(a * x + b, 0, 1), 2, floats=True),  # type: ignore[arg-type]
    "leakyrelu": Operation(lambda x, a: np.where(x < 0, a * x, x), 1, floats=True),
    "elu": Operation(lambda x, a: np.where(x < 0, a * np.expm1(x), x), 1, floats=True),
    "prelu": Operation(lambda x, slope: np.where(x < 0, slope * x, x), 1, floats=True),
    "add": Operation(np.add, 1),
    "sub": Operation(np.subtract, 1),
    "mul": Operation(np.multiply, 1),
    "div": Operation(_divide, 1),
    "pow": Operation(_power, 1),
    "max": Operation(np.maximum, 1),
    "min": Operation(np.minimum, 1),
    "less": Operation(np.less, 1, logical=True),
    "lessequal": Operation(np.less_equal, 1, logical=True),
    "greater": Operation(np.greater, 1, logical=True),
    "greaterequal": Operation(np.greater_equal, 1, logical=True),
    "equal": Operation(np.equal, 1, logical=True),
    "and": Operation(np.logical_and, 1, logical=True),
    "or": Operation(np.logical_or, 1, logical=True),
    "not": Operation(np.logical_not, logical=True),
    "where": Operation(lambda condition, a, b: np.asarray(np.where(condition, a, b)), 2),
}
CAST = "cast:"  # followed by NumPy's name of a type


def apply_step(op: str, value: Array, arguments: list[Array], swapped: bool) -> Array:
    """The operation on a running value."""
    if op.startswith(CAST):
        return cast_array(value, np.dtype(op[len(CAST) :]))
    row = OPERATIONS[op]
    given = [*arguments, value] if swapped else [value, *arguments]
    with np.errstate(all="ignore"):
        found = np.asarray(row.numpy(*given))
    if row.logical or op == "where":
        return found
    return found.astype(value.dtype, copy=False)


def apply_alone(value: Array, step: Step) -> Array:
    """A step whose other arguments are numbers."""
    given = [np.asarray(n, value.dtype) for n in step.numbers]
    return apply_step(step.op, value, given, step.swapped)


def cast_array(value: Array, dtype: np.dtype[Any]) -> Array:
    """Floats lose what is behind the point; what does not fit is undefined, and here it saturates."""
    if np.issubdtype(value.dtype, np.floating) and np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        wide = np.nan_to_num(np.trunc(value.astype(np.float64)), nan=0.0)
        top = float(info.max)
        found = np.clip(wide, float(info.min), top)
        return np.where(found >= top, info.max, found.astype(dtype)).astype(dtype)
    return value.astype(dtype)
