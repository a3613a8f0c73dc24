"""Pipelines: stages planned together, so that a chain costs little more than one pass over memory."""

from __future__ import annotations

from collections.abc import Mapping

from dala.closing import Closing
from dala.compute.buffers import Buffer, Scratch
from dala.compute.default import default_engine
from dala.compute.engine import Engine, Prepared, Stream
from dala.compute.running import Command
from dala.compute.stages import Stage, bind_stage, is_known, parse_stage
from dala.errors import ArgumentError, DeviceError, PipelineError, ShapeError
from dala.plan.explain import explain_plan


class Pipeline(Closing):
    """A list of stages that are fused and run as one.

    >>> import numpy as np
    >>> from dala import compute
    >>> photo = compute.from_array(np.full((4, 4, 4), 100, np.uint8))
    >>> soft, out = compute.scratch((4, 4, 4), "u8"), compute.buffer_zeros((4, 4, 4), "u8")
    >>> p = compute.pipeline()
    >>> p = p.add({"kernel": "blur", "inputs": [photo], "output": soft, "params": {"radius": 1}})
    >>> p = p.add({"kernel": "invert", "inputs": [soft], "output": out})
    >>> p.run()
    >>> out.read()[0, 0].tolist()
    [155, 155, 155, 100]
    """

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine = default_engine() if engine is None else engine
        self._stages: tuple[Stage, ...] = ()
        self._ready: tuple[tuple[Stage, ...], Prepared] | None = None  # and for which stages
        self._closed = False

    @property
    def stages(self) -> list[dict[str, object]]:
        """The stages as specs, in order."""
        return [_as_spec(stage) for stage in self._stages]

    @property
    def stage_count(self) -> int:
        """How many stages there are."""
        return len(self._stages)

    def __len__(self) -> int:
        return len(self._stages)

    def __repr__(self) -> str:
        return f"<dala pipeline: {' → '.join(s.label for s in self._stages) or 'empty'}>"

    def add(self, spec: object) -> Pipeline:
        """Append a stage and return the pipeline. A wrong stage is refused and changes nothing."""
        self._require_alive()
        stage = parse_stage(spec, allow_scratch=True)
        self.engine.check_devices([*stage.inputs, stage.output])
        written = {id(s.output) for s in self._stages}
        for number, source in enumerate(stage.inputs):
            if isinstance(source, Scratch) and id(source) not in written:
                raise PipelineError(
                    f"stage {len(self._stages)} ({stage.label}): input {number} is a scratch buffer "
                    "that no earlier stage writes"
                )
        self._stages = (*self._stages, stage)
        return self

    def set_params(self, stage: int, /, **params: object) -> Pipeline:
        """Change parameters of one stage; run-time parameters cost nothing and never recompile.

        >>> from dala import compute
        >>> a = compute.buffer([1.0, 2.0])
        >>> spec = {"kernel": "scalar_mul", "inputs": [a], "output": a, "params": {"scalar": 2}}
        >>> compute.pipeline().add(spec).set_params(0, scalar=10).run()
        >>> compute.read_list(a)
        [10.0, 20.0]
        """
        self._require_alive()
        if isinstance(stage, bool) or not isinstance(stage, int):
            raise PipelineError(f"a stage is named by its number, got {stage!r}")
        if not -len(self._stages) <= stage < len(self._stages):
            raise PipelineError(f"there is no stage {stage!r}; there are {len(self._stages)}")
        old = self._stages[stage]
        if old.kernel is None:
            raise PipelineError(f"stage {stage} ({old.label}) has no parameters")
        assert old.output is not None
        new = bind_stage(old.kernel, old.inputs, old.output, {**old.values, **params})
        before, ready = self._stages, self._ready
        stages = list(before)
        stages[stage] = new
        self._stages = tuple(stages)
        same_arrays = new.special is old.special and new.tables == old.tables
        if ready is not None and ready[0] is before and same_arrays:  # only numbers changed
            numbers = [n for s in stages for n in s.numbers]
            self._ready = (self._stages, ready[1]._replace(numbers=tuple(numbers)))
        return self

    def run(self, *, buffers: Mapping[Buffer, Buffer] | None = None) -> None:
        """Run all stages and wait. ``buffers`` puts others of the same type in place for this run."""
        self.engine.finish(self._prepared(buffers))

    def submit(
        self, *, stream: Stream | None = None, buffers: Mapping[Buffer, Buffer] | None = None
    ) -> Command:
        """Start all stages and return at once."""
        ready = self._prepared(buffers)
        if stream is not None and not isinstance(stream, Stream):
            raise ArgumentError(f"submit: expected a stream, got {type(stream).__name__}")
        return self.engine.launch(ready, stream=stream, inline=False)

    def enqueue(self, *, buffers: Mapping[Buffer, Buffer] | None = None) -> None:
        """Run all stages before whatever the device is given next, and wait for it no longer than needed.

        A GPU works in order, so this returns as soon as the work is handed over: reading a result waits
        for it. On other devices it is done by then.

        >>> from dala import compute
        >>> a = compute.buffer([-1.0, 2.0])
        >>> compute.pipeline().add({"kernel": "relu", "inputs": [a], "output": a}).enqueue()
        >>> compute.read_list(a)
        [0.0, 2.0]
        """
        self.engine.enqueue(self._prepared(buffers))

    def compile(self) -> Pipeline:
        """Plan and compile now, so that the first run begins at once; returns the pipeline.

        >>> from dala import compute
        >>> compute.pipeline().compile().run()
        """
        self._require_alive()
        self._prepared()
        return self

    def explain(self) -> str:
        """The plan in words: passes, what was inlined, and the reason for every cut."""
        self._require_alive()
        return explain_plan(self._prepared().executable.plan, self.engine.device.name)

    def _repr_svg_(self) -> str | None:
        """What a notebook shows: the plan as a drawing; nothing of a closed one, or an empty one."""
        from dala.compute.notebook import plan_svg

        if self._closed or not self._stages:
            return None
        return plan_svg(self._prepared().executable.plan, self.engine.device.name)

    def close(self) -> None:
        """Drop the stages; the buffers are the caller's. Twice does nothing."""
        self._closed = True
        self._stages = ()
        self._ready = None

    free = close

    @property
    def closed(self) -> bool:
        """Whether its stages were dropped."""
        return self._closed

    def _require_alive(self) -> None:
        if self._closed:
            raise PipelineError("this pipeline has been closed; make a new one")

    def _prepared(self, buffers: Mapping[Buffer, Buffer] | None = None) -> Prepared:
        stages, ready = self._stages, self._ready
        if ready is None or ready[0] is not stages:  # another thread may change them meanwhile
            self._require_alive()
            self._ready = ready = (stages, self.engine.prepare(stages))
        return ready[1] if buffers is None else self._exchange(ready[1], buffers)

    def _exchange(self, ready: Prepared, buffers: Mapping[Buffer, Buffer]) -> Prepared:
        """The same run on other buffers. The plan holds as long as they are as distinct as before."""
        if not isinstance(buffers, Mapping):
            raise ArgumentError(f"buffers is a dict of buffers, got {type(buffers).__name__}")
        for old, new in buffers.items():
            _check_stand_in(old, new, ready)
        slots = tuple([buffers.get(b, b) if isinstance(b, Buffer) else b for b in ready.buffers])
        if len(set(slots)) < len(slots):
            return self.engine.prepare([_on_other_buffers(s, buffers) for s in self._stages])
        return ready._replace(buffers=slots)


