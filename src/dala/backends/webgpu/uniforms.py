"""What is the same for every element of a pass: computed once, on the host, when a value changes.

Parameters, sizes and every expression of them alone (the weights of a bell of run-time width, say)
become fields of one uniform block. Their meaning is the op table's own, so they are exact.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dala.backends.webgpu.spelling import type_name
from dala.ir.dtypes import BOOL, S32, DType
from dala.ir.graph import OUTPUT, Extent, Node, walk
from dala.ir.ops import OPS, cast_array
from dala.ir.planes import shrink

Shape = tuple[int, ...]
_FORMATS = {"f32": "f", "f64": "d", "s32": "i", "s64": "q", "u32": "I", "bool": "I"}
_FORMATS |= {"u16": "I", "u8": "I"}


@dataclass(frozen=True, slots=True)
class Field:
    """One value of the block: an expression of parameters and sizes, or a number known by then."""

    name: str
    dtype: DType
    source: Node | Callable[[], int]


@dataclass
class UniformBlock:
    """The fields that a shader asked for, in the order of asking."""

    output: Shape  # what Extent(OUTPUT) measures
    inputs: Sequence[Shape]
    fields: dict[Hashable, Field] = field(default_factory=dict)

    def of(self, node: Node) -> str:
        """The WGSL name of a uniform expression."""
        return self._field(("node", id(node)), node.dtype, node)

    def number(self, key: str, value: Callable[[], int], dtype: DType = S32) -> str:
        """The WGSL name of a whole number that the launch knows."""
        return self._field(("number", key), dtype, value)

    def _field(self, key: Hashable, dtype: DType, source: Node | Callable[[], int]) -> str:
        if key not in self.fields:
            number = len(self.fields)
            name = f"u{number}_" if number in (32, 64) else f"u{number}"  # u32 and u64 are types
            self.fields[key] = Field(name, dtype, source)
        found = self.fields[key]
        return f"(U.{found.name} != 0u)" if dtype == BOOL else f"U.{found.name}"

    def declare(self, binding: int) -> str:
        """The struct and its binding; nothing if nobody asked for anything."""
        if not self.fields:
            return ""
        lines = [
            f"    {f.name}: {'u32' if f.dtype == BOOL else type_name(f.dtype)},"
            for f in self.fields.values()
        ]
        return (
            "struct Uniforms {\n" + "\n".join(lines) + "\n}\n"
            f"@group(0) @binding({binding}) var<uniform> U: Uniforms;\n"
        )

    @property
    def size(self) -> int:
        """The size of the block."""
        total = 0
        for f in self.fields.values():
            each = 8 if f.dtype.bytes == 8 else 4
            total += -total % each + each
        return total + -total % 16

    def pack(self, params: Sequence[float | int]) -> bytes:
        """The block's bytes for these parameter values."""
        nodes = [f.source for f in self.fields.values() if isinstance(f.source, Node)]
        values = evaluate(nodes, params, self.output, self.inputs)
        packed = bytearray()
        for f in self.fields.values():
            size = 8 if f.dtype.bytes == 8 else 4
            packed += b"\0" * (-len(packed) % size)
            value = values[id(f.source)] if isinstance(f.source, Node) else f.source()
            packed += struct.pack("<" + _FORMATS[f.dtype.name], value)
        return bytes(packed + b"\0" * (-len(packed) % 16))


def uniform_nodes(roots: Sequence[Node]) -> set[int]:
    """The ids of all nodes that are the same everywhere."""
    found: set[int] = set()
    for node in walk(roots):
        if node.op in ("const", "param", "extent") or (
            node.args and node.op != "gather" and all(id(a) in found for a in node.args)
        ):
            found.add(id(node))
    return found


def evaluate(
    roots: Sequence[Node], params: Sequence[float | int], output: Shape, inputs: Sequence[Shape]
) -> dict[int, object]:
    """Python numbers for uniform expressions, by the op table."""
    values: dict[int, object] = {}
    with np.errstate(all="ignore"):
        for node in walk(roots):
            args = [a.dtype.numpy.type(values[id(a)]) for a in node.args]
            match node.op, node.attr:
                case "const", value:
                    result: object = value
                case "param", int(index):
                    result = params[index]
                case "extent", Extent(source, axis, mip):
                    size = output[axis] if source == OUTPUT else inputs[source][axis]
                    result = shrink(size, mip)
                case "cast", _:
                    result = cast_array(np.asarray(args[0]), node.dtype)
                case op, _:
                    meaning = OPS[op].numpy
                    assert meaning is not None
                    result = meaning(*args)
            values[id(node)] = np.asarray(result).astype(node.dtype.numpy).item()
    return values
