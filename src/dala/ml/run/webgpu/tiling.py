"""How a product is divided: among workgroups, invocations, and the parts of its sums.

A workgroup brings a tile of rows into workgroup memory and multiplies it with some columns of the weights.
Its invocations stand in three directions: quads of columns, groups of rows, and parts of the sum. The
choice follows what bounds it on a large GPU: small maps leave processors idle unless columns and sums are
divided, large ones read the weights again for every tile of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

MOST_THREADS = 256  # every GPU has them, and 16 KiB of workgroup memory
TILE = 1024  # quads in these
PROCESSORS = 72  # workgroups at once, of a large GPU
ROWS = (4, 8)  # of an invocation
QUADS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 64)


@dataclass(frozen=True, slots=True)
class Tiling:
    """Invocations of a workgroup: ``quads`` · ``groups`` · ``parts``; each has ``rows`` sums of four."""

    rows: int
    groups: int
    quads: int
    parts: int
    sums: int  # quads of the sum that are in workgroup memory at a time

    @property
    def threads(self) -> int:
        return self.quads * self.groups * self.parts

    @property
    def height(self) -> int:
        """Rows of a workgroup's tile."""
        return self.rows * self.groups

    def __str__(self) -> str:
        return f"{self.height}×{4 * self.quads}, {self.rows} rows each, {self.parts} parts"


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be divided: rows · quads results, each a sum over ``sums`` quads."""

    rows: int
    quads: int
    sums: int
    reads: float = 1.0  # elements that are read for one of a row
    whole_rows: bool = False  # rows are made four at a time


def tilings(work: Work) -> list[Tiling]:
    """All that fit the hardware and the work."""
    found = []
    rows = (1,) if work.rows == 1 and not work.whole_rows else ROWS
    for each, quads, log_groups, log_parts in product(rows, QUADS, range(7), range(9)):
        groups, parts = 1 << log_groups, 1 << log_parts
        threads = quads * groups * parts
        if not 32 <= threads <= MOST_THREADS or quads > work.quads or parts > work.sums:
            continue
        if groups > 1 and (groups // 2) * each >= work.rows:
            continue
        deep = min(TILE // (each * groups), 1 << (work.sums - 1).bit_length())
        if deep >= parts:
            found.append(Tiling(each, groups, quads, parts, deep))
    return found or [smallest(work)]


def smallest(work: Work) -> Tiling:
    """One that always fits: a few results, whatever the waste."""
    deep = 1 << (work.sums - 1).bit_length()
    return Tiling(
        4 if work.whole_rows or work.rows > 1 else 1, 8, min(4, work.quads), 1, min(32, deep)
    )


def estimate(work: Work, tiling: Tiling) -> float:
    """Clocks, roughly: what a workgroup waits for, and what its processor moves and adds.

    The numbers were fitted to 2,500 times of 150 products on an NVIDIA H200 (bench/models.py --tune): what
    is chosen takes 6 % longer than the best of those, in the mean.
    """
    t = tiling
    tiles, across = -(-work.rows // t.height), -(-work.quads // t.quads)
    chunks, deep = -(-work.sums // t.sums), min(t.sums, work.sums)
    warps, turns = -(-t.threads // 32), chunks * math.ceil(deep / t.parts)
    same = min(max(1, 32 // t.quads), t.groups)  # invocations that read the same weights at once
    loads = turns * warps * (3.1 * max(1.0, 4 / same) + 2.5 * t.rows)
    adds = turns * warps * (3.8 * t.rows + 2.5)
    fill = t.height * work.sums / 32 * (3.5 * work.reads + 8.7)
    busy = max(loads + fill, adds + fill / 2)
    units = t.height * deep / (4 if work.whole_rows else 1)  # of the tile, made one after the other
    fills = chunks * math.ceil(units / t.threads) * (2 if work.whole_rows else 1)
    join = (419 + 34 * t.rows * math.sqrt(t.parts)) * (t.parts > 1)
    waits = 645 + chunks * 2230 + fills * 338 + turns * (20.5 + 23 * t.rows) + join
    return waits + busy * max(0.9, tiles * across / PROCESSORS)


def choose_tiling(work: Work) -> Tiling:
    """The one that should take least."""
    return min(tilings(work), key=lambda t: (estimate(work, t), t.threads))
