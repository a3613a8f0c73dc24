"""One engine per device: stages in, recipes out, each compiled once.

stages (kernels on buffers) → specialised programs → Plan → Recipe (cached) → Command
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dala import forking
from dala.backends.base import Device, Executable, QueuedExecutable, Storage
from dala.compute.buffers import Buffer, Scratch
from dala.compute.commands import is_busy, submit_command
from dala.compute.recipe import Known, Recipe
from dala.compute.running import Command
from dala.compute.stages import TYPE, Stage, parse_stage
from dala.errors import DeviceError, ShaderError
from dala.ir.arrays import ArrayType
from dala.ir.graph import Program
from dala.ir.library import LibraryCall
from dala.language.tables import Table
from dala.once import OnceByKey
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


class Prepared(NamedTuple):
    """Stages made ready to launch: what to run, on which buffers, with which numbers."""

    recipe: Recipe
    buffers: Sequence[Buffer | Scratch]  # by slot
    numbers: tuple[float | int, ...]

    @property
    def executable(self) -> Executable:
        return self.recipe.executable


class Engine:
    """A device with its compiled plans and its default stream."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.default_stream = Stream(self)
        self.known: dict[Hashable, Known] = {}  # by what repeated.py recognises a call
        self._recipes: OnceByKey[Hashable, Recipe] = OnceByKey(CACHED_PLANS)
        self._prepared: OnceByKey[Hashable, Program] = OnceByKey(CACHED_PLANS)
        self._tables: weakref.WeakKeyDictionary[Table, Buffer] = weakref.WeakKeyDictionary()
        self._lock = forking.lock()  # of the tables

    def prepare(self, stages: Sequence[Stage]) -> Prepared:
        """Check the stages against each other and find or make their recipe.

        It is found by what they do (that tells types and compile-time values too) and by which of their
        buffers are the same, so a repeated run costs little more than going through its buffers.
        """
        slot_of: dict[Buffer | Scratch, int] = {}
        kind: list[Hashable] = []
        numbers: tuple[float | int, ...] = ()
        for stage in stages:
            arrays = self.arrays(stage)
            kind.append(stage.special or (stage.op, *map(TYPE, arrays)))
            numbers += stage.numbers
            for buffer in arrays:
                slot = slot_of.setdefault(buffer, len(slot_of))
                if isinstance(buffer, Buffer):
                    kind.append(slot)
                    if buffer.engine is not self:
                        raise self._foreign(buffer)
                else:
                    kind.append(~slot)  # scratch
        key = tuple(kind)
        recipe = self._recipes.peek(key)
        if recipe is None:
            recipe = self._recipes.get(key, lambda: self._make_recipe(stages, slot_of))
        return Prepared(recipe, tuple(slot_of), numbers)

    def forget(self) -> None:
        """Drop every recipe, and whatever leads to one: the next run plans and compiles again."""
        self._recipes.clear()
        self.known.clear()

    def arrays(self, stage: Stage) -> tuple[Buffer | Scratch, ...]:
        """What a stage reads, and then what it writes; array parameters are read after the inputs."""
        if stage.output is None:
            return ()
        if stage.tables:
            return (*stage.inputs, *map(self.hold, stage.tables), stage.output)
        return (*stage.inputs, stage.output)

    def _make_recipe(
        self, stages: Sequence[Stage], slot_of: Mapping[Buffer | Scratch, int]
    ) -> Recipe:
        reads: dict[int, None] = {}
        writes: dict[int, None] = {}
        for stage in stages:
            used = [slot_of[b] if isinstance(b, Buffer) else -1 for b in self.arrays(stage)]
            reads |= dict.fromkeys(s for s in used[:-1] if s >= 0 and s not in writes)
            writes |= dict.fromkeys(s for s in used[-1:] if s >= 0)
        slots = [Slot(b.type, isinstance(b, Scratch)) for b in slot_of]
        try:
            plan = plan_calls(self.calls(stages, slot_of), slots, self.device.capabilities)
            executable = self.device.compile(plan)
        except ShaderError as error:
            raise _with_places(error, stages) from error
        label = " → ".join(s.label for s in stages) if len(stages) < 4 else f"{len(stages)} stages"
        real = tuple(isinstance(b, Buffer) for b in slot_of)
        return Recipe(executable, tuple(reads), tuple(writes), label, real)

    def calls(self, stages: Sequence[Stage], slot_of: Mapping[Buffer | Scratch, int]) -> list[Call]:
        """The stages as the planner sees them: programs, adapted to the device, on numbered slots."""
        calls: list[Call] = []
        for stage in stages:
            if stage.op == "barrier":
                calls.append(Call(Barrier()))
                continue
            arrays = self.arrays(stage)
            work: Program | LibraryCall | Copy = Copy()
            if stage.special is not None:
                work = stage.special.work
                if isinstance(work, Program):
                    work = self._adapt(work, [b.type for b in arrays[:-1]], arrays[-1].type)
            *sources, target = [slot_of[b] for b in arrays]
            calls.append(Call(work, tuple(sources), target))
        return calls

    def run(
        self, stages: Sequence[Stage], *, stream: Stream | None = None, inline: bool
    ) -> Command:
        """Prepare and launch in one go."""
        return self.launch(self.prepare(stages), stream=stream, inline=inline)

    def finish(self, ready: Prepared) -> None:
        """Run what is prepared and wait for it; at once, if it is short and nothing is under way."""
        recipe, buffers, numbers = ready
        if recipe.quick is None or not recipe.quick(*buffers, *numbers):
            self.launch(ready, inline=True)
            recipe.count_run()

    def enqueue(self, ready: Prepared, *, held: bool = False) -> None:
        """Start a run before whatever comes to the device later, if it has a queue and nobody else is at
        work on the buffers; else finish it. ``held``: the caller reads what comes of it at once.
        """
        recipe, buffers, numbers = ready
        others = any(is_busy(b) for b in buffers if isinstance(b, Buffer))
        if others or not isinstance(recipe.executable, QueuedExecutable):
            self.finish(ready)
            return
        storages = [b.storage() if isinstance(b, Buffer) else None for b in buffers]
        recipe.executable.enqueue(storages, numbers, held=held)

    def launch(self, ready: Prepared, *, stream: Stream | None = None, inline: bool) -> Command:
        """Put a prepared run in order; freed buffers are refused here, before anything starts."""
        recipe, buffers, numbers = ready
        storages: list[Storage | None] = []
        for buffer in buffers:
            storages.append(buffer.storage() if isinstance(buffer, Buffer) else None)
        return submit_command(
            recipe.label,
            functools.partial(recipe.executable.launch, storages, numbers, timed=not inline),
            buffers,
            recipe.reads,
            recipe.writes,
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
                found = self._tables[table] = Buffer(self, table.type, storage)
        return found

    def _adapt(self, program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
        """The device's own form of a program for arrays of these kinds, made once."""
        kinds = tuple([(t.dtype, t.channels) for t in (*inputs, output)])
        prepare = functools.partial(self.device.prepare, program, inputs, output)
        return self._prepared.get((program, kinds), prepare)

    def check_devices(self, buffers: Iterable[Buffer | Scratch | None]) -> None:
        """Refuse buffers of another device."""
        for buffer in buffers:
            if isinstance(buffer, Buffer) and buffer.engine is not self:
                raise self._foreign(buffer)

    def _foreign(self, buffer: Buffer) -> DeviceError:
        return DeviceError(
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


_engines: list[Engine] = []  # one for each device that is in use
_engines_lock = forking.lock()


def owner_of(buffer: Buffer) -> Engine:
    """The engine that a buffer is from; the buffer itself knows less of it."""
    assert isinstance(buffer.engine, Engine)
    return buffer.engine


def engine_for(device: Device) -> Engine:
    """The engine of a device; each device has one. Those of lost devices are let go."""
    with _engines_lock:
        return _find_or_make(device)


def _find_or_make(device: Device) -> Engine:
    _engines[:] = [e for e in _engines if e.device is device or not e.device.lost]
    for engine in _engines:
        if engine.device is device:
            return engine
    _engines.append(Engine(device))
    return _engines[-1]
