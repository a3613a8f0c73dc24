"""What a model becomes at fixed shapes: layers on numbered values.

Pictures are stored as (count, height, width, channels). A layer computes its kind's result and then applies
the steps of its epilogue to it, element by element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ValueType:
    """Shape and element type."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{'×'.join(map(str, self.shape)) or 'scalar'} {self.dtype}"


class Step(NamedTuple):
    """One element-wise operation on a running value.

    Its other arguments are either ``numbers``, or ``operands``: inputs of the layer, by number, that have
    the running value's rank and are repeated along axes of length 1; what is added may have fewer channels.
    ``swapped``: the running value is the
    second argument.
    """

    op: str
    numbers: tuple[float, ...] = ()
    operands: tuple[int, ...] = ()
    swapped: bool = False

    def __str__(self) -> str:
        args = [f"{n:g}" for n in self.numbers] + [f"input {k}" for k in self.operands]
        return f"{self.op}({', '.join(args)})" if args else self.op


@dataclass(slots=True, eq=False)
class Layer:
    """One layer: values in, one value out."""

    kind: str
    inputs: tuple[int, ...]
    output: int
    options: Mapping[str, Any] = field(default_factory=dict)
    weights: tuple[Array, ...] = ()
    epilogue: tuple[Step, ...] = ()
    label: str = ""  # the operator it comes from
    notes: tuple[tuple[str, str], ...] = ()  # what was fused into it, and why it could be
    before: tuple[Step, ...] = ()  # done to the first input; of conv, pointwise, reduce and excite


@dataclass(slots=True, eq=False)
class Program:
    """Layers in order. Values without a layer are inputs or constants."""

    name: str
    values: list[ValueType]
    constants: dict[int, Array]
    layers: list[Layer]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: int  # how many there were in the file


def drop_unread(program: Program) -> None:
    """Keep the layers that lead to an output."""
    needed = set(program.outputs)
    kept: list[Layer] = []
    for layer in reversed(program.layers):
        if layer.output in needed:
            kept.append(layer)
            needed.update(layer.inputs)
    program.layers = kept[::-1]
    program.constants = {k: v for k, v in program.constants.items() if k in needed}
