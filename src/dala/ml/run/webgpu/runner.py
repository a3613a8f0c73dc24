"""A network on a GPU: weights uploaded once, programs compiled once for each shape of inputs."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dala import forking
from dala.backends.base import Storage
from dala.backends.cpu.run.cores import machine_threads
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.execute import Dispatch, FetchingExecutable, GpuExecutable, OwnedLocation
from dala.backends.webgpu.shader import Shader
from dala.compute.recipe import Recipe
from dala.errors import ModelError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32
from dala.ir.library import OwnBody, OwnCall
from dala.ml.layers.program import Program
from dala.ml.onnx.graph import Model
from dala.ml.run.base import Runner
from dala.ml.run.listing import explain_program
from dala.ml.run.programs import KEPT, Programs
from dala.ml.run.stage import Request, other_device, stage_program
from dala.ml.run.webgpu.access import Stored, form_of, stored_type
from dala.ml.run.webgpu.compile import Compiler
from dala.ml.run.webgpu.placing import Placing, place_values
from dala.once import OnceByKey, once_per_process
from dala.plan.fuse import Location, PassArray
from dala.plan.planner import Plan, plan_passes
from dala.plan.temporaries import moved
from dala.plan.whole import WholePass
from dala.threads import Runners

Array = npt.NDArray[Any]
Shapes = tuple[tuple[int, ...], ...]
NewTemp = Callable[[ArrayType], Location]
KEPT_READY = 64  # of every kind and size of picture that comes before a network


class GpuRunner(Runner):
    """Programs as GpuExecutables."""

    def __init__(self, model: Model, name: str, device: WebGpuDevice, *, half: bool) -> None:
        self.device = device
        self.half = half
        self.name = name
        self._programs = Programs(model, name)
        self._held: dict[str, Stored] = {}
        self._lock = forking.rlock()
        self._bodies: OnceByKey[Shapes, GpuBody] = OnceByKey(KEPT)
        self._behind: OnceByKey[Shapes, GpuExecutable] = OnceByKey(KEPT)  # networks behind others
        self._ready: OnceByKey[tuple[Recipe | None, Shapes], ReadyProgram] = OnceByKey(KEPT_READY)
        for spec in model.graph.inputs:
            if spec.dtype not in (np.float32, np.uint8, np.int32):
                raise ModelError(f"{name}: {spec}: a GPU takes float32, uint8 and int32")

    def run(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        shapes = [a.shape for a in inputs]
        arrays = [self.device.allocate(t) for t in self.body(shapes).input_types]
        for storage, array in zip(arrays, inputs, strict=True):
            self.device.upload(storage, array.reshape(storage.type.shape))
        return self._find(None, shapes).run(arrays, ())

    def run_stored(
        self, inputs: Sequence[Storage], shapes: Sequence[tuple[int, ...]]
    ) -> tuple[Array, ...]:
        for storage, type_ in zip(inputs, self.body(shapes).input_types, strict=True):
            assert (storage.type.dtype, storage.type.count) == (type_.dtype, type_.count)
        return self._find(None, shapes).run(inputs, ())

    def run_behind(
        self,
        before: Recipe,
        source: Storage,
        params: Sequence[float | int],
        shapes: Sequence[tuple[int, ...]],
    ) -> tuple[Array, ...]:
        return self._find(before, shapes).run([source], params)

    def explain(self, shapes: Sequence[tuple[int, ...]]) -> str:
        return self.body(shapes).explain(self.device.name)

    def close(self) -> None:
        self._bodies.clear()
        self._behind.clear()
        self._ready.clear()
        with self._lock:
            self._held.clear()

    def body(self, shapes: Sequence[tuple[int, ...]]) -> GpuBody:
        """The program for inputs of these shapes, its shaders compiled."""
        key = tuple(map(tuple, shapes))
        return self._bodies.get(key, lambda: self._make_body(key))

    def _make_body(self, shapes: Shapes) -> GpuBody:
        body = GpuBody(self, self._programs.find(shapes))
        compile_together(self.device, body.shaders_anywhere())
        return body

    def stage(self, request: Request) -> tuple[OwnBody, ArrayType | None]:
        body = GpuBody(self, stage_program(self._programs.find(request.shapes), request))
        compile_together(self.device, body.shaders_anywhere())
        return body, body.output_types[0]

    def _find(self, before: Recipe | None, shapes: Sequence[tuple[int, ...]]) -> ReadyProgram:
        key = before, tuple(shapes)
        return self._ready.peek(key) or self._ready.get(key, lambda: self._make_ready(*key))

    def _make_ready(self, before: Recipe | None, shapes: Shapes) -> ReadyProgram:
        """The program for inputs of these shapes, behind what makes the only one of them."""
        body = self.body(shapes)
        if before is None:
            return ReadyProgram(body, self._compile(body, "slot"))
        network = self._behind.get(shapes, lambda: self._compile(body, "temp"))
        return ReadyProgram(body, self._joined(before, network))

    def _compile(self, body: GpuBody, inputs_are: Literal["slot", "temp"]) -> GpuExecutable:
        """The program alone; its outputs are temporaries."""
        inputs = [Location(inputs_are, k) for k in range(len(body.input_types))]
        temps: list[ArrayType] = [*body.input_types] if inputs_are == "temp" else []
        work = body.as_pass(inputs, _new_temps(temps, body.output_types))
        return self.device.compile(plan_passes([work], temps, self.device.capabilities))

    def _joined(self, before: Recipe, network: GpuExecutable) -> GpuExecutable:
        """What makes the first temporary of a network, and the network, whose steps are shared by all that
        comes before it: a picture of another size is no reason to compile a network again."""
        assert isinstance(before.executable, GpuExecutable)
        assert not any(s.has_uniforms for s in network.steps if isinstance(s, Dispatch))
        plan, own = before.executable.plan, network.plan
        temps = [*own.temps]
        moves = dict(zip(_temps_of(plan), _new_temps(temps, plan.temps), strict=True))
        moves[Location("slot", len(before.slots) - 1)] = Location("temp", 0)
        passes = [moved(work, moves) for work in plan.passes]
        first = self.device.compile(plan_passes(passes, temps, self.device.capabilities))
        both = replace(
            first.plan,
            passes=first.plan.passes + own.passes,
            reasons=first.plan.reasons + own.reasons,
            stages=first.plan.stages + own.stages,
        )
        return GpuExecutable(self.device, both, [*first.steps, *network.steps])

    def hold(self, array: Array, half: bool) -> Stored:
        """An array that stays on the GPU: once, however many layers and programs use it."""
        form = (
            "f16"
            if half and self.half and array.dtype.kind == "f"
            else form_of(array.dtype, outside=False)
        )
        array = np.ascontiguousarray(array, np.float32 if form in ("f32", "f16") else np.int32)
        stored = array.astype(np.float16).view(np.uint32).reshape(-1) if form == "f16" else array
        key = hashlib.blake2b(stored.tobytes(), digest_size=16).hexdigest() + f"{form}{array.shape}"
        with self._lock:
            if key not in self._held:
                memory = self.device.allocate(stored_type(form, array.shape))
                self.device.upload(memory, stored.reshape(memory.type.shape))
                self._held[key] = Stored(OwnedLocation("owned", 0, memory), form, array.shape)
            return self._held[key]


def _new_temps(temps: list[ArrayType], types: Sequence[ArrayType]) -> list[Location]:
    temps += types
    return [Location("temp", n) for n in range(len(temps) - len(types), len(temps))]


def _temps_of(plan: Plan) -> list[Location]:
    return [Location("temp", n) for n in range(len(plan.temps))]


class ReadyProgram:
    """A program that is compiled; its outputs are read in the submit that makes them."""

    def __init__(self, body: GpuBody, whole: GpuExecutable) -> None:
        values = [body.program.values[v] for v in body.program.outputs]
        wide = any(v.dtype != t.dtype.numpy for v, t in zip(values, body.output_types, strict=True))
        self._dtypes = [v.dtype for v in values] if wide else None  # of those that are widened
        self.executable = FetchingExecutable(
            whole,
            [
                (made.location, ArrayType(value.shape, made.type.dtype))
                for made, value in zip(whole.plan.passes[-1].writes, values, strict=True)
            ],
        )

    def run(self, slots: Sequence[Storage], params: Sequence[float | int]) -> tuple[Array, ...]:
        """All outputs."""
        found = self.executable.fetch(slots, params)
        if self._dtypes is None:
            return tuple(found)
        return tuple([a.astype(t, copy=False) for a, t in zip(found, self._dtypes, strict=True)])


class GpuBody(OwnBody):
    """A program that a plan can hold as one of its passes."""

    def __init__(self, runner: GpuRunner, program: Program) -> None:
        self.runner = runner
        self.program = program
        self.placing: Placing = place_values(program, half=runner.half)
        self.input_types = [self._outer_type(v) for v in program.inputs]
        self.output_types = [self._outer_type(v) for v in program.outputs]

    def as_pass(self, inputs: Sequence[Location], outputs: Sequence[Location]) -> WholePass:
        """It, on these arrays."""
        name = self.runner.name
        reads = tuple(map(PassArray, inputs, self.input_types))
        writes = tuple(map(PassArray, outputs, self.output_types))
        return WholePass(OwnCall("network", name, (), self), (name,), reads, writes)

    def _outer_type(self, value: int) -> ArrayType:
        type_ = self.program.values[value]
        return stored_type(form_of(type_.dtype, outside=True), type_.shape)

    def shaders_anywhere(self) -> list[Shader]:
        """The shaders, wherever their arrays will be."""
        nowhere = Location("slot", 0)
        many = [nowhere] * len(self.placing.sizes)
        inputs, outputs = (
            [nowhere] * len(types) for types in (self.input_types, self.output_types)
        )
        return Compiler(
            self.program, self.placing, inputs, outputs, many, self.runner.hold
        ).shaders()

    def emit(
        self,
        device: object,
        reads: Sequence[Location],
        writes: Sequence[Location],
        new_temp: NewTemp,
    ) -> list[Shader]:
        if device is not self.runner.device:
            raise other_device(self.runner.name, self.runner.device.name)
        registers = [new_temp(ArrayType((-(-size // 4),), U32)) for size in self.placing.sizes]
        compiler = Compiler(self.program, self.placing, reads, writes, registers, self.runner.hold)
        return compiler.shaders()

    def compute(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        raise other_device(self.runner.name, self.runner.device.name)

    def explain(self, device: str) -> str:
        held = sum(a.nbytes for layer in self.program.layers for a in layer.weights) / 2**20
        work = sum(self.placing.sizes) / 2**20
        return (
            f"{explain_program(self.program, device)}\n"
            f"      {held:.1f} MiB of weights on the GPU; {work:.1f} MiB for all activations, in "
            f"{len(self.placing.sizes)} pieces that are used again; one submit"
        )


# -- compiling side by side ------------------------------------------------------------------------


@once_per_process
def _compilers() -> Runners:
    return Runners("dala-shaders", min(4, machine_threads()))


def compile_together(device: WebGpuDevice, shaders: Sequence[Shader]) -> None:
    """Compile the pipelines of all shaders, several at a time; raises what goes wrong with one."""
    unique = list({shader.text: shader for shader in shaders}.values())
    done: SimpleQueue[BaseException | None] = SimpleQueue()

    def compile_one(shader: Shader) -> None:
        try:
            device.pipelines.get(shader)
            done.put(None)
        except BaseException as error:  # raised again by the caller
            done.put(error)

    for shader in unique:
        if not _compilers().put(functools.partial(compile_one, shader)):
            compile_one(shader)
    errors = [done.get() for _ in unique]
    for error in errors:
        if error is not None:
            raise error
