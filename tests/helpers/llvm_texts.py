"""What the CPU compiler writes for machines that need not be there: text, and nothing is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import Host
from dala.backends.host import HostExecutable
from dala.compute import Buffer, Pipeline, scratch
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.language.kernel import Kernel
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan
from dala.plan.whole import WholePass

# Those whose text differs; LLVM's name of a machine and its features are for compiling.
HOSTS = {
    "avx512": Host(  # and VBMI
        "sapphirerapids", "", 64, fma=True, x86=True, permutes_bytes=True, shuffles_bytes=True
    ),
    "avx2": Host("haswell", "", 32, fma=True, x86=True, shuffles_bytes=True),
    "sse2": Host("x86-64", "", 16, fma=False, x86=True),
    "neon": Host("neoverse-n1", "", 16, fma=True),
}


class Step(NamedTuple):
    """A stage on arrays that have names; scratch memory has one that begins with ``~``."""

    kernel: str | Kernel
    inputs: tuple[str, ...]
    output: str
    params: Mapping[str, object] = {}
    op: str = "run_kernel"


@dataclass(frozen=True)
class Case:
    """Stages that are planned and fused together."""

    steps: Sequence[Step]
    arrays: Mapping[str, ArrayType]


class Writer(CpuDevice):
    """Plans and writes passes for a machine."""

    def compile(self, plan: Plan) -> HostExecutable:
        return HostExecutable(plan, [])  # for its plan alone

    def write(self, work: FusedPass | WholePass) -> str:
        if isinstance(work, WholePass):
            return f"; {' '.join(work.labels)}: whole arrays, not compiled\n"
        return emit_pass(work, self.host).text


def write_case(case: Case, host: Host) -> str:
    """The text of all passes of a case, one after the other."""
    return "\n".join(Writer(host).write(work) for work in plan_case(case, host).passes)


def plan_case(case: Case, host: Host) -> Plan:
    """How a machine runs a case."""
    engine = Engine(Writer(host))
    arrays = {
        name: scratch(type_.shape, type_.dtype.name)
        if name.startswith("~")
        else Buffer(engine, type_, engine.device.allocate(type_))
        for name, type_ in case.arrays.items()
    }
    pipeline = Pipeline(engine)
    for step in case.steps:
        pipeline.add(_spec(step, arrays))
    return engine.prepare(pipeline._stages).executable.plan


def _spec(step: Step, arrays: Mapping[str, object]) -> dict[str, object]:
    if step.op == "barrier":
        return {"op": "barrier"}
    spec = {"inputs": [arrays[name] for name in step.inputs], "output": arrays[step.output]}
    if step.op == "copy_buffer":
        return {"op": "copy_buffer", **spec}
    return {"kernel": step.kernel, "params": step.params, **spec}
