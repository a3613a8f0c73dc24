"""From frames to a frame on a device: YUV is converted inside the first and the last fused pass.

    yuv420p_to_rgba → whatever happens to the picture → rgba_to_yuv420p

Where the device's memory is the host's, FFmpeg's planes are read where they lie (those that cannot be are
copied once), and the encoder reads the result where it is. A GPU is handed whole frames, three at a time:
planes are written into the memory it uploads from, and the encoder reads the memory it downloads to.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from dala.backends.borrowed import BorrowedFrame
from dala.backends.host import HostArray, HostDevice
from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.engine import Engine
from dala.compute.pipelines import Pipeline
from dala.ir.arrays import ArrayType
from dala.kernels.geometry import any_size
from dala.language import vocabulary
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import ParamValue
from dala.language.registry import find_kernel
from dala.language.values import Image, Vec
from dala.media.masks import Begin, LiveMasks
from dala.media.program import new_buffer
from dala.media.timed import values_at
from dala.video.color import Color
from dala.video.pictures import Kind, even, frame_shape

Array = npt.NDArray[Any]  # u8, or u16 for more than 8 bits
Tensor = Buffer | Scratch
Middle = Callable[[Pipeline, Sequence[Tensor], Tensor], None]  # from RGBA pictures to one
# of an engine and what begins a pipeline with the first picture: the masks that models make of it
Live = Callable[[Engine, Begin], LiveMasks]
Job = TypeVar("Job")
UNDER_WAY = 3  # on a GPU: one is uploaded, one computed, one downloaded


@dataclass(frozen=True)
class Format:
    """Size and kind of the frames at one end."""

    kind: Kind
    width: int
    height: int
    color: Color
    bits: int = 8  # 16 for all RGBA that has more than 8

    @property
    def dtype(self) -> str:
        """Of an array that holds such a frame, or a picture of it inside a pass."""
        return "u8" if self.bits == 8 else "u16"

    @property
    def type(self) -> ArrayType:
        """Of the array that holds such a frame."""
        return array_type(frame_shape(self.kind, self.width, self.height), self.dtype)

    @property
    def kernel_params(self) -> dict[str, object]:
        """For the kernels that convert frames."""
        return {**self.color.kernel_params, "bits": self.bits}


class PassInput(Protocol):
    """What goes into a pass."""

    def borrow(self, type_: ArrayType) -> BorrowedFrame | None:
        """Itself, where a host device can read it in place."""

    def fill(self, out: Array) -> None:
        """Write it into an array of its format."""


@dataclass(frozen=True)
class Given:
    """A picture in an array that has the format of the frames already."""

    array: Array

    def borrow(self, type_: ArrayType) -> None:
        """It is copied."""

    def fill(self, out: Array) -> None:
        """Copy it."""
        np.copyto(out, self.array)


def _extend(src: Image) -> Vec:
    """The same picture on a larger canvas; the edge repeats."""
    return src.at(vocabulary.x, vocabulary.y)


EXTEND = make_kernel(_extend, name="extend", domain="image", shape_rule=any_size)


class FramePass:
    """The pipeline for frames of given formats; ``middle`` adds what happens between the ends."""

    def __init__(
        self,
        engine: Engine,
        sources: Sequence[Format],
        target: Format,
        middle: Middle | None = None,
        live: Live | None = None,
    ) -> None:
        self.engine = engine
        self.target = target
        self.on_host = isinstance(engine.device, HostDevice)
        self._pipeline = Pipeline(engine)
        self._inputs = [self._allocate(source.type) for source in sources]
        self._output = self._allocate(target.type)
        frames = list(zip(sources, self._inputs, strict=True))
        pictures = [_decoded(self._pipeline, source, frame) for source, frame in frames]
        self._finish(pictures, middle)
        self._asking = _asking(self._pipeline)
        self._masks = live and live(engine, lambda p: _decoded(p, *frames[0]))
        self._pool = _Pool(target.type, self._allocate if self.on_host else None)
        self._spare = [([self._allocate(s.type) for s in sources], self._allocate(target.type))
                       for _ in range(0 if self.on_host else UNDER_WAY)]  # fmt: skip

    def compile(self) -> None:
        """Compile now what the first frame would wait for."""
        self._pipeline.compile()

    def _set_time(self, number: int, seconds: float) -> None:
        """Tell the stages that ask which frame comes."""
        for stage, kernel, values in self._asking:
            self._pipeline.set_params(stage, **values_at(kernel, values, number, seconds))

    def convert(self, *pictures: PassInput) -> Array:
        """One frame from a picture of each source."""
        ((_, frame),) = self.run([pictures], lambda given: given)
        assert frame is not None
        return frame

    def explain(self) -> str:
        """The plan in words."""
        return self._pipeline.explain()

    def run(
        self,
        jobs: Iterable[Job],
        pictures_of: Callable[[Job], Sequence[PassInput]],
        time_of: Callable[[Job], float] = lambda job: 0.0,
        first: int = 0,
    ) -> Iterator[tuple[Job, Array | None]]:
        """Each job's frame, in order; a job without pictures is passed on without one.

        ``time_of`` is for filters that ask; the frames are numbered in any case, from ``first`` on.
        """
        run = self._run_here if self.on_host else self._run_ahead
        return run(jobs, pictures_of, time_of, first)

    def _run_here(
        self,
        jobs: Iterable[Job],
        pictures_of: Callable[[Job], Sequence[PassInput]],
        time_of: Callable[[Job], float],
        first: int,
    ) -> Iterator[tuple[Job, Array | None]]:
        number = first
        for job in jobs:
            pictures = pictures_of(job)
            if pictures and self._asking:
                self._set_time(number, time_of(job))
            number += bool(pictures)
            yield job, self._frame_of(pictures)

    def _frame_of(self, pictures: Sequence[PassInput]) -> Array | None:
        if not pictures:
            return None
        inputs = {own: self._enter(p, own) for own, p in zip(self._inputs, pictures, strict=True)}
        output, frame = self._pool.take()
        assert output is not None
        self._pipeline.run(buffers={**inputs, self._output: output, **self._made_of(inputs)})
        return frame

    def _enter(self, picture: PassInput, own: Buffer) -> Buffer:
        """A buffer that is the picture, for one run; or our own one, with the picture in it."""
        borrowed = picture.borrow(own.type)
        if borrowed is not None:
            return Buffer(self.engine, own.type, borrowed)
        picture.fill(_memory(own))
        return own

    def _run_ahead(
        self,
        jobs: Iterable[Job],
        pictures_of: Callable[[Job], Sequence[PassInput]],
        time_of: Callable[[Job], float],
        first: int,
    ) -> Iterator[tuple[Job, Array | None]]:
        pending: deque[tuple[Job, Callable[[], Array] | None]] = deque()
        number = first
        for job in jobs:
            if len(pending) == UNDER_WAY:
                yield _fetched(*pending.popleft())
            pictures = pictures_of(job)
            if not pictures:
                pending.append((job, None))
                continue
            if self._asking:
                self._set_time(number, time_of(job))
            pending.append((job, self._begin(pictures, *self._spare[number % UNDER_WAY])))
            number += 1
        while pending:
            yield _fetched(*pending.popleft())

    def _begin(
        self, pictures: Sequence[PassInput], inputs: Sequence[Buffer], output: Buffer
    ) -> Callable[[], Array]:
        """Hand the GPU a frame's whole way, there and back; a way to wait for the result."""
        device = self.engine.device
        for picture, buffer in zip(pictures, inputs, strict=True):
            device.fill(buffer.storage(), picture.fill)
        stand_ins = dict(zip(self._inputs, inputs, strict=True))
        masks = self._made_of(stand_ins)
        self._pipeline.enqueue(buffers={**stand_ins, self._output: output, **masks})
        return device.fetch_later(output.storage())

    def _made_of(self, inputs: Mapping[Buffer, Buffer]) -> Mapping[Buffer, Buffer]:
        """What a model makes of a frame, for the filters that read it."""
        return (
            self._masks.stand_ins({self._inputs[0]: inputs[self._inputs[0]]}) if self._masks else {}
        )

    def _allocate(self, type_: ArrayType) -> Buffer:
        return new_buffer(self.engine, type_)

    def _finish(self, pictures: Sequence[Tensor], middle: Middle | None) -> None:
        target = self.target
        size = target.height, target.width
        if target.kind == "rgba":
            self._compose(pictures, middle, self._output)
            return
        picture = self._compose(pictures, middle, rgba_scratch(*size, target.dtype))
        whole = even(target.height), even(target.width)
        if whole != size:
            picture = _add(self._pipeline, EXTEND, picture, rgba_scratch(*whole, target.dtype))
        colors = target.kernel_params
        _add(self._pipeline, "rgba_to_yuv420p", picture, self._output, **colors)

    def _compose(self, pictures: Sequence[Tensor], middle: Middle | None, output: Tensor) -> Tensor:
        if middle is not None:
            middle(self._pipeline, pictures, output)
        elif isinstance(output, Scratch):
            return pictures[0]
        else:
            copy = {"op": "copy_buffer", "inputs": [pictures[0]], "output": output}
            self._pipeline.add(copy)
        return output


