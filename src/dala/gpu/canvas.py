"""What a surface's commands are applied to: two frames, a clip, pictures. Used by one thread.

run        machine code walks the commands (raster/) and stops at those it cannot do alone
perform    those are done here: present, resize, load, remove, read, compute
transact   a batch with such commands: done on a copy, which is kept only if nothing failed
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dala.backends.host import HostArray, spare
from dala.errors import ShapeError, UnsupportedError
from dala.gpu.atlas import Atlas, Pictures
from dala.gpu.decode import Command, decode_one
from dala.gpu.opcodes import FIXED, HEADS, Op
from dala.gpu.raster import layout
from dala.gpu.raster.code import code, half_widths
from dala.gpu.raster.protocol import REPORT_BYTES
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8

Array = npt.NDArray[np.uint8]
SIZES = np.zeros(32, np.int64)  # of commands, for machine code
for _op, _fields in FIXED.items():
    SIZES[_op] = _fields.size
SIZES[Op.BATCH] = HEADS[Op.BATCH].size


class Shaders(Protocol):
    """Compute shaders on a surface's pixels: what a device with a GPU brings along."""

    def dispatch(
        self, frame: HostArray, shader: str, params: bytes, counts: tuple[int, int, int]
    ) -> None:
        """Run a shader on the pixels of a frame."""

    def load(self, name: str, source: str) -> None:
        """Keep a shader under a name."""

    def set_uniform(self, name: str, data: bytes) -> None:
        """Bytes for shaders to read."""


@dataclass(slots=True)
class Outcome:
    """What became of some commands: pixels that were asked for, and errors."""

    reads: list[Array] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)


def new_frame(width: int, height: int) -> HostArray:
    """Memory for a frame; its content is whatever was there."""
    return spare.take(ArrayType((height, width, 4), U8))


