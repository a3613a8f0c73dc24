"""Programs by the shapes of their inputs: each is made once, the last used ones stay."""

from __future__ import annotations

from collections.abc import Sequence

from dala.ml.layers.lower import lower_model
from dala.ml.layers.operators.table import check_operators
from dala.ml.layers.program import Program
from dala.ml.onnx.graph import Model
from dala.once import OnceByKey

KEPT = 8  # shapes


class Programs:
    """A model's programs. Unknown operators are named at once, before any shape is known."""

    def __init__(self, model: Model, name: str) -> None:
        check_operators(model.graph, name)
        self._model = model
        self._name = name
        self._made: OnceByKey[tuple[tuple[int, ...], ...], Program] = OnceByKey(KEPT)

    def find(self, shapes: Sequence[tuple[int, ...]]) -> Program:
        """The program for inputs of these shapes."""
        key = tuple(map(tuple, shapes))
        return self._made.get(key, lambda: lower_model(self._model, key, self._name))
