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
    order = np.argsort(_descending(scores), kind="stable")[:k]
    return [(scores[i].item(), int(i)) for i in order]


def _descending(scores: Array) -> Array:
    """Keys in whose order the largest comes first, NaN last; bytes cannot be negated."""
    if scores.dtype.kind == "f":
        return -scores
    return -scores.astype(np.int64)


def read_classes(
    probabilities: Array, names: Sequence[str], *, top: int = 5, skip: int = 0
) -> Classes:
    """The ``top`` classes; the first ``skip`` numbers (a background class) do not count."""
    found = top_k(probabilities.reshape(-1)[skip:], top)
    return Classes(Class(index, _name(names, index), float(score)) for score, index in found)


def softmax(logits: Array) -> Array:
    """Numbers of any size as probabilities."""
    shifted = np.exp(logits.astype(np.float64) - logits.max())
    result: Array = (shifted / shifted.sum()).astype(np.float32)
    return result


def _name(names: Sequence[str], index: int) -> str:
    return names[index] if index < len(names) else f"class {index}"
