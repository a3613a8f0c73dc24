"""Probabilities as classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, ShapeError
from dala.ml.results import Class, Classes

Array = npt.NDArray[Any]


def top_k(output: object, k: int = 5) -> list[tuple[float, int]]:
    """The ``k`` largest numbers of a network's output and where they are, the largest first; of equal ones
    the first comes first.

    >>> from dala import ml
    >>> ml.top_k([0.1, 0.7, 0.2], k=2)
    [(0.7, 1), (0.2, 2)]
    """
    scores = np.asarray(output)
    if scores.ndim > 1 and max(scores.shape, default=0) == scores.size:
        scores = scores.reshape(-1)  # (1, 1000)
    if scores.ndim != 1 or scores.dtype.kind not in "fiub":
        raise ShapeError(
            f"top_k: expected the scores of one picture, (N,) or (1, N), got {scores.shape} {scores.dtype}"
        )
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"top_k: k is a whole number from 1 up, got {k!r}")
    keys = -scores if scores.dtype.kind == "f" else ~scores  # largest first, NaN last
    return [(scores.item(i), i) for i in _first(keys, k).tolist()]


def _first(keys: Array, k: int) -> Array:
    """Where the ``k`` smallest are, in order; few are sorted."""
    if k < keys.size:
        near = (keys <= np.partition(keys, k - 1)[k - 1]).nonzero()[0]
        if near.size >= k:  # else one of them is NaN
            chosen: Array = near[keys[near].argsort(kind="stable")[:k]]
            return chosen
    order: Array = keys.argsort(kind="stable")
    return order[:k]


def read_classes(probabilities: Array, names: Sequence[str], *, top: int = 5) -> Classes:
    """The ``top`` classes."""
    found = top_k(probabilities.reshape(-1), top)
    return Classes([Class(index, name_of(names, index), score) for score, index in found])


def softmax(logits: Array) -> Array:
    """Numbers of any size as probabilities."""
    shifted = np.exp(logits.astype(np.float64) - logits.max())
    result: Array = (shifted / shifted.sum()).astype(np.float32)
    return result


def name_of(names: Sequence[str], index: int) -> str:
    """What a class is called, if anybody knows."""
    return names[index] if index < len(names) else f"class {index}"
