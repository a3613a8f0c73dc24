"""What ink needs from Python while a canvas is painted: machine code, memory, and a word when it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.llvm.jit import Module
from dala.errors import ParameterError, SurfaceError
from dala.gpu.frame import Frame, new_frame
from dala.gpu.opcodes import Op
from dala.gpu.raster import layout
from dala.gpu.raster.ink import paths
from dala.gpu.raster.ink.code import circle_table, paints_code, shapes_code

ARENA_BYTES = 1 << 20
MAX_ARENA_BYTES = 1 << 30
_IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Ink:
    """A canvas's part of the state that is for ink, and the memory it points to. Used by one thread."""

    def __init__(self, state: npt.NDArray[np.int64]) -> None:
        self._state = state
        self._arena = np.empty(0, np.uint8)
        self._circle = circle_table()  # held: machine code reads it
        self._code: list[Module] = []
        self._layers: list[tuple[Frame, npt.NDArray[np.uint8]]] = []
        self._table = np.zeros((layout.MAX_LAYERS, layout.LAYER_RECORD // 8), np.int64)
        at = layout.MATRIX // 8
        state[at : at + 6].view(np.float64)[:] = _IDENTITY
        self._set(layout.CIRCLE, int(self._circle.ctypes.data))
        self._set(layout.LAYER_TABLE, int(self._table.ctypes.data))
        self._load_shapes()
        self._set(layout.COPIED, layout.STATE_BYTES)
        self._make_arena(ARENA_BYTES)

    def _load_shapes(self) -> None:
        code = shapes_code()
        self._code.append(code)
        self._set(layout.FORESEE_INK, code.address("foresee_ink"))
        self._set(layout.DRAW_INK, code.address("draw_ink"))
        self._set(layout.SURVEY_INK, code.address("survey_ink"))

    def _set(self, word: int, value: int) -> None:
        self._state[word // 8] = value

    def _get(self, word: int) -> int:
        return int(self._state[word // 8])

    @property
    def depth(self) -> int:
        """How many layers are open."""
        return self._get(layout.LAYERS)

    # -- what machine code asked for ---------------------------------------------------------------

    def provide(self, size: tuple[int, int], op: int) -> bool:
        """See to what stopped machine code at a command: whether it can be tried again. Otherwise the
        command is left out, with the error that is raised here."""
        need = self._get(layout.NEED)
        self._set(layout.NEED, 0)
        if need == paths.NEED_PAINTS:
            self._load_paints()
        elif need == paths.NEED_ROOM:
            self._grow_arena(self._get(layout.NEED_BYTES))
        elif need == paths.NEED_LAYER:
            self._add_layer(*size)
        elif need == paths.NEED_PICTURE:
            return False  # finding it says which
        else:
            raise self._failure(need, op)
        return True

    def _failure(self, need: int, op: int) -> Exception:
        if need == paths.NEED_FEWER_DASHES:
            return ParameterError(
                f"stroke_path: more than {paths.MAX_DASHES} dashes; use longer ones, or none"
            )
        if need == paths.NEED_TRANSFORM:
            self._lose(layout.LOST_TRANSFORMS)
            return ParameterError("push_transform: the transforms together are too large")
        if op == Op.PUSH_TRANSFORM:
            self._lose(layout.LOST_TRANSFORMS)
            return SurfaceError(
                f"push_transform: more than {layout.MAX_TRANSFORMS} are pushed; pop them"
            )
        name = Op(op).name.lower()
        return SurfaceError(f"{name}: there is nothing to pop; {name.replace('pop', 'push')} first")

    def _lose(self, word: int) -> None:
        """Count a push that there was no room for: its pop is passed over."""
        self._set(word, self._get(word) + 1)

    def _load_paints(self) -> None:
        code = paints_code()
        self._code.append(code)
        self._set(layout.PAINT_INK, code.address("paint_ink"))
        self._set(layout.LAYER_INK, code.address("paint_layer"))

    def _grow_arena(self, need: int) -> None:
        """Room for a command's geometry beside what is there now. What was foreseen has been painted."""
        if need <= self._arena.size // 2:  # it was only full
            return
        size = 1 << (2 * need - 1).bit_length()
        if size > MAX_ARENA_BYTES:
            size = MAX_ARENA_BYTES
            if self._arena.size == size:
                raise ParameterError(
                    f"a path has more edges than fit into {MAX_ARENA_BYTES >> 20} MiB; split it"
                )
        self._make_arena(max(size, self._arena.size))

    def _make_arena(self, size: int) -> None:
        self._arena = np.empty(size, np.uint8)
        self._point_to_arena()

    def _point_to_arena(self) -> None:
        self._set(layout.ARENA, int(self._arena.ctypes.data))
        self._set(layout.ARENA_BYTES, self._arena.size)

    # -- layers ------------------------------------------------------------------------------------

    def _add_layer(self, width: int, height: int) -> None:
        count = len(self._layers)
        if count == layout.MAX_LAYERS:
            raise self._too_many_layers()
        frame = new_frame(width, height, None)
        mask = np.empty(width * height + layout.ROOM * 4, np.uint8)
        self._layers.append((frame, mask))
        self._table[count] = frame.host_to_paint().address, int(mask.ctypes.data)
        self._set(layout.LAYER_ROOM, count + 1)

    def _too_many_layers(self) -> SurfaceError:
        self._lose(layout.LOST_LAYERS)
        return SurfaceError(f"push_layer: more than {layout.MAX_LAYERS} layers are open; pop them")

    def point(self, back: int) -> None:
        """Tell machine code where to paint: on the frame, or on the layer that is open."""
        depth = self.depth
        if depth:
            self._set(layout.BASE, back)
            back = int(self._table[depth - 1, 0])
        self._set(layout.BACK, back)

    def forget_layers(self) -> None:
        """Give back the memory of layers; none is open."""
        self._layers.clear()
        self._set(layout.LAYER_ROOM, 0)

    def still_open(self) -> list[tuple[int, int]]:
        """The commands that close what is open, and how many of each."""
        layers = self._get(layout.LAYERS) + self._get(layout.LOST_LAYERS)
        transforms = self._get(layout.TRANSFORMS) + self._get(layout.LOST_TRANSFORMS)
        return [(int(Op.POP_LAYER), layers), (int(Op.POP_TRANSFORM), transforms)]

    # -- all or nothing ----------------------------------------------------------------------------

    def begin(self) -> Any:
        """Copies of the layers that are open, for ``rollback``."""
        kept = []
        for frame, mask in self._layers[: self.depth]:
            copy = new_frame(*frame.size, None)
            copy.host_to_paint().array[...] = frame.host().array
            kept.append((copy, mask.copy()))
        return kept

    def rollback(self, kept: Any) -> None:
        """Layers as they were, and no others; the rest of the state is put back by the canvas."""
        self._layers = list(kept)
        for number, (frame, mask) in enumerate(kept):
            self._table[number] = frame.host_to_paint().address, int(mask.ctypes.data)
        self._set(layout.LAYER_ROOM, len(self._layers))
        self._point_to_arena()
        if len(self._code) > 1:
            self._set(layout.PAINT_INK, self._code[1].address("paint_ink"))
            self._set(layout.LAYER_INK, self._code[1].address("paint_layer"))

    def commit(self) -> None:
        """What was done stays."""
