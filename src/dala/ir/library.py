"""Whole-array operations: reductions, matmul, softmax. The second table of meaning.

They do not fit "one output element at a time", so each is one row here: what it accepts and what
it computes, in NumPy. The CPU device runs these rows as they are (NumPy, BLAS).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import DTypeError, ParameterError, ShapeError
from dala.ir.arrays import ArrayType

Array = npt.NDArray[Any]
Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One use of a library op: which, under which kernel name, with which options."""

    op: str
    kernel: str
    options: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class LibraryOp:
    """One row: ``check`` refuses arrays that do not fit, ``numpy`` computes into the last argument."""

    check: Callable[[str, Sequence[ArrayType], ArrayType, Options], None]
    numpy: Callable[[Sequence[Array], Options, Array], None]
    tolerance: float = 1e-5


def _check_matmul(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    a, b = inputs
    for number, array in enumerate(inputs):
        if len(array.shape) != 2:
            raise ShapeError(f"{kernel}: input {number} must be 2-D, got {array.shape}")
    if a.shape[1] != b.shape[0]:
        raise ShapeError(
            f"{kernel}: inner sizes differ: {a.shape} × {b.shape}; "
            "the first's columns must equal the second's rows"
        )
    _expect(kernel, output, (a.shape[0], b.shape[1]))
    _one_dtype(kernel, [a, b, output])


def _check_reduction(floats_only: bool) -> Callable[..., None]:
    def check(
        kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
    ) -> None:
        (array,) = inputs
        axis = _axis(kernel, options["axis"], len(array.shape))
        _one_dtype(kernel, [array, output])
        if floats_only and not array.dtype.is_float:
            raise DTypeError(f"{kernel}: needs f32 or f64, got {array.dtype}")
        if axis is not None:
            _expect(kernel, output, array.shape[:axis] + array.shape[axis + 1 :] or (1,))
        elif output.shape != (1,):
            raise ShapeError(f"{kernel}: over all axes the output is (1,), got {output.shape}")

    return check


def _check_softmax(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    (array,) = inputs
    if not array.dtype.is_float:
        raise DTypeError(f"{kernel}: needs f32 or f64, got {array.dtype}")
    _axis(kernel, options["axis"], len(array.shape))
    _expect(kernel, output, array.shape)
    _one_dtype(kernel, [array, output])


def _reduce(function: Callable[..., Any]) -> Callable[[Sequence[Array], Options, Array], None]:
    def compute(inputs: Sequence[Array], options: Options, out: Array) -> None:
        axis = options["axis"]
        with np.errstate(all="ignore"):
            result = np.asarray(function(inputs[0], axis=axis))
            np.copyto(out, result.reshape(out.shape), casting="unsafe")  # integer sums wrap

    return compute


def _softmax(inputs: Sequence[Array], options: Options, out: Array) -> None:
    axis = options["axis"]
    with np.errstate(all="ignore"):
        shifted = inputs[0] - inputs[0].max(axis=axis, keepdims=True)
        np.exp(shifted, out=shifted)
        np.divide(shifted, shifted.sum(axis=axis, keepdims=True), out=out)


def _matmul(inputs: Sequence[Array], options: Options, out: Array) -> None:
    with np.errstate(all="ignore"):
        np.matmul(inputs[0], inputs[1], out=out)


LIBRARY: dict[str, LibraryOp] = {
    "matmul": LibraryOp(_check_matmul, _matmul),
    "reduce_sum": LibraryOp(_check_reduction(floats_only=False), _reduce(np.sum)),
    "reduce_max": LibraryOp(_check_reduction(floats_only=False), _reduce(np.max), 0.0),
    "reduce_min": LibraryOp(_check_reduction(floats_only=False), _reduce(np.min), 0.0),
    "reduce_mean": LibraryOp(_check_reduction(floats_only=True), _reduce(np.mean)),
    "softmax": LibraryOp(_check_softmax, _softmax),
}


def _expect(kernel: str, output: ArrayType, shape: tuple[int, ...]) -> None:
    if output.shape != shape:
        raise ShapeError(f"{kernel}: expected an output of {shape}, got {output.shape}")


def _one_dtype(kernel: str, arrays: Sequence[ArrayType]) -> None:
    if len({a.dtype for a in arrays}) > 1:
        *inputs, output = (a.dtype.name for a in arrays)
        raise DTypeError(
            f"{kernel}: expected one dtype for inputs and output, "
            f"got {' and '.join(inputs)} into {output}"
        )


def _axis(kernel: str, axis: object, rank: int) -> int | None:
    if axis is None:
        return None
    assert isinstance(axis, int)
    if not -rank <= axis < rank:
        raise ParameterError(f"{kernel}: axis must be in {-rank}..{rank - 1}, got {axis}")
    return axis % rank
