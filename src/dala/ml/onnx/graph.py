"""What an ONNX file becomes: nodes on named values, with constants and typed inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class TensorSpec(NamedTuple):
    """Name, shape (None where any length will do) and element type of what a network takes or gives.

    >>> from dala.ml.onnx.graph import TensorSpec
    >>> import numpy as np
    >>> str(TensorSpec("image", (1, None, None, 3), np.dtype("u1")))
    'image: uint8 [1, ?, ?, 3]'
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        lengths = ", ".join("?" if n is None else str(n) for n in self.shape)
        return f"{self.name}: {self.dtype} [{lengths}]"


Attribute = Union[
    int, float, str, tuple[int, ...], tuple[float, ...], tuple[str, ...], Array, "Graph"
]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operator on named values; an empty name stands for an input or output that is left out."""

    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    domain: str = ""

    def __str__(self) -> str:
        return f"{self.op} {self.name!r}" if self.name else f"{self.op} → {self.outputs[0]!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes in an order in which each comes after those whose values it reads."""

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    constants: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A file that was read whole and checked."""

    graph: Graph
    opset: int
    producer: str
    metadata: Mapping[str, str]
