"""The contract between dala and a device.

prepare   a traced program, adapted to the device (contraction, say) before it is planned
allocate, upload, fill, download   arrays on the device
compile   a Plan → an Executable
launch    an Executable on arrays with parameter values; returns when the results are there, and how
          to ask for the time the device itself took, where it can tell
enqueue, fetch_later   the same without waiting, on a device that does things in the order they come
"""

from __future__ import annotations

import functools
import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.errors import UnsupportedError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import BUFFER_DTYPES, DType
from dala.ir.graph import Program
from dala.plan.capabilities import ANYTHING, Capabilities
from dala.plan.planner import Plan

Array = npt.NDArray[Any]
Timer = Callable[[], "float | None"]  # milliseconds, or None once they are forgotten


class Storage(ABC):
    """An array on a device. Freed with its last reference."""

    type: ArrayType


class Guard(NamedTuple):
    """When a run need not be put in order: nothing is under way, and its buffers have their content."""

    idle: Mapping[int, object]  # must be empty
    storage: str  # the attribute of a buffer that is its Storage, or None if it was freed
    writer: str  # and the one that must be None


class Executable(ABC):
    """A compiled plan."""

    plan: Plan

    def quick(self, slots: Sequence[bool], guard: Guard) -> Callable[..., bool] | None:
        """launch() as one function of the buffers (and scratch) by slot, and the numbers, for runs so short
        that nobody else need be let in meanwhile; None for all others.

        It runs if the guard holds, and says whether it did. ``slots`` says which of them are buffers.
        """
        return None

    @abstractmethod
    def launch(
        self,
        slots: Sequence[Storage | None],
        params: Sequence[float | int],
        *,
        timed: bool = False,
    ) -> Timer | None:
        """Run on the arrays of the pipeline's slots (None for scratch) and wait for the result.

        ``timed`` asks for a Timer where the device has one: somebody may want to know.
        """


class QueuedExecutable(Executable):
    """On a device that does what it is given in order."""

    @abstractmethod
    def enqueue(
        self,
        slots: Sequence[Storage | None],
        params: Sequence[float | int],
        *,
        held: bool = False,
    ) -> None:
        """Start a run, before whatever comes to the device later.

        ``held``: not before the caller, who is about to, reads a result or waits.
        """


class Device(ABC):
    """One place where kernels run."""

    name: str
    backend: str
    is_gpu: bool = False
    lost: bool = False  # the driver gave up on it; a new one can be opened
    dtypes: tuple[DType, ...] = BUFFER_DTYPES

    @property
    def capabilities(self) -> Capabilities:
        """What one pass of a plan may be."""
        return ANYTHING

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Name, limits and features, for device_info()."""

    def _repr_html_(self) -> str:
        """What a notebook shows: what it says of itself, as a table."""
        facts = {
            "device": self.name,
            **self.describe(),
            "gpu": self.is_gpu,
            "backend": self.backend,
        }
        rows = (
            f"<tr><td>{html.escape(key)}</td><td>{_cell(value)}</td></tr>"
            for key, value in facts.items()
        )
        return f"<table>{''.join(rows)}</table>"

    @abstractmethod
    def prepare(self, program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
        """The program as this device wants to compute it for arrays of these kinds.

        Whatever changes rounding happens here, to one kernel at a time, never after fusion; and it may
        depend on element types and channels, not on sizes.
        """

    @abstractmethod
    def allocate(self, type_: ArrayType, zero: bool = False) -> Storage:
        """A new array: zeros, or whatever was in memory."""

    @abstractmethod
    def upload(self, storage: Storage, data: Array) -> None:
        """Copy a C-contiguous host array of the same type into the storage."""

    @abstractmethod
    def fill(self, storage: Storage, write: Callable[[Array], None]) -> None:
        """Let ``write`` write the content into a C-contiguous array of the storage's type."""

    @abstractmethod
    def download(self, storage: Storage, out: Array) -> None:
        """Copy the storage into a C-contiguous host array of the same type."""

    def fetch(self, storage: Storage) -> Array:
        """The content as a new host array."""
        out = np.empty(storage.type.shape, storage.type.dtype.numpy)
        self.download(storage, out)
        return out

    def fetch_rows(self, storage: Storage, first: int, end: int) -> Array:
        """Some of the content, by its first index, as a new host array."""
        return self.fetch(storage)[first:end]

    def fetch_later(self, storage: Storage) -> Callable[[], Array]:
        """A way to the content as it is once the runs that were enqueued before this are done."""
        return functools.partial(self.fetch, storage)

    def finish(self) -> None:  # noqa: B027 (most do things at once)
        """Wait for the runs that were enqueued."""

    @abstractmethod
    def compile(self, plan: Plan) -> Executable:
        """Machine code for a plan."""

    def require_dtype(self, dtype: DType) -> None:
        """Refuse an element type that this device does not have."""
        if dtype not in self.dtypes:
            has = " ".join(d.name for d in self.dtypes)
            raise UnsupportedError(f"{self.name}: no {dtype} arrays here; it has {has}")


def _cell(value: object) -> str:
    """A fact in a table; limits are a line each."""
    if isinstance(value, Mapping):
        return "<br>".join(f"{html.escape(str(k))}: {_cell(v)}" for k, v in value.items())
    whole = isinstance(value, int) and not isinstance(value, bool)
    return html.escape(f"{value:,}" if whole else str(value))