def _asking(pipeline: Pipeline) -> list[tuple[int, Kernel, Mapping[str, ParamValue]]]:
    """The stages whose kernels ask for the frame's number or time, with the values they have now."""
    found = []
    for number, spec in enumerate(pipeline.stages):
        if spec.get("kernel") is not None:  # a copy has none
            kernel = find_kernel(spec["kernel"])
            values: Mapping[str, ParamValue] = spec["params"]  # type: ignore[assignment]
            if values_at(kernel, values, 0, 0.0):
                found.append((number, kernel, values))
    return found


def _add(
    pipeline: Pipeline, kernel: object, source: Tensor, target: Tensor, **params: object
) -> Tensor:
    pipeline.add({"kernel": kernel, "inputs": [source], "output": target, "params": params})
    return target


def _decoded(pipeline: Pipeline, source: Format, frame: Buffer) -> Tensor:
    """The source as an RGBA picture of its very size."""
    if source.kind == "rgba":
        return frame
    size = even(source.height), even(source.width)
    whole = rgba_scratch(*size, source.dtype)
    picture = _add(pipeline, "yuv420p_to_rgba", frame, whole, **source.kernel_params)
    if size == (source.height, source.width):
        return picture
    return _add(pipeline, "crop", picture, rgba_scratch(source.height, source.width, source.dtype))


