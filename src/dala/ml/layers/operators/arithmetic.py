"""Element by element."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dala.errors import ModelError
from dala.ml.layers.builder import Builder, Ref
from dala.ml.layers.elementwise import CAST, OPERATIONS
from dala.ml.layers.operators.attributes import Lower, Refs, given, needed, real, whole
from dala.ml.onnx.graph import Node
from dala.ml.onnx.tensors import ELEMENTS


def _plain(op: str) -> Lower:
    """One input."""

    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        source = needed(refs, 0)
        _check_floats(b, op, source)
        return b.combine([source], op)

    return lower


def _binary(op: str) -> Lower:
    """Two inputs of one type."""

    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        pair = [needed(refs, 0), needed(refs, 1)]
        if op != "pow" and b.dtype(pair[0]) != b.dtype(pair[1]):
            raise ModelError(f"one type expected, got {b.dtype(pair[0])} and {b.dtype(pair[1])}")
        return b.combine(pair, op)

    return lower


def _several(op: str) -> Lower:
    """Any number of inputs."""

    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        first, *rest = [needed(refs, k) for k in range(len(refs))]
        return functools.reduce(lambda a, c: b.combine([a, c], op), rest, first)

    return lower


def _with_numbers(op: str, **defaults: float) -> Lower:
    """One input, and numbers as attributes."""

    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        source = needed(refs, 0)
        _check_floats(b, op, source)
        return b.combine([source], op, [real(node, k, v) for k, v in defaults.items()])

    return lower


def _check_floats(b: Builder, op: str, source: Ref) -> None:
    if OPERATIONS[op].floats and not np.issubdtype(b.dtype(source), np.floating):
        raise ModelError(f"{op} takes floats, got {b.dtype(source)}")


def _clip(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    dtype = b.dtype(source)
    bounds: tuple[Any, Any] = (-np.inf, np.inf)
    if dtype.kind != "f":
        bounds = (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    limits = []
    for index, name in ((1, "min"), (2, "max")):
        ref = given(refs, index)
        if ref is not None:
            limits.append(b.require(ref, name).item())
        else:
            limits.append(
                real(node, name, bounds[index - 1]) if dtype.kind == "f" else bounds[index - 1]
            )
    if limits == [0, np.inf]:
        return b.combine([source], "relu")
    return b.combine([source], "clip", limits)


def _cast(b: Builder, node: Node, refs: Refs) -> Ref:
    kind = whole(node, "to", 0)
    if kind not in ELEMENTS:
        raise ModelError(f"elements of type number {kind} are not supported")
    return cast_to(b, needed(refs, 0), ELEMENTS[kind])


def cast_to(b: Builder, ref: Ref, dtype: np.dtype[Any]) -> Ref:
    """Another element type."""
    return ref if b.dtype(ref) == dtype else b.combine([ref], CAST + dtype.name)


def _prelu(b: Builder, node: Node, refs: Refs) -> Ref:
    return b.combine([needed(refs, 0), needed(refs, 1)], "prelu")


def _where(b: Builder, node: Node, refs: Refs) -> Ref:
    return b.combine([needed(refs, 0), needed(refs, 1), needed(refs, 2)], "where")


def along_axis(b: Builder, ref: Ref, node: Node, rank: int, default: int) -> Ref:
    """A vector of factors laid along an axis; one number as it is."""
    array = b.require(ref, "a scale")
    if array.size == 1:
        return b.constant(np.ascontiguousarray(array).reshape(()))
    shape = [1] * rank
    shape[whole(node, "axis", default) % rank] = -1
    return b.constant(np.ascontiguousarray(array).reshape(shape))


def _quantize(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    rank = len(source.order)
    zero = given(refs, 2)
    target = np.dtype(np.uint8) if zero is None else b.dtype(zero)
    value = b.combine([source, along_axis(b, needed(refs, 1), node, rank, 1)], "div")
    value = b.combine([value], "round")
    if zero is not None:
        whole_zero = b.constant(b.require(zero, "a zero point").astype(b.dtype(source)))
        value = b.combine([value, along_axis(b, whole_zero, node, rank, 1)], "add")
    info = np.iinfo(target)
    value = b.combine([value], "clip", [float(info.min), float(info.max)])
    return cast_to(b, value, target)


def _dequantize(b: Builder, node: Node, refs: Refs) -> Ref:
    rank = len(needed(refs, 0).order)
    scale, zero = needed(refs, 1), given(refs, 2)
    value = cast_to(b, needed(refs, 0), b.dtype(scale))
    if zero is not None:
        whole_zero = b.constant(b.require(zero, "a zero point").astype(b.dtype(scale)))
        value = b.combine([value, along_axis(b, whole_zero, node, rank, 1)], "sub")
    return b.combine([value, along_axis(b, scale, node, rank, 1)], "mul")


ARITHMETIC: dict[str, Lower] = {
    **{name: _plain(name.lower()) for name in (
        "Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Erf", "Abs", "Neg", "Floor", "Ceil", "Round",
        "Reciprocal", "Softplus", "HardSwish", "Not",
    )},
    **{name: _binary(op) for name, op in (
        ("Sub", "sub"), ("Div", "div"), ("Pow", "pow"), ("Less", "less"), ("Greater", "greater"),
        ("LessOrEqual", "lessequal"), ("GreaterOrEqual", "greaterequal"), ("Equal", "equal"),
        ("And", "and"), ("Or", "or"), ("Add", "add"), ("Mul", "mul"),
    )},
    **{name: _several(op) for name, op in (("Sum", "add"), ("Max", "max"), ("Min", "min"))},
    "HardSigmoid": _with_numbers("hardsigmoid", alpha=0.2, beta=0.5),
    "LeakyRelu": _with_numbers("leakyrelu", alpha=0.01),
    "Elu": _with_numbers("elu", alpha=1.0),
    "PRelu": _prelu,
    "Clip": _clip,
    "Cast": _cast,
    "Where": _where,
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
}  # fmt: skip
