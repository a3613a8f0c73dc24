"""A pass as a sweep over its rows: its bodies, and the rows that they buffer for each other.

rows.py decides all of it; whoever writes text looks it up here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from dala.ir.graph import Arithmetic, Node, in_order
from dala.plan.fuse import Store, map_together, renew

# What a buffered row is made of: f32 values, a plane per channel; bytes (levels of a u8 image, as they lie
# in memory); 16-bit fixed point (levels with 8 fraction bits, see fixed.py); or levels of a u16 image, as
# they lie in memory or plane by plane (see deep.py).
Form = Literal["f32", "u8", "u16", "level16"]


@dataclass(frozen=True, slots=True)
class Ring:
    """The buffered rows of one body: how many, how wide their borders, how a row is laid out.

    A row is ``planes`` runs of pixels, each with its borders, so that a reader may move sideways: a plane
    per channel of f32 or of a ``planar`` image, per image of bytes, or per half of 16-bit pixels. Rows of
    f32 that nobody reads sideways are ``blocked`` instead: the channels of one vector of pixels side by
    side, so that a reader of many rows needs one pointer per row. Or they are one plane of whole pixels
    (interleave.py).
    """

    depth: int
    channels: int
    pad_left: int
    pad_right: int
    form: Form
    blocked: bool
    planes: int
    pixel_bytes: int  # of one pixel in one plane
    planar: bool


@dataclass(frozen=True, slots=True)
class RowBody:
    """A body with its rows in the sweep; ``first`` is the first row it needs, relative to a band."""

    label: str
    buffered: tuple[Node, ...]
    stores: tuple[Store, ...]
    lead: int
    first: int
    ring: Ring | None
    arithmetic: Arithmetic
    channels: int  # of one pixel that it computes
    nodes: tuple[Node, ...]  # everything it computes, in the order of ``walk``
    mip: int = 0
    margin: int = 0  # buffered pixels beyond each border, see Stage
    turns: int = 1  # planes that are computed one after the other by the text of one, see planes.py
    pairs: bool = False  # 16-bit rows are buffered by even and odd columns, see fixed.py
    interleaved: bool = False  # pixels are computed as they lie in memory, see interleave.py

    @property
    def roots(self) -> tuple[Node, ...]:
        return (*self.buffered, *(n for s in self.stores for n in s.values))

    @property
    def one_turn(self) -> RowBody:
        """What is computed in one turn: the first plane."""
        if self.turns == 1:
            return self
        return replace(
            self, buffered=self.buffered[:1], nodes=in_order(self.buffered[:1]), channels=1
        )

    def map(self, change: Callable[[tuple[Node, ...]], tuple[Node, ...]]) -> RowBody:
        """The body with all of its expressions rewritten together."""
        buffered, *values = map_together([self.buffered, *(s.values for s in self.stores)], change)
        changed = replace(self, buffered=buffered, stores=renew(self.stores, values))
        return replace(changed, nodes=in_order(changed.roots))


@dataclass(frozen=True, slots=True)
class Sweep:
    """The bodies of a pass, and the mip level of every source, counted from the sweep's rows."""

    bodies: tuple[RowBody, ...]
    order: tuple[int, ...]  # in which the bodies are computed
    mips: tuple[int, ...]
    shape: tuple[int, ...]  # of the images of mip level 0
    deep: bool = False  # whether there are images of 16 bits
