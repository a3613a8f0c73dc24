"""Gathered primitives, handed to the GPU: sorted into bins, sent, and painted by one dispatch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.backends.webgpu.by_hand import BindGroups, send_words
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.gpu.raster.ink.code import circle_table
from dala.gpu.raster.ink.simple import TURN
from dala.gpu.raster.layout import STATE_BYTES
from dala.gpu.tiles import layout
from dala.gpu.tiles.code import code
from dala.gpu.tiles.pictures import PictureMemory
from dala.gpu.tiles.shader import INK, LAYERS, PLAIN, pipeline
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice
    from dala.gpu.frame import Frame

PRIMITIVES = 1 << 17  # that are gathered before they are painted
WORDS = 1 << 21  # of data


class TilePainter:
    """Primitives of one canvas on their way to the GPU. ``flush`` hands them over: the canvas knows the
    frames. Used by one thread."""

    def __init__(self, device: WebGpuDevice, flush: Callable[[], None]) -> None:
        self.device = device
        self.pictures = PictureMemory(device, flush)
        self.timed = False  # whether the next dispatch is timed (bench/tiles.py)
        self.run = 0  # which of the device's timers the last one has
        self._after = np.zeros(STATE_BYTES // 8, np.int64)
        self._block = np.zeros(layout.BLOCK_BYTES // 8, np.int64)
        self._prims = np.empty(0, np.uint32)
        self._data = np.empty(0, np.uint32)
        self._layers: GpuArray | None = None  # what layers hold that are open between dispatches
        self._depth = 0
        self._circle: GpuArray | None = None
        self._groups = BindGroups(device)

    def _get(self, word: int) -> int:
        return int(self._block[word // 8])

    def _set(self, word: int, value: int) -> None:
        self._block[word // 8] = value

    # -- gathering -----------------------------------------------------------------------------------

    def make_room(self, width: int, height: int) -> None:
        """Memory for primitives on a surface of that size: one command may be a primitive for each row."""
        size = (PRIMITIVES + 2 * height) * layout.PRIM_BYTES // 4
        if self._prims.size < size:
            self._prims = np.empty(size, np.uint32)
        if self._data.size < WORDS + width + height:
            self._data = np.empty(WORDS + width + height, np.uint32)
        self.forget()

    def forget(self) -> None:
        """Nothing is gathered."""
        prims = int(self._prims.ctypes.data)
        self._set(layout.PRIMS, prims)
        self._set(layout.PRIMS_AT, prims)
        self._set(layout.PRIMS_END, prims + self._prims.nbytes)
        self._set(layout.DATA, int(self._data.ctypes.data))
        self._set(layout.DATA_AT, 0)
        self._set(layout.DATA_END, self._data.size)
        for word in (layout.BINNED, layout.START, layout.INKED, layout.LAYERED):
            self._set(word, 0)

    def gather(
        self, state: npt.NDArray[np.int64], data: int, at: int, end: int
    ) -> tuple[int, bool]:
        """Checked commands as primitives: the offset where that stopped, and whether for want of room."""
        block, after = int(self._block.ctypes.data), int(self._after.ctypes.data)
        at = code().gather(block, int(state.ctypes.data), data, at, end, after)
        return at, self._get(layout.FULL) != 0

    def enlarge(self) -> None:
        """Have room for the data of a command that did not fit, though nothing else was there."""
        wanted = self._get(layout.WANTED)
        if wanted > self._data.size:
            self._data = np.empty(1 << (wanted - 1).bit_length(), np.uint32)
            self.forget()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to paint."""
        return self._count == 0 and self._get(layout.START) == layout.KEEP

    @property
    def _count(self) -> int:
        return (self._get(layout.PRIMS_AT) - self._get(layout.PRIMS)) // layout.PRIM_BYTES

    # -- painting ------------------------------------------------------------------------------------

    def paint(self, back: Frame, front: Frame, depth: int) -> None:
        """Hand over what was gathered; ``depth`` layers are open behind it."""
        form = self._form(depth)
        shader = pipeline(self.device, form)
        start, size = self._get(layout.START), back.size
        source = front.gpu() if start == layout.COPY else None
        target = back.gpu() if start == layout.KEEP else back.gpu_to_write()
        assert isinstance(target, GpuArray)
        with mapped("drawing", device=self.device), self.device.queue.lock:
            sent = [
                send_words(self.device, a)
                for a in (self._own(), self._bins(size, depth), self._words())
            ]
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
        self.forget()
        self.pictures.settle()

    def _form(self, depth: int) -> int:
        if self._get(layout.LAYERED) or depth or self._depth:
            return LAYERS
        return INK if self._get(layout.INKED) else PLAIN

    def _own(self) -> npt.NDArray[np.uint32]:
        return self._prims[: max(self._count * layout.PRIM_BYTES // 4, 16)]

    def _words(self) -> npt.NDArray[np.uint32]:
        return self._data[: max(self._get(layout.DATA_AT), 16)]

    def _bins(self, size: tuple[int, int], depth: int) -> npt.NDArray[np.uint32]:
        """Head, table and lists."""
        across, down = (-(-side // layout.BIN) for side in size)
        words = layout.HEAD_WORDS + across * down + 1 + self._get(layout.BINNED)
        bins = np.empty(words, np.uint32)
        start, color = self._get(layout.START), self._get(layout.START_COLOR)
        head = [*size, start, color if start == layout.FILL else 0, self._depth, depth, 0, 0]
        bins[: layout.HEAD_WORDS] = head
        table = int(bins.ctypes.data) + layout.HEAD_WORDS * 4
        prims, end = self._get(layout.PRIMS), self._get(layout.PRIMS_AT)
        code().sort_bins(prims, end, table, across, down)
        return bins

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
        with mapped("drawing", device=self.device), self.device.queue.lock:
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
