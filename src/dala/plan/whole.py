"""A pass that is not made of expressions."""

from __future__ import annotations

from dataclasses import dataclass

from dala.ir.library import LibraryCall
from dala.plan.fuse import PassArray
from dala.plan.steps import Copy


@dataclass(frozen=True, slots=True)
class Launch:
    """A dispatch or a copy of a pass over whole arrays: what it is for, and what the device made of it."""

    label: str
    code: object


@dataclass(frozen=True, slots=True)
class WholePass:
    """A library op or a copy: arrays in, one array out, nothing to fuse."""

    work: LibraryCall | Copy
    labels: tuple[str, ...]
    reads: tuple[PassArray, ...]
    writes: tuple[PassArray, ...]
    launches: tuple[Launch, ...] | None = None  # on a device that does not run it as it stands
