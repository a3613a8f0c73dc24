"""explain() on a GPU tells what is dispatched, no more and no less."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from told_steps import steps_planned, steps_told

import dala
from dala import compute
from dala.backends.webgpu.execute import CopyPass, GpuExecutable

pytestmark = pytest.mark.webgpu


class Stage(NamedTuple):
    kernel: str
    params: dict[str, Any]
    shape: tuple[int, ...]  # of what it writes


LARGE, SMALL, FRAME = (64, 96, 4), (30, 40, 4), (96, 96)
CHAINS = {
    "point-wise": (
        LARGE,
        [Stage("brightness", {"value": 0.1}, LARGE), Stage("invert", {}, LARGE)],
    ),
    "a blur and more": (
        LARGE,
        [
            Stage("blur", {"radius": 3}, LARGE),
            Stage("sharpen", {}, LARGE),
            Stage("grayscale", {}, LARGE),
        ],
    ),
    "by a smaller image": (LARGE, [Stage("blur", {"radius": 60}, LARGE)]),
    "several sizes": (
        LARGE,
        [
            Stage("resize", {"width": 40, "height": 30}, SMALL),
            Stage("median", {}, SMALL),
            Stage("blur", {"radius": 2}, SMALL),
        ],
    ),
    "frames": (
        FRAME,
        [
            Stage("yuv420p_to_rgba", {}, LARGE),
            Stage("blur", {"radius": 2}, LARGE),
            Stage("rgba_to_yuv420p", {}, FRAME),
        ],
    ),
    "a whole array": ((300, 200), [Stage("reduce_sum", {}, (1,))]),
    "whole arrays and others": (
        (300, 200),
        [
            Stage("relu", {}, (300, 200)),
            Stage("softmax", {}, (300, 200)),
            Stage("abs", {}, (300, 200)),
            Stage("reduce_max", {}, (1,)),
        ],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_told_is_what_is_dispatched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted where a run binds its dispatches, and where its copies are recorded."""
    runs: list[tuple[int, GpuExecutable]] = []
    bind = GpuExecutable._bind

    def count(self: GpuExecutable, *arguments: Any) -> Any:
        bound = bind(self, *arguments)
        runs.append((len(bound) + sum(isinstance(s, CopyPass) for s in self.steps), self))
        return bound

    monkeypatch.setattr(GpuExecutable, "_bind", count)
    shape, chain = CHAINS[name]
    dtype = "f32" if "whole" in name else "u8"
    with dala.use("webgpu"):
        p = compute.pipeline()
        last: Any = compute.from_array(
            np.full(shape, 90, np.float32 if dtype == "f32" else np.uint8)
        )
        for number, stage in enumerate(chain, 1):
            make = compute.buffer_zeros if number == len(chain) else compute.scratch
            out = make(stage.shape, dtype)
            p.add({"kernel": stage.kernel, "inputs": [last], "output": out, "params": stage.params})
            last = out
        text = p.explain()
        p.run()
    ((steps, executable),) = runs
    assert steps == steps_told(text), text
    assert steps == steps_planned(executable.plan)  # the plan is final
    assert ("temporary" in text) == bool(executable.plan.temps), text
