"""Where a scene's pictures are painted: in main memory, or on a GPU, and there they stay until read."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from dala.backends.webgpu.memory import GpuArray
from dala.compute.buffers import Buffer
from dala.compute.engine import engine_for
from dala.scene.frame import Bytes, FrameMemory
from dala.scene.layers import Composition
from dala.scene.paint import check_device, is_gpu, paint

Pixels: TypeAlias = Bytes | Buffer


class Painting(Protocol):
    """Paints the compositions of one scene, one after the other."""

    def paint(self, composition: Composition, last: tuple[Composition, Pixels] | None) -> Pixels:
        """A picture that nobody changes any more; ``last`` is the one before."""

    def holds(self, pixels: Pixels) -> bool:
        """Whether a picture that was painted is still there."""

    def close(self) -> None:
        """Free what is kept from one to the next."""


def painting_for(device: str | None, width: int, height: int, who: str) -> Painting:
    """For scenes of that size; refuses a device that paints none."""
    check_device(device, who)
    if device is not None and is_gpu(device):
        return GpuPainting(device)
    return HostPainting(device, width, height)


class HostPainting:
    """In main memory."""

    def __init__(self, device: str | None, width: int, height: int) -> None:
        self._device = device
        self._frames = FrameMemory(height, width, 4)

    def paint(self, composition: Composition, last: tuple[Composition, Pixels] | None) -> Pixels:
        """A picture in memory that nobody holds any more, if there is some."""
        return paint(composition, device=self._device, out=self._frames.take())

    def holds(self, pixels: Pixels) -> bool:
        """Main memory is not lost."""
        return True

    def close(self) -> None:
        """Frames go with whoever holds them."""


class GpuPainting:
    """On a GPU. One that was lost is opened again for the next picture."""

    def __init__(self, device: str) -> None:
        from dala.scene.paint.webgpu.reading import open_gpu

        self._open = open_gpu
        self._name = device
        self._make()

    def _make(self) -> None:
        from dala.scene.paint.webgpu import GpuPainter

        self._painter = GpuPainter(self._open(self._name))

    def paint(self, composition: Composition, last: tuple[Composition, Pixels] | None) -> Pixels:
        """A picture on the GPU: all of it, or what has changed on a copy of the last one."""
        if self._painter.device.lost:
            self._make()
        device = self._painter.device
        previous, before = None, None
        if last is not None and isinstance(last[1], Buffer):
            storage = last[1].storage()
            if last[1].engine.device is device and isinstance(storage, GpuArray):
                previous, before = last[0], storage
        made = self._painter.paint(composition, previous, before)
        return Buffer(engine_for(device), made.type, made)

    def holds(self, pixels: Pixels) -> bool:
        """Whether the GPU that it is on was not lost."""
        return isinstance(pixels, Buffer) and not pixels.engine.device.lost

    def close(self) -> None:
        """Free the textures."""
        self._painter.close()