class Canvas:
    """The frame that is drawn, the frame that was presented, and all that drawing needs."""

    def __init__(self, width: int, height: int, *, replace: bool, shaders: Shaders | None) -> None:
        self.sprites, self.images = Atlas(), Pictures()
        self.shaders = shaders
        self.back = new_frame(width, height)
        self.front = new_frame(width, height)
        self.front.array[...] = 0
        self.shown = self.front  # what others may look at
        self.frames = 0
        self._transacting = False
        self._state = np.zeros(layout.STATE_BYTES // 8, np.int64)
        self._address = int(self._state.ctypes.data)
        self._scratch = np.empty(0, np.uint8)
        self._set(layout.REPLACE, int(replace))
        self._set(layout.SIZES, int(SIZES.ctypes.data))
        self._set(layout.HALVES, int(half_widths().ctypes.data))
        self._set(layout.STALE, 1)
        self._point()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        height, width, _ = self.back.type.shape
        return width, height

    def _set(self, word: int, value: int) -> None:
        self._state[word // 8] = value

    def _get(self, word: int) -> int:
        return int(self._state[word // 8])

    def _point(self) -> None:
        """Tell machine code where the frames are."""
        width, height = self.size
        self._set(layout.BACK, self.back.address)
        self._set(layout.FRONT, self.front.address)
        if (self._get(layout.WIDTH), self._get(layout.HEIGHT)) != (width, height):
            self._set(layout.WIDTH, width)
            self._set(layout.HEIGHT, height)
            self._scratch = np.empty(width * 12 + 128, np.uint8)  # a row, and positions along it
            self._set(layout.SCRATCH, int(self._scratch.ctypes.data))
            code().apply_clip(self._address)

    def _refresh(self) -> None:
        """What was presented is where the next frame begins."""
        if self._get(layout.STALE):
            np.copyto(self.back.array, self.front.array)
            self._set(layout.STALE, 0)

    # -- commands ----------------------------------------------------------------------------------

    def apply(self, data: bytes, outcome: Outcome) -> None:
        """Checked commands, in order. What fails is noted, and the next command goes on."""
        address = int(np.frombuffer(data, np.uint8).ctypes.data) if data else 0
        at, end = 0, len(data)
        while at < end:
            at = self._run(address, at, end)
            if at < end:
                at = self._step(data, address, at, outcome)

    def _run(self, address: int, at: int, end: int) -> int:
        """Machine code, as far as it goes."""
        sprites, images = self.sprites.table(), self.images.table()
        self._set(layout.SPRITES, int(sprites.ctypes.data))
        self._set(layout.SPRITE_COUNT, len(sprites))
        self._set(layout.IMAGES, int(images.ctypes.data))
        self._set(layout.IMAGE_COUNT, len(images))
        return code().run(self._address, address, at, end)

    def _step(self, data: bytes, address: int, at: int, outcome: Outcome) -> int:
        """The one command at ``at``, done or noted as failed; where the next one is."""
        if data[at] == Op.BATCH:
            end = self._end_of_batch(data, address, at)
            try:
                self._transact(data[at + 5 : end], outcome)
            except Exception as error:  # reported, and the surface lives on
                outcome.errors.append(error)
            return end
        command, end = decode_one(data, at)
        try:
            self.perform(command, outcome)
            self.sprites.commit()
        except Exception as error:
            outcome.errors.append(error)
        return end

    def _end_of_batch(self, data: bytes, address: int, at: int) -> int:
        count = int.from_bytes(data[at + 1 : at + 5], "little")
        report = np.zeros(REPORT_BYTES // 8, np.int64)
        sizes, noted = int(SIZES.ctypes.data), int(report.ctypes.data)
        return code().check(address, at + 5, len(data), count, 1, sizes, noted)

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
        pictures = [(p, p.begin()) for p in (self.sprites, self.images)]
        self.back = new_frame(*self.size)
        np.copyto(self.back.array, front.array if self._get(layout.STALE) else back.array)
        self._set(layout.STALE, 0)
        self._transacting = True
        self._point()
        inside = Outcome()
        try:
            self._apply_strictly(data, inside)
        except BaseException:
            spare_back = self.back
            self.back, self.front, self.frames = back, front, frames
            self._state[:] = state
            self._scratch = self._fitting_scratch()
            for known, before in pictures:
                known.rollback(before)
            if spare_back is not back:
                spare.give(spare_back)
            raise
        finally:
            self._transacting = False
        for known, _ in pictures:
            known.commit()
        outcome.reads += inside.reads
        self.shown = self.front

    def _fitting_scratch(self) -> npt.NDArray[np.uint8]:
        scratch = np.empty(self.size[0] * 12 + 128, np.uint8)
        self._set(layout.SCRATCH, int(scratch.ctypes.data))
        return scratch

    def _apply_strictly(self, data: bytes, outcome: Outcome) -> None:
        address = int(np.frombuffer(data, np.uint8).ctypes.data) if data else 0
        at, end = 0, len(data)
        while at < end:
            at = self._run(address, at, end)
            if at == end:
                return
            if data[at] == Op.BATCH:
                at += HEADS[Op.BATCH].size  # within this one already
                continue
            command, at = decode_one(data, at)
            self.perform(command, outcome)

    # -- what Python does --------------------------------------------------------------------------

    def present(self) -> None:
        """Show the drawn frame; what was shown before is drawn over next, unless somebody holds it."""
        self.frames += 1
        if self._get(layout.STALE):
            return  # nothing was drawn: the same frame again
        before, self.front = self.front, self.back
        if not self._transacting:
            self.shown = self.front
        free = not self._transacting and _references(before) == _UNSHARED
        if free and before.type == self.front.type:
            self.back = before
        else:
            self.back = new_frame(*self.size)
        self._set(layout.STALE, 1)
        self._point()

    def resize(self, width: int, height: int) -> None:
        """Another size; the left top part stays, what is new is transparent."""
        if (width, height) == self.size:
            return
        self._refresh()
        fresh = new_frame(width, height)
        fresh.array[...] = 0
        h, w = min(height, self.size[1]), min(width, self.size[0])
        fresh.array[:h, :w] = self.back.array[:h, :w]
        self.back = fresh
        self._point()

    def adopt(self, frame: HostArray) -> None:
        """A whole new content, drawn by someone else, without copying it."""
        if frame.type != self.back.type:
            height, width, _ = frame.type.shape
            raise ShapeError(
                f"set_pixels: {width} × {height} pixels for a surface of "
                f"{self.size[0]} × {self.size[1]}"
            )
        before, self.back = self.back, frame
        if _references(before) == _UNSHARED:
            spare.give(before)
        self._set(layout.STALE, 0)
        self._point()

    def read(self, x: int, y: int, w: int, h: int) -> Array:
        """A region, as it is drawn so far; transparent where there is no surface."""
        result = np.zeros((h, w, 4), np.uint8)
        source = self.front if self._get(layout.STALE) else self.back
        part = source.array[y : y + h, x : x + w]
        result[: part.shape[0], : part.shape[1]] = part
        return result

    def load_sprite(self, identity: int, w: int, h: int, pixels: bytes) -> None:
        self.sprites.load(identity, np.frombuffer(pixels, np.uint8).reshape(h, w, 4))

    def load_image(self, identity: int, w: int, h: int, pixels: bytes) -> None:
        self.images.load(identity, np.frombuffer(pixels, np.uint8).reshape(h, w, 4))

    def dispatch(self, shader: str, params: bytes, counts: tuple[int, int, int]) -> None:
        shaders = self._need_shaders()
        self._refresh()
        shaders.dispatch(self.back, shader, params, counts)

    def _need_shaders(self) -> Shaders:
        if self.shaders is None:
            raise no_compute()
        return self.shaders


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
}


def _references(frame: HostArray) -> tuple[int, int]:
    """How many hold a frame, and views of its memory."""
    base: Any = frame.array.base
    return sys.getrefcount(frame), sys.getrefcount(base)


def _count_unshared() -> tuple[int, int]:
    before = HostArray(ArrayType((1, 1, 4), U8))
    return _references(before)


_UNSHARED = _count_unshared()  # held by one variable, as in present() and adopt()
