"""Whole-tensor kernels: products, reductions, changes of shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dala.errors import ShapeError
from dala.ir.arrays import ArrayType
from dala.kernels.declare import builtin, library_kernel
from dala.language.parameter import Param, ParamValue
from dala.language.values import Tensor, Value
from dala.language.vocabulary import index

_AXIS = "The axis to reduce; all of them if not given."

library_kernel("matmul", 2, (), "Matrix product of two 2-D tensors.")
for _name, _doc in (
    ("reduce_sum", "Sum along an axis; integers wrap."),
    ("reduce_max", "Largest along an axis; NaN wins."),
    ("reduce_min", "Smallest along an axis; NaN wins."),
    ("reduce_mean", "Mean along an axis."),
):
    library_kernel(_name, 1, (Param("axis", "int", None, help=_AXIS, static=True),), _doc)
library_kernel(
    "argmax",
    1,
    (
        Param(
            "axis", "int", None, help="The axis to search; all of them if not given.", static=True
        ),
    ),
    "Where the largest value along an axis stands: the first of equals; NaN is the largest.",
)
library_kernel(
    "softmax",
    1,
    (Param("axis", "int", -1, help="The axis whose values sum to 1.", static=True),),
    "eˣ / Σ eˣ along an axis, shifted so that it cannot overflow.",
)
library_kernel(
    "top_k",
    1,
    (),
    "The k largest along the last axis, the largest first: an output of (…, k, 2) holds each with its "
    "position. Equals stand in their order; NaN is the largest.",
)


def _reversed(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> tuple[int, ...]:
    return tuple(reversed(inputs[0].shape))


@builtin("tensor", shape_rule=_reversed)
def transpose(a: Tensor) -> Value:
    """The tensor with its axes in reverse order."""
    return a.at(*(index(axis) for axis in reversed(range(a.rank))))


def _same_count(
    inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
) -> None:
    if inputs[0].count != output.count:
        raise ShapeError(
            f"reshape: {inputs[0].shape} has {inputs[0].count} elements, "
            f"but the output {output.shape} has {output.count}"
        )


@builtin("tensor", shape_rule=_same_count)
def reshape(a: Tensor) -> Value:
    """The same elements in the same order, in another shape."""
    return a
