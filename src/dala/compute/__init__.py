"""Buffers, kernels, commands, streams and pipelines: what a user of compute holds.

    buffers.py    arrays on a device            interop.py    NumPy, DLPack, PIL, lists
    stages.py     stage specs, checked          commands.py   what runs when
    pipelines.py  stages planned together       engine.py     stages → executable → command
    default.py    the default device
    failures.py   errors that outlive a call

The functions here are the API of the seeds; each delegates to a method of an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import dala.kernels  # noqa: F401  (enters the catalogue)
from dala._version import __version__
from dala.backends.auto import choose_auto
from dala.compute.buffers import Buffer, Scratch, array_type, check_shape
from dala.compute.commands import (
    Command,
    Status,
    poll_command,
    wait_command,
    wait_for_all,
)
from dala.compute.default import default_engine, device, devices, use
from dala.compute.engine import Stream
from dala.compute.interop import as_host_array, from_any
from dala.compute.interop import to_array as _to_array
from dala.compute.pipelines import Pipeline
from dala.compute.stages import kernel_stage, parse_stage
from dala.errors import ArgumentError, ShapeError
from dala.ir.dtypes import DType, parse_dtype
from dala.language.decorator import kernel, register, unregister
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel as _find_kernel
from dala.language.registry import kernel_names

__all__ = [
    "Buffer", "Command", "Kernel", "Pipeline", "Scratch", "Stream", "add", "buffer",
    "buffer_from_binary", "buffer_zeros", "device", "device_count", "device_info", "devices",
    "dtype", "find_kernel", "free", "free_many", "free_pipeline", "from_array", "has_gpu", "kernel",
    "kernels", "matmul", "multiply", "pipeline", "pipeline_add", "pipeline_run", "poll", "read",
    "read_binary", "read_list", "register", "relu", "run_kernel", "run_kernel_async", "scale",
    "scratch", "shape", "size", "stream", "submit", "supported_dtypes", "synchronize", "to_array",
    "unregister", "use", "version", "wait",
]  # fmt: skip

Array = npt.NDArray[Any]
Params = Mapping[str, object]


# -- devices -----------------------------------------------------------------------------------


def device_info() -> dict[str, object]:
    """The default device: name, whether it is a GPU, backend, version, and why it was chosen.

    >>> import dala
    >>> with dala.use("cpu"):
    ...     info = dala.compute.device_info()
    >>> info["device"], info["backend"], info["gpu"]
    ('cpu', 'llvm', False)
    """
    chosen = default_engine().device
    auto, reason = choose_auto()
    if chosen.name != auto:
        reason = f"dala.use({chosen.name!r}) asked for it"
    return {
        **chosen.describe(),
        "gpu": chosen.is_gpu,
        "backend": chosen.backend,
        "version": __version__,
        "device": chosen.name,
        "dtypes": supported_dtypes(),
        "reason": reason,
    }


def has_gpu() -> bool:
    """Whether the default device is a GPU.

    >>> from dala import compute
    >>> compute.has_gpu() in (True, False)
    True
    """
    return default_engine().device.is_gpu


def device_count() -> int:
    """How many devices can be used here.

    >>> from dala import compute
    >>> compute.device_count() >= 2
    True
    """
    return len(devices())


def version() -> str:
    """dala's version.

    >>> from dala import compute
    >>> compute.version().count(".")
    2
    """
    return __version__


def supported_dtypes() -> list[str]:
    """The element types of the default device.

    >>> from dala import compute
    >>> compute.supported_dtypes()
    ['f32', 'f64', 's32', 's64', 'u32', 'u8']
    """
    return [d.name for d in default_engine().device.dtypes]


def find_kernel(name: str | Kernel) -> Kernel:
    """The kernel of that name, with its parameters and its text; suggests the nearest if there is none.

    >>> from dala import compute
    >>> [p.name for p in compute.find_kernel("blur").params]
    ['radius', 'sigma']
    """
    return _find_kernel(name)


def kernels() -> list[str]:
    """The names of all kernels, built-in and registered.

    >>> from dala import compute
    >>> "blur" in compute.kernels()
    True
    """
    return kernel_names()


# -- buffers -----------------------------------------------------------------------------------


def buffer(data: object, shape: object = None, dtype: object = "f32") -> Buffer:
    """A buffer with the given values: a nested or flat list, an array, anything array-like.

    >>> from dala import compute
    >>> compute.buffer([1.0, 2.0, 3.0, 4.0], (2, 2)).shape
    (2, 2)
    """
    wanted = None if shape is None else check_shape(shape)
    array = as_host_array(data, wanted, parse_dtype(dtype))
    return _upload(array, parse_dtype(dtype))


def buffer_zeros(shape: object, dtype: object = "f32") -> Buffer:
    """A buffer of zeros.

    >>> from dala import compute
    >>> compute.read_list(compute.buffer_zeros((3,)))
    [0.0, 0.0, 0.0]
    """
    engine = default_engine()
    type_ = array_type(shape, dtype)
    engine.device.require_dtype(type_.dtype)
    return Buffer(engine, type_, engine.device.allocate(type_, zero=True))


def buffer_from_binary(data: object, shape: object, dtype: object = "u8") -> Buffer:
    """A buffer from raw bytes, such as the pixels of an image.

    >>> from dala import compute
    >>> compute.buffer_from_binary(bytes(2 * 3 * 4), (2, 3, 4)).size
    24
    """
    type_ = array_type(shape, dtype)
    try:
        raw = np.frombuffer(data, np.uint8)  # type: ignore[call-overload]
    except (TypeError, ValueError, BufferError) as error:
        raise ArgumentError(
            f"buffer_from_binary: expected contiguous bytes, got {type(data).__name__}"
        ) from error
    if raw.size != type_.nbytes:
        raise ShapeError(
            f"buffer_from_binary: shape {type_.shape} of {type_.dtype} needs {type_.nbytes} bytes, "
            f"got {raw.size}"
        )
    return _upload(raw.view(type_.dtype.numpy).reshape(type_.shape), type_.dtype)


def scratch(shape: object, dtype: object = "u8") -> Scratch:
    """A buffer that exists only inside a pipeline: a fused pipeline never makes it.

    >>> from dala import compute
    >>> compute.scratch((480, 640, 4))
    <dala scratch (480, 640, 4) u8>
    """
    return Scratch(array_type(shape, dtype))


def shape(b: Buffer | Scratch) -> tuple[int, ...]:
    """The shape of a buffer.

    >>> from dala import compute
    >>> compute.shape(compute.buffer_zeros((2, 3)))
    (2, 3)
    """
    return _as_any_buffer(b, "shape").shape


def dtype(b: Buffer | Scratch) -> str:
    """The element type of a buffer.

    >>> from dala import compute
    >>> compute.dtype(compute.buffer_zeros((2,), "s64"))
    's64'
    """
    return _as_any_buffer(b, "dtype").dtype


def size(b: Buffer | Scratch) -> int:
    """The size of a buffer in bytes.

    >>> from dala import compute
    >>> compute.size(compute.buffer_zeros((640, 480, 4), "u8"))
    1228800
    """
    return _as_any_buffer(b, "size").size


def read(b: Buffer, out: Array | None = None) -> Array:
    """The content of a buffer as an array (into ``out``, if given), after all pending writes.

    >>> from dala import compute
    >>> compute.read(compute.buffer([1, 2], dtype="u8"))
    array([1, 2], dtype=uint8)
    """
    return _as_buffer(b, "read").read(out)


def read_list(b: Buffer) -> list[float | int]:
    """The content as a flat list of Python numbers.

    >>> from dala import compute
    >>> compute.read_list(compute.buffer([[1, 2], [3, 4]], dtype="s32"))
    [1, 2, 3, 4]
    """
    return list(_as_buffer(b, "read_list").read().reshape(-1).tolist())


def read_binary(b: Buffer) -> bytes:
    """The content as raw bytes.

    >>> from dala import compute
    >>> compute.read_binary(compute.buffer([1, 2], dtype="u8"))
    b'\\x01\\x02'
    """
    return _as_buffer(b, "read_binary").read().tobytes()


def free(b: Buffer | Scratch) -> None:
    """Give a buffer's memory back; freeing twice does nothing.

    >>> from dala import compute
    >>> b = compute.buffer_zeros((4,))
    >>> compute.free(b); compute.free(b); b.freed
    True
    """
    _as_any_buffer(b, "free").free()


def free_many(buffers: Iterable[Buffer | Scratch]) -> None:
    """Free several buffers.

    >>> from dala import compute
    >>> compute.free_many([compute.buffer_zeros((4,)), compute.buffer_zeros((4,))])
    """
    if not isinstance(buffers, Iterable):
        raise ArgumentError(
            f"free_many: expected several buffers, got {type(buffers).__name__}; "
            "put brackets around it"
        )
    for b in [_as_any_buffer(b, "free_many") for b in buffers]:
        b.free()


def from_array(x: object) -> Buffer:
    """A buffer with the shape, dtype and values of an array: NumPy, DLPack, PIL, memoryview.

    >>> import numpy as np
    >>> from dala import compute
    >>> compute.from_array(np.arange(3, dtype=np.int64)).dtype
    's64'
    """
    if isinstance(x, Buffer):
        x = x.read()
    array, dtype_ = from_any(x)
    return _upload(array, dtype_)


def to_array(b: Buffer, shape: object = None, dtype: object = None) -> Array:
    """The content as a NumPy array, in another shape or dtype if asked.

    >>> from dala import compute
    >>> compute.to_array(compute.buffer([1.0, 2.0, 3.0, 4.0]), (2, 2), "s32").tolist()
    [[1, 2], [3, 4]]
    """
    wanted = None if shape is None else check_shape(shape)
    target = None if dtype is None else parse_dtype(dtype)
    return _to_array(_as_buffer(b, "to_array").read(), wanted, target)


# -- kernels -----------------------------------------------------------------------------------


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
    stage = kernel_stage(name, inputs, output, params, allow_scratch=False)
    output.engine.run([stage], inline=True)


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
    stage = kernel_stage(name, inputs, output, params, allow_scratch=False)
    return output.engine.run([stage], inline=False)


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
    return stage.output.engine.run([stage], inline=False)


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
    """Wait until everything submitted so far, on every stream, is done.

    >>> from dala import compute
    >>> compute.synchronize()
    """
    wait_for_all()


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
    _as_pipeline(p, "free_pipeline").free()


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


def _upload(array: Array, dtype_: DType) -> Buffer:
    engine = default_engine()
    engine.device.require_dtype(dtype_)
    type_ = array_type(array.shape, dtype_)
    storage = engine.device.allocate(type_)
    engine.device.upload(storage, array)
    return Buffer(engine, type_, storage)


def _as_buffer(b: object, who: str) -> Buffer:
    if isinstance(b, Scratch):
        b.read()  # refuses, and says why
    if not isinstance(b, Buffer):
        raise ArgumentError(f"{who}: expected a buffer, got {type(b).__name__}")
    return b


def _as_any_buffer(b: object, who: str) -> Buffer | Scratch:
    return b if isinstance(b, Scratch) else _as_buffer(b, who)


def _as_pipeline(p: object, who: str) -> Pipeline:
    if not isinstance(p, Pipeline):
        raise ArgumentError(f"{who}: expected a pipeline, got {type(p).__name__}")
    return p
