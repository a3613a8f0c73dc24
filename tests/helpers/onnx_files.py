"""ONNX files written by the tests themselves: a small writer of protobuf's wire format."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
         "float64": 11, "uint32": 12}  # fmt: skip


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def block(number: int, data: bytes | str) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def tensor(array: np.ndarray[Any, Any], name: str = "") -> bytes:
    dims = b"".join(whole(1, n) for n in array.shape)
    named = block(8, name) if name else b""
    return dims + whole(2, TYPES[array.dtype.name]) + named + block(9, array.tobytes())


def value(name: str, shape: Sequence[int | None], dtype: str = "float32") -> bytes:
    dims = b"".join(block(1, block(2, "n") if n is None else whole(1, n)) for n in shape)
    return block(1, name) + block(2, block(1, whole(1, TYPES[dtype]) + block(2, dims)))


def attribute(name: str, given: Any) -> bytes:
    head = block(1, name)
    if isinstance(given, bool | int):
        return head + whole(3, int(given)) + whole(20, 2)
    if isinstance(given, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", given) + whole(20, 1)
    if isinstance(given, str):
        return head + block(4, given) + whole(20, 3)
    if isinstance(given, np.ndarray):
        return head + block(5, tensor(given)) + whole(20, 4)
    if isinstance(given, bytes):  # a graph
        return head + block(6, given) + whole(20, 5)
    if all(isinstance(g, int) for g in given):
        return head + b"".join(whole(8, g) for g in given) + whole(20, 7)
    packed = struct.pack(f"<{len(given)}f", *given)
    return head + block(7, packed) + whole(20, 6)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> bytes:
    parts = [block(1, name) for name in inputs] + [block(2, name) for name in outputs]
    parts += [block(3, f"{op}_{outputs[0]}"), block(4, op)]
    parts += [block(5, attribute(k, v)) for k, v in attributes.items()]
    return b"".join(parts)


@dataclass
class Net:
    """A model under way: operators in the order they are called."""

    opset: int = 13
    nodes: list[bytes] = field(default_factory=list)
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    inputs: list[bytes] = field(default_factory=list)
    outputs: list[bytes] = field(default_factory=list)

    def input(self, name: str, shape: Sequence[int | None], dtype: str = "float32") -> str:
        self.inputs.append(value(name, shape, dtype))
        return name

    def output(self, name: str, rank: int, dtype: str = "float32") -> str:
        self.outputs.append(value(name, [None] * rank, dtype))
        return name

    def constant(self, array: Any, dtype: str | None = None) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(np.asarray(array, dtype))
        return name

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """An operator; the name of its (first) output, others have ``.1``, ``.2`` behind it."""
        name = f"v{len(self.nodes)}"
        names = [name, *(f"{name}.{k}" for k in range(1, outputs))]
        self.nodes.append(node(op, inputs, names, **attributes))
        return name

    def graph(self) -> bytes:
        parts = [block(1, n) for n in self.nodes] + [block(2, "net")]
        parts += [block(5, tensor(a, name)) for name, a in self.constants.items()]
        parts += [block(11, i) for i in self.inputs] + [block(12, o) for o in self.outputs]
        return b"".join(parts)

    def bytes(self, extra: bytes = b"") -> bytes:
        """The whole file."""
        opset = block(8, block(1, "") + whole(2, self.opset))
        return whole(1, 8) + block(2, "tests") + block(7, self.graph()) + opset + extra


def one_layer(
    op: str,
    inputs: Mapping[str, np.ndarray[Any, Any]],
    constants: Sequence[np.ndarray[Any, Any] | None] = (),
    *,
    rank: int,
    opset: int = 13,
    outputs: int = 1,
    dtype: str = "float32",
    **attributes: Any,
) -> bytes:
    """A model of one operator on inputs, then constants (None: left out)."""
    net = Net(opset)
    names = [net.input(n, a.shape, a.dtype.name) for n, a in inputs.items()]
    names += ["" if c is None else net.constant(c) for c in constants]
    made = net.add(op, *names, outputs=outputs, **attributes)
    for k in range(outputs):
        net.output(made if k == 0 else f"{made}.{k}", rank, dtype)
    return net.bytes()


def small_net(size: int = 16, channels: int = 5, seed: int = 1) -> bytes:
    """A small classifier with all that real ones have: bytes in, a first convolution, an inverted residual
    with squeeze-and-excite, pooling, a resize, a concat, a product, softmax."""
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray[Any, Any]:
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    net = Net()
    x = net.input("image", (1, size, size, 3), "uint8")
    x = net.add("Cast", x, to=1)
    x = net.add("Sub", x, net.constant(128.0, "f4"))
    x = net.add("Mul", x, net.constant(1 / 128, "f4"))
    x = net.add("Transpose", x, perm=[0, 3, 1, 2])
    window, bias = (
        net.constant(weights(channels, 3, 3, 3)),
        net.constant(weights(channels, 1)[:, 0]),
    )
    first = net.add("Conv", x, window, bias, strides=[2, 2], auto_pad="SAME_UPPER")
    first = net.add("Clip", first, net.constant(0.0, "f4"), net.constant(6.0, "f4"))
    wide = 2 * channels
    y = net.add("Conv", first, net.constant(weights(wide, channels, 1, 1)))
    y = net.add("Mul", y, net.constant(1 + weights(1, wide, 1, 1)))
    y = net.add("Add", y, net.constant(weights(1, wide, 1, 1)))
    y = net.add("HardSwish", y) if net.opset >= 14 else net.add("Relu", y)
    y = net.add(
        "Conv",
        y,
        net.constant(weights(wide, 1, 3, 3)),
        pads=[2, 2, 2, 2],
        dilations=[2, 2],
        group=wide,
    )
    gate = net.add("GlobalAveragePool", y)
    gate = net.add("Sigmoid", net.add("Conv", gate, net.constant(weights(wide, wide, 1, 1))))
    y = net.add("Mul", y, gate)
    y = net.add("Conv", y, net.constant(weights(channels, wide, 1, 1)))
    y = net.add("Add", first, y)
    small = net.add("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    large = net.add("Resize", small, "", net.constant([1, 1, 2, 2], "f4"), mode="linear",
                    coordinate_transformation_mode="half_pixel")  # fmt: skip
    y = net.add("Concat", y, large, axis=1)
    y = net.add("ReduceMean", y, axes=[2, 3], keepdims=0)
    y = net.add(
        "Gemm", y, net.constant(weights(7, wide)), net.constant(weights(7, 1)[:, 0]), transB=1
    )
    net.output(net.add("Softmax", y), 2)
    return net.bytes()
