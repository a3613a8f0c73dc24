"""A network: an ONNX file that is read, checked and ready to run on a device.

bytes → Model (onnx/) → layers at fixed shapes (layers/) → a runner of the device (run/)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from dala.backends.auto import open_device
from dala.backends.base import Device
from dala.closing import Closing
from dala.compute.default import default_engine
from dala.compute.engine import engine_for
from dala.errors import (
    ArgumentError,
    DTypeError,
    ModelError,
    ParameterError,
    ShapeError,
    UnsupportedError,
    suggest,
)
from dala.language.kernel import Kernel
from dala.language.registry import add_custom, find_kernel, kernel_names, remove_custom
from dala.ml.kernel import NetworkKernel
from dala.ml.onnx.graph import Model, TensorSpec
from dala.ml.onnx.read import load_bytes, read_model
from dala.ml.run.base import Runner
from dala.ml.tensors import Sampled

Array = npt.NDArray[Any]
Precision = Literal["f32", "f16"]
PRECISIONS = ("f32", "f16")


def open_network(
    source: str | Path | bytes,
    *,
    device: str | Device | None = None,
    precision: str = "f32",
) -> Network:
    """The network in an ONNX file (or its bytes), ready to run on a device.

    >>> from dala.ml.network import open_network
    >>> try:
    ...     open_network(b"no model")
    ... except ValueError as error:
    ...     print(str(error)[:37])
    this model is no ONNX file: the model
    """
    if precision not in PRECISIONS:
        raise ParameterError(
            f"precision is 'f32' or 'f16', got {precision!r}{suggest(str(precision), PRECISIONS)}"
        )
    data, name = load_bytes(source)
    model = read_model(data, name)
    where = _device(device)
    runner = _make_runner(where, data, model, Path(name).stem, cast("Precision", precision))
    return Network(model, where, runner, Path(name).stem)


class Network(Closing):
    """A network that is open. ``run`` takes its inputs as arrays and gives its outputs as arrays."""

    def __init__(self, model: Model, device: Device, runner: Runner, name: str) -> None:
        self.name = name
        self.device = device
        self.inputs: tuple[TensorSpec, ...] = model.graph.inputs
        self.outputs: tuple[TensorSpec, ...] = model.graph.outputs
        self.metadata: Mapping[str, str] = model.metadata
        self._runner: Runner | None = runner
        self._kernels: list[Kernel] = []
        self._shapes: list[tuple[int, ...]] | None = None  # of the last inputs

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<dala network {self.name} on {self.device.name}{state}>"

    def run(self, *arrays: Array | Mapping[str, Array]) -> tuple[Array, ...]:
        """The outputs for inputs in the network's order, or in a dict by their names."""
        runner = self._alive()
        given = self._ordered(arrays)
        checked = [
            check_input(self.name, spec, a) for spec, a in zip(self.inputs, given, strict=True)
        ]
        self._shapes = [a.shape for a in checked]
        return runner.run(checked)

    def run_on(self, sampled: Sampled, shape: tuple[int, ...]) -> tuple[Array, ...]:
        """The outputs for one input, the tensor of a picture, seen as ``shape``; of a picture on the
        network's own GPU, sampling it and the network are one run."""
        if sampled.device is not self.device or self.device.backend != "wgpu":
            return self.run(np.asarray(sampled).reshape(shape))
        runner, self._shapes = self._alive(), [shape]
        if sampled.is_busy:
            return runner.run_stored([sampled.make().storage()], self._shapes)
        recipe, numbers, _ = sampled.known
        return runner.run_behind(recipe, sampled.source.storage(), numbers, self._shapes)

    def explain(self) -> str:
        """What runs: layers, what was fused, and why, for inputs like the last ones.

        Before the first run a free length stands for 1.
        """
        fixed = [tuple(n or 1 for n in spec.shape) for spec in self.inputs]
        return self._alive().explain(self._shapes or fixed)

    def register(self, name: str | None = None) -> Kernel:
        """Make it a kernel by its name (or another), for pipelines of its device, until it is closed."""
        kernel = NetworkKernel(name or self.name, self._alive(), self.inputs, self.outputs)
        add_custom(kernel.name, kernel)
        self._kernels.append(kernel)
        return kernel

    def close(self) -> None:
        """Give back the memory, and the names it has as a kernel. Twice does nothing."""
        runner, self._runner = self._runner, None
        if self._kernels:
            engine_for(self.device).forget()  # plans that hold the weights
        while self._kernels:
            kernel = self._kernels.pop()
            if kernel.name in kernel_names() and find_kernel(kernel.name) is kernel:
                remove_custom(kernel.name)
        if runner is not None:
            runner.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._runner is None

    def _alive(self) -> Runner:
        if self._runner is None:
            raise ModelError(f"{self.name} has been closed; open it again")
        return self._runner

    def _ordered(self, arrays: Sequence[Array | Mapping[str, Array]]) -> list[Array]:
        names = [spec.name for spec in self.inputs]
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            given = arrays[0]
            for key in given:
                if key not in names:
                    hint = suggest(str(key), names)
                    raise ModelError(f"{self.name}: there is no input {key!r}{hint}")
            missing = [n for n in names if n not in given]
            if missing:
                raise ModelError(f"{self.name}: input {missing[0]!r} is missing")
            return [given[n] for n in names]
        if len(arrays) != len(names):
            raise ModelError(
                f"{self.name}: expected {len(names)} inputs ({', '.join(names)}), got {len(arrays)}"
            )
        return [cast("Array", a) for a in arrays]


def check_input(name: str, spec: TensorSpec, array: object) -> Array:
    """An input as the network takes it, C-contiguous; anything else is refused, not converted."""
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"{name}: {spec.name} is an array, got {type(array).__name__}")
    if array.dtype != spec.dtype:
        raise DTypeError(
            f"{name}: {spec.name} is {spec.dtype}, got {array.dtype}; convert it with astype"
        )
    fits = len(array.shape) == len(spec.shape) and all(
        want is None or want == got for want, got in zip(spec.shape, array.shape, strict=True)
    )
    if not fits or 0 in array.shape:
        raise ShapeError(f"{name}: expected {spec}, got an array of {array.shape}")
    return np.ascontiguousarray(array)


def _device(device: str | Device | None) -> Device:
    if device is None:
        return default_engine().device
    return device if isinstance(device, Device) else open_device(device)


def _make_runner(
    device: Device, data: bytes, model: Model, name: str, precision: Precision
) -> Runner:
    # imported here: what a device needs is loaded when it is first used
    if device.backend != "wgpu" and precision != "f32":
        raise UnsupportedError(
            f"{device.name} computes in f32; precision={precision!r} needs a GPU"
        )
    if device.backend == "numpy":
        from dala.ml.run.reference import ReferenceRunner

        return ReferenceRunner(model, name)
    if device.backend == "wgpu":
        from dala.backends.webgpu.device import WebGpuDevice
        from dala.ml.run.webgpu.runner import GpuRunner

        assert isinstance(device, WebGpuDevice)
        return GpuRunner(model, name, device, half=precision == "f16")
    from dala.ml.run.cpu import OnnxRuntimeRunner

    return OnnxRuntimeRunner(data, model, name)
