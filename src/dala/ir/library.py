"""Whole-array operations: reductions, matmul, softmax, convolution. The second table of meaning.

They do not fit "one output element at a time", so each is one row here: what it accepts and what
it computes, in NumPy. The CPU device runs these rows as they are (NumPy, BLAS).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import DTypeError, ParameterError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import S32, S64

Array = npt.NDArray[Any]
Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One use of a library op: which, under which kernel name, with which options."""

    op: str
    kernel: str
    options: tuple[tuple[str, object], ...]


class OwnBody(ABC):
    """What an OwnCall computes, for the device it was made for."""

    @abstractmethod
    def compute(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """On arrays in main memory."""

    @abstractmethod
    def emit(
        self,
        device: object,
        reads: Sequence[Any],
        writes: Sequence[Any],
        new_temp: Callable[..., Any],
    ) -> list[Any]:
        """As what a device of its own kind dispatches, in order."""

    @abstractmethod
    def explain(self, device: str) -> str:
        """What runs, and why."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnCall(LibraryCall):
    """A call that brings its meaning along instead of naming a row: a network."""

    body: OwnBody


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
        if floats_only:
            _needs_floats(kernel, array)
        _expect_reduced(kernel, array, axis, output)

    return check


def _check_argmax(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    (array,) = inputs
    axis = _axis(kernel, options["axis"], len(array.shape))
    if output.dtype not in (S32, S64):
        raise DTypeError(f"{kernel}: positions need an output of s32 or s64, got {output.dtype}")
    if axis is None and array.count > 2**31 and output.dtype == S32:
        raise DTypeError(f"{kernel}: {array.count} positions do not fit into s32; use s64")
    _expect_reduced(kernel, array, axis, output)


def _check_softmax(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    (array,) = inputs
    _needs_floats(kernel, array)
    _axis(kernel, options["axis"], len(array.shape))
    _expect(kernel, output, array.shape)
    _one_dtype(kernel, [array, output])


def _check_layer_norm(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    array, *affine = inputs
    _needs_floats(kernel, array)
    _one_dtype(kernel, [*inputs, output])
    for name, given in zip(("weight", "bias"), affine, strict=False):
        _expect_vector(kernel, name, given, array.shape[-1], f"the last axis of {array.shape}")
    _expect(kernel, output, array.shape)


def _check_conv2d(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    array, weight, *bias = inputs
    _needs_floats(kernel, array)
    _one_dtype(kernel, [*inputs, output])
    for given, axes in ((array, "an input of (N, C, H, W)"), (weight, "a weight of (O, C, H, W)")):
        if len(given.shape) != 4:
            raise ShapeError(f"{kernel}: expected {axes}, got {given.shape}")
    count, channels, rows, columns = array.shape
    made, taken, kernel_rows, kernel_columns = weight.shape
    groups, stride, padding = options["groups"], options["stride"], options["padding"]
    if channels % groups or made % groups:
        raise ParameterError(
            f"{kernel}: groups must divide the channels, {channels} in and {made} out; got {groups}"
        )
    if taken != channels // groups:
        raise ShapeError(
            f"{kernel}: a weight of {weight.shape} takes {taken} channels in each of {groups} groups, "
            f"but the input {array.shape} has {channels // groups}"
        )
    if kernel_rows > rows + 2 * padding or kernel_columns > columns + 2 * padding:
        raise ShapeError(
            f"{kernel}: a window of {(kernel_rows, kernel_columns)} does not fit into "
            f"{(rows, columns)} with a padding of {padding}"
        )
    for given in bias:
        _expect_vector(kernel, "bias", given, made, f"the outputs of the weight {weight.shape}")
    places = (
        (rows + 2 * padding - kernel_rows) // stride + 1,
        (columns + 2 * padding - kernel_columns) // stride + 1,
    )
    _expect(kernel, output, (count, made, *places))


def _check_top_k(
    kernel: str, inputs: Sequence[ArrayType], output: ArrayType, options: Options
) -> None:
    (array,) = inputs
    _needs_floats(kernel, array)
    _one_dtype(kernel, [array, output])
    length, chosen = array.shape[-1], output.shape[-2] if len(output.shape) > 1 else 0
    if not 1 <= chosen <= min(length, MOST_CHOSEN):
        raise ShapeError(
            f"{kernel}: expected an output of {(*array.shape[:-1], 'k', 2)} with k from 1 to "
            f"{min(length, MOST_CHOSEN)}, got {output.shape}"
        )
    _expect(kernel, output, (*array.shape[:-1], chosen, 2))
    if length > 1 << 24:
        raise ShapeError(f"{kernel}: {length} positions do not fit into floats; 2**24 do")


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


def _layer_norm(inputs: Sequence[Array], options: Options, out: Array) -> None:
    array, *affine = inputs
    with np.errstate(all="ignore"):
        centred = array - array.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        np.divide(centred, np.sqrt(variance + array.dtype.type(options["eps"])), out=out)
        if affine:
            out *= affine[0]
        if len(affine) > 1:
            out += affine[1]


def _conv2d(inputs: Sequence[Array], options: Options, out: Array) -> None:
    array, weight, *bias = inputs
    if options["padding"]:
        edge = (options["padding"],) * 2
        array = np.pad(array, ((0, 0), (0, 0), edge, edge))
    alone = weight.shape[0] == array.shape[1] == options["groups"]
    compute = _conv2d_by_channel if alone else _conv2d_by_group
    with np.errstate(all="ignore"):
        compute(array, weight, options["groups"], options["stride"], out)
        if bias:
            out += bias[0][:, None, None]


def _top_k(inputs: Sequence[Array], options: Options, out: Array) -> None:
    """NaN before all others; equals in their order."""
    array, chosen = inputs[0], out.shape[-2]
    order = np.lexsort((-array, ~np.isnan(array)), axis=-1)[..., :chosen]
    out[..., 0] = np.take_along_axis(array, order, axis=-1)
    out[..., 1] = order


MOST_CHOSEN = 1024
MAX_WINDOWS = 1 << 21  # elements of the largest matrix of windows


def _conv2d_by_group(array: Array, weight: Array, groups: int, stride: int, out: Array) -> None:
    """Windows as the columns of a matrix, some rows of the output at a time; then a product."""
    factors = weight.reshape(groups, weight.shape[0] // groups, -1)
    windows = np.lib.stride_tricks.sliding_window_view(array, weight.shape[2:], axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride].transpose(0, 1, 4, 5, 2, 3)
    rows, columns = out.shape[2:]
    step = max(1, MAX_WINDOWS // (groups * factors.shape[2] * columns))
    for number, top in itertools.product(range(len(array)), range(0, rows, step)):
        part = windows[number, ..., top : top + step, :]
        target = out[number, :, top : top + step]
        product = factors @ part.reshape(groups, factors.shape[2], -1)
        np.copyto(target, product.reshape(target.shape))


def _conv2d_by_channel(array: Array, weight: Array, groups: int, stride: int, out: Array) -> None:
    """Each channel on its own ("depthwise"): a sum of shifted images; the products would be tiny."""
    rows, columns = ((n - 1) * stride + 1 for n in out.shape[2:])
    out[...] = 0
    for i, j in np.ndindex(*weight.shape[2:]):
        shifted = array[:, :, i : i + rows : stride, j : j + columns : stride]
        out += shifted * weight[:, 0, i, j, None, None]


LIBRARY: dict[str, LibraryOp] = {
    "matmul": LibraryOp(_check_matmul, _matmul),
    "reduce_sum": LibraryOp(_check_reduction(floats_only=False), _reduce(np.sum)),
    "reduce_max": LibraryOp(_check_reduction(floats_only=False), _reduce(np.max), 0.0),
    "reduce_min": LibraryOp(_check_reduction(floats_only=False), _reduce(np.min), 0.0),
    "reduce_mean": LibraryOp(_check_reduction(floats_only=True), _reduce(np.mean)),
    "argmax": LibraryOp(_check_argmax, _reduce(np.argmax), 0.0),
    "softmax": LibraryOp(_check_softmax, _softmax),
    "layer_norm": LibraryOp(_check_layer_norm, _layer_norm),
    "conv2d": LibraryOp(_check_conv2d, _conv2d),
    "top_k": LibraryOp(_check_top_k, _top_k, 0.0),
}


def _expect(kernel: str, output: ArrayType, shape: tuple[int, ...]) -> None:
    if output.shape != shape:
        raise ShapeError(f"{kernel}: expected an output of {shape}, got {output.shape}")


def _expect_reduced(kernel: str, array: ArrayType, axis: int | None, output: ArrayType) -> None:
    if axis is not None:
        _expect(kernel, output, array.shape[:axis] + array.shape[axis + 1 :] or (1,))
    elif output.shape != (1,):
        raise ShapeError(f"{kernel}: over all axes the output is (1,), got {output.shape}")


def _expect_vector(kernel: str, name: str, given: ArrayType, length: int, whose: str) -> None:
    if given.shape != (length,):
        raise ShapeError(
            f"{kernel}: expected a {name} of {(length,)}, as {whose} says, got {given.shape}"
        )


def _needs_floats(kernel: str, array: ArrayType) -> None:
    if not array.dtype.is_float:
        raise DTypeError(f"{kernel}: needs f32 or f64, got {array.dtype}")


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
