"""Kernels, commands and pipelines as functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from dala.backends.auto import opened_devices
from dala.compute.buffers import Buffer, array_type
from dala.compute.commands import poll_command, wait_command, wait_for_all
from dala.compute.default import default_engine
from dala.compute.engine import Stream, owner_of
from dala.compute.pipelines import Pipeline
from dala.compute.repeated import prepare_call, run_call
from dala.compute.running import Command, Status
from dala.compute.stages import parse_stage
from dala.errors import ArgumentError
from dala.language.kernel import Kernel

Params = Mapping[str, object]


def run_kernel(
    name: str | Kernel, inputs: Sequence[Buffer], output: Buffer, params: Params | None = None
) -> None:
    """Run a kernel and wait for it.

    >>> from dala import compute
    >>> a, b = compute.buffer([-2.0, 3.0]), compute.buffer_zeros((2,))
    >>> compute.run_kernel("relu", [a], b, {"slope": 0.5})
    >>> compute.read_list(b)
    [-1.0, 3.0]
    """
    run_call(name, inputs, output, params)


def run_kernel_async(
    name: str | Kernel, inputs: Sequence[Buffer], output: Buffer, params: Params | None = None
) -> Command:
    """Start a kernel and return at once; ``await`` or ``wait()`` for the Command.

    >>> from dala import compute
    >>> a, b = compute.buffer([4.0]), compute.buffer_zeros((1,))
    >>> compute.run_kernel_async("sqrt", [a], b).wait()
    >>> compute.read_list(b)
    [2.0]
    """
    ready = prepare_call(name, inputs, output, params)
    return owner_of(output).launch(ready, inline=False)


class PixelTarget(Protocol):
    """A surface, as far as compute knows about it."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    def set_pixels(self, pixels: Buffer, /) -> None: ...

    def take_buffer(self, buffer: Buffer, /) -> None: ...


def run_to_surface(
    kernel: str | Kernel,
    inputs: Sequence[Buffer],
    output: Buffer | None,
    surface: PixelTarget,
    params: Params | None = None,
) -> None:
    """Run a kernel whose result, an RGBA image of the surface's size (u8, or f32 of 0..1), becomes the
    surface's content; draw over it, or present it.

    Without an output buffer (None) the kernel writes straight into the surface's next frame.

    >>> from dala import compute, gpu
    >>> with gpu.create_surface(64, 48) as surface:
    ...     compute.run_to_surface("generate_gradient", [], None, surface)
    ...     surface.present().wait()
    """
    if not hasattr(surface, "take_buffer"):
        raise ArgumentError(f"run_to_surface: expected a surface, got {type(surface).__name__}")
    if output is not None:
        run_kernel(kernel, inputs, output, params)
        if isinstance(output, Buffer) and output.dtype == "f32":
            surface.take_buffer(_as_bytes(output))
        else:
            surface.set_pixels(output)
        return
    engine = owner_of(inputs[0]) if inputs else default_engine()
    type_ = array_type((surface.height, surface.width, 4), "u8")
    frame = Buffer(engine, type_, engine.device.allocate(type_))
    run_kernel(kernel, inputs, frame, params)
    surface.take_buffer(frame)


def _as_bytes(image: Buffer) -> Buffer:
    """An image of f32 in levels of 0..255; what is beyond 0..1 is clipped."""
    type_ = array_type(image.shape, "u8")
    levels = Buffer(image.engine, type_, image.engine.device.allocate(type_))
    run_kernel("resize", [image], levels)  # of its own size: as it is
    return levels


def submit(spec: Mapping[str, object]) -> Command:
    """Start what a stage spec says and return at once.

    >>> from dala import compute
    >>> a, b = compute.buffer([1.0]), compute.buffer_zeros((1,))
    >>> cmd = compute.submit({"op": "run_kernel", "kernel": "exp", "inputs": [a], "output": b})
    >>> compute.wait(cmd)
    """
    stage = parse_stage(spec, allow_scratch=False)
    if stage.output is None:
        return default_engine().run([stage], inline=False)
    assert isinstance(stage.output, Buffer)
    return owner_of(stage.output).run([stage], inline=False)


