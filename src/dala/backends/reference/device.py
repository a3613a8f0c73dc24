"""The reference device."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from dala.backends.host import HostDevice, HostExecutable, memory_limits, on_positions
from dala.backends.library import whole_pass
from dala.backends.reference.interpret import interpret_pass
from dala.ir.arrays import ArrayType
from dala.ir.graph import Program
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan


class ReferenceDevice(HostDevice):
    """NumPy, one whole array per operation: the definition of every result."""

    name = "reference"
    backend = "numpy"

    def describe(self) -> dict[str, object]:
        return {
            "name": f"reference (NumPy {np.__version__})",
            "threads": 1,
            "limits": memory_limits(),
        }

    def prepare(self, program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
        return program

    def compile(self, plan: Plan) -> HostExecutable:
        runs = [
            functools.partial(interpret_pass, p) if isinstance(p, FusedPass) else whole_pass(p)
            for p in plan.passes
        ]
        pairs = zip(plan.passes, runs, strict=True)
        return HostExecutable(plan, [on_positions(plan, p, run) for p, run in pairs])
