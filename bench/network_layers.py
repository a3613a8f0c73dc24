"""Where a network's time goes on a GPU, dispatch by dispatch, and which tilings would be quicker.

    python bench/models.py FOLDER --device webgpu --layers    every dispatch: time, bytes, flops, bound
    python bench/models.py FOLDER --device webgpu --tune      every product with many tilings

Each dispatch is run many times within one compute pass that has timestamps, as it would stand behind one it
depends on: what it waits for is in its time. The bound is that of the NVIDIA H200.
"""

from __future__ import annotations

import functools
import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.execute import Dispatch, GpuExecutable, find_memory
from dala.backends.webgpu.memory import Memory
from dala.backends.webgpu.shader import Shader
from dala.ml.layers.program import Layer, Program
from dala.ml.network import Network
from dala.ml.run.listing import describe
from dala.ml.run.webgpu import products, runner
from dala.ml.run.webgpu.compile import Compiler
from dala.ml.run.webgpu.placing import real_layers
from dala.ml.run.webgpu.runner import compile_together
from dala.ml.run.webgpu.tiling import Tiling, Work, estimate, tilings
from dala.plan.fuse import Location
from dala.plan.planner import plan_passes

WAIT_US, BYTES_PER_US, FLOPS_PER_US = 1.9, 4.0e6, 50e6
ROUNDS = 3
CANDIDATES = 18
Array = np.ndarray[Any, Any]


@dataclass
class Open:
    """A network's dispatches with all they need."""

    device: WebGpuDevice
    program: Program
    executable: GpuExecutable
    compiler: Compiler
    find: Any
    layers: list[tuple[Layer, Shader]] = field(default_factory=list)

    def dispatch(self, shader: Shader) -> tuple[Any, Any, tuple[int, int, int]]:
        step = Dispatch(self.device, shader)
        step.update(())
        group = step.bind_group([self.find(b.location) for b in shader.bindings])
        return step.pipeline, (group, step), shader.groups

    def emit(self, layer: Layer) -> list[Shader]:
        return self.compiler._emit(layer)


def compile_alone(body: runner.GpuBody) -> GpuExecutable:
    """A network on arrays of the caller's, inputs and then outputs; nothing is read."""
    device, count = body.runner.device, len(body.input_types)
    slots = [Location("slot", k) for k in range(count + len(body.output_types))]
    work = body.as_pass(slots[:count], slots[count:])
    return device.compile(plan_passes([work], [], device.capabilities))


@contextmanager
def opened(network: Network, inputs: Sequence[Array]) -> Iterator[Open]:
    """After one whole run, so that all arrays hold what they would hold."""
    device, on_gpu = network.device, network._runner
    assert isinstance(device, WebGpuDevice) and isinstance(on_gpu, runner.GpuRunner)
    body = on_gpu.body([a.shape for a in inputs])
    executable = compile_alone(body)
    arrays = [device.allocate(t) for t in (*body.input_types, *body.output_types)]
    for storage, array in zip(arrays, inputs, strict=False):
        device.upload(storage, array)
    executable.launch(arrays, ())
    count = len(body.input_types)
    slots = [Location("slot", k) for k in range(len(arrays))]
    registers = [Location("temp", k) for k in range(len(body.placing.sizes))]
    compiler = Compiler(
        body.program, body.placing, slots[:count], slots[count:], registers, body.runner.hold
    )
    temps: list[Memory] = []
    executable._take(temps)
    find = functools.partial(find_memory, arrays, temps)
    found = Open(device, body.program, executable, compiler, find)
    for layer in real_layers(body.program):
        found.layers += [(layer, shader) for shader in found.emit(layer)]
    yield found
    executable._give(temps)


