"""One engine per device: stages in, executables out, each compiled once.

stages (kernels on buffers) → specialised programs → Plan → Executable (cached) → Command
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from dala.backends.base import Device, Executable
from dala.compute.buffers import Buffer, Scratch
from dala.compute.commands import Command, submit_command
from dala.compute.stages import Stage, parse_stage
from dala.errors import DeviceError, ShaderError
from dala.ir.arrays import ArrayType
from dala.ir.graph import Program
from dala.ir.library import LibraryCall
from dala.language.tables import Table
from dala.plan.planner import plan_calls
from dala.plan.steps import Barrier, Call, Copy, Slot

CACHED_PLANS = 512


class Stream:
    """Commands in order. Several streams may overlap where their buffers allow it.

    >>> from dala import compute
    >>> a, b = compute.buffer([-1.0, 2.0]), compute.buffer_zeros((2,))
    >>> stream = compute.stream()
    >>> stream.submit({"kernel": "relu", "inputs": [a], "output": b}).wait()
    >>> b.read()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.last: Command | None = None

    def submit(self, spec: object) -> Command:
        """Queue one stage spec on this stream."""
        stage = parse_stage(spec, allow_scratch=False)
        return self.engine.run([stage], stream=self, inline=False)

    def synchronize(self) -> None:
        """Wait for everything submitted to this stream; raises the last command's error."""
        if self.last is not None:
            self.last.wait()


@dataclass(slots=True)
class Prepared:
    """Stages made ready to launch: what to run, on which buffers, with which numbers."""

    executable: Executable
    buffers: list[Buffer | Scratch]  # by slot
    numbers: tuple[float | int, ...]
    reads: list[Buffer]
    writes: list[Buffer]
    label: str


class Engine:
    """A device with its compiled plans and its default stream."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.default_stream = Stream(self)
        self._executables: OrderedDict[Hashable, Executable] = OrderedDict()
        self._prepared: OrderedDict[Hashable, Program] = OrderedDict()
        self._tables: weakref.WeakKeyDictionary[Table, Buffer] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def prepare(self, stages: Sequence[Stage]) -> Prepared:
        """Check the stages against each other and find or make their executable."""
        buffers: list[Buffer | Scratch] = []
        slot_of: dict[int, int] = {}

        def slot(buffer: Buffer | Scratch) -> int:
            number = slot_of.setdefault(id(buffer), len(buffers))
            if number == len(buffers):
                buffers.append(buffer)
            return number

        calls: list[Call] = []
        numbers: list[float | int] = []
        reads: dict[int, Buffer] = {}
        writes: dict[int, Buffer] = {}
        for stage in stages:
            sources = (*stage.inputs, *map(self.hold, stage.tables))
            work: Program | LibraryCall | Copy
            if stage.op == "barrier":
                calls.append(Call(Barrier()))
                continue
            assert stage.output is not None
            if stage.op == "copy_buffer":
                work = Copy()
            else:
                assert stage.special is not None
                numbers += stage.special.values
                work = stage.special.work
                if isinstance(work, Program):
                    work = self._adapt(work, [b.type for b in sources], stage.output.type)
            calls.append(Call(work, tuple(slot(b) for b in sources), slot(stage.output)))
            for b in sources:
                if isinstance(b, Buffer) and id(b) not in writes:
                    reads[id(b)] = b
            if isinstance(stage.output, Buffer):
                writes[id(stage.output)] = stage.output
        self.check_devices(buffers)
        slots = [Slot(b.type, isinstance(b, Scratch)) for b in buffers]
        try:
            executable = self._executable(calls, slots)
        except ShaderError as error:
            raise _with_places(error, stages) from error
        label = " → ".join(s.label for s in stages) if len(stages) < 4 else f"{len(stages)} stages"
        return Prepared(
            executable, buffers, tuple(numbers), list(reads.values()), list(writes.values()), label
        )

    def run(
        self, stages: Sequence[Stage], *, stream: Stream | None = None, inline: bool
    ) -> Command:
        """Prepare and launch in one go."""
        return self.launch(self.prepare(stages), stream=stream, inline=inline)

    def launch(self, ready: Prepared, *, stream: Stream | None = None, inline: bool) -> Command:
        """Put a prepared run in order; freed buffers are refused here, before anything starts."""
        storages = [b.storage() if isinstance(b, Buffer) else None for b in ready.buffers]
        return submit_command(
            ready.label,
            functools.partial(ready.executable.launch, storages, ready.numbers, timed=not inline),
            reads=ready.reads,
            writes=ready.writes,
            stream=stream or self.default_stream,
            inline=inline,
        )

    def hold(self, table: Table) -> Buffer:
        """The device's copy of an array parameter: made once, and gone with the Table."""
        with self._lock:
            found = self._tables.get(table)
        if found is None:
            storage = self.device.allocate(table.type)
            self.device.upload(storage, table.array)
            fresh = Buffer(self, table.type, storage)
            with self._lock:
                found = self._tables.setdefault(table, fresh)
        return found

    def _adapt(self, program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
        """The device's own form of a program for arrays of these kinds, made once."""
        kinds = tuple([(t.dtype, t.channels) for t in (*inputs, output)])
        key = (program, kinds)
        with self._lock:
            found = self._prepared.get(key)
            if found is not None:
                self._prepared.move_to_end(key)
        if found is None:
            found = self.device.prepare(program, inputs, output)
            with self._lock:
                found = self._prepared.setdefault(key, found)
                while len(self._prepared) > CACHED_PLANS:
                    self._prepared.popitem(last=False)
        return found

    def _executable(self, calls: list[Call], slots: list[Slot]) -> Executable:
        key = (tuple(calls), tuple(slots))
        with self._lock:
            found = self._executables.get(key)
            if found is not None:
                self._executables.move_to_end(key)
                return found
        fresh = self.device.compile(plan_calls(calls, slots))
        with self._lock:
            kept = self._executables.setdefault(key, fresh)
            while len(self._executables) > CACHED_PLANS:
                self._executables.popitem(last=False)
        return kept

    def check_devices(self, buffers: Iterable[Buffer | Scratch | None]) -> None:
        """Refuse buffers of another device."""
        for buffer in buffers:
            if isinstance(buffer, Buffer) and buffer.engine is not self:
                raise DeviceError(
                    f"a buffer on {buffer.device} cannot be used on {self.device.name}; "
                    f"copy it over with compute.from_array(b) under dala.use({self.device.name!r})"
                )


def _with_places(error: ShaderError, stages: Sequence[Stage]) -> ShaderError:
    """The driver's refusal, with where the kernels of the pass stand in the user's own code."""
    places = []
    for kernel in dict.fromkeys(s.kernel for s in stages if s.kernel is not None):
        code = getattr(kernel.function, "__code__", None)
        where = f'"{code.co_filename}", line {code.co_firstlineno}' if code else "kernel text"
        places.append(f"kernel {kernel.name!r}: {where}")
    return ShaderError("\n  ".join([str(error), *places]))


_engines: dict[int, Engine] = {}
_engines_lock = threading.Lock()


def engine_for(device: Device) -> Engine:
    """The engine of a device; each device has one."""
    with _engines_lock:
        return _engines.setdefault(id(device), Engine(device))
