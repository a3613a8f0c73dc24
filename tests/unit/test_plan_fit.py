"""Plans for devices that cannot do everything in one pass, and memory that temporaries share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from plans import Made, blank, check_results, image, scratch

import dala
from dala import compute
from dala.backends.reference.device import ReferenceDevice
from dala.compute.engine import Engine
from dala.errors import UnsupportedError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.plan.capabilities import Capabilities
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan, plan_calls
from dala.plan.steps import Slot


@pytest.fixture(autouse=True)
def _reference(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


@dataclass(frozen=True, slots=True)
class Tiles(Capabilities):
    """A device with room for what so many bodies hold."""

    most_buffered: int = 1

    def has_room_for(self, work: FusedPass) -> bool:
        return sum(1 for body in work.bodies if body.buffered) <= self.most_buffered


def plan_for(can: Capabilities, made: Made) -> Plan:
    engine, stages = Engine(ReferenceDevice()), made.pipeline._stages
    buffers = list(dict.fromkeys(b for s in stages for b in (*s.inputs, s.output) if b is not None))
    slots = [Slot(b.type, isinstance(b, compute.Scratch)) for b in buffers]
    return plan_calls(engine.calls(stages, {b: k for k, b in enumerate(buffers)}), slots, can)


def blurred_twice() -> Made:
    s, out = scratch(), blank()
    return Made().add("blur", image(), s, radius=2).add("blur", s, out, radius=3)


def test_a_device_without_limits_runs_the_pass_as_it_is() -> None:
    plan = plan_for(Capabilities(), blurred_twice())
    assert len(plan.passes) == 1 and not plan.temps


def test_what_has_no_room_is_cut_and_the_reason_told() -> None:
    plan = plan_for(Tiles(tiled=True), blurred_twice())
    assert len(plan.passes) == len(plan.reasons) > 1
    assert all(reason for reason in plan.reasons[1:])
    assert plan.labels == ["blur.1", "blur.2"] * 2
    for work in plan.passes:
        assert isinstance(work, FusedPass)
        assert sum(1 for body in work.bodies if body.buffered) <= 1


def test_images_of_several_sizes_are_passes_of_their_own() -> None:
    made = Made().add("blur", image((96, 128, 4)), blank((96, 128, 4)), radius=60)
    plan = plan_for(Tiles(tiled=True, most_buffered=9), made)
    shapes = [w.shape[:2] for w in plan.passes if isinstance(w, FusedPass)]
    assert len(set(shapes)) > 1
    for work in plan.passes:
        assert isinstance(work, FusedPass)
        assert all(body.mip == 0 and body.margin == 0 for body in work.bodies)


def test_more_arrays_than_a_device_binds() -> None:
    a, b, outs = image(), image(), [blank() for _ in range(4)]
    made = Made()
    for out in outs:
        made.add("blend", [a, b], out)
    for work in plan_for(Tiles(tiled=True, most_arrays=4), made).passes:
        assert len({x.location for x in (*work.reads, *work.writes)}) <= 4
    with pytest.raises(UnsupportedError, match="a pass over 3 arrays; this device binds 2 at most"):
        plan_for(Tiles(tiled=True, most_arrays=2), Made().add("blend", [a, b], blank()))


def test_a_device_decides_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs is what explain() prints: the parts give the bytes of the whole."""
    made = blurred_twice()
    made.pipeline.run()
    out = made.stages[-1]["output"]
    assert isinstance(out, compute.Buffer)
    whole = out.read()
    can = property(lambda self: Tiles(tiled=True))
    monkeypatch.setattr(ReferenceDevice, "capabilities", can)
    made.pipeline.engine.forget()
    plan = made.plan
    assert made.explained.startswith("2 stages → 1 pass on reference, cut into ")
    assert made.explained.count("pass 1: ") == len(plan.passes) > 1
    assert f"through {len(plan.temps)} temporary array" in made.explained
    out.write(np.zeros_like(whole))
    made.pipeline.run()
    np.testing.assert_array_equal(out.read(), whole)
    made.pipeline.engine.forget()


# --- temporaries ----------------------------------------------------------------------------------


def in_a_row(count: int) -> Made:
    """Stages with a barrier between any two, so that each image between them is a temporary."""
    made, last = Made(), image()
    for number in range(count):
        target = blank() if number == count - 1 else scratch()
        made.add("invert" if number % 2 else "grayscale", last, target).barrier()
        last = target  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(("stages", "temps"), [(2, 1), (3, 2), (4, 2), (9, 2)])
def test_images_that_are_not_needed_together_share_memory(stages: int, temps: int) -> None:
    made = in_a_row(stages)
    assert made.plan.temps == (ArrayType((48, 64, 4), U8),) * temps
    check_results(made)


def test_what_is_read_later_keeps_its_memory() -> None:
    a, first, second, third, out = image(), scratch(), scratch(), scratch(), blank()
    made = Made().add("invert", a, first).barrier().add("grayscale", first, second).barrier()
    made.add("sepia", second, third).barrier().add("blend", [first, third], out)
    assert len(made.plan.temps) == 3
    check_results(made)


def test_other_types_share_nothing() -> None:
    a, grey, floats, out = image(), scratch(), scratch(dtype="f32"), blank()
    made = Made().add("invert", a, grey).barrier().add("sepia", grey, floats).barrier()
    made.add("invert", floats, out)
    assert len(made.plan.temps) == 2
    check_results(made)
