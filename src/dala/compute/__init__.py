"""Buffers, kernels, commands, streams and pipelines: what a user of compute holds.

    buffers.py    arrays on a device            interop.py    NumPy, DLPack, PIL, lists
    stages.py     stage specs, checked          commands.py   what runs when, running.py: and how
    pipelines.py  stages planned together       engine.py     stages → recipe → command
    recipe.py     a run planned and compiled    handle.py     work under way, as its caller holds it
    failures.py   errors that outlive a call    repeated.py   calls that come again
    shape_order.py    width and height swapped?   debug.py    a kernel's values at a pixel
    notebook.py   what notebooks show         default.py    the default device

The functions are the API of the seeds (facts.py, arrays.py, calls.py); each delegates to a method of
an object.
"""

from __future__ import annotations

import dala.kernels  # noqa: F401  (enters the catalogue)
from dala.compute.arrays import (
    buffer,
    buffer_from_binary,
    buffer_zeros,
    dtype,
    free,
    free_many,
    from_array,
    read,
    read_binary,
    read_list,
    scratch,
    shape,
    size,
    to_array,
)
from dala.compute.buffers import Buffer, Scratch
from dala.compute.calls import (
    add,
    free_pipeline,
    matmul,
    multiply,
    pipeline,
    pipeline_add,
    pipeline_run,
    poll,
    relu,
    run_kernel,
    run_kernel_async,
    run_to_surface,
    scale,
    stream,
    submit,
    synchronize,
    wait,
)
from dala.compute.default import device, devices, use
from dala.compute.engine import Stream
from dala.compute.facts import (
    device_count,
    device_info,
    find_kernel,
    has_gpu,
    kernels,
    supported_dtypes,
    version,
)
from dala.compute.handle import Handle
from dala.compute.pipelines import Pipeline
from dala.compute.running import Command
from dala.language.decorator import kernel, register, unregister
from dala.language.kernel import Kernel

__all__ = [
    "Buffer", "Command", "Handle", "Kernel", "Pipeline", "Scratch", "Stream", "add", "buffer",
    "buffer_from_binary", "buffer_zeros", "device", "device_count", "device_info", "devices",
    "dtype", "find_kernel", "free", "free_many", "free_pipeline", "from_array", "has_gpu", "kernel",
    "kernels", "matmul", "multiply", "pipeline", "pipeline_add", "pipeline_run", "poll", "read",
    "read_binary", "read_list", "register", "relu", "run_kernel", "run_kernel_async", "run_to_surface",
    "scale", "scratch", "shape", "size", "stream", "submit", "supported_dtypes", "synchronize", "to_array",
    "unregister", "use", "version", "wait",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
