"""The WebGPU device: passes as WGSL compute shaders, through wgpu-py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dala.backends.base import Storage
from dala.backends.webgpu.execute import CopyPass, Dispatch, GpuExecutable, Step
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray
from dala.backends.webgpu.opened import OpenGpu
from dala.backends.webgpu.prepare import prepare_program
from dala.backends.webgpu.shader import Shader, emit_pass
from dala.backends.webgpu.spelling import NEEDS
from dala.backends.webgpu.whole import GpuCapabilities
from dala.errors import UnsupportedError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import DType
from dala.ir.graph import Program, walk
from dala.leaving import native
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan
from dala.plan.whole import WholePass

Array = npt.NDArray[Any]


class WebGpuDevice(OpenGpu):
    """One GPU (or a software stand-in), whatever its vendor."""

    def describe(self) -> dict[str, object]:
        shown = ("max-buffer-size", "max-storage-buffer-binding-size")
        return {
            "name": self.adapter.name,
            "adapter": str(self.adapter),
            "driver": self.adapter.driver,
            "software": self.adapter.is_software,
            "limits": {k: self.limits[k] for k in (*shown, "max-compute-workgroup-storage-size")},
        }

    def require_dtype(self, dtype: DType) -> None:
        if dtype not in self.dtypes:
            has = " ".join(d.name for d in self.dtypes)
            raise UnsupportedError(
                f"{self.name}: {self.adapter} has no {dtype} ({NEEDS[dtype]}); it has {has}"
            )

    # -- programs ------------------------------------------------------------------------------

    def prepare(self, program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
        for stage in program.stages:
            for node in walk(stage.body):
                if node.dtype in NEEDS:
                    self.require_dtype(node.dtype)
        return prepare_program(program, inputs, output, half=self.tuning.half)

    @property
    def capabilities(self) -> GpuCapabilities:
        most_arrays = self.limits["max-storage-buffers-per-shader-stage"] // 2  # two forms of each
        most_bytes = self.limits["max-compute-workgroup-storage-size"]
        return GpuCapabilities(
            tiled=True,
            most_arrays=most_arrays,
            tuning=self.tuning,
            most_bytes=most_bytes,
            device=self,
        )

    def compile(self, plan: Plan) -> GpuExecutable:
        self.check_process()
        with mapped("compiling", device=self), native:
            steps = [step for work in plan.passes for step in self._steps(work)]
            return GpuExecutable(self, plan, steps)

    def _steps(self, work: FusedPass | WholePass) -> Iterator[Step]:
        """A pass as the plan has it."""
        if isinstance(work, FusedPass):
            can = self.capabilities
            yield Dispatch(self, emit_pass(work, can.tuning, can.most_bytes))
            return
        assert work.launches is not None, "planned for this device"
        for launch in work.launches:
            code = launch.code
            yield code if isinstance(code, CopyPass) else Dispatch(self, cast("Shader", code))

    # -- memory --------------------------------------------------------------------------------

    def allocate(self, type_: ArrayType, zero: bool = False) -> GpuArray:
        self.require_dtype(type_.dtype)
        self.check_process()
        with mapped(f"an array of {type_.shape} {type_.dtype}", device=self), native:
            return self.pool.array(type_, zero)

    def upload(self, storage: Storage, data: Array) -> None:
        assert isinstance(storage, GpuArray)
        self.check_process()
        with (
            mapped(f"writing an array of {storage.type.shape} {storage.type.dtype}", device=self),
            native,
        ):
            self.staging.upload(storage.memory, np.ascontiguousarray(data))

    def fill(self, storage: Storage, write: Callable[[Array], None]) -> None:
        assert isinstance(storage, GpuArray)
        self.check_process()
        with (
            mapped(f"writing an array of {storage.type.shape} {storage.type.dtype}", device=self),
            native,
        ):
            self.staging.fill(storage.memory, storage.type, write)

    def download(self, storage: Storage, out: Array) -> None:
        assert isinstance(storage, GpuArray)
        self.check_process()
        with (
            mapped(f"reading an array of {storage.type.shape} {storage.type.dtype}", device=self),
            native,
        ):
            if out.flags.c_contiguous:
                self.staging.download(storage.memory, out)
            else:
                np.copyto(out, self.fetch(storage))

    def fetch(self, storage: Storage) -> Array:
        """The content as a new array; a large one is the mapped memory itself, without a copy."""
        return self.fetch_later(storage)()

    def fetch_rows(self, storage: Storage, first: int, end: int) -> Array:
        """Some of the content, by its first index: no more is fetched, where rows are whole words."""
        assert isinstance(storage, GpuArray)
        type_ = storage.type
        row = type_.nbytes // type_.shape[0]
        if row % 4:
            return super().fetch_rows(storage, first, end)
        self.check_process()
        with mapped(f"reading an array of {type_.shape} {type_.dtype}", device=self), native:
            size = (end - first) * row
            reading = self.staging.begin_read_part(storage.memory.buffer, first * row, size)
            out = np.empty((end - first, *type_.shape[1:]), type_.dtype.numpy)
            self.staging.finish_read(reading, out)
            return out

    def fetch_later(self, storage: Storage) -> Callable[[], Array]:
        assert isinstance(storage, GpuArray)
        self.check_process()
        what = f"reading an array of {storage.type.shape} {storage.type.dtype}"
        with mapped(what, device=self), native:
            reading = self.staging.begin_read(storage.memory)

        def finish() -> Array:
            with mapped(what, device=self), native:
                type_ = storage.type
                content = self.staging.content(reading, type_.nbytes)
                return np.ndarray(type_.shape, type_.dtype.numpy, content)

        return finish
