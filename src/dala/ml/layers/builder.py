"""A Program being built: values in a stored order of axes, and folding of what is known.

An ONNX value is a ``Ref``: a stored value and the order in which its axes are stored. A transpose only
changes that order, so most of them cost nothing: pictures are stored channels last whatever the file says.
A layer whose inputs are all known is computed at once, by its own meaning, and becomes a constant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.errors import ModelError
from dala.ml.layers.program import Layer, Step, ValueType
from dala.ml.layers.table import LAYERS, compute_layer, type_after
from dala.ml.onnx.graph import Graph, Node

Array = npt.NDArray[Any]
MOST_ELEMENTS = 1 << 28  # of one value: 1 GiB of floats
MOST_LAYERS = 50_000
MOST_NODES = 200_000  # lowered, the turns of loops counted
MOST_FOLDED = 1 << 28  # elements of all that is computed beforehand
NHWC = (0, 2, 3, 1)  # how pictures of ONNX (count, channels, height, width) are stored


class Ref(NamedTuple):
    """A stored value; its axis ``j`` is axis ``order[j]`` of what the file talks about."""

    value: int
    order: tuple[int, ...]


def plain_order(rank: int) -> tuple[int, ...]:
    """Stored as the file says."""
    return tuple(range(rank))


class Builder:
    """Values and layers so far."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.values: list[ValueType] = []
        self.constants: dict[int, Array] = {}
        self.layers: list[Layer] = []
        self.scopes: list[dict[str, Ref]] = [{}]
        self.node: Node | None = None  # being lowered, for labels and errors
        self._nodes = 0
        self._folded = 0

    # -- values ------------------------------------------------------------------------------------

    def new_value(self, type_: ValueType) -> int:
        if type_.count > MOST_ELEMENTS:
            raise ModelError(f"a value of {type_} is larger than {MOST_ELEMENTS} elements")
        self.values.append(type_)
        return len(self.values) - 1

    def constant(self, array: Array) -> Ref:
        """A known array."""
        number = self.new_value(ValueType(array.shape, array.dtype))
        self.constants[number] = array
        return Ref(number, plain_order(array.ndim))

    def shape(self, ref: Ref) -> tuple[int, ...]:
        """The shape the file talks about."""
        stored = self.values[ref.value].shape
        return tuple(stored[ref.order.index(k)] for k in range(len(stored)))

    def dtype(self, ref: Ref) -> np.dtype[Any]:
        return self.values[ref.value].dtype

    def known(self, ref: Ref) -> Array | None:
        """A constant's elements, axes as the file says."""
        found = self.constants.get(ref.value)
        if found is None:
            return None
        return found.transpose([ref.order.index(k) for k in range(found.ndim)])

    def require(self, ref: Ref | None, what: str) -> Array:
        """A constant's elements; a value that depends on the data is refused."""
        found = None if ref is None else self.known(ref)
        if found is None:
            raise ModelError(f"{what} depends on the data; only fixed ones are supported")
        return found

    # -- names -------------------------------------------------------------------------------------

    def find(self, name: str) -> Ref | None:
        """The value of that name; None for one that is left out."""
        if not name:
            return None
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise ModelError(f"{name!r} is made by nothing")

    def inputs(self, node: Node) -> list[Ref | None]:
        return [self.find(name) for name in node.inputs]

    def name(self, name: str, ref: Ref) -> None:
        self.scopes[-1][name] = ref

    def begin(self, node: Node) -> None:
        """The next node; a file may ask for more of them than it has, by loops within loops."""
        self.node = node
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise ModelError(f"its loops come to more than {MOST_NODES} operators")

    def enter_constants(self, graph: Graph) -> None:
        for name, array in graph.constants.items():
            self.name(name, self.constant(array))

    # -- layers ------------------------------------------------------------------------------------

    def emit(
        self,
        kind: str,
        inputs: Sequence[int],
        options: Mapping[str, Any] | None = None,
        weights: Sequence[Array] = (),
        epilogue: Sequence[Step] = (),
    ) -> int:
        """A layer, or its result if that is known already."""
        options = options or {}
        made = LAYERS[kind].shape([self.values[i] for i in inputs], options, weights)
        dtype = made.dtype
        for step in epilogue:
            first = self.values[inputs[step.operands[0]]].dtype if step.operands else None
            dtype = type_after(dtype, step, first)
        made = ValueType(made.shape, dtype)
        label = str(self.node) if self.node is not None else kind
        output = self.new_value(made)
        layer = Layer(kind, tuple(inputs), output, options, tuple(weights), tuple(epilogue), label)
        if all(i in self.constants for i in inputs):
            self._folded += made.count
            if self._folded > MOST_FOLDED:
                raise ModelError(f"more than {MOST_FOLDED} elements to compute before it runs")
            found = compute_layer(layer, [self.constants[i] for i in inputs])
            self.constants[output] = found.astype(dtype, copy=False)
        elif 0 in made.shape:
            self.constants[output] = np.empty(made.shape, dtype)
        else:
            self.layers.append(layer)
            if len(self.layers) > MOST_LAYERS:
                raise ModelError(f"more than {MOST_LAYERS} layers")
        return output

    def reshape(self, value: int, shape: Sequence[int]) -> int:
        """The same stored elements in another shape."""
        if self.values[value].shape == tuple(shape):
            return value
        return self.emit("view", [value], {"shape": tuple(shape)})

    def in_order(self, ref: Ref, order: tuple[int, ...]) -> int:
        """The stored value with its axes in this order; moving axes of length 1 costs nothing."""
        if ref.order == order:
            return ref.value
        stored = self.values[ref.value].shape
        axes = tuple(ref.order.index(k) for k in order)
        shape = tuple(stored[a] for a in axes)
        if [a for a in axes if stored[a] != 1] == [a for a, n in enumerate(stored) if n != 1]:
            return self.reshape(ref.value, shape)
        return self.emit("take", [ref.value], {"axes": axes, "tables": {}, "fill": 0})

    def plain(self, ref: Ref) -> int:
        """The stored value with its axes as the file says."""
        return self.in_order(ref, plain_order(len(ref.order)))

    def picture(self, ref: Ref | None, what: str) -> int:
        """A picture, stored channels last."""
        if ref is None or len(ref.order) != 4:
            raise ModelError(f"{what} takes pictures (4 axes)")
        if not np.issubdtype(self.dtype(ref), np.floating):
            raise ModelError(f"{what} takes floats, got {self.dtype(ref)}")
        return self.in_order(ref, NHWC)

    # -- element-wise ------------------------------------------------------------------------------

    def combine(self, refs: Sequence[Ref], op: str, numbers: Sequence[float] = ()) -> Ref:
        """An element-wise operation on one value, or on several that fit each other."""
        shapes = [self.shape(r) for r in refs]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ModelError(
                f"shapes {', '.join(map(str, shapes))} do not fit each other"
            ) from None
        order = self._best_order(refs, len(shape))
        stored = tuple(shape[k] for k in order)
        single = [self._single(r) for r in refs]
        free = [n for n, r in enumerate(refs) if r.value not in self.constants]
        main = free[0] if free and op != "where" else 0
        values = [self._aligned(r, order) for r in refs]
        rest = [n for n in range(len(refs)) if n != main]
        swapped = bool(rest) and main == 1
        if len(rest) == 1 and single[rest[0]] is not None:
            steps = [Step(op, (single[rest[0]], *numbers), (), swapped)]  # type: ignore[arg-type]
            inputs = [values[main]]
        else:
            inputs = [values[main], *(values[n] for n in rest)]
            steps = [Step(op, tuple(numbers), tuple(range(1, len(inputs))), swapped)]
        return Ref(self.emit("map", inputs, {"shape": stored}, (), steps), order)

    def _single(self, ref: Ref) -> float | None:
        """The number that a constant of one element is."""
        array = self.constants.get(ref.value)
        if array is None or array.size != 1 or not np.issubdtype(array.dtype, np.number):
            return None
        return float(array.item()) if array.dtype.kind == "f" else int(array.item())

    def _best_order(self, refs: Sequence[Ref], rank: int) -> tuple[int, ...]:
        """That of the largest value: it is not moved."""
        full = [r for r in refs if len(r.order) == rank]
        free = [r for r in full if r.value not in self.constants] or full
        return max(free, key=lambda r: math.prod(self.values[r.value].shape)).order

    def _aligned(self, ref: Ref, order: tuple[int, ...]) -> int:
        """Stored in this order, with axes of length 1 in front where it has fewer."""
        lacking = len(order) - len(ref.order)
        if lacking:
            value = self.plain(ref)
            shape = (1,) * lacking + self.values[value].shape
            ref = Ref(self.reshape(value, shape), plain_order(len(order)))
        return self.in_order(ref, order)
