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
        net, axis = Net(), pick(rng, 1, 2, -1)
        y = net.add(op, net.input("x", x.shape), axis=axis)
        y = net.add("Mul", y, net.constant(3.0, "f4")) if rng.random() < 0.5 else y
        net.output(y, 4)
        return Case(net.bytes(), [x])
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


def separable(rng: Rng) -> Case:
    """A depthwise convolution, an activation, a pointwise one, a residual; windows beyond the edges."""
    net, channels, made = Net(14), pick(rng, 3, 4, 10, 24), pick(rng, 2, 5, 8, 40)
    window, stride, far = pick(rng, 1, 3, 5), pick(rng, 1, 2, 3), pick(rng, 1, 2)
    size = [pick(rng, 1, 4, 7, 11), pick(rng, 1, 3, 6, 9)]
    pad = (window - 1) * far // 2 + 1
    x = floats(rng, pick(rng, 1, 2), channels, *size)
    name = net.input("x", x.shape)
    given = {"group": channels, "pads": [pad] * 4, "strides": [stride, pick(rng, 1, 2)]}
    factors = net.constant(floats(rng, channels, 1, window, window))
    y = net.add("Conv", name, factors, dilations=[far, far], **given)
    y = net.add(str(rng.choice(["Relu", "HardSwish"])), y) if rng.random() < 0.7 else y
    y = net.add("Conv", y, net.constant(floats(rng, made, channels, 1, 1) / 4))
    if rng.random() < 0.5:
        y = net.add("Add", y, net.add("Sigmoid", y))
    net.output(net.add("Relu", y), 4)
    return Case(net.bytes(), [x])


def gated(rng: Rng) -> Case:
    """Squeeze and excite: a factor for each channel, from the whole picture, before a product."""
    net, channels, made = Net(14), pick(rng, 3, 4, 16), pick(rng, 2, 8, 33)
    x = floats(
        rng, 1, channels, pick(rng, 2, 9, 150), 7
    )  # the last: means of columns, then of those
    name = net.input("x", x.shape)
    y = net.add("Relu", net.add("Conv", name, net.constant(floats(rng, channels, channels, 1, 1))))
    gate = net.add("GlobalAveragePool", y)
    gate = net.add("Conv", gate, net.constant(floats(rng, 5, channels, 1, 1)))
    gate = net.add("Conv", net.add("Relu", gate), net.constant(floats(rng, channels, 5, 1, 1)))
    y = net.add("Mul", y, net.add("Sigmoid", gate))
    net.output(net.add("Conv", y, net.constant(floats(rng, made, channels, 1, 1))), 4)
    return Case(net.bytes(), [x])


def heads(rng: Rng) -> Case:
    """Parts of a concat, made in its place: behind each other, or channels beside channels."""
    net, channels, both = Net(), pick(rng, 3, 4), pick(rng, 2, 4, 5)
    x = floats(rng, 1, channels, 6, 5)
    name, beside = net.input("x", x.shape), rng.random() < 0.5
    parts = []
    for number in range(3):
        made = pick(rng, 4, 8, 3) if beside else both * pick(rng, 1, 2)
        y = net.add("Conv", name, net.constant(floats(rng, made, channels, 1, 1)))
        y = net.add("Relu", y) if number == 1 else y
        y = y if beside else net.add("Transpose", y, perm=[0, 2, 3, 1])
        parts.append(y if beside else net.add("Reshape", y, net.constant([1, -1, both])))
    net.output(net.add("Relu", net.add("Concat", *parts, axis=1)), 4 if beside else 3)
    return Case(net.bytes(), [x])


def turned(rng: Rng) -> Case:
    """Channels to the front, steps, and back again, or not quite."""
    net = Net()
    x = floats(rng, 1, pick(rng, 4, 5), 5, 3)
    y = net.add("Reshape", net.input("x", x.shape), net.constant([*x.shape[1:]]))
    y = net.add("Transpose", y, perm=[2, 0, 1])
    y = net.add("Mul", net.add("Reshape", y, net.constant([1, 3, -1, 5])), net.constant(0.5, "f4"))
    order = [0, 2, 3, 1] if rng.random() < 0.7 else [0, 3, 2, 1]
    net.output(net.add("Relu", net.add("Transpose", y, perm=order)), 4)
    return Case(net.bytes(), [x])


