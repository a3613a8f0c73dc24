"""A canvas whose pixels a GPU paints: commands are gathered until somebody looks, then painted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.backends.base import Storage
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray
from dala.gpu.atlas import Pictures
from dala.gpu.canvas import PAINTS, Canvas, Outcome
from dala.gpu.frame import Frame
from dala.gpu.ink import Ink
from dala.gpu.opcodes import INK
from dala.gpu.raster import layout
from dala.gpu.raster.ink.scratch import EDGES_BYTES
from dala.gpu.tiles.code import ink_code
from dala.gpu.tiles.loops import NOTES
from dala.gpu.tiles.painter import TilePainter
from dala.gpu.tiles.pictures import GpuPictures
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.leaving import native

if TYPE_CHECKING:
    from dala.gpu.shaders import ShaderSet

Array = npt.NDArray[np.uint8]


class TileCanvas(Canvas):
    """Frames, clip and pictures on a GPU. Whatever looks at a frame calls ``flush`` first."""

    shaders: ShaderSet

    def __init__(self, width: int, height: int, *, replace: bool, shaders: ShaderSet) -> None:
        self.tiles = TilePainter(shaders.device, self.flush)
        self._gathering: bytes | None = None  # commands: held, so that no others are taken for them
        super().__init__(width, height, replace=replace, shaders=shaders)

    @property
    def lost(self) -> bool:
        """Whether what was drawn is gone, with the GPU that it was on."""
        return self.shaders.device.lost

    def _new_pictures(self) -> tuple[Pictures, Pictures]:
        memory = self.tiles.pictures
        return GpuPictures("sprite", memory), GpuPictures("image", memory)

    def _new_ink(self) -> Ink:
        return TileInk(self._state, self.tiles)

    def _empty_frame(self) -> Frame:
        width, height = self.size
        type_ = ArrayType((height, width, 4), U8)
        return Frame(type_, self.device, gpu=self.shaders.device.allocate(type_, zero=True))

    def _point(self) -> None:
        self.tiles.make_room(*self.size)
        super()._point()

    # -- gathering, and painting ---------------------------------------------------------------------

    def apply(self, data: bytes, outcome: Outcome) -> None:
        """Checked commands, in order. What fails is noted, and the next command goes on."""
        try:
            super().apply(data, outcome)
        finally:
            self._gathering = None  # the same may come again, when other pictures are there

    def _run(self, data: bytes, address: int, at: int) -> int:
        op, ink = data[at], self._ink
        if not PAINTS >> op & 1 and (ink is None or op < INK):
            return at
        self._set_tables()
        if data is not self._gathering:
            self.tiles.begin()
            self._gathering = data
        full = True
        while full:
            fresh = self.tiles.is_empty
            at, full = self.tiles.gather(self._state, address, at, len(data))
            if full and fresh and self.tiles.is_empty:
                self.tiles.enlarge()
            elif full:
                self.flush()
        return at

    def flush(self) -> None:
        """Hand what was gathered to the GPU."""
        if self.tiles.is_empty:
            self.tiles.pictures.settle()
            return
        try:
            self.tiles.paint(self.back, self.front, self._ink.depth if self._ink else 0)
        except BaseException:
            self.tiles.forget()
            raise

    # -- whoever looks, or changes the frame otherwise -------------------------------------------------

    def _swap(self) -> None:
        self.flush()
        super()._swap()

    def _refresh(self) -> None:
        self.flush()
        super()._refresh()

    def read(self, x: int, y: int, w: int, h: int) -> Array:
        """A region, as it is drawn so far."""
        self.flush()
        return super().read(x, y, w, h)

    def adopt(self, storage: Storage) -> None:
        """A whole new content."""
        self.flush()
        super().adopt(storage)

    def _copy_frame(self, source: Frame, target: Frame) -> None:
        self.shaders.copy(source.gpu(), target.gpu_to_write())

    def _copy_corner(self, source: Frame, target: Frame) -> None:
        old, new, device = source.gpu(), target.gpu_to_write(), self.shaders.device
        assert isinstance(old, GpuArray) and isinstance(new, GpuArray)
        row, new_row = source.size[0] * 4, target.size[0] * 4
        with mapped("resize", device=device), native, device.queue.lock:
            encoder = device.gpu.create_command_encoder()
            encoder.clear_buffer(new.memory.buffer)
            for y in range(min(source.size[1], target.size[1])):
                encoder.copy_buffer_to_buffer(
                    old.memory.buffer, y * row, new.memory.buffer, y * new_row, min(row, new_row)
                )
            device.queue.submit(encoder)

    def _transact(self, data: bytes, outcome: Outcome) -> None:
        self.flush()
        try:
            super()._transact(data, outcome)
        except BaseException:
            self.tiles.forget()
            raise

    def release(self) -> None:
        """Keep the frame that is shown and nothing else."""
        super().release()
        self.tiles = TilePainter(self.shaders.device, self.flush)


class TileInk(Ink):
    """The part of a canvas's state that is for ink, with layers on the GPU."""

    def __init__(self, state: npt.NDArray[np.int64], tiles: TilePainter) -> None:
        self._tiles = tiles
        self._edges = np.empty(NOTES + EDGES_BYTES, np.uint8)
        super().__init__(state)

    def _load_shapes(self) -> None:
        code = ink_code()
        self._code.append(code)
        self._set(layout.SURVEY_INK, code.address("survey_ink"))
        self._set(layout.DRAW_INK, code.address("gather_ink"))
        self._set(layout.PAINT_INK, 1)  # a shader's part: there is nothing to wait for
        self._set(layout.UNCOUNTED, 1)
        self._set(layout.EDGES, int(self._edges.ctypes.data) + NOTES)
        self._set(layout.LAYER_ROOM, layout.MAX_LAYERS)

    def _add_layer(self, width: int, height: int) -> None:
        raise self._too_many_layers()

    def forget_layers(self) -> None:
        """Give back the memory of layers; none is open."""
        self._tiles.forget_layers()

    def begin(self) -> Any:
        """Copies of the layers that are open, for ``rollback``."""
        return self._tiles.keep_layers()

    def rollback(self, kept: Any) -> None:
        """Layers as they were."""
        self._tiles.restore_layers(kept)
        self._point_to_arena()
