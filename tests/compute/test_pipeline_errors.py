"""Scratch, stages and pipelines that are wrong, and stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import Things, refuse, zeros

import dala
from dala import compute
from dala.errors import (
    ArgumentError,
    DeviceError,
    ParameterError,
    PipelineError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("device", "registry")


# -- scratch -----------------------------------------------------------------------------------

NEVER = (
    "a scratch buffer lives only inside a pipeline and may never exist; "
    "give the stage a real buffer to read its result"
)


@pytest.mark.parametrize(
    "use",
    [compute.read, compute.read_list, compute.read_binary, compute.to_array, compute.from_array,
     compute.buffer, np.asarray],
)  # fmt: skip
def test_scratch_cannot_be_read(things: Things, use: Callable[[object], object]) -> None:
    refuse(PipelineError, NEVER, lambda: use(things.scratch))


def test_scratch_outside_a_pipeline(things: Things) -> None:
    only = "is a scratch buffer; those only work in a pipeline"
    t = things
    for message, inputs, output in (
        (f"invert: input 0 {only}", [t.scratch], t.result),
        (f"invert: output {only}", [t.image], t.scratch),
    ):
        spec = {"kernel": "invert", "inputs": inputs, "output": output}
        run = lambda i=inputs, o=output: compute.run_kernel("invert", i, o)  # noqa: E731
        refuse(PipelineError, message, run)
        refuse(PipelineError, message, lambda s=spec: compute.submit(s))  # type: ignore[misc]
        refuse(PipelineError, message, lambda s=spec: compute.stream().submit(s))  # type: ignore[misc]


def test_scratch_read_before_it_is_written(things: Things) -> None:
    t = things
    p = compute.pipeline().add({"kernel": "invert", "inputs": [t.image], "output": t.result})
    refuse(
        PipelineError,
        "stage 1 (blur): input 0 is a scratch buffer that no earlier stage writes",
        lambda: p.add({"kernel": "blur", "inputs": [t.scratch], "output": t.result}),
    )
    assert len(p) == 1
    refuse(
        PipelineError,
        "stage 1 (invert): input 0 is a scratch buffer that no earlier stage writes",
        lambda: p.add({"kernel": "invert", "inputs": [t.scratch], "output": t.scratch}),
    )


# -- stage specs -------------------------------------------------------------------------------

KEYS = "expected op, kernel, inputs, output, params"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ({"param": {}}, PipelineError,
         f"unknown key 'param' in a stage; {KEYS}; did you mean 'params'?"),
        ({"kernle": "relu"}, PipelineError,
         f"unknown key 'kernle' in a stage; {KEYS}; did you mean 'kernel'?"),
        ({3: "relu"}, PipelineError, f"unknown key 3 in a stage; {KEYS}"),
        ({"op": "run"}, PipelineError,
         "unknown op 'run'; expected run_kernel, copy_buffer, barrier"),
        ({"op": "run_kernl"}, PipelineError,
         "unknown op 'run_kernl'; expected run_kernel, copy_buffer, barrier; did you mean 'run_kernel'?"),
        ({"op": None}, PipelineError, "unknown op None; expected run_kernel, copy_buffer, barrier"),
        ({"op": "barrier", "inputs": ["a"]}, PipelineError,
         "a barrier takes nothing else, got inputs"),
        ({"op": "barrier", "inputs": ["a"], "output": "out", "params": {"x": 1}}, PipelineError,
         "a barrier takes nothing else, got inputs, output, params"),
        ({"kernel": "relu", "inputs": ["a"]}, PipelineError, "a run_kernel stage needs an 'output'"),
        ({"inputs": ["a"], "output": "out"}, PipelineError, "a run_kernel stage needs a 'kernel'"),
        ({}, PipelineError, "a run_kernel stage needs an 'output'"),
        ({"op": "copy_buffer", "inputs": ["a"]}, PipelineError,
         "a copy_buffer stage needs an 'output'"),
        ({"op": "copy_buffer", "output": "out"}, ShapeError, "copy_buffer: expected 1 input, got 0"),
        ({"op": "copy_buffer", "inputs": ["a", "b"], "output": "out"}, ShapeError,
         "copy_buffer: expected 1 input, got 2"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "out", "params": {"x": 1}}, PipelineError,
         "a copy_buffer stage takes 'inputs' and 'output' only"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "out", "kernel": "relu"}, PipelineError,
         "a copy_buffer stage takes 'inputs' and 'output' only"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "matrix"}, ShapeError,
         "copy_buffer: (3,) f32 does not fit into (2, 3) f32; both need as many elements of one dtype"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "ints"}, ShapeError,
         "copy_buffer: (3,) f32 does not fit into (3,) s32; both need as many elements of one dtype"),
    ],
)  # fmt: skip
def test_stage_specs(
    things: Things, spec: dict[Any, Any], error: type[Exception], message: str
) -> None:
    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(v) for v in value]
        return getattr(things, value, value) if isinstance(value, str) else value

    spec = {k: named(v) if k in ("inputs", "output") else v for k, v in spec.items()}
    p = compute.pipeline()
    refuse(error, message, lambda: p.add(spec))
    assert len(p) == 0
    refuse(error, message, lambda: compute.submit(spec))
    refuse(error, message, lambda: compute.stream().submit(spec))


@pytest.mark.parametrize("spec", [None, "relu", ["relu"], 3])
def test_a_stage_is_a_dict(spec: Any) -> None:
    message = f"a stage is a dict, got {type(spec).__name__}"
    refuse(ArgumentError, message, lambda: compute.pipeline().add(spec))
    refuse(ArgumentError, message, lambda: compute.submit(spec))


def test_a_wrong_stage_leaves_the_pipeline_as_it_was(things: Things) -> None:
    target = zeros((3,))
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": target})
    stages = p.stages
    with pytest.raises(ParameterError):
        p.add({"kernel": "scalar_mul", "inputs": [target], "output": target})
    assert p.stages == stages
    p.run()
    assert compute.read_list(target) == [1.0, 2.0, 3.0]


# -- pipelines ---------------------------------------------------------------------------------


def test_set_params(things: Things) -> None:
    target = zeros((3,))
    spec = {"kernel": "scalar_mul", "inputs": [things.a], "output": target, "params": {"scalar": 2}}
    p = compute.pipeline()
    refuse(PipelineError, "there is no stage 0; there are 0", lambda: p.set_params(0, scalar=1))
    p.add(spec).add({"op": "barrier"})
    for stage in (2, -3, 10**9):
        message = f"there is no stage {stage}; there are 2"
        refuse(PipelineError, message, lambda s=stage: p.set_params(s, scalar=1))  # type: ignore[misc]
    for name in ("blur", 0.0, None, True):
        message = f"a stage is named by its number, got {name!r}"
        refuse(PipelineError, message, lambda n=name: p.set_params(n, scalar=1))  # type: ignore[misc]
    message = "stage 1 (barrier) has no parameters"
    refuse(PipelineError, message, lambda: p.set_params(1, scalar=1))
    message = "scalar_mul: unknown parameter 'scaler'; it takes: scalar; did you mean 'scalar'?"
    refuse(ParameterError, message, lambda: p.set_params(0, scaler=1))
    message = "scalar_mul: scalar must be a number, got 'x'"
    refuse(ParameterError, message, lambda: p.set_params(0, scalar="x"))
    assert p.stages[0]["params"] == {"scalar": 2}
    p.run()
    assert compute.read_list(target) == [2.0, 4.0, 6.0]


def test_freed_pipelines(things: Things) -> None:
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": things.out})
    compute.free_pipeline(p)
    compute.free_pipeline(p)
    uses: list[Callable[[], object]] = [
        p.run,
        p.submit,
        p.explain,
        lambda: p.add({"op": "barrier"}),
        lambda: p.set_params(0, slope=1),
        lambda: compute.pipeline_run(p),
        lambda: compute.pipeline_add(p, {"op": "barrier"}),
    ]
    for use in uses:
        refuse(PipelineError, "this pipeline has been closed; make a new one", use)
    assert len(p) == p.stage_count == 0
    assert p.stages == []


def test_stand_ins(things: Things, device: str) -> None:
    t = things
    p = compute.pipeline().add({"kernel": "relu", "inputs": [t.a], "output": t.out})
    f32 = f"<dala buffer (3,) f32 on {device}>"
    with dala.use("cpu" if device == "reference" else "reference"):
        elsewhere = zeros((3,))
    cases: list[tuple[type[Exception], str, Any]] = [
        (ShapeError, f"<dala buffer (3,) s32 on {device}> cannot stand in for {f32}: "
         "shape and dtype must be the same", {t.a: t.ints}),
        (ShapeError, f"<dala buffer (2, 3) f32 on {device}> cannot stand in for {f32}: "
         "shape and dtype must be the same", {t.out: t.matrix}),
        (PipelineError, f"{f32} is not part of this pipeline", {t.b: t.a}),
        (ArgumentError, f"expected a buffer in place of {f32}, got ndarray", {t.a: np.zeros(3)}),
        (ArgumentError, f"expected a buffer in place of {f32}, got Scratch",
         {t.out: compute.scratch((3,), "f32")}),
        (ArgumentError, "buffers names a str; only buffers can be replaced", {"a": t.b}),
        (ArgumentError, "buffers names a Scratch; only buffers can be replaced", {t.scratch: t.b}),
        (ArgumentError, "buffers is a dict of buffers, got list", [t.a]),
        (DeviceError, f"{elsewhere} cannot stand in for {f32}: they are on different devices",
         {t.a: elsewhere}),
    ]  # fmt: skip
    for error, message, buffers in cases:
        refuse(error, message, lambda b=buffers: p.run(buffers=b))  # type: ignore[misc]
        refuse(error, message, lambda b=buffers: p.submit(buffers=b))  # type: ignore[misc]


def test_streams_are_streams(things: Things) -> None:
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": things.out})
    message = "submit: expected a stream, got int"
    refuse(ArgumentError, message, lambda: p.submit(stream=0))  # type: ignore[arg-type]
