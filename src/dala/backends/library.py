"""Whole-array passes on host memory: library ops and copies, through NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dala.backends.host import HostArray, PassFunction
from dala.ir.library import LIBRARY, OwnCall
from dala.plan.steps import Copy
from dala.plan.whole import WholePass


def whole_pass(work: WholePass) -> PassFunction:
    """A function that runs one library op or copy."""
    if isinstance(work.work, Copy):
        return _copy
    if isinstance(work.work, OwnCall):
        return _own(work.work)
    op = LIBRARY[work.work.op]
    options = dict(work.work.options)

    def run(
        reads: Sequence[HostArray], writes: Sequence[HostArray], params: Sequence[float | int]
    ) -> None:
        target = writes[0].array
        inputs = [r.array.copy() if r is writes[0] else r.array for r in reads]
        op.numpy(inputs, options, target)

    return run


def _own(call: OwnCall) -> PassFunction:
    def run(
        reads: Sequence[HostArray], writes: Sequence[HostArray], params: Sequence[float | int]
    ) -> None:
        inputs = [r.array.copy() if r in writes else r.array for r in reads]
        call.body.compute(inputs, [w.array for w in writes])

    return run


def _copy(
    reads: Sequence[HostArray], writes: Sequence[HostArray], params: Sequence[float | int]
) -> None:
    source, target = reads[0].array, writes[0].array
    np.copyto(target.reshape(-1).view(np.uint8), source.reshape(-1).view(np.uint8))
