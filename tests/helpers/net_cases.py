"""Small models of one operator (or a few), with inputs: what every device must agree on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from onnx_files import Net, one_layer

Array = np.ndarray[Any, Any]
Rng = np.random.Generator


class Case(NamedTuple):
    data: bytes
    inputs: list[Array]


def floats(rng: Rng, *shape: int) -> Array:
    return rng.standard_normal(shape).astype("f4")


def pick(rng: Rng, *options: int) -> int:
    return int(rng.choice(options))


def conv(rng: Rng, kind: str) -> Case:
    size = [pick(rng, 1, 5, 8, 13), pick(rng, 3, 7, 12)]
    window = [pick(rng, 1, 2, 3, 5), pick(rng, 1, 3)]
    strides, far = [pick(rng, 1, 2, 3), pick(rng, 1, 2)], [pick(rng, 1, 2), pick(rng, 1, 3)]
    channels, made, groups = pick(rng, 1, 3, 4, 7, 16), pick(rng, 1, 2, 4, 9), 1
    if kind == "pointwise":
        window, strides, far = [1, 1], [1, 1], [1, 1]
    elif kind == "depthwise":
        groups = made = channels = pick(rng, 2, 4, 6, 12)
    elif kind == "grouped":
        groups = pick(rng, 2, 3)
        channels, made = groups * pick(rng, 1, 2, 4), groups * pick(rng, 2, 3)
    pads = [] if kind == "pointwise" else [pick(rng, 0, 1, 2) for _ in range(4)]
    for axis in (0, 1):  # the window must fit
        size[axis] = max(size[axis], (window[axis] - 1) * far[axis] + 1)
    x = floats(rng, pick(rng, 1, 2), channels, *size)
    weight = floats(rng, made, channels // groups, *window)
    bias = [floats(rng, made)] if rng.random() < 0.6 else []
    given = {"strides": strides, "dilations": far, "group": groups}
    if pads and rng.random() < 0.7:
        given["pads"] = pads
    elif pads and far == [1, 1]:
        given["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))  # type: ignore[assignment]
    return Case(one_layer("Conv", {"x": x}, [weight, *bias], rank=4, **given), [x])


def transposed(rng: Rng) -> Case:
    groups = pick(rng, 1, 1, 2)
    channels, made = groups * pick(rng, 1, 3, 4), pick(rng, 1, 2, 4)
    window, strides = [pick(rng, 1, 2, 3), pick(rng, 2, 3)], [pick(rng, 1, 2), pick(rng, 1, 3)]
    far = [pick(rng, 1, 2), 1]
    x = floats(rng, pick(rng, 1, 2), channels, pick(rng, 3, 6), pick(rng, 2, 5))
    weight, bias = floats(rng, channels, made, *window), floats(rng, groups * made)
    extra = [int(rng.integers(0, s)) for s in strides]
    given = {"strides": strides, "dilations": far, "group": groups, "output_padding": extra,
             "pads": [pick(rng, 0, 1), 0, 0, pick(rng, 0, 1)]}  # fmt: skip
    return Case(one_layer("ConvTranspose", {"x": x}, [weight, bias], rank=4, **given), [x])


def pool(rng: Rng) -> Case:
    op = str(rng.choice(["MaxPool", "AveragePool"]))
    window, strides = [pick(rng, 2, 3), pick(rng, 1, 3)], [pick(rng, 1, 2), pick(rng, 1, 2, 3)]
    pads = [int(rng.integers(0, (w + 1) // 2)) for w in (*window, *window)]
    x = floats(rng, 1, pick(rng, 1, 4, 6), pick(rng, 5, 8, 11), pick(rng, 4, 7))
    given: dict[str, Any] = {"kernel_shape": window, "strides": strides, "pads": pads}
    if op == "AveragePool":
        given["count_include_pad"] = pick(rng, 0, 1)
    elif rng.random() < 0.3:
        given["ceil_mode"] = 1
    return Case(one_layer(op, {"x": x}, rank=4, **given), [x])


def resize(rng: Rng) -> Case:
    x = floats(rng, 1, pick(rng, 1, 3, 4), pick(rng, 2, 5, 8), pick(rng, 3, 4))
    given = {
        "mode": str(rng.choice(["linear", "nearest"])),
        "coordinate_transformation_mode": str(
            rng.choice(["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
        ),
        "nearest_mode": str(
            rng.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
        ),
    }
    if rng.random() < 0.5:
        extra: list[Array | None] = [None, np.array([1, 1, rng.choice([0.5, 1.5, 2]), 2], "f4")]
    else:
        extra = [
            None,
            None,
            np.array([1, x.shape[1], rng.integers(1, 12), rng.integers(1, 12)], "i8"),
        ]
    return Case(one_layer("Resize", {"x": x}, extra, rank=4, **given), [x])


UNARY = ("Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Neg", "Floor", "Ceil", "Round", "HardSwish", "Erf",
         "LeakyRelu", "HardSigmoid", "Elu", "Softplus", "Sqrt", "Log", "Reciprocal")  # fmt: skip
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu")


def unary(rng: Rng) -> Case:
    """A chain of three: what is behind a convolution, or alone."""
    net = Net(14)
    x = floats(rng, 2, pick(rng, 3, 4), 5, pick(rng, 1, 6))
    name = net.input("x", x.shape)
    for op in rng.choice(UNARY, 3):
        low = 0.5 if op in ("Sqrt", "Log", "Reciprocal") else -3.0
        name = net.add("Clip", name, net.constant(low, "f4"), net.constant(3.0, "f4"))
        name = net.add(str(op), name)
    net.output(name, 4)
    return Case(net.bytes(), [x])


def binary(rng: Rng) -> Case:
    """Shapes that fit each other, one of them perhaps known."""
    shape = [2, pick(rng, 3, 4), pick(rng, 1, 5), pick(rng, 4, 6)]
    op = str(rng.choice(BINARY))
    other = [n if rng.random() < 0.6 else 1 for n in shape][pick(rng, 0, 1, 3) :]
    a, b = floats(rng, *shape), floats(rng, *other)
    if op == "Pow":
        a, b = np.abs(a) + np.float32(0.1), np.round(b)
    if op == "PRelu" or rng.random() < 0.5:
        return Case(one_layer(op, {"a": a}, [b], rank=4), [a])
    return Case(one_layer(op, {"a": a, "b": b}, rank=4), [a, b])


def moving(rng: Rng) -> Case:
    x = floats(rng, 2, pick(rng, 3, 4), 5, pick(rng, 4, 6))
    kind = str(rng.choice(["Transpose", "Slice", "Pad", "Gather", "Tile", "Reshape", "Flatten", "Expand",
                           "DepthToSpace", "SpaceToDepth"]))  # fmt: skip
    if kind == "Transpose":
        given = [int(v) for v in rng.permutation(4)]
        return Case(one_layer(kind, {"x": x}, rank=4, perm=given), [x])
    if kind == "Slice":
        steps = [pick(rng, 1, 2, -1), 1]
        ends = [(1 << 62) if steps[0] > 0 else -(1 << 62), -1]
        parts: list[Array] = [np.array(v, "i8") for v in ([-4, 1], ends, [2, -1], steps)]
        return Case(one_layer(kind, {"x": x}, parts, rank=4), [x])
    if kind == "Pad":
        mode = str(rng.choice(["constant", "edge", "reflect"]))
        amount = np.array([0, 1, 2, 0, 1, 0, 2, pick(rng, 0, 3)], "i8")
        return Case(
            one_layer(kind, {"x": x}, [amount, np.array(1.5, "f4")], rank=4, mode=mode), [x]
        )
    if kind == "Gather":
        chosen = np.array(rng.integers(-3, 3, (2, 3)), "i8")
        return Case(one_layer(kind, {"x": x}, [chosen], rank=5, axis=pick(rng, 1, 2)), [x])
    if kind == "Tile":
        return Case(one_layer(kind, {"x": x}, [np.array([1, 2, 1, 3])], rank=4), [x])
    if kind == "Reshape":
        return Case(one_layer(kind, {"x": x}, [np.array([0, -1, 5])], rank=3), [x])
    if kind == "Flatten":
        return Case(one_layer(kind, {"x": x}, rank=2, axis=2), [x])
    if kind == "Expand":
        x = floats(rng, 3, 1, 2)
        return Case(one_layer(kind, {"x": x}, [np.array([2, 1, 4, 1])], rank=4), [x])
    x = floats(rng, 1, 8, 4, 6)
    given_mode = {"mode": str(rng.choice(["DCR", "CRD"]))} if kind == "DepthToSpace" else {}
    return Case(one_layer(kind, {"x": x}, rank=4, blocksize=2, **given_mode), [x])


def joining(rng: Rng) -> Case:
    """A split, and its parts joined in another order behind a transpose."""
    net, axis = Net(), pick(rng, 1, 2, 3)
    shape = [2, 4, 5, 6]
    shape[axis] = 7
    x = floats(rng, *shape)
    name = net.add("Transpose", net.input("x", x.shape), perm=[0, 1, 2, 3])
    first = net.add("Split", name, net.constant([4, 3], "i8"), outputs=2, axis=axis)
    joined = net.add("Concat", f"{first}.1", first, f"{first}.1", axis=axis)
    net.output(net.add("Transpose", joined, perm=[0, 2, 3, 1]), 4)
    return Case(net.bytes(), [x])


def whole(rng: Rng) -> Case:
    x = floats(rng, 2, pick(rng, 3, 4, 70), 5, pick(rng, 1, 6))
    op = str(rng.choice(["ReduceMean", "ReduceSum", "ReduceMax", "Softmax", "ArgMax", "GlobalAveragePool",
                         "MatMul", "GlobalMaxPool"]))  # fmt: skip
    if op == "ReduceSum":
        return Case(one_layer(op, {"x": x}, [np.array([1, 3])], rank=2, keepdims=0), [x])
    if op.startswith("Reduce"):
        return Case(one_layer(op, {"x": x}, rank=4, axes=[pick(rng, 1, 2), -1], keepdims=1), [x])
    if op == "Softmax":
        return Case(one_layer(op, {"x": x}, rank=4, axis=pick(rng, 1, 2, -1)), [x])
    if op == "ArgMax":
        data = one_layer(op, {"x": x}, rank=3, axis=pick(rng, 1, 3), keepdims=0, dtype="int64")
        return Case(data, [x])
    if op == "MatMul":
        other = floats(rng, *([1] * pick(rng, 0, 1)), x.shape[3], pick(rng, 1, 4, 5))
        return Case(one_layer(op, {"x": x}, [other], rank=4), [x])
    return Case(one_layer(op, {"x": x}, rank=4), [x])


def block(rng: Rng) -> Case:
    """Convolutions with all that is fused into them: batch norm, activation, a residual, a gate."""
    net, channels = Net(14), pick(rng, 3, 4, 8)
    x = floats(rng, 1, channels, 6, 7)
    name = net.input("x", x.shape)
    kind = pick(rng, 0, 1)
    weight = floats(rng, channels, 1, 3, 3) if kind else floats(rng, channels, channels, 1, 1)
    y = net.add("Conv", name, net.constant(weight), group=channels if kind else 1, pads=[kind] * 4)
    stats = [net.constant(floats(rng, channels)) for _ in range(3)]
    y = net.add("BatchNormalization", y, *stats, net.constant(np.abs(floats(rng, channels)) + 0.1))
    y = net.add(str(rng.choice(["Relu", "HardSwish", "Sigmoid"])), y)
    y = net.add("Add", name, y) if rng.random() < 0.5 else net.add("Mul", y, net.add("Sigmoid", y))
    y = net.add("Mul", y, net.add("GlobalAveragePool", y))
    net.output(net.add("Clip", y, net.constant(-1.0, "f4"), net.constant(1.5, "f4")), 4)
    return Case(net.bytes(), [x])


def quantized(rng: Rng) -> Case:
    net = Net()
    x = rng.integers(0, 256, (1, 4, 5, 3)).astype("u1")
    name = net.input("x", x.shape, "uint8")
    scale, zero = net.constant(0.05, "f4"), net.constant(120, "u1")
    y = net.add("Mul", net.add("DequantizeLinear", name, scale, zero), net.constant(1.3, "f4"))
    net.output(net.add("QuantizeLinear", y, scale, zero), 4, "uint8")
    return Case(net.bytes(), [x])


CASES: dict[str, Callable[[Rng], Case]] = {
    **{kind: functools.partial(conv, kind=kind) for kind in ("pointwise", "depthwise", "conv", "grouped")},
    "transposed": transposed, "pool": pool, "resize": resize, "unary": unary, "binary": binary,
    "moving": moving, "joining": joining, "whole": whole, "block": block, "quantized": quantized,
}  # fmt: skip
