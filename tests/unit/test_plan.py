"""Plans: what becomes one pass, and that fusing changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from plans import SIZE, Made, blank, check_results, image, scratch

import dala
from dala.compute import Pipeline
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import PLAIN, Access, Arithmetic, Node, Program, Stage, make, walk
from dala.language.vocabulary import luma
from dala.plan.fuse import FusedPass, Location
from dala.plan.group import MAX_HALO_ROWS
from dala.plan.planner import Plan, plan_calls
from dala.plan.steps import Call, Slot


@pytest.fixture(autouse=True)
def _reference(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


# --- one pass -------------------------------------------------------------------------------------


def test_point_wise_stages_are_inlined() -> None:
    a, s, t, out = image(), scratch(), scratch(), blank()
    made = Made().add("brightness", a, s, value=0.1).add("contrast", s, t, value=0.5)
    made.add("invert", t, out)
    work = made.only_pass()
    assert work.labels == ("brightness", "contrast", "invert")
    assert work.inlined == ("brightness", "contrast")
    assert [len(work.reads), len(work.writes), len(work.bodies)] == [1, 1, 1]
    assert work.reads[0].location == Location("slot", 0)
    assert work.writes[0].location == Location("slot", 3)
    assert made.plan.temps == ()
    assert made.cuts == []
    check_results(made)


def test_inlined_images_are_rounded_where_they_would_have_been_stored() -> None:
    a, out = image(), blank()
    stored = Made().add("brightness", a, s := scratch(), value=0.1).add("invert", s, out)
    exact = Made().add("brightness", a, f := scratch(dtype="f32"), value=0.1).add("invert", f, out)

    def levels(made: Made) -> int:
        return sum(n.op == "level" for b in made.only_pass().bodies for n in walk(b.roots))

    assert levels(stored) == 7  # three colours twice; alpha is stored as it was read
    assert levels(exact) == 4
    check_results(stored)
    check_results(exact)


def test_a_separable_filter_is_one_pass() -> None:
    made = Made().add("blur", image(), blank(), radius=2)
    work = made.only_pass()
    assert work.labels == ("blur.1", "blur.2")
    assert [bool(b.buffered) for b in work.bodies] == [True, False]
    assert [b.label for b in work.bodies] == ["blur.1", "blur.2"]
    assert made.plan.temps == ()
    check_results(made)


def test_stencils_and_points_in_a_chain_are_one_pass() -> None:
    a, s, t, u, out = image(), scratch(), scratch(), scratch(), blank()
    made = Made().add("blur", a, s, radius=1).add("sharpen", s, t).add("contrast", t, u, value=0.2)
    made.add("grayscale", u, out)
    work = made.only_pass()
    assert work.labels == ("blur.1", "blur.2", "sharpen", "contrast", "grayscale")
    assert [b.label for b in work.bodies if b.buffered] == ["blur.1", "blur.2"]
    assert work.inlined == ("sharpen", "contrast")
    check_results(made)


def test_buffers_that_the_user_named_are_written() -> None:
    a, b, out = image(), blank(), blank()
    made = Made().add("invert", a, b).add("brightness", b, out, value=0.2)
    work = made.only_pass()
    assert len(work.writes) == 2
    assert work.inlined == ()
    check_results(made)


def test_a_named_buffer_that_a_stencil_reads_is_written_and_buffered() -> None:
    a, b, out = image(), blank(), blank()
    made = Made().add("invert", a, b).add("sharpen", b, out)
    work = made.only_pass()
    assert [(b.label, bool(b.buffered), len(b.stores)) for b in work.bodies] == [
        ("invert", True, 1),
        ("sharpen", False, 1),
    ]
    assert "    written, and ring-buffered: invert (3 rows)" in made.explained.split("\n")
    check_results(made)


def test_stages_that_share_an_input_read_it_once() -> None:
    a, b, c = image(), blank(), blank()
    made = Made().add("invert", a, b).add("grayscale", a, c)
    work = made.only_pass()
    assert [len(work.reads), len(work.writes)] == [1, 2]
    assert work.inlined == ()
    check_results(made)


def test_a_costly_value_with_two_kinds_of_readers_is_buffered_not_computed_twice() -> None:
    @dala.kernel
    def subtract(a, b):
        return (a[0, 0].rgb - b[0, 0].rgb).with_alpha(1.0)

    a, s, t, out = image(), scratch(), scratch(), blank()
    made = Made().add("contrast", a, s, value=0.5).add("sharpen", s, t)
    made.add("subtract", [s, t], out)
    buffered = [b.label for b in made.only_pass().bodies if b.buffered]
    assert buffered == ["contrast"]
    check_results(made)


def test_grey_and_colour_images_of_one_size_share_a_pass() -> None:
    @dala.kernel
    def brightness_of(src):
        return luma(src[0, 0])

    a, grey, out = image(), scratch((48, 64)), blank((48, 64, 1))
    made = Made().add("brightness_of", a, grey).add("invert", grey, out)
    assert made.only_pass().labels == ("brightness_of", "invert")
    check_results(made)


def test_tensor_chains_are_one_pass() -> None:
    a, s, t, out = image((8, 3), "f32"), scratch((8, 3), "f32"), scratch((8, 3), "f32"), blank((8, 3), "f32")  # fmt: skip  # noqa: E501
    made = Made().add("scalar_mul", a, s, scalar=3).add("relu", s, t).add("sigmoid", t, out)
    assert made.only_pass().labels == ("scalar_mul", "relu", "sigmoid")
    check_results(made)


def test_what_is_computed_from_positions_can_be_followed() -> None:
    a, s, out = image(), scratch((20, 30, 4)), blank((20, 30, 4))
    made = Made().add("resize", a, s).add("invert", s, out)
    assert made.only_pass().labels == ("resize", "invert")
    check_results(made)
    b, t, flat = image((8, 3), "f32"), scratch((3, 8), "f32"), blank((3, 8), "f32")
    turned = Made().add("transpose", b, t).add("relu", t, flat)
    assert turned.only_pass().labels == ("transpose", "relu")
    check_results(turned)


def test_parameters_of_all_stages_are_one_list() -> None:
    a, s, t, out = image(), scratch(), scratch(), blank()
    made = Made().add("brightness", a, s, value=0.25).add("blur", s, t, radius=1, sigma=0.75)
    made.add("contrast", t, out, value=-0.5)
    ready = made.pipeline._prepared()
    assert ready.numbers == (0.25, 0.75, -0.5)
    used = {n.attr for b in made.only_pass().bodies for n in walk(b.roots) if n.op == "param"}
    assert used == {0, 1, 2}
    check_results(made)


# --- the engine -----------------------------------------------------------------------------------


def test_equal_pipelines_share_one_executable() -> None:
    def build(value: float) -> Pipeline:
        return Made().add("brightness", image(), blank(), value=value).pipeline

    one, two = build(0.1), build(0.9)
    assert one._prepared().executable is two._prepared().executable
    other = Made().add("brightness", image((2, 2, 4)), blank((2, 2, 4))).pipeline
    assert other._prepared().executable is not one._prepared().executable


@pytest.mark.parametrize("stages", [2, 5, 20])
def test_long_chains_are_one_pass(stages: int) -> None:
    a, out = image((8, 6, 4)), blank((8, 6, 4))
    kinds: list[Callable[[Made, object, object], Made]] = [
        lambda m, i, o: m.add("contrast", i, o, value=0.1),
        lambda m, i, o: m.add("sharpen", i, o, amount=0.2),
        lambda m, i, o: m.add("invert", i, o),
        lambda m, i, o: m.add("blur", i, o, radius=1),
    ]
    made, source = Made(), a
    for number in range(stages):
        target = out if number == stages - 1 else scratch((8, 6, 4))
        made = kinds[number % len(kinds)](made, source, target)
        source = target  # type: ignore[assignment]
    assert len(made.plan.passes) == 1
    check_results(made)


# --- stages with an arithmetic of their own --------------------------------------------------------


def separable(reach: int, *, apart: bool) -> Program:
    """Down the columns, then along the rows."""

    def average(source: int, dx: int, dy: int) -> tuple[Node, ...]:
        weight = Node("const", F32, (), 1.0)
        taps = [
            [Node("load", F32, (), Access(source, c, dx * s, dy * s)) for s in (-1, 1)]
            for c in range(4)
        ]
        return tuple(make("average", *pair, weight, weight) for pair in taps)

    way = Arithmetic("own", own_body=True) if apart else PLAIN
    stages = (Stage(average(0, 0, reach), way), Stage(average(1, reach, 0), way))
    return Program("wide", "image", 1, (), stages)


def planned(*calls: Call) -> Plan:
    slots = 1 + max(slot for call in calls for slot in (*call.inputs, call.output))
    return plan_calls(calls, [Slot(ArrayType(SIZE, U8))] * slots)


def labels(plan: Plan) -> list[str]:
    return [" → ".join(p.labels) for p in plan.passes]


def test_stages_apart_have_bodies_of_their_own() -> None:
    (work,) = planned(Call(separable(2, apart=True), (0,), 1)).passes
    assert isinstance(work, FusedPass)
    assert [(b.label, b.arithmetic.name, bool(b.buffered)) for b in work.bodies] == [
        ("wide.1", "own", True),
        ("wide.2", "own", False),
    ]


def test_no_cut_parts_the_stages_apart_of_one_kernel() -> None:
    plain, apart = (separable(90, apart=a) for a in (False, True))
    chain = [Call(plain, (0,), 1), Call(plain, (1,), 2)]
    assert labels(planned(*chain)) == ["wide.1 → wide.2", "wide.1 → wide.2"]
    in_place = planned(Call(plain, (0,), 0))
    assert labels(in_place) == ["wide.1", "wide.2"]
    assert [t.dtype for t in in_place.temps] == [F32]
    together = planned(Call(apart, (0,), 0))
    assert labels(together) == ["wide.1 → wide.2", "copy back"]
    assert [t.dtype for t in together.temps] == [U8]
    long = planned(Call(apart, (0,), 1), Call(apart, (1,), 2))
    assert labels(long) == ["wide.1 → wide.2", "wide.1 → wide.2"]
    assert long.reasons[1] == f"the stencils together would reach past {MAX_HALO_ROWS} rows"
    back = planned(Call(apart, (0,), 1), Call(separable(1, apart=True), (1,), 0))
    assert labels(back) == ["wide.1 → wide.2", "wide.1 → wide.2"]
    assert back.reasons[1] == "wide.2 would overwrite a buffer that the pass still reads"


def test_stages_of_one_arithmetic_are_fused_only_with_each_other() -> None:
    """Maps of bytes share one body; what lies before and behind them is buffered as rows."""
    load = tuple(Node("load", F32, (), Access(0, c)) for c in range(4))
    mapped = tuple(make("sub", Node("const", F32, (), 1.0), n) for n in load)
    mixed = (load[1], load[0], load[2], load[3])
    kin = Program("map", "image", 1, (), (Stage(mapped, Arithmetic("table")),))
    free = Program("mix", "image", 1, (), (Stage(mixed),))
    calls = [Call(free, (0,), 1), Call(kin, (1,), 2), Call(kin, (2,), 3), Call(free, (3,), 4)]
    slots = [Slot(ArrayType(SIZE, U8), scratch=0 < i < 4) for i in range(5)]
    (work,) = plan_calls(calls, slots).passes
    assert isinstance(work, FusedPass)
    assert [(b.label, b.arithmetic.name) for b in work.bodies] == [
        ("mix", "plain"),
        ("map", "table"),
        ("mix", "plain"),
    ]
    in_place = plan_calls([Call(free, (0,), 1), Call(kin, (1,), 0)], slots[:2])
    (body,) = in_place.passes[0].bodies  # type: ignore[union-attr]
    assert body.arithmetic == PLAIN