def levels(rng: Rng) -> Case:
    """Bytes, a normalisation and a convolution with padding: zeros beside the picture, not levels."""
    net = Net()
    x = rng.integers(0, 256, (1, pick(rng, 5, 8), pick(rng, 6, 9), pick(rng, 1, 3))).astype("u1")
    y = net.add("Cast", net.input("x", x.shape, "uint8"), to=1)
    y = net.add("Sub", y, net.constant(128.0, "f4"))
    y = net.add("Mul", y, net.constant(1 / 128, "f4"))
    y = net.add("Transpose", y, perm=[0, 3, 1, 2])
    weight = floats(rng, pick(rng, 4, 7), x.shape[3], 3, 3)
    y = net.add("Conv", y, net.constant(weight), pads=[1, 1, 1, 1], strides=[pick(rng, 1, 2)] * 2)
    net.output(y, 4)
    return Case(net.bytes(), [x])


def quantized(rng: Rng) -> Case:
    net = Net()
    x = rng.integers(0, 256, (1, 4, 5, 3)).astype("u1")
    name = net.input("x", x.shape, "uint8")
    scale, zero = net.constant(0.05, "f4"), net.constant(120, "u1")
    y = net.add("Mul", net.add("DequantizeLinear", name, scale, zero), net.constant(1.3, "f4"))
    net.output(net.add("QuantizeLinear", y, scale, zero), 4, "uint8")
    return Case(net.bytes(), [x])


def padded(rng: Rng) -> Case:
    """A residual with fewer channels: zeros behind it, by a Pad or by a Concat."""
    net, few, many = Net(), pick(rng, 3, 4, 6), pick(rng, 8, 10)
    x = floats(rng, 1, few, 4, 5)
    name = net.input("x", x.shape)
    y = net.add("Conv", name, net.constant(floats(rng, many, few, 1, 1)))
    if rng.random() < 0.5:
        behind = net.constant([0, 0, 0, 0, 0, many - few, 0, 0], "i8")
        wide = net.add("Pad", net.add("MaxPool", name, kernel_shape=[1, 1]), behind)
    else:
        wide = net.add("Concat", name, net.constant(np.zeros((1, many - few, 4, 5), "f4")), axis=1)
    net.output(net.add("Relu", net.add("Add", wide, y)), 4)
    return Case(net.bytes(), [x])


def detector(rng: Rng) -> Case:
    """The ends of YOLO: parts of channels, silu, upsampling, a softmax over bins, boxes from distances."""
    net, classes, bins, size = Net(), 3, 4, 4
    x = floats(rng, 1, 8, size, size)
    name = net.input("x", x.shape)
    y = net.add("Conv", name, net.constant(floats(rng, 8, 8, 3, 3) / 8), pads=[1, 1, 1, 1])
    y = net.add("Mul", y, net.add("Sigmoid", y))
    part = net.add("Split", y, net.constant([4, 4], "i8"), outputs=2, axis=1)
    pooled = net.add("MaxPool", f"{part}.1", kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    y = net.add("Concat", part, f"{part}.1", pooled, axis=1)
    y = net.add("Resize", y, "", net.constant([1, 1, 2, 2], "f4"), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    y = net.add("Conv", y, net.constant(floats(rng, 4 * bins + classes, 12, 1, 1) / 4))
    count = 4 * size * size
    y = net.add("Reshape", y, net.constant([1, 4 * bins + classes, -1]))
    both = net.add("Split", y, net.constant([4 * bins, classes], "i8"), outputs=2, axis=1)
    far = net.add(
        "Transpose", net.add("Reshape", both, net.constant([1, 4, bins, count])), perm=[0, 2, 1, 3]
    )
    far = net.add("Softmax", far, axis=1)
    far = net.add("Conv", far, net.constant(np.arange(bins, dtype="f4").reshape(1, bins, 1, 1)))
    far = net.add("Reshape", far, net.constant([1, 4, count]))
    ends = [net.constant(v) for v in ([0], [2], [1])]
    low = net.add("Slice", far, *ends)
    high = net.add("Slice", far, ends[1], net.constant([4]), ends[2])
    anchors = net.constant(floats(rng, 1, 2, count))
    first, last = net.add("Sub", anchors, low), net.add("Add", anchors, high)
    centre = net.add("Div", net.add("Add", first, last), net.constant(2.0, "f4"))
    boxes = net.add("Concat", centre, net.add("Sub", last, first), axis=1)
    boxes = net.add("Mul", boxes, net.constant(floats(rng, 1, count)))
    net.output(net.add("Concat", boxes, net.add("Sigmoid", f"{both}.1"), axis=1), 3)
    return Case(net.bytes(), [x])


CASES: dict[str, Callable[[Rng], Case]] = {
    **{kind: functools.partial(conv, kind=kind) for kind in ("pointwise", "depthwise", "conv", "grouped")},
    "transposed": transposed, "pool": pool, "resize": resize, "unary": unary, "binary": binary,
    "moving": moving, "joining": joining, "whole": whole, "block": block, "quantized": quantized,
    "padded": padded, "detector": detector, "separable": separable, "gated": gated, "levels": levels,
    "heads": heads, "turned": turned,
}  # fmt: skip
