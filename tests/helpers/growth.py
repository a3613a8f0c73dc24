"""Whether something grows, told from its own noise: by how much it is larger after most of many rounds.

A process takes memory in pieces, at moments of its own, and keeps them: one round may need a megabyte more
than all before it, however much there is already. What leaks grows in every round. So a run is cut into
parts, and the median of their growth is looked at: pieces taken now and then do not move it.
"""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

STATM = Path("/proc/self/statm")
PARTS = 11
PAGES = 16 * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 65_536  # a few more or less


def resident() -> int:
    """Bytes of memory this process has."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Malloc(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                     "uordblks", "fordblks", "keepcost")
    )  # fmt: skip


def allocated() -> int:
    """Bytes that C code has asked for and not freed; AttributeError where only others than glibc know.

    Unlike ``resident`` it does not see in how many pieces the rest of the heap is.
    """
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = _Malloc
    found = library.mallinfo2()
    return int(found.uordblks + found.hblkhd)


def typical_growth(sizes: Sequence[int]) -> float:
    """The median of the steps from one size to the next."""
    return median(b - a for a, b in pairwise(sizes))


def sizes_during(
    work: Callable[[int], object],
    first: int,
    rounds: int,
    *,
    settle: Callable[[], object],
    measure: Callable[[], int] = resident,
) -> list[int]:
    """The memory before, between and after PARTS parts of ``work(n)`` for ``rounds`` numbers n."""
    sizes = []
    edges = [first + rounds * part // PARTS for part in range(PARTS + 1)]
    for begin, end in pairwise([first, *edges]):
        for n in range(begin, end):
            work(n)
        settle()
        gc.collect()
        sizes.append(measure())
    return sizes
