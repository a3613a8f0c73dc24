"""What a node says about itself, with its type checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dala.errors import ModelError
from dala.ml.layers.builder import Builder, Ref
from dala.ml.onnx.graph import Node

Refs = Sequence["Ref | None"]
Lower = Callable[[Builder, Node, Refs], Ref | list[Ref]]


def whole(node: Node, name: str, default: int) -> int:
    """A whole number."""
    value = node.attributes.get(name, default)
    if not isinstance(value, int):
        raise ModelError(f"{name} is a whole number, got {value!r}")
    return value


def real(node: Node, name: str, default: float) -> float:
    """A number."""
    value = node.attributes.get(name, default)
    if not isinstance(value, int | float):
        raise ModelError(f"{name} is a number, got {value!r}")
    return float(value)


def text(node: Node, name: str, default: str) -> str:
    """A word."""
    value = node.attributes.get(name, default)
    if not isinstance(value, str):
        raise ModelError(f"{name} is a word, got {value!r}")
    return value


def wholes(node: Node, name: str, default: Sequence[int]) -> tuple[int, ...]:
    """Whole numbers."""
    value = node.attributes.get(name, tuple(default))
    if not isinstance(value, tuple) or not all(isinstance(v, int) for v in value):
        raise ModelError(f"{name} is a list of whole numbers, got {value!r}")
    return tuple(int(v) for v in value)


def given(refs: Refs, index: int) -> Ref | None:
    """An input that may be left out."""
    return refs[index] if index < len(refs) else None


def needed(refs: Refs, index: int) -> Ref:
    """An input that must be there."""
    found = given(refs, index)
    if found is None:
        raise ModelError(f"input {index} is missing")
    return found


def listed(b: Builder, node: Node, refs: Refs, index: int, name: str) -> tuple[int, ...] | None:
    """Whole numbers that are an attribute in older files and an input in newer ones."""
    if name in node.attributes:
        return wholes(node, name, ())
    ref = given(refs, index)
    if ref is None:
        return None
    return tuple(int(v) for v in np.atleast_1d(b.require(ref, name)).ravel())


def axis_of(node: Node, rank: int, default: int, name: str = "axis") -> int:
    """An axis, counted from the front."""
    return checked_axis(whole(node, name, default), rank)


def checked_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ModelError(f"axis {axis} of a value with {rank} axes")
    return axis % rank