def times_us(open_: Open, shaders: Sequence[Shader], repeats: int) -> list[float]:
    """The least time of each, of a few rounds; NaN without timestamps."""
    device, gpu = open_.device, open_.device.gpu
    if device.timers is None:
        return [math.nan] * len(shaders)
    bound = [open_.dispatch(shader) for shader in shaders]
    _warm_up(device, bound)
    best = np.full(len(shaders), np.inf)
    for begin in range(0, len(shaders), 1000):
        part = bound[begin : begin + 1000]
        queries = gpu.create_query_set(type="timestamp", count=2 * len(part))
        results = gpu.create_buffer(size=16 * len(part), usage="QUERY_RESOLVE|COPY_SRC")
        for _ in range(ROUNDS if device.adapter.is_software else 3 * ROUNDS):
            with device.queue.lock:
                encoder = gpu.create_command_encoder()
                for number, (pipeline, (group, _), groups) in enumerate(part):
                    _record(encoder, queries, number, pipeline, group, groups, repeats)
                encoder.resolve_query_set(queries, 0, 2 * len(part), results, 0)
                device.queue.submit(encoder)
                marks = np.frombuffer(gpu.queue.read_buffer(results), np.uint64).reshape(-1, 2)
            taken = (marks[:, 1] - marks[:, 0]).astype(float) * device.timers.tick_ns / 1e3
            best[begin : begin + len(part)] = np.minimum(
                best[begin : begin + len(part)], taken / repeats
            )
    return [float(v) for v in best]


def _warm_up(device: WebGpuDevice, bound: Sequence[Any]) -> None:
    """A twentieth of a second of the same work: idle, a GPU lowers its clocks."""
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end and not device.adapter.is_software:
        with device.queue.lock:
            encoder = device.gpu.create_command_encoder()
            here = encoder.begin_compute_pass()
            for pipeline, (group, _), groups in bound:
                here.set_pipeline(pipeline)
                here.set_bind_group(0, group)
                for _ in range(10):
                    here.dispatch_workgroups(*groups)
            here.end()
            device.queue.submit(encoder)
        device.wait("warming up")


def _record(
    encoder: Any,
    queries: Any,
    number: int,
    pipeline: Any,
    group: Any,
    groups: tuple[int, int, int],
    repeats: int,
) -> None:
    marks = {
        "query_set": queries,
        "beginning_of_pass_write_index": 2 * number,
        "end_of_pass_write_index": 2 * number + 1,
    }
    here = encoder.begin_compute_pass(timestamp_writes=marks)
    here.set_pipeline(pipeline)
    here.set_bind_group(0, group)
    for _ in range(repeats):
        here.dispatch_workgroups(*groups)
    here.end()


