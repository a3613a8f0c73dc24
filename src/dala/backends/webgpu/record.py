"""Command buffers: dispatches and copies in order, then a submit.

wgpu-py checks and wraps every call, which costs more than the calls themselves. ``NativeRecorder`` has
wgpu-native called from a table, by machine code (replay.py), and looks for an error once that is done. It
needs parts of wgpu-py that are not public; where they are missing, ``Recorder`` serves.

Several runs can share a command buffer: to complete one takes 13 µs on an H200, to submit it 9 to 13. A run
is added by one call of C: it is there or not, whatever signal comes. (What is complete must be submitted:
released without that, wgpu-native keeps it and its device for good.)
"""

from __future__ import annotations

import functools
import itertools
import weakref
from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from dala.backends.webgpu.replay import COPY, DISPATCH, Open, make_replay
from dala.backends.webgpu.wgpu_private import ErrorSlots, address_of, handle_of

LONG = 16  # dispatches and copies
FIRST_PART = 0.4  # of a long run, which keeps a GPU busy until the rest is there
Groups = tuple[int, int, int]


class BoundDispatch(NamedTuple):
    """A shader with all that it needs."""

    pipeline: Any
    bind_group: Any
    groups: Groups

    def row(self) -> tuple[int, ...]:
        """As machine code reads it."""
        pipeline, group = handle_of(self.pipeline), handle_of(self.bind_group)
        return DISPATCH, address_of(pipeline), address_of(group), *self.groups

    def encode(self, here: Any) -> None:
        """Into a compute pass of wgpu-py's."""
        here.set_pipeline(self.pipeline)
        here.set_bind_group(0, self.bind_group)
        here.dispatch_workgroups(*self.groups)


class BoundCopy(NamedTuple):
    """Bytes from one buffer to another."""

    source: Any
    start: int
    target: Any
    at: int
    size: int

    def row(self) -> tuple[int, ...]:
        """As machine code reads it."""
        source, target = handle_of(self.source), handle_of(self.target)
        return COPY, address_of(source), self.start, address_of(target), self.at, self.size


Work = BoundDispatch | BoundCopy


class Run(tuple[Work, ...]):
    """What is done in a row. One that comes again is kept, and with it its table."""

    @functools.cached_property
    def table(self) -> array[int]:
        """A row for each: addresses of what the run itself holds, and numbers."""
        return array("Q", itertools.chain.from_iterable(work.row() for work in self))

    @functools.cached_property
    def parts(self) -> tuple[Run, ...]:
        """What is submitted by itself if somebody waits: the GPU begins with the first part of a long run
        while the rest is recorded and completed."""
        first = int(FIRST_PART * len(self)) if len(self) >= LONG else 0
        return (Run(self[:first]), Run(self[first:])) if first else (self,)


def encode(
    encoder: Any, run: Iterable[Work], marks: Callable[[int], object] = lambda _number: None
) -> None:
    """Record a run through wgpu-py; ``marks`` says what a compute pass, by its number, notes of time."""
    number = itertools.count()
    for is_pass, works in itertools.groupby(run, lambda work: isinstance(work, BoundDispatch)):
        if not is_pass:
            for copied in works:
                encoder.copy_buffer_to_buffer(*copied)
            continue
        here = encoder.begin_compute_pass(timestamp_writes=marks(next(number)))
        for dispatch in works:
            assert isinstance(dispatch, BoundDispatch)
            dispatch.encode(here)
        here.end()


class Recorder:
    """Records runs through wgpu-py, call by call; whoever uses it holds the queue's lock.

    It shares nothing: a run is submitted at once.
    """

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    @property
    def shared(self) -> int:
        """How many runs are recorded and not submitted."""
        return 0

    def share(self, run: Iterable[Work]) -> None:
        """Add a run."""
        encoder = self._gpu.create_command_encoder()
        encode(encoder, run)
        self._gpu.queue.submit([encoder.finish()])

    def submit_shared(self) -> None:
        """Hand what is recorded to the GPU; raises what was wrong with it."""

    def forget_shared(self) -> None:
        """Drop it: the GPU is lost."""


class NativeRecorder(Recorder):
    """On wgpu-native itself."""

    def __init__(self, gpu: Any) -> None:
        super().__init__(gpu)
        self._errors = ErrorSlots()
        self._replay = make_replay()
        self._open = Open(*map(address_of, (handle_of(gpu), handle_of(gpu.queue))))
        self._slots: Any = None  # of this thread, in which wgpu-py collects errors
        self._depth = 0  # how many there were before ours
        self._found: tuple[str, str] | None = None  # type and words of an error
        weakref.finalize(self, self._open.forget).atexit = False

    @property
    def shared(self) -> int:
        return self._open.runs

    def share(self, run: Iterable[Work]) -> None:
        table = (run if isinstance(run, Run) else Run(run)).table
        if self._open.is_complete:
            self.submit_shared()
        self._capture()
        self._replay.record(self._open, table)
        self._check()

    def submit_shared(self) -> None:
        if not self._open.is_complete:  # else an exception of a signal's handler came behind that
            self._capture()
            self._replay.finish(self._open)
        # Before the submit, not after: given a command buffer with an error in it, wgpu-native
        # does not report it but ends the process.
        self._check()
        self._capture()
        self._replay.submit(self._open)
        self._check()

    def forget_shared(self) -> None:
        self._open.forget()

    # -- errors ------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise what came up since ``_capture``. All that is recorded goes: nobody can tell whose it is."""
        self._collect()
        found = self._found
        if found is not None:
            self.forget_shared()
            self._found = None
            raise self._errors.error(*found)

    def _collect(self) -> None:
        """Down to the depth there was, not just ours: a signal handler's exception may have left one
        behind. Nor may it lose what was found."""
        while self._slots is not None and len(self._slots) > self._depth:
            slot = self._slots[-1]
            if slot.message is not None:
                self._found = (slot.type, slot.message)
            self._slots.pop()
        self._slots = None

    def _capture(self) -> None:
        """Let errors be collected until ``_check``, rather than logged."""
        slots = self._errors.of_this_thread()
        if (
            slots is not self._slots
        ):  # else a call was interrupted behind this: its slot goes with ours
            self._slots, self._depth = slots, len(slots)
        self._errors.open()


def make_recorder(gpu: Any) -> Recorder:
    """The quick one where this version of wgpu-py allows it."""
    try:
        return NativeRecorder(gpu)
    except (ImportError, AttributeError):
        return Recorder(gpu)
