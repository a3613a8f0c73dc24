"""Passes over whole arrays as what a GPU runs: dispatches and copies, in order, through temporaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dala.backends.webgpu.execute import CopyPass
from dala.backends.webgpu.library import emit_library
from dala.backends.webgpu.shader import Shader
from dala.backends.webgpu.tiles import TileMemory
from dala.ir.arrays import ArrayType
from dala.ir.library import OwnCall
from dala.plan.fuse import Location, PassArray
from dala.plan.steps import Copy
from dala.plan.whole import Launch, WholePass


@dataclass(frozen=True, slots=True)
class GpuCapabilities(TileMemory):
    """What one pass may be on a GPU, and what the GPU runs for a pass over whole arrays."""

    device: object = field(default=None, compare=False, repr=False)

    def launches(
        self, work: WholePass, new_temp: Callable[[ArrayType], Location]
    ) -> tuple[Launch, ...]:
        """One that overwrites what it reads goes through a temporary."""
        reads, target = [a.location for a in work.reads], work.writes[0]
        if isinstance(work.work, Copy):
            return (
                () if target.location in reads else (_copy(work.labels[0], work.reads[0], target),)
            )
        writes = [a.location for a in work.writes]
        if isinstance(work.work, OwnCall) and not {*reads} & {*writes}:
            layers = work.work.body.emit(self.device, reads, writes, new_temp)
            return tuple(Launch(shader.label, shader) for shader in layers)
        if target.location not in reads:
            return tuple(_dispatch(shader, writes) for shader in emit_library(work, new_temp))
        between = PassArray(new_temp(target.type), target.type)
        first = self.launches(replace(work, writes=(between,)), new_temp)
        return (*first, _copy("a copy", between, target))


def _dispatch(shader: Shader, writes: Sequence[Location]) -> Launch:
    last = any(b.written and b.location in writes for b in shader.bindings)
    return Launch(shader.label if last else f"{shader.label} into a temporary", shader)


def _copy(label: str, source: PassArray, target: PassArray) -> Launch:
    size = -(-target.type.nbytes // 4) * 4
    return Launch(label, CopyPass(source.location, target.location, size))
