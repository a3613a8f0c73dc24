"""Pipelines of a few stages, to look at their plans and to run them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dala import compute
from dala.compute import Buffer, Pipeline, Scratch
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan

SIZE = (48, 64, 4)


def image(shape: tuple[int, ...] = SIZE, dtype: str = "u8") -> Buffer:
    rng = np.random.default_rng(len(shape))
    values = rng.integers(0, 256, shape)
    return compute.buffer(values if dtype == "u8" else values / 255 - 0.3, dtype=dtype)


def blank(shape: tuple[int, ...] = SIZE, dtype: str = "u8") -> Buffer:
    return compute.buffer_zeros(shape, dtype)


def scratch(shape: tuple[int, ...] = SIZE, dtype: str = "u8") -> Scratch:
    return compute.scratch(shape, dtype)


@dataclass
class Made:
    """A pipeline, and the stages it was made of."""

    stages: list[dict[str, object]] = field(default_factory=list)

    def add(self, kernel: str, inputs: object, output: object, **params: object) -> Made:
        listed = inputs if isinstance(inputs, list) else [inputs]
        self.stages.append({"kernel": kernel, "inputs": listed, "output": output, "params": params})
        return self

    def copy(self, source: object, target: object) -> Made:
        self.stages.append({"op": "copy_buffer", "inputs": [source], "output": target})
        return self

    def barrier(self) -> Made:
        self.stages.append({"op": "barrier"})
        return self

    @property
    def pipeline(self) -> Pipeline:
        made = compute.pipeline()
        for stage in self.stages:
            made.add(stage)
        return made

    @property
    def plan(self) -> Plan:
        return self.pipeline._prepared().executable.plan

    @property
    def explained(self) -> str:
        return self.pipeline.explain()

    @property
    def cuts(self) -> list[str]:
        return [
            line.removeprefix("  cut: ")
            for line in self.explained.split("\n")
            if line.startswith("  cut: ")
        ]

    @property
    def passes(self) -> list[str]:
        return [" → ".join(p.labels) for p in self.plan.passes]

    def only_pass(self) -> FusedPass:
        (work,) = self.plan.passes
        assert isinstance(work, FusedPass)
        return work


def check_results(made: Made) -> None:
    """Every buffer ends up as if each stage had run on its own."""
    buffers = {
        id(b): b
        for s in made.stages
        for b in [*s.get("inputs", []), s.get("output")]  # type: ignore[misc]
        if isinstance(b, Buffer)
    }
    before = {key: b.read() for key, b in buffers.items()}
    made.pipeline.run()
    fused = {key: b.read() for key, b in buffers.items()}
    for key, b in buffers.items():
        b.write(before[key])
    apart = compute.pipeline()
    for stage in made.stages:
        apart.add({"op": "barrier"}).add(stage)
    apart.run()
    for key, b in buffers.items():
        np.testing.assert_array_equal(b.read(), fused[key])