def poll(command: Command | int) -> Status:
    """``"pending"``, ``"completed"`` or ``"failed"``, for a Command or its number.

    >>> from dala import compute
    >>> a = compute.buffer([1.0])
    >>> cmd = compute.run_kernel_async("exp", [a], a)
    >>> cmd.wait(); compute.poll(cmd.id)
    'completed'
    """
    return poll_command(command)


def wait(command: Command | int, timeout: float | None = None) -> None:
    """Block until a command is done; raises its error if it failed.

    >>> from dala import compute
    >>> a = compute.buffer([1.0])
    >>> compute.wait(compute.run_kernel_async("exp", [a], a), timeout=10)
    """
    wait_command(command, timeout)


def stream() -> Stream:
    """A new stream; commands on different streams may overlap.

    >>> from dala import compute
    >>> isinstance(compute.stream(), compute.Stream)
    True
    """
    return Stream(default_engine())


def synchronize() -> None:
    """Wait until everything submitted or enqueued so far, on every stream and device, is done.

    >>> from dala import compute
    >>> compute.synchronize()
    """
    wait_for_all()
    for device in opened_devices():
        device.finish()


# -- pipelines ---------------------------------------------------------------------------------


def pipeline() -> Pipeline:
    """A new, empty pipeline on the default device.

    >>> from dala import compute
    >>> len(compute.pipeline())
    0
    """
    return Pipeline(default_engine())


def pipeline_add(p: Pipeline, stage: Mapping[str, object]) -> Pipeline:
    """Append a stage; returns the pipeline.

    >>> from dala import compute
    >>> compute.pipeline_add(compute.pipeline(), {"op": "barrier"}).stage_count
    1
    """
    return _as_pipeline(p, "pipeline_add").add(stage)


def pipeline_run(p: Pipeline) -> None:
    """Run all stages and wait.

    >>> from dala import compute
    >>> compute.pipeline_run(compute.pipeline())
    """
    _as_pipeline(p, "pipeline_run").run()


def free_pipeline(p: Pipeline) -> None:
    """Drop a pipeline's stages; freeing twice does nothing.

    >>> from dala import compute
    >>> compute.free_pipeline(compute.pipeline())
    """
    _as_pipeline(p, "free_pipeline").close()


# -- shorthands --------------------------------------------------------------------------------


def add(a: Buffer, b: Buffer, out: Buffer) -> None:
    """out = a + b.

    >>> from dala import compute
    >>> a, out = compute.buffer([1.0, 2.0]), compute.buffer_zeros((2,))
    >>> compute.add(a, a, out); compute.read_list(out)
    [2.0, 4.0]
    """
    run_kernel("elementwise_add", [a, b], out)


def multiply(a: Buffer, b: Buffer, out: Buffer) -> None:
    """out = a · b, element by element.

    >>> from dala import compute
    >>> a, out = compute.buffer([3.0]), compute.buffer_zeros((1,))
    >>> compute.multiply(a, a, out); compute.read_list(out)
    [9.0]
    """
    run_kernel("elementwise_mul", [a, b], out)


def relu(x: Buffer, out: Buffer) -> None:
    """out = max(0, x).

    >>> from dala import compute
    >>> x, out = compute.buffer([-1.0, 2.0]), compute.buffer_zeros((2,))
    >>> compute.relu(x, out); compute.read_list(out)
    [0.0, 2.0]
    """
    run_kernel("relu", [x], out)


def scale(x: Buffer, k: float, out: Buffer) -> None:
    """out = k · x.

    >>> from dala import compute
    >>> x, out = compute.buffer([2.0]), compute.buffer_zeros((1,))
    >>> compute.scale(x, 2.5, out); compute.read_list(out)
    [5.0]
    """
    run_kernel("scalar_mul", [x], out, {"scalar": k})


def matmul(a: Buffer, b: Buffer, out: Buffer) -> None:
    """out = a × b, the matrix product.

    >>> from dala import compute
    >>> a = compute.buffer([[1.0, 2.0], [3.0, 4.0]])
    >>> out = compute.buffer_zeros((2, 2))
    >>> compute.matmul(a, a, out); compute.read_list(out)
    [7.0, 10.0, 15.0, 22.0]
    """
    run_kernel("matmul", [a, b], out)


def _as_pipeline(p: object, who: str) -> Pipeline:
    if not isinstance(p, Pipeline):
        raise ArgumentError(f"{who}: expected a pipeline, got {type(p).__name__}")
    return p
