"""Gathered primitives, handed to the GPU: sorted into bins, sent, and painted by one dispatch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.backends.webgpu.by_hand import BindGroups, room_for_words, send_words
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.gpu.raster.ink.code import circle_table
from dala.gpu.raster.ink.simple import TURN
from dala.gpu.tiles import layout
from dala.gpu.tiles.gathered import Counts, Gathered, Words
from dala.gpu.tiles.pictures import PictureMemory
from dala.gpu.tiles.shader import INK, LAYERS, PLAIN, pipeline
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32
from dala.leaving import native

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice
    from dala.gpu.frame import Frame


class TilePainter:
    """Primitives of one canvas on their way to the GPU. ``flush`` hands them over: the canvas knows the
    frames. Used by one thread."""

    def __init__(self, device: WebGpuDevice, flush: Callable[[], None]) -> None:
        self.device = device
        self.pictures = PictureMemory(device, flush)
        self.timed = False  # whether the next dispatch is timed (bench/tiles.py)
        self.run = 0  # which of the device's timers the last one has
        self._gathered = Gathered()
        self._layers: GpuArray | None = None  # what layers hold that are open between dispatches
        self._depth = 0
        self._circle: GpuArray | None = None
        self._groups = BindGroups(device)

    # -- gathering -----------------------------------------------------------------------------------

    def make_room(self, width: int, height: int) -> None:
        """Memory for primitives on a surface of that size."""
        self._gathered.make_room(width, height)

    def forget(self) -> None:
        """Nothing is gathered."""
        self._gathered.forget()

    def begin(self) -> None:
        """Gather other commands than before."""
        self._gathered.begin()

    def gather(
        self, state: npt.NDArray[np.int64], data: int, at: int, end: int
    ) -> tuple[int, bool]:
        """Checked commands as primitives: the offset where that stopped, and whether for want of room."""
        return self._gathered.gather(state, data, at, end)

    def enlarge(self) -> None:
        """Have room for the data of a command that did not fit, though nothing else was there."""
        self._gathered.enlarge()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to paint."""
        return self._gathered.is_empty

    # -- painting ------------------------------------------------------------------------------------

    def paint(self, back: Frame, front: Frame, depth: int) -> None:
        """Hand over what was gathered; ``depth`` layers are open behind it."""
        form = self._form(depth)
        shader = pipeline(self.device, form)
        start, size = self._gathered[layout.START], back.size
        source = front.gpu() if start == layout.COPY else None
        target = back.gpu() if start == layout.KEEP else back.gpu_to_write()
        assert isinstance(target, GpuArray)
        with mapped("drawing", device=self.device), native, self.device.queue.lock:
            sent = self._send(*self._bins(size, depth))
            assert source is None or isinstance(source, GpuArray)
            memories = [target.memory, (source or sent[2]).memory, *[a.memory for a in sent]]
            memories.append(self.pictures.memory)
            if form >= INK:
                memories.append(self._circle_memory())
            if form == LAYERS:
                memories.append(self._layer_memory(size, depth))
            self._dispatch(shader.pipeline, self._groups.get(shader, memories), size)
        self._depth = depth
        back.computed()
        self._gathered.end()
        self.pictures.settle()

    def _form(self, depth: int) -> int:
        if self._gathered[layout.LAYERED] or depth or self._depth:
            return LAYERS
        return INK if self._gathered[layout.INKED] else PLAIN

    def _bins(self, size: tuple[int, int], depth: int) -> tuple[Words, Words, Counts]:
        """Head, table and lists, which are not written yet; those alone; how much there is of what."""
        across, down = (-(-side // layout.BIN) for side in size)
        lists = layout.HEAD_WORDS + across * down + 1
        bins = np.empty(lists + self._gathered[layout.BINNED], np.uint32)
        start, color = self._gathered[layout.START], self._gathered[layout.START_COLOR]
        head = [*size, start, color if start == layout.FILL else 0, self._depth, depth, 0, 0]
        bins[: layout.HEAD_WORDS] = head
        return bins, bins[lists:], self._gathered.order(bins[layout.HEAD_WORDS :])

    def _send(self, bins: Words, lists: Words, counts: Counts) -> list[GpuArray]:
        """Primitives, bins and data, on their way to the GPU."""
        _, prims, words = counts
        own = room_for_words(self.device, prims * layout.PRIM_BYTES // 4)
        data = room_for_words(self.device, words)
        parts = [(own.memory, prims * layout.PRIM_BYTES), (data.memory, words * 4)]
        if prims:
            place = self._gathered.place
            self.device.staging.fill_parts(parts, lambda to: place(counts, [*to, lists]))
        return [own, send_words(self.device, bins), data]

    def _dispatch(self, made: Any, group: Any, size: tuple[int, int]) -> None:
        timers = self.device.timers if self.timed else None
        encoder = self.device.gpu.create_command_encoder()
        if timers is not None:
            self.run = timers.begin()
            marks = timers.marks(self.run, first=True, last=True)
            work = encoder.begin_compute_pass(timestamp_writes=marks)
        else:
            work = encoder.begin_compute_pass()
        work.set_pipeline(made)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*[-(-side // layout.TILE) for side in size])
        work.end()
        if timers is not None:
            timers.resolve(encoder, self.run)
        self.device.queue.submit(encoder)

    def _circle_memory(self) -> Memory:
        if self._circle is None:
            corners = circle_table()[: TURN * 2].astype(np.float32).view(np.uint32)
            self._circle = send_words(self.device, corners)
        return self._circle.memory

    # -- layers that are open from one dispatch to the next ----------------------------------------------

    def _layer_memory(self, size: tuple[int, int], depth: int) -> Memory:
        words = max(2 * size[0] * size[1] * max(depth, self._depth), 16)
        held = self._layers
        if held is None or held.memory.bytes < words * 4:
            fresh = self.device.allocate(ArrayType((words,), U32))
            if held is not None and self._depth:
                self._copy(held, fresh, held.memory.bytes)
            self._layers = held = fresh
        return held.memory

    def _copy(self, source: GpuArray, target: GpuArray, size: int) -> None:
        with mapped("drawing", device=self.device), native, self.device.queue.lock:
            encoder = self.device.gpu.create_command_encoder()
            encoder.copy_buffer_to_buffer(source.memory.buffer, 0, target.memory.buffer, 0, size)
            self.device.queue.submit(encoder)

    def forget_layers(self) -> None:
        """Give back the memory of layers; none is open."""
        self._layers, self._depth = None, 0

    def keep_layers(self) -> tuple[GpuArray | None, int]:
        """A copy of what they hold, for ``restore_layers``."""
        if self._layers is None or not self._depth:
            return None, 0
        copy = self.device.allocate(self._layers.type)
        self._copy(self._layers, copy, copy.memory.bytes)
        return copy, self._depth

    def restore_layers(self, kept: tuple[GpuArray | None, int]) -> None:
        """What they held."""
        self._layers, self._depth = kept