def cost(program: Program, layer: Layer) -> tuple[float, float]:
    """Bytes that must be moved at least, and floating point operations."""
    made = program.values[layer.output]
    bytes_ = 4.0 * (made.count + sum(program.values[v].count for v in layer.inputs))
    bytes_ += sum(w.nbytes for w in layer.weights)
    if layer.kind in ("pointwise", "conv", "transposed", "depthwise", "separable"):
        flops = 0.0
        for weight in layer.weights[::2]:
            whole = program.values[layer.inputs[0]] if layer.kind == "transposed" else made
            flops += 2.0 * (whole.count // whole.shape[-1]) * weight.size
    elif layer.kind == "matmul":
        flops = 2.0 * made.count * program.values[layer.inputs[0]].shape[-1]
    else:
        flops = float(made.count)
    return bytes_, flops


def print_layers(name: str, network: Network, inputs: Sequence[Array], repeats: int) -> None:
    """One line for each dispatch, and the sums by kind."""
    with opened(network, inputs) as open_:
        times = times_us(open_, [shader for _, shader in open_.layers], repeats)
        print(f"\n{name}: {len(times)} dispatches, {sum(times):.0f} µs")
        kinds: dict[str, list[float]] = {}
        for (layer, shader), us in zip(open_.layers, times, strict=True):
            bytes_, flops = cost(open_.program, layer)
            bound = max(bytes_ / BYTES_PER_US, flops / FLOPS_PER_US)
            which = "bytes" if bytes_ / BYTES_PER_US >= flops / FLOPS_PER_US else "flops"
            kinds.setdefault(layer.kind, []).append(us)
            text = describe(open_.program, layer).split("  (")[0][:74]
            print(
                f"  {us:7.2f} µs  {bytes_ / 1e6:6.2f} MB {flops / 1e6:8.1f} MFLOP  "
                f"{which} {WAIT_US + bound:5.2f}  {math.prod(shader.groups):6} wgs  {text}"
            )
        for kind, spent in sorted(kinds.items(), key=lambda item: -sum(item[1])):
            print(f"    {kind:10} {len(spent):4} dispatches {sum(spent):8.1f} µs")


# -- tilings ---------------------------------------------------------------------------------------

MET: set[tuple[object, ...]] = set()


def print_tilings(name: str, network: Network, inputs: Sequence[Array], repeats: int) -> None:
    """Every product that was not met before, with the tiling that is chosen and with others."""
    chosen_by = products.choose_tiling
    with opened(network, inputs) as open_:
        print(f"\n{name}: µs of tilings (rows, groups, quads, parts, sums), the chosen one first")
        gain = 0.0
        for layer, _ in open_.layers:
            met: list[Work] = []

            def note(work: Work, met: list[Work] = met) -> Tiling:
                met.append(work)
                return chosen_by(work)

            products.choose_tiling = note
            try:
                first = open_.emit(layer)
                if not met or (*_key(met[0]), layer.kind) in MET:
                    continue
                MET.add((*_key(met[0]), layer.kind))
                gain += _try(open_, layer, first[0], met[0], chosen_by(met[0]), repeats)
            finally:
                products.choose_tiling = chosen_by
        print(f"  could be {gain:.0f} µs less (of distinct products)")


def _key(work: Work) -> tuple[object, ...]:
    return work.rows, work.quads, work.sums, work.whole_rows


def _try(
    open_: Open, layer: Layer, first: Shader, work: Work, chosen: Tiling, repeats: int
) -> float:
    every = sorted(tilings(work), key=lambda t: estimate(work, t))
    near = [t for t in every if estimate(work, t) < 2.5 * estimate(work, every[0])]
    rest = random.Random(1).sample(
        near[CANDIDATES // 2 :], max(0, min(len(near) - CANDIDATES // 2, CANDIDATES // 2))
    )
    found = [t for t in (*near[: CANDIDATES // 2], *rest) if t != chosen]
    shaders = [first]
    for tiling in found:
        products.choose_tiling = functools.partial(lambda work, tiling: tiling, tiling=tiling)
        shaders += open_.emit(layer)
    compile_together(open_.device, shaders)
    times = times_us(open_, shaders, repeats)
    wrong = _differences(open_, shaders)
    order = sorted(range(len(shaders)), key=lambda k: times[k])
    text = "  ".join(
        f"{_short(([chosen, *found])[k])}={times[k]:.2f}/{estimate(work, [chosen, *found][k]):.0f}"
        for k in [0, *(k for k in order if k)]
    )
    print(
        f"{layer.kind} {work.rows}x{work.quads}x{work.sums} {text}"
        + (f"  DIFFERS {wrong:.1e}" if wrong > 1e-4 else "")
    )
    return times[0] - min(times)


def _short(t: Tiling) -> str:
    return f"{t.rows},{t.groups},{t.quads},{t.parts},{t.sums}"


def _differences(open_: Open, shaders: Sequence[Shader]) -> float:
    """The largest difference between what the first shader and any other writes."""
    worst, wanted = 0.0, None
    for shader in shaders:
        (written,) = [b for b in shader.bindings if b.written]
        pipeline, (group, _), groups = open_.dispatch(shader)
        gpu, buffer = open_.device.gpu, open_.find(written.location).buffer
        with open_.device.queue.lock:
            encoder = gpu.create_command_encoder()
            here = encoder.begin_compute_pass()
            here.set_pipeline(pipeline)
            here.set_bind_group(0, group)
            here.dispatch_workgroups(*groups)
            here.end()
            open_.device.queue.submit(encoder)
            found = np.frombuffer(gpu.queue.read_buffer(buffer), np.float32).copy()
        if wanted is None:
            wanted = found
        scale = max(1e-30, float(np.abs(wanted).max()))
        worst = max(worst, float(np.abs(found - wanted).max()) / scale)
    return worst
