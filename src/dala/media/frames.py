"""Frame pipelines: a chain of filters on picture after picture of one size.

    caller's thread   take → upload │ take → upload │ …
    device                          │ run the chain │ run the chain │ …
    a pool's thread                 │               │ download → give back │ …   (a GPU's: whoever waits)

``process`` does all of it at once. ``submit`` returns after the upload: while one frame is computed the
next is uploaded and the one before downloaded. A GPU is handed a whole frame at once, since it works in
order: nobody waits between the steps. A ring of ``depth`` buffers bounds what is under way.

What is compiled is kept by the chain's structure: other values are numbers in the next launch; another
chain is compiled once, if wanted in the background while the chain before it stays in use.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dala import forking
from dala.backends.host import HostDevice
from dala.closing import Closing
from dala.compute.buffers import Buffer
from dala.compute.commands import command_on_demand, submit_command
from dala.compute.engine import Stream
from dala.compute.handle import ResultHandle
from dala.compute.running import Command
from dala.errors import DeviceError, ParameterError, PipelineError, ShapeError
from dala.ir.arrays import ArrayType
from dala.media.chain import Chain, Filters
from dala.media.measuring import measured
from dala.media.pictures import Channels, Layout, Picture, take_picture
from dala.media.program import (
    Program,
    engine_of,
    new_buffer,
    output_type,
    read_result,
    write_picture,
)
from dala.once import OnceByKey

__all__ = ["Frame", "FramePipeline", "engine_of"]

Image = TypeVar("Image")
Array = npt.NDArray[Any]
KEPT_PROGRAMS = 32  # chains of different structure


class Frame(ResultHandle[Image]):
    """A frame under way: wait for its result, which has the form of what was submitted, or await it.

    >>> import numpy as np
    >>> from dala import media
    >>> with media.start_pipeline(4, 4) as frames:
    ...     frame = frames.submit(np.zeros((4, 4), np.uint8), ["invert"])
    ...     int(frame.wait().min())
    255
    """

    _title = "the frame"

    def __init__(self, command: Command, result: list[Image]) -> None:
        super().__init__(command, result)


class FramePipeline(Closing):
    """Filters on frames of one size, with everything that can be kept from frame to frame.

    ``background=True`` compiles a new chain beside the running one, which stays in use until then.

    >>> import numpy as np
    >>> from dala import media
    >>> frame = np.full((480, 640, 3), 100, np.uint8)
    >>> with media.start_pipeline(640, 480) as frames:
    ...     brighter = frames.process(frame, [("blur", {"radius": 3}), ("brightness", {"value": 0.2})])
    >>> brighter.shape, brighter[0, 0].tolist()
    ((480, 640, 3), [151, 151, 151])
    """

    def __init__(
        self,
        width: int,
        height: int,
        *,
        channels: Channels | None = None,
        device: str | None = None,
        depth: int = 3,
        background: bool = False,
    ) -> None:
        for name, number in (("width", width), ("height", height), ("depth", depth)):
            whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
            if not whole or number < 1:
                raise ParameterError(f"{name} must be a whole number from 1 up, got {number!r}")
        self.width = int(width)
        self.height = int(height)
        self.channels = channels
        self.background = background
        self.engine = engine_of(device)
        self._on_host = isinstance(self.engine.device, HostDevice)
        self._depth = int(depth)
        self._stream = Stream(self.engine)
        self._programs: OnceByKey[Hashable, Program] = OnceByKey(KEPT_PROGRAMS)
        self._current: Program | None = None
        self._compiling: _Compiling | None = None
        self._seen: tuple[Chain, Chain] | None = None  # an open chain, and what it became
        self._buffers: dict[tuple[str, ArrayType, int], Buffer] = {}
        self._room = forking.lock()  # who compiles beside a frame needs buffers, too
        self._under_way: deque[tuple[int, Command]] = deque()
        self._place = 0  # in the ring
        self._lock = forking.rlock()
        self._closed = False

    # -- what a user calls ---------------------------------------------------------------------

    def process(self, image: Image, filters: Filters) -> Image:
        """The picture through the filters, in the form in which it came.

        Filters are a list of names and of pairs of a name and parameters, a Chain, or a look.

        >>> import numpy as np
        >>> from dala import media
        >>> frames = media.start_pipeline(4, 4)
        >>> frame = np.zeros((4, 4, 3), np.uint8)
        >>> media.process_frame(frames, frame, [("brightness", {"value": 0.2}), "invert"])[0, 0]
        array([204, 204, 204], dtype=uint8)
        """
        with self._lock:
            picture, program, place = self._begin(image, filters)
            source, output = self._load(picture, program, place)
            program.enqueue(source, output)
            return self._finish(picture, output)  # type: ignore[return-value]

    def submit(self, image: Image, filters: Filters) -> Frame[Image]:
        """Start a frame and return as soon as its pixels are copied; at most ``depth`` are under way."""
        with self._lock:
            picture, program, place = self._begin(image, filters)
            source, output = self._load(picture, program, place)
            result: list[Any] = []
            if self._on_host or isinstance(picture.pixels, Buffer):
                program.submit(source, output, self._stream)
                command = submit_command(
                    "download",
                    lambda: result.append(self._finish(picture, output)),
                    [output],
                    reads=(0,),
                    writes=(),
                    stream=None,
                    inline=False,
                )
            else:  # a GPU works in order: it is given the whole frame at once, with the way back
                program.enqueue(source, output)
                content = self.engine.device.fetch_later(output.storage())
                command = command_on_demand(
                    "download", lambda: result.append(self._finish(picture, output, content))
                )
            self._under_way.append((place, command))
            return Frame(command, result)

    def map(self, images: Iterable[Image], filters: Filters) -> Iterator[Image]:
        """Frame after frame through the same filters, in order, with the next ones under way meanwhile.

        >>> import numpy as np
        >>> from dala import media
        >>> clip = (np.full((4, 4, 3), level, np.uint8) for level in (10, 20, 30))
        >>> with media.start_pipeline(4, 4) as frames:
        ...     [int(f[0, 0, 0]) for f in frames.map(clip, ["invert"])]
        [245, 235, 225]
        """
        chain = Chain.of(filters)
        waiting: deque[Frame[Image]] = deque()
        for image in images:
            waiting.append(self.submit(image, chain))
            if len(waiting) >= self._depth:
                yield waiting.popleft().wait()
        while waiting:
            yield waiting.popleft().wait()

    def explain(self, filters: Filters) -> str:
        """The plan for a chain in words: passes, what was inlined, and the reason for every cut."""
        blank = np.zeros((self.height, self.width, 4), np.uint8)
        layout = take_picture(blank, channels=self.channels, who="explain").layout
        with self._lock:
            return self._make(Chain.of(filters), layout).pipeline.explain()

    def prepare(self, image: object, filters: Filters) -> None:
        """Compile filters for pictures of this form, so that the first one does not wait for it.

        On another thread it is done beside the frames; one that needs these filters waits for them. The
        last 32 chains are kept.

        >>> import numpy as np
        >>> from dala import media
        >>> frames = media.start_pipeline(4, 4)
        >>> frames.prepare(np.zeros((4, 4, 3), np.uint8), [("blur", {"radius": 2})])
        """
        picture, chain = self._take(image, filters)
        if chain.is_open:
            chain = measured(chain, picture, self.engine)
        key = (picture.layout, chain.structure)
        self._programs.get(key, functools.partial(self._make, chain, picture.layout))

    @property
    def compiling(self) -> bool:
        """Whether a new chain is being compiled in the background."""
        job = self._compiling
        return job is not None and not job.done

    def close(self) -> None:
        """Wait for what is under way and give the buffers back. Twice does nothing.

        >>> from dala import media
        >>> frames = media.start_pipeline(4, 4)
        >>> frames.close()
        >>> frames
        <dala frame pipeline 4 × 4, closed>
        """
        with self._lock:
            self._closed = True
            job, self._compiling = self._compiling, None
            self._finish_frames()
            if job is not None:
                job.thread.join()
            for buffer in self._buffers.values():
                buffer.close()
            self._buffers, self._current = {}, None
            self._programs.clear()

    def _finish_frames(self) -> None:
        while self._under_way:
            self._under_way.popleft()[1]._wait_until_done(None)

    stop = close

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"on {self.engine.device.name}"
        return f"<dala frame pipeline {self.width} × {self.height}, {state}>"

    # -- one frame -----------------------------------------------------------------------------

    def _take(self, image: object, filters: Filters) -> tuple[Picture, Chain]:
        """Everything that can be refused is refused here."""
        if self._closed:
            raise PipelineError("this frame pipeline has been closed; start a new one")
        chain = Chain.of(filters)
        bytes_like = isinstance(image, bytes | bytearray | memoryview)
        width, height = (self.width, self.height) if bytes_like else (None, None)
        picture = take_picture(image, width, height, self.channels, who="process_frame")
        if picture.size != (self.width, self.height):
            raise ShapeError(
                f"process_frame: this pipeline is for {self.width} × {self.height} pixels, "
                f"got {picture.size[0]} × {picture.size[1]}; start another one for that size"
            )
        if isinstance(picture.pixels, Buffer) and picture.pixels.engine is not self.engine:
            raise DeviceError(
                f"process_frame: the frame is on {picture.pixels.device}, the pipeline on "
                f"{self.engine.device.name}"
            )
        return picture, chain

    def _begin(self, image: object, filters: Filters) -> tuple[Picture, Program, int]:
        picture, chain = self._take(image, filters)
        if chain.is_open:
            chain = self._measured(chain, picture)
        program = self._program(chain, picture.layout)
        self._place = (self._place + 1) % self._depth
        while self._under_way and (
            self._under_way[0][1].status != "pending"
            or any(place == self._place for place, _ in self._under_way)
        ):
            self._under_way.popleft()[1]._wait_until_done(None)
        return picture, program, self._place

    def _measured(self, chain: Chain, picture: Picture) -> Chain:
        """What its filters saw in the first frame holds for those that follow: nothing flickers."""
        if self._seen is None or self._seen[0] is not chain:
            self._seen = (chain, measured(chain, picture, self.engine))
        return self._seen[1]

    def _load(self, picture: Picture, program: Program, place: int) -> tuple[Buffer, Buffer]:
        """The frame on the device, and room for its result."""
        out_type = program.output.type
        on_device = isinstance(picture.pixels, Buffer)  # it comes and goes there
        # a result in main memory is handed over as it is, so the next one needs other memory
        own = on_device or self._on_host
        output = new_buffer(self.engine, out_type) if own else self._buffer("out", out_type, place)
        if isinstance(picture.pixels, Buffer):
            return picture.pixels, output
        source = self._buffer("in", picture.layout.type, place)
        write_picture(source, picture)
        return source, output

    def _finish(
        self, picture: Picture, output: Buffer, content: Callable[[], Array] | None = None
    ) -> object:
        if isinstance(picture.pixels, Buffer):
            return output
        return picture.give_back(read_result(output) if content is None else content())

    def _buffer(self, role: str, type_: ArrayType, place: int) -> Buffer:
        with self._room:
            found = self._buffers.get((role, type_, place))
            if found is None:
                found = self._buffers[role, type_, place] = new_buffer(self.engine, type_)
            return found

    # -- chains --------------------------------------------------------------------------------

    def _program(self, chain: Chain, layout: Layout) -> Program:
        key = (layout, chain.structure)
        make = functools.partial(self._make, chain, layout)
        self._collect()
        current = self._current
        beside = self.background and self._programs.peek(key) is None
        if beside and current is not None and current.layout == layout:
            if self._compiling is None:
                self._compiling = _Compiling(functools.partial(self._programs.get, key, make))
            return current
        program = self._programs.get(key, make)
        program.set_values(chain)
        self._current = program
        return program

    def _make(self, chain: Chain, layout: Layout) -> Program:
        source = self._buffer("in", layout.type, 0)
        output = self._buffer("out", output_type(chain, layout), 0)
        program = Program(self.engine, chain, layout, source, output)
        program.pipeline.compile()
        return program

    def _collect(self) -> None:
        """If what was compiled in the background has failed, say so."""
        job = self._compiling
        if job is not None and job.done:
            self._compiling = None
            job.result()


class _Compiling:
    """A chain being compiled on a thread of its own."""

    def __init__(self, make: functools.partial[Program]) -> None:
        self._outcome: list[Program | BaseException] = []
        self.thread = threading.Thread(target=self._run, args=(make,), name="dala-compile")
        self.thread.daemon = True
        self.thread.start()

    def _run(self, make: functools.partial[Program]) -> None:
        try:
            self._outcome.append(make())
        except BaseException as error:
            self._outcome.append(error)

    @property
    def done(self) -> bool:
        return bool(self._outcome)

    def result(self) -> Program:
        self.thread.join()
        outcome = self._outcome[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome
