"""Contents that are pictures after all, made on the GPU: groups, transitions, effects, filtered canvases.

The same as ``paint/content.py``; what is made stays in the textures under what it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from dala.backends.webgpu.memory import GpuArray
from dala.compute.buffers import Buffer
from dala.compute.engine import engine_for
from dala.scene.effects import filtered
from dala.scene.layers import (
    Adjustment,
    Composition,
    Content,
    Group,
    Layer,
    Mixed,
    Planes,
    Rgba,
    Solid,
    key_of_effects,
)  # fmt: skip
from dala.scene.paint.webgpu.textures import Picture, Textures
from dala.scene.transitions import mixed

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice


class Contents:
    """What layers show, on one GPU; ``paint`` paints what has to be painted for that."""

    def __init__(
        self, device: WebGpuDevice, textures: Textures, paint: Callable[[Composition], GpuArray]
    ) -> None:
        self._device = device
        self._textures = textures
        self._paint = paint

    def resolve(self, layer: Layer) -> Picture | Planes | Solid:
        """What of the layer can be sampled."""
        content = layer.content
        if layer.effects:
            key = ("made", (content.key, key_of_effects(layer.effects)))
            return self._made(
                key, content,
                lambda: filtered(
                    self._picture(content), layer.effects, layer.upcoming, self._device.name
                ),
            )  # fmt: skip
        if isinstance(content, Rgba):
            return Picture.of(content)
        if isinstance(content, Planes | Solid):
            return content
        return self._made(("made", content.key), content, lambda: self._picture(content))

    def adjusted(self, canvas: GpuArray, adjustment: Adjustment) -> Picture:
        """The canvas through the filters; it is like no other, and not kept."""

        def make() -> GpuArray:
            below, name = self._buffer(canvas), self._device.name
            return _storage(filtered(below, adjustment.effects, adjustment.upcoming, name))

        height, width, _ = canvas.type.shape
        return Picture(None, width, height, False, make)

    def _made(self, key: Hashable, content: Content, make: Callable[[], Buffer]) -> Picture:
        return Picture(key, content.width, content.height, False, lambda: _storage(make()))

    def _picture(self, content: Content) -> Buffer:
        """The content's own pixels, (H, W, 4), on the GPU."""
        if isinstance(content, Rgba):
            return self._buffer(self._textures.copy_of(Picture.of(content)))
        if isinstance(content, Group):
            group = Composition(content.width, content.height, (0, 0, 0, 0), content.layers)
            return self._buffer(self._paint(group))
        if isinstance(content, Mixed):
            if content.progress <= 0 or content.progress >= 1:
                return self._picture(content.a if content.progress <= 0 else content.b)
            a, b = self._picture(content.a), self._picture(content.b)
            name = self._device.name
            return mixed(a, b, content.transition, content.progress, content.params, name)
        size = content.width, content.height
        if isinstance(content, Solid):
            return self._buffer(self._paint(Composition(*size, content.color)))
        return self._buffer(self._paint(Composition(*size, (0, 0, 0, 255), (Layer(content),))))

    def _buffer(self, array: GpuArray) -> Buffer:
        return Buffer(engine_for(self._device), array.type, array)


def _storage(buffer: Buffer) -> GpuArray:
    storage = buffer.storage()
    assert isinstance(storage, GpuArray)
    return storage