def _check_stand_in(old: object, new: object, ready: Prepared) -> None:
    if not isinstance(old, Buffer):
        raise ArgumentError(f"buffers names a {type(old).__name__}; only buffers can be replaced")
    if not isinstance(new, Buffer):
        raise ArgumentError(f"expected a buffer in place of {old}, got {type(new).__name__}")
    if not any(old is b for b in ready.buffers):
        raise PipelineError(f"{old} is not part of this pipeline")
    if new.type != old.type:
        raise ShapeError(f"{new} cannot stand in for {old}: shape and dtype must be the same")
    if new.engine is not old.engine:
        raise DeviceError(f"{new} cannot stand in for {old}: they are on different devices")


def _on_other_buffers(stage: Stage, buffers: Mapping[Buffer, Buffer]) -> Stage:
    def swap(old: Buffer | Scratch) -> Buffer | Scratch:
        return buffers.get(old, old) if isinstance(old, Buffer) else old

    output = None if stage.output is None else swap(stage.output)
    return stage._replace(inputs=tuple(swap(b) for b in stage.inputs), output=output)


def _as_spec(stage: Stage) -> dict[str, object]:
    kernel: object = stage.kernel
    if stage.kernel is not None and is_known(stage.kernel):
        kernel = stage.kernel.name  # unless the name means another kernel by now
    return {
        "op": stage.op,
        "kernel": kernel,
        "inputs": list(stage.inputs),
        "output": stage.output,
        "params": dict(stage.values),
    }
