"""The calls for compute shaders, on surfaces whose device is a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dala.backends.base import Device
from dala.gpu import command
from dala.gpu.canvas import Canvas, no_compute
from dala.gpu.command import Data
from dala.gpu.drawing import Drawing

if TYPE_CHECKING:
    from dala.gpu.renderer import Renderer
    from dala.gpu.shaders import ShaderSet


def shaders_of(device: Device) -> ShaderSet | None:
    """Compute shaders, where the device is a GPU of ours (or a software stand-in for one)."""
    if device.backend != "wgpu":
        return None
    from dala.backends.webgpu.device import WebGpuDevice
    from dala.gpu.shaders import ShaderSet

    assert isinstance(device, WebGpuDevice)
    return ShaderSet(device)


def canvas_on(device: Device, width: int, height: int, *, replace: bool, named: bool) -> Canvas:
    """Where a surface's pixels are painted: by the CPU, unless the surface ``named`` a GPU. (So it is until
    drawing was measured on real ones; shaders and kernels run on the default device in any case.)"""
    shaders = shaders_of(device)
    if shaders is None or not named:
        return Canvas(width, height, replace=replace, shaders=shaders)
    from dala.gpu.tiles.canvas import TileCanvas

    return TileCanvas(width, height, replace=replace, shaders=shaders)


class Computing(Drawing):
    """Drawing, and shaders between it. shaders.py says what a shader is given."""

    _renderer: Renderer

    @property
    def supports_compute(self) -> bool:
        """Whether WGSL compute shaders can run on this surface's pixels."""
        return self._renderer.canvas.shaders is not None

    def dispatch_compute(
        self, wgsl: str, params: Data = b"", workgroups: Sequence[int] = (1, 1, 1)
    ) -> None:
        """Run a compute shader on the pixels drawn so far: WGSL text, or the name of a loaded one.

        A text that does not compile is refused here, with a ShaderError.

        >>> from dala import gpu
        >>> with gpu.create_surface(8, 8) as surface:
        ...     if surface.supports_compute:
        ...         surface.dispatch_compute("@compute @workgroup_size(1) fn main() {}")
        """
        shaders = self._need_compute()
        data = command.encode_dispatch_compute(wgsl, params, workgroups)
        if not wgsl.isidentifier():  # a text: if it is wrong, its author is here
            shaders.check(wgsl)
        self._record(data)

    def load_shader(self, name: str, source: str) -> None:
        """Keep a compute shader under a name; loading it again replaces it from the next dispatch on.

        >>> from dala import gpu
        >>> with gpu.create_surface(8, 8) as surface:
        ...     if surface.supports_compute:
        ...         surface.load_shader("nothing", "@compute @workgroup_size(1) fn main() {}")
        """
        shaders = self._need_compute()
        data = command.encode_load_shader(name, source)
        shaders.check(source)
        self._record(data)

    def set_uniform(self, name: str, data: Data) -> None:
        """Bytes that shaders read under a name; an array is taken as its bytes.

        >>> from dala import gpu
        >>> with gpu.create_surface(8, 8) as surface:
        ...     if surface.supports_compute:
        ...         surface.set_uniform("speed", bytes(4))
        """
        self._need_compute()
        self._record(command.encode_set_uniform(name, data))

    def _need_compute(self) -> ShaderSet:
        shaders = self._renderer.canvas.shaders
        if shaders is None:
            raise no_compute()
        return shaders
