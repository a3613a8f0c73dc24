"""The contract between a network and the place where it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from dala.backends.base import Storage
from dala.compute.recipe import Recipe
from dala.ir.arrays import ArrayType
from dala.ir.library import OwnBody
from dala.ml.run.stage import Request

Array = npt.NDArray[Any]


class Runner(ABC):
    """A network that is ready on one device."""

    @abstractmethod
    def run(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """All outputs for checked, C-contiguous inputs. Several threads may call it at once."""

    def run_stored(
        self, inputs: Sequence[Storage], shapes: Sequence[tuple[int, ...]]
    ) -> tuple[Array, ...]:
        """All outputs for dense inputs that lie on a GPU already; only a runner on a GPU is asked."""
        raise AssertionError(f"{type(self).__name__} computes in main memory")

    def run_behind(
        self,
        before: Recipe,
        source: Storage,
        params: Sequence[float | int],
        shapes: Sequence[tuple[int, ...]],
    ) -> tuple[Array, ...]:
        """All outputs for the only input, which a recipe makes of an array on the same GPU."""
        raise AssertionError(f"{type(self).__name__} computes in main memory")

    @abstractmethod
    def explain(self, shapes: Sequence[tuple[int, ...]]) -> str:
        """What runs for inputs of these shapes, and why."""

    @abstractmethod
    def stage(self, request: Request) -> tuple[OwnBody, ArrayType | None]:
        """One output as a stage of a pipeline, and the array it makes, if that is known beforehand."""

    def close(self) -> None:  # noqa: B027 (most hold nothing but memory)
        """Let go of what is held."""
