"""The CPU device: passes compiled by LLVM, whole-array ops by NumPy and BLAS."""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.base import Array, Storage
from dala.backends.copying import copy_array
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import CodeCache, Host, detect_host
from dala.backends.cpu.run.cores import thread_count
from dala.backends.cpu.run.launch import PassLauncher
from dala.backends.cpu.run.quick import CpuExecutable
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.backends.host import (
    HostArray,
    HostDevice,
    HostExecutable,
    RunPass,
    memory_limits,
    on_positions,
    positions,
)
from dala.backends.library import whole_pass
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import DType
from dala.ir.graph import Program, walk
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan
from dala.plan.whole import WholePass


class CpuDevice(HostDevice):
    """SIMD machine code for this very processor, on all of its cores.

    Or for another ``host``: whatever is run must be code that this processor has the instructions for.
    """

    name = "cpu"
    backend = "llvm"

    def __init__(self, host: Host | None = None) -> None:
        self._host = host  # None: this machine, once somebody needs to know it, as that loads LLVM
        self.code = CodeCache()

    @property
    def host(self) -> Host:
        """The machine that passes are written and compiled for."""
        return self._host or detect_host()

    def describe(self) -> dict[str, object]:
        host = self.host
        return {
            "name": f"CPU ({host.name})",
            "threads": thread_count(),
            "vector_bits": host.vector_bytes * 8,
            "fma": host.fma,
            "limits": memory_limits(),
        }

    def prepare(self, program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
        host = self.host
        return prepare_program(program, inputs, output, fma=host.fma, least_table=host.least_table)

    def upload(self, storage: Storage, data: Array) -> None:
        assert isinstance(storage, HostArray)
        copy_array(storage.array, data)

    def download(self, storage: Storage, out: Array) -> None:
        assert isinstance(storage, HostArray)
        copy_array(out, storage.array)

    def compile(self, plan: Plan) -> HostExecutable:
        return CpuExecutable(plan, [self._compile_pass(plan, p) for p in plan.passes])

    def _compile_pass(self, plan: Plan, work: FusedPass | WholePass) -> RunPass:
        if not isinstance(work, FusedPass):
            return on_positions(plan, work, whole_pass(work))
        host = self.host
        native = emit_pass(work, host)
        params: dict[int, DType] = {
            n.attr: n.dtype
            for b in work.bodies
            for n in walk(b.roots)
            if n.op == "param" and isinstance(n.attr, int)
        }
        types = [params.get(i) for i in range(max(params, default=-1) + 1)]
        arrays = positions(plan, (*work.reads, *work.writes))
        code = self.code.get(native.text, host)
        return PassLauncher(work, native, code, types, arrays)
