"""What a surface's commands are applied to: two frames, a clip, pictures. Used by one thread.

run        machine code walks the commands (raster/) and stops at those it cannot do alone
perform    those are done here: present, resize, load, remove, read, compute
transact   a batch with such commands: done on a copy, which is kept only if nothing failed
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.backends.base import Storage
from dala.backends.copying import copy_array
from dala.backends.host import HostArray
from dala.backends.webgpu.faults import mapped
from dala.errors import ShapeError, SurfaceError, UnsupportedError
from dala.gpu.atlas import Atlas, Pictures
from dala.gpu.decode import Command, decode_one
from dala.gpu.frame import Frame, is_unshared, new_frame
from dala.gpu.ink import Ink
from dala.gpu.ink_fields import pattern_id
from dala.gpu.opcodes import FIXED, HEADS, INK, SIZED, Op
from dala.gpu.raster import layout
from dala.gpu.raster.code import code, half_widths
from dala.gpu.raster.ink.code import checks_code
from dala.gpu.raster.painter import Painter
from dala.gpu.raster.protocol import CHECK_INK, INK_UNKNOWN, PLAIN, REPORT_BYTES
from dala.leaving import native

if TYPE_CHECKING:
    from dala.backends.webgpu.waiting import Submitted
    from dala.gpu.shaders import ShaderSet

Array = npt.NDArray[np.uint8]
KEPT_ERRORS = 32
PAINTS = PLAIN | 1 << Op.BATCH  # what machine code begins with
SIZES = np.zeros(
    128, np.int64
)  # of commands, for machine code; 0 for those that tell it themselves
for _op, _fields in FIXED.items():
    SIZES[_op] = _fields.size
SIZES[Op.BATCH] = HEADS[Op.BATCH].size


@dataclass(slots=True)
class Outcome:
    """What became of some commands: pixels that were asked for, and errors."""

    reads: list[Array] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    unnoted: int = 0  # errors beyond those

    def note(self, error: Exception) -> None:
        """Keep an error; not more than a few, should every command of a million fail."""
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(error)
        else:
            self.unnoted += 1


class Canvas:
    """The frame that is drawn, the frame that was presented, and all that drawing needs."""

    def __init__(
        self, width: int, height: int, *, replace: bool, shaders: ShaderSet | None
    ) -> None:
        self._state = np.zeros(layout.STATE_BYTES // 8, np.int64)
        self.shaders = shaders
        self.device = shaders.device if shaders is not None else None
        self.sprites, self.images = self._new_pictures()
        self.back = new_frame(width, height, self.device)
        self.front = self._empty_frame()
        self.shown = self.front  # what others may look at
        self.frames = 0
        self.submitted: Submitted | None = (
            None  # the frame that was presented last, if a GPU paints it
        )
        self._transacting = False
        self._tables = (
            (self.sprites, layout.SPRITES, layout.SPRITE_COUNT),
            (self.images, layout.IMAGES, layout.IMAGE_COUNT),
        )
        self._told: dict[int, npt.NDArray[np.int64]] = {}  # tables that machine code knows
        self._painter = Painter(self._state)
        self._ink: Ink | None = None  # made when it is first drawn
        self._set(layout.COPIED, layout.PLAIN_BYTES)
        self._set(layout.REPLACE, int(replace))
        self._set(layout.SIZES, int(SIZES.ctypes.data))
        self._halves = half_widths()  # held: machine code reads it
        self._set(layout.HALVES, int(self._halves.ctypes.data))
        self._set(layout.STALE, 1)
        self._point()

    def _new_pictures(self) -> tuple[Pictures, Pictures]:
        """For sprites and for images."""
        return Atlas(), Pictures()

    def _new_ink(self) -> Ink:
        self._painter.use_ink(self.size[0])
        return Ink(self._state)

    def _empty_frame(self) -> Frame:
        frame = new_frame(*self.size, self.device)
        frame.host_to_paint().array[...] = 0
        return frame

    @property
    def lost(self) -> bool:
        """Whether what was drawn is gone, with the GPU that it was on."""
        return False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.back.size

    def _set(self, word: int, value: int) -> None:
        self._state[word // 8] = value

    def _get(self, word: int) -> int:
        return int(self._state[word // 8])

    def _point(self) -> None:
        """Tell machine code the size."""
        width, height = self.size
        self._painter.make_room(width)
        self._set(layout.WIDTH, width)
        self._set(layout.HEIGHT, height)

    def _refresh(self) -> None:
        """What was presented is where the next frame begins."""
        if self._get(layout.STALE):
            self._copy_frame(self.front, self.back)
            self._set(layout.STALE, 0)

    def _copy_frame(self, source: Frame, target: Frame) -> None:
        if source.only_on_gpu:
            assert self.shaders is not None
            self.shaders.copy(source.gpu(), target.gpu_to_write())
        else:
            copy_array(target.host_to_paint().array, source.host().array)

    # -- commands ----------------------------------------------------------------------------------

    def apply(self, data: bytes, outcome: Outcome) -> None:
        """Checked commands, in order. What fails is noted, and the next command goes on."""
        address = int(np.frombuffer(data, np.uint8).ctypes.data) if data else 0
        at, end = 0, len(data)
        while at < end:
            at = self._run(data, address, at)
            if at < end:
                at = self._step(data, address, at, outcome)

    def _run(self, data: bytes, address: int, at: int) -> int:
        """Machine code, as far as it goes."""
        op, ink = data[at], self._ink
        if not PAINTS >> op & 1 and (ink is None or op < INK):
            return at
        stale = self._get(layout.STALE)
        clears = op == Op.CLEAR and (ink is None or not ink.depth)
        # what is painted all over, by a clear or by the last frame, need not be fetched first
        back = self.back.host_to_paint() if stale or clears else self.back.host()
        if ink is None:
            self._set(layout.BACK, back.address)
        else:
            ink.point(back.address)
        if stale and not clears:
            self._set(layout.FRONT, self.front.host().address)
        self._set_tables()
        at = self._painter.paint(address, at, len(data))
        self.back.painted()
        return at

    def _set_tables(self) -> None:
        """Tell machine code where the pictures are, if that is new: asking NumPy for an address is slow."""
        for pictures, table, count in self._tables:
            rows = pictures.table()
            if rows is not self._told.get(table):
                self._set(table, int(rows.ctypes.data))
                self._set(count, len(rows))
                self._told[table] = rows

    def _step(self, data: bytes, address: int, at: int, outcome: Outcome) -> int:
        """The one command at ``at``, done or noted as failed; where the next one is."""
        if data[at] == Op.BATCH:
            end = self._end_of_batch(data, address, at)
            try:
                self._transact(data[at + 5 : end], outcome)
            except Exception as error:  # reported, and the surface lives on
                outcome.note(error)
            return end
        if data[at] >= INK:
            return self._step_ink(data, at, outcome)
        command, end = decode_one(data, at)
        try:
            self.perform(command, outcome)
            self.sprites.commit()
        except Exception as error:
            outcome.note(error)
        return end

    def _step_ink(self, data: bytes, at: int, outcome: Outcome) -> int:
        """What machine code lacks for a command of ink, or why it is left out; where to go on."""
        try:
            if self._provide(data, at, outcome):
                return at
        except Exception as error:
            outcome.note(error)
        return end_of_ink(data, at)

    def _provide(self, data: bytes, at: int, outcome: Outcome) -> bool:
        if self._ink is None:
            self._ink = self._new_ink()
            return True
        if self._ink.provide(self.size, data[at]):
            return True
        self.perform(decode_one(data, at)[0], outcome)  # its picture is unknown
        return False

    def _close_ink(self) -> list[str]:
        """Pop what is still pushed; what that was."""
        if self._ink is None:
            return []
        opened = [(op, count) for op, count in self._ink.still_open() if count]
        data = b"".join(bytes([op]) * count for op, count in opened)
        address = int(np.frombuffer(data, np.uint8).ctypes.data) if data else 0
        at = 0
        while at < len(data):
            at = self._run(data, address, at)
        return [f"{count} × {Op(op).name.lower()}" for op, count in opened]

    def _end_of_batch(self, data: bytes, address: int, at: int) -> int:
        count = int.from_bytes(data[at + 1 : at + 5], "little")
        report = np.zeros(REPORT_BYTES // 8, np.int64)
        sizes, noted = int(SIZES.ctypes.data), int(report.ctypes.data)
        end = code().check(address, at + 5, len(data), count, 1, sizes, noted)
        if end == INK_UNKNOWN:
            report[CHECK_INK // 8] = checks_code().address("check_ink")
            end = code().check(address, at + 5, len(data), count, 1, sizes, noted)
        return end

    def perform(self, command: Command, outcome: Outcome) -> None:
        """A command that machine code leaves to Python."""
        op, fields = command
        if op is Op.READ_PIXELS:
            outcome.reads.append(self.read(*fields))
        else:
            _PERFORM[op](self, *fields)

    # -- all or nothing ----------------------------------------------------------------------------

    def _transact(self, data: bytes, outcome: Outcome) -> None:
        """Commands that are undone if one of them fails: they work on a copy."""
        state, back, front, frames = self._state.copy(), self.back, self.front, self.frames
        kept: list[Any] = [self.sprites, self.images, *([self.shaders] if self.shaders else [])]
        ink = self._ink
        if ink is not None:
            kept.append(ink)
        known = [(k, k.begin()) for k in kept]
        self.back = new_frame(*self.size, self.device)
        self._copy_frame(front if self._get(layout.STALE) else back, self.back)
        self._set(layout.STALE, 0)
        self._transacting = True
        inside = Outcome()
        try:
            self._apply_strictly(data, inside)
        except BaseException:
            self.back, self.front, self.frames = back, front, frames
            self._state[:] = state
            self._told.clear()
            self._ink = ink
            for keeper, before in known:
                keeper.rollback(before)
            raise
        finally:
            self._transacting = False
        for keeper, _ in known:
            keeper.commit()
        outcome.reads += inside.reads
        self.shown = self.front

    def _apply_strictly(self, data: bytes, outcome: Outcome) -> None:
        address = int(np.frombuffer(data, np.uint8).ctypes.data) if data else 0
        at, end = 0, len(data)
        while at < end:
            at = self._run(data, address, at)
            if at == end:
                return
            if data[at] == Op.BATCH:
                at += HEADS[Op.BATCH].size  # within this one already
                continue
            if data[at] >= INK:
                if not self._provide(data, at, outcome):
                    at = end_of_ink(data, at)
                continue
            command, at = decode_one(data, at)
            self.perform(command, outcome)

    # -- what Python does --------------------------------------------------------------------------

    def present(self) -> None:
        """Show the drawn frame; what was shown before is drawn over next, unless somebody holds it."""
        opened = self._close_ink()
        self._swap()
        if opened:
            raise SurfaceError(f"present: still pushed, and popped now: {', '.join(opened)}")

    def _swap(self) -> None:
        self.frames += 1
        if self._get(layout.STALE):
            return  # nothing was drawn: the same frame again
        if self.back.only_on_gpu and self.device is not None:
            with mapped("present", device=self.device), native:
                self.submitted = self.device.submitted()
        before, self.front = self.front, self.back
        if not self._transacting:
            self.shown = self.front
        free = not self._transacting and is_unshared(before)
        if free and before.type == self.front.type:
            self.back = before
        else:
            self.back = new_frame(*self.size, self.device)
        self._set(layout.STALE, 1)

    def resize(self, width: int, height: int) -> None:
        """Another size; the left top part stays, what is new is transparent."""
        if (width, height) == self.size:
            return
        opened = self._close_ink()
        if self._ink is not None:
            self._ink.forget_layers()
        self._refresh()
        fresh = new_frame(width, height, self.device)
        self._copy_corner(self.back, fresh)
        self.back = fresh
        self._point()
        if opened:
            raise SurfaceError(f"resize: still pushed, and popped now: {', '.join(opened)}")

    def _copy_corner(self, source: Frame, target: Frame) -> None:
        """As much as both have; transparent elsewhere."""
        pixels, new = source.host().array, target.host_to_paint().array
        new[...] = 0
        h, w = min(new.shape[0], pixels.shape[0]), min(new.shape[1], pixels.shape[1])
        new[:h, :w] = pixels[:h, :w]

    def release(self) -> None:
        """Keep the frame that is shown and nothing else: there will be no more commands."""
        self.back = self.front = self.shown
        for pictures, *_ in self._tables:
            pictures.clear()
        self._ink = None
        self._set(layout.COPIED, layout.PLAIN_BYTES)
        for word in (layout.FORESEE_INK, layout.DRAW_INK):
            self._set(word, 0)

    def adopt(self, storage: Storage) -> None:
        """A whole new content, made by someone else, without copying it."""
        if storage.type != self.back.type:
            height, width, _ = storage.type.shape
            raise ShapeError(
                f"set_pixels: {width} × {height} pixels for a surface of "
                f"{self.size[0]} × {self.size[1]}"
            )
        before = self.back
        if isinstance(storage, HostArray):
            self.back = Frame(storage.type, self.device, host=storage)
        else:
            self.back = Frame(storage.type, self.device, gpu=storage)
        if not self._transacting and is_unshared(before):
            before.recycle()
        self._set(layout.STALE, 0)

    def read(self, x: int, y: int, w: int, h: int) -> Array:
        """A region, as it is drawn so far; transparent where there is no surface."""
        result = np.zeros((h, w, 4), np.uint8)
        source = self.front if self._get(layout.STALE) else self.back
        part = source.rows(y, y + h)[:, x : x + w]
        result[: part.shape[0], : part.shape[1]] = part
        return result

    def load_sprite(self, identity: int, w: int, h: int, pixels: bytes) -> None:
        self.sprites.load(identity, np.frombuffer(pixels, np.uint8).reshape(h, w, 4))

    def load_image(self, identity: int, w: int, h: int, pixels: bytes) -> None:
        self.images.load(identity, np.frombuffer(pixels, np.uint8).reshape(h, w, 4))

    def dispatch(self, shader: str, params: bytes, counts: tuple[int, int, int]) -> None:
        shaders = self._need_shaders()
        self._refresh()
        info = (*self.size, self.frames + 1)
        shaders.dispatch(self.back.gpu(), info, shader, params, counts)
        self.back.computed()

    def _need_shaders(self) -> ShaderSet:
        if self.shaders is None:
            raise no_compute()
        return self.shaders


def end_of_ink(data: bytes, at: int) -> int:
    """Where a command of ink ends."""
    op = Op(data[at])
    if op in SIZED:
        return at + 5 + int.from_bytes(data[at + 1 : at + 5], "little")
    return at + FIXED[op].size


def no_compute() -> UnsupportedError:
    """Why there are no compute shaders here."""
    return UnsupportedError(
        "compute shaders need a GPU, and this surface is on the CPU; "
        "ask supports_compute first, or use dala.compute kernels and run_to_surface"
    )


_PERFORM: dict[Op, Callable[..., None]] = {
    Op.PRESENT: Canvas.present,
    Op.RESIZE: Canvas.resize,
    Op.LOAD_SPRITE: Canvas.load_sprite,
    Op.LOAD_IMAGE: Canvas.load_image,
    Op.REMOVE_SPRITE: lambda canvas, identity: canvas.sprites.remove(identity),
    Op.REMOVE_IMAGE: lambda canvas, identity: canvas.images.remove(identity),
    Op.DISPATCH_COMPUTE: Canvas.dispatch,
    Op.LOAD_SHADER: lambda canvas, *fields: canvas._need_shaders().load(*fields),
    Op.SET_UNIFORM: lambda canvas, *fields: canvas._need_shaders().set_uniform(*fields),
    # machine code leaves these only if their picture is unknown: finding it says so
    Op.BLIT: lambda canvas, identity, *_: canvas.sprites.find(identity),
    Op.IMAGE_BLIT: lambda canvas, identity, *_: canvas.images.find(identity),
    Op.DRAW_SPRITE: lambda canvas, *fields: canvas.sprites.find(fields[8]),
    Op.DRAW_PICTURE: lambda canvas, *fields: canvas.images.find(fields[8]),
    Op.FILL_PATH: lambda canvas, *fields: canvas.images.find(pattern_id(fields[1])),
    Op.STROKE_PATH: lambda canvas, *fields: canvas.images.find(pattern_id(fields[1])),
}
