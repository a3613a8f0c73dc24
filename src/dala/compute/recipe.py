"""What is kept of a run that was planned and compiled: how to do the same again, on whatever buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dala.backends.base import Executable, Guard
from dala.compute.running import pending
from dala.ir.arrays import ArrayType

QUIET = Guard(pending, storage="_storage", writer="writer")


@dataclass(eq=False, slots=True)
class Recipe:
    """How to run stages of one kind, on whatever buffers."""

    executable: Executable
    reads: tuple[int, ...]  # slots
    writes: tuple[int, ...]
    label: str
    slots: tuple[bool, ...]  # which are buffers: all others are scratch
    quick: Callable[..., bool] | None = None  # the run as one function, if it is a short one
    runs: Literal["never", "once", "again"] = "never"

    def count_run(self) -> None:
        """The second time, a short run becomes one function: the first should not wait for that."""
        if self.runs == "once":
            self.runs = "again"
            self.quick = self.executable.quick(self.slots, QUIET)
        elif self.runs == "never":
            self.runs = "once"


class Known(NamedTuple):
    """What the checks of a call came to."""

    recipe: Recipe
    numbers: tuple[float | int, ...]
    types: tuple[ArrayType, ...]  # recognised by where they are, so they must not go