def _fetched(job: Job, content: Callable[[], Array] | None) -> tuple[Job, Array | None]:
    return job, None if content is None else content()


class FrameByFrame(ABC):
    """A pass that makes each frame when it is asked for."""

    @abstractmethod
    def _frame_of(self, pictures: Sequence[PassInput]) -> Array:
        """The frame of at least one picture."""

    def run(
        self,
        jobs: Iterable[Job],
        pictures_of: Callable[[Job], Sequence[PassInput]],
        time_of: Callable[[Job], float] = lambda job: 0.0,
        first: int = 0,
    ) -> Iterator[tuple[Job, Array | None]]:
        """As FramePass does."""
        for job in jobs:
            pictures = pictures_of(job)
            yield job, self._frame_of(pictures) if pictures else None


class PassThrough(FrameByFrame):
    """Nothing is done to the frames: they stay as they are, to the byte."""

    def __init__(self, engine: Engine, target: Format) -> None:
        self.engine = engine
        self.target = target
        self._pool = _Pool(target.type, None)

    def compile(self) -> None:
        """There is nothing to compile."""

    def explain(self) -> str:
        """The plan in words."""
        return "no stages: frames go to the encoder as they are"

    def take(self) -> Array:
        """An array for a frame."""
        return self._pool.take()[1]

    def _frame_of(self, pictures: Sequence[PassInput]) -> Array:
        frame = self.take()
        pictures[0].fill(frame)
        return frame


def before(kernel: Kernel, params: Mapping[str, object], after: Middle | None) -> Middle:
    """A stage on the picture as it comes, before whatever else is done to it."""

    def add(pipeline: Pipeline, pictures: Sequence[Tensor], output: Tensor) -> None:
        source = pictures[0]
        rows, columns = source.shape[:2]
        made: Tensor = output if after is None else rgba_scratch(rows, columns, output.dtype)
        pipeline.add({"kernel": kernel, "inputs": [source], "output": made, "params": params})
        if after is not None:
            after(pipeline, [made], output)

    return add


def rgba_scratch(rows: int, columns: int, dtype: str = "u8") -> Scratch:
    """A picture that exists inside a pass."""
    return Scratch(array_type((rows, columns, 4), dtype))


def _memory(buffer: Buffer) -> Array:
    storage = buffer.storage()
    assert isinstance(storage, HostArray)
    return storage.array


class _Pool:
    """Arrays for results, used again once nobody holds them: an encoder may keep them for a while."""

    def __init__(self, type_: ArrayType, allocate: Callable[[ArrayType], Buffer] | None) -> None:
        self._type = type_
        self._allocate = allocate
        self._free: deque[Buffer | HostArray] = deque()

    def take(self) -> tuple[Buffer | None, Array]:
        """An array, and the buffer whose memory it is."""
        try:
            cell = self._free.popleft()
        except IndexError:
            cell = self._allocate(self._type) if self._allocate else HostArray(self._type)
        storage = cell.storage() if isinstance(cell, Buffer) else cell
        assert isinstance(storage, HostArray)
        # Every view holds its base as long as that is no array: NumPy leaves out arrays in between.
        base = _memory_of(self._type.nbytes).from_address(storage.address)
        weakref.finalize(base, self._free.append, cell).atexit = False
        array: Array = np.frombuffer(memoryview(base), self._type.dtype.numpy)
        array = array.reshape(self._type.shape)
        return cell if isinstance(cell, Buffer) else None, array


@functools.lru_cache(64)
def _memory_of(size: int) -> type[ctypes.Array[ctypes.c_uint8]]:
    """So many bytes somewhere, as an object that can be watched."""
    return type("Memory", (ctypes.c_uint8 * size,), {})
