"""Plans: which chains become one pass, the reason for every cut, and that fusing changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

import dala
from dala import compute
from dala.compute import Buffer, Pipeline, Scratch
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import PLAIN, Access, Arithmetic, Node, Program, Stage, make, walk
from dala.language.vocabulary import average, intermediate, luma, sqrt
from dala.plan.fuse import FusedPass, Place
from dala.plan.group import MAX_HALO_ROWS, MAX_LENGTH
from dala.plan.planner import Plan, WholePass, plan_calls
from dala.plan.steps import Call, Slot

SIZE = (48, 64, 4)


@pytest.fixture(autouse=True)
def _reference(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


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


# --- one pass -------------------------------------------------------------------------------------


def test_point_wise_stages_are_inlined() -> None:
    a, s, t, out = image(), scratch(), scratch(), blank()
    made = Made().add("brightness", a, s, value=0.1).add("contrast", s, t, value=0.5)
    made.add("invert", t, out)
    work = made.only_pass()
    assert work.labels == ("brightness", "contrast", "invert")
    assert work.inlined == ("brightness", "contrast")
    assert [len(work.reads), len(work.writes), len(work.bodies)] == [1, 1, 1]
    assert work.reads[0].place == Place("slot", 0)
    assert work.writes[0].place == Place("slot", 3)
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
    assert [bool(b.held) for b in work.bodies] == [True, False]
    assert [b.label for b in work.bodies] == ["blur.1", "blur.2"]
    assert made.plan.temps == ()
    check_results(made)


def test_stencils_and_points_in_a_chain_are_one_pass() -> None:
    a, s, t, u, out = image(), scratch(), scratch(), scratch(), blank()
    made = Made().add("blur", a, s, radius=1).add("sharpen", s, t).add("contrast", t, u, value=0.2)
    made.add("grayscale", u, out)
    work = made.only_pass()
    assert work.labels == ("blur.1", "blur.2", "sharpen", "contrast", "grayscale")
    assert [b.label for b in work.bodies if b.held] == ["blur.1", "blur.2"]
    assert work.inlined == ("sharpen", "contrast")
    check_results(made)


def test_buffers_that_the_user_named_are_written() -> None:
    a, b, out = image(), blank(), blank()
    made = Made().add("invert", a, b).add("brightness", b, out, value=0.2)
    work = made.only_pass()
    assert len(work.writes) == 2
    assert work.inlined == ()
    check_results(made)


def test_a_named_buffer_that_a_stencil_reads_is_written_and_held() -> None:
    a, b, out = image(), blank(), blank()
    made = Made().add("invert", a, b).add("sharpen", b, out)
    work = made.only_pass()
    assert [(b.label, bool(b.held), len(b.stores)) for b in work.bodies] == [
        ("invert", True, 1),
        ("sharpen", False, 1),
    ]
    assert "    written, and held as rows: invert (3 rows)" in made.explained.split("\n")
    check_results(made)


def test_stages_that_share_an_input_read_it_once() -> None:
    a, b, c = image(), blank(), blank()
    made = Made().add("invert", a, b).add("grayscale", a, c)
    work = made.only_pass()
    assert [len(work.reads), len(work.writes)] == [1, 2]
    assert work.inlined == ()
    check_results(made)


def test_a_costly_value_with_two_kinds_of_readers_is_held_not_computed_twice() -> None:
    @dala.kernel
    def subtract(a, b):
        return (a[0, 0].rgb - b[0, 0].rgb).with_alpha(1.0)

    a, s, t, out = image(), scratch(), scratch(), blank()
    made = Made().add("contrast", a, s, value=0.5).add("sharpen", s, t)
    made.add("subtract", [s, t], out)
    held = [b.label for b in made.only_pass().bodies if b.held]
    assert held == ["contrast"]
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


# --- cuts -----------------------------------------------------------------------------------------


def test_cut_domain() -> None:
    a, s, out = image(dtype="f32"), scratch(dtype="f32"), blank(dtype="f32")
    made = Made().add("invert", a, s).add("relu", s, out)
    assert made.cuts == ["relu is a tensor kernel, invert an image kernel"]
    check_results(made)
    other = Made().add("relu", a, s).add("invert", s, out)
    assert other.cuts == ["invert is an image kernel, relu a tensor kernel"]
    check_results(other)


def test_cut_size() -> None:
    a, s, out = image(), scratch(), blank((20, 30, 4))
    made = Made().add("invert", a, s).add("resize", s, out)
    assert made.cuts == ["resize writes (20, 30, 4), the pass so far (48, 64, 4)"]
    assert [t.shape for t in made.plan.temps] == [SIZE]
    check_results(made)
    tensor = Made().add("relu", image((8, 3), "f32"), s := scratch((8, 3), "f32"))
    tensor.add("transpose", s, blank((3, 8), "f32"))
    assert tensor.cuts == ["transpose writes (3, 8), the pass so far (8, 3)"]
    check_results(tensor)


def test_cut_computed_positions() -> None:
    a, s, out = image(), scratch(), blank()
    made = Made().add("invert", a, s).add("flip", s, out)
    assert made.cuts == ["flip reads invert at computed positions"]
    check_results(made)
    blurred = Made().add("blur", a, s, radius=1).add("pixelate", s, out)
    assert blurred.cuts == ["pixelate reads blur.2 at computed positions"]
    check_results(blurred)


def test_computed_positions_in_place() -> None:
    a, b, out = image(), image(), blank()
    made = Made().add("flip", a, a)
    assert made.passes == ["flip", "copy back"]
    check_results(made)
    elsewhere = Made().add("flip", a, out).add("invert", b, b)  # only b is overwritten
    assert elsewhere.passes == ["flip → invert"]
    check_results(elsewhere)
    later = Made().add("flip", a, out).add("invert", b, a)
    assert later.cuts == ["invert would overwrite a buffer that the pass still reads"]
    check_results(later)


def test_cut_whole_arrays() -> None:
    a, s, t, out = (make((8, 8), "f32") for make in (image, scratch, scratch, blank))
    made = Made().add("relu", a, s).add("softmax", s, t).add("scalar_mul", t, out, scalar=2)
    assert made.passes == ["relu", "softmax", "scalar_mul"]
    assert made.cuts == ["softmax works on whole arrays"] * 2
    check_results(made)
    two = Made().add("matmul", [a, a], s).add("softmax", s, out)
    assert two.cuts == ["matmul works on whole arrays"]
    assert all(isinstance(p, WholePass) for p in two.plan.passes)
    check_results(two)


def test_cut_copy() -> None:
    a, s, t, out = image(), scratch(), scratch((64, 48, 4)), blank((64, 48, 4))
    made = Made().add("invert", a, s).copy(s, t).add("invert", t, out)
    assert made.passes == ["invert", "copy_buffer", "invert"]
    assert made.cuts == ["copy_buffer works on whole arrays"] * 2
    check_results(made)


def test_cut_barrier() -> None:
    a, s, out = image(), scratch(), blank()
    made = Made().add("invert", a, s).barrier().add("contrast", s, out, value=0.5)
    assert made.passes == ["invert", "contrast"]
    assert made.cuts == ["a barrier was asked for"]
    check_results(made)
    around = Made().barrier().add("invert", a, out).barrier().barrier()
    assert around.passes == ["invert"]
    assert around.cuts == []
    check_results(around)
    whole = Made().add("relu", f := image((4,), "f32"), g := blank((4,), "f32")).barrier()
    whole.add("softmax", g, f)
    assert whole.cuts == ["a barrier was asked for"]
    check_results(whole)


def test_cut_in_place() -> None:
    a, s = image(), scratch()
    made = Made().add("sharpen", a, s).add("invert", s, a)
    assert made.passes == ["sharpen", "invert"]
    assert made.cuts == ["invert would overwrite a buffer that the pass still reads"]
    check_results(made)
    blurred = Made().add("blur", a, a, radius=2)
    assert blurred.passes == ["blur.1", "blur.2"]
    assert blurred.cuts == ["blur.2 would overwrite a buffer that the pass still reads"]
    check_results(blurred)


def test_a_stencil_alone_on_one_buffer_is_copied_back() -> None:
    a, out = image(), blank()
    made = Made().add("sharpen", a, a)
    assert made.passes == ["sharpen", "copy back"]
    assert made.cuts == ["it overwrites its own input, so the result is copied back"]
    assert [t.shape for t in made.plan.temps] == [SIZE]
    check_results(made)
    more = Made().add("sharpen", a, a).add("invert", a, out)
    assert more.passes == ["sharpen", "copy back", "invert"]
    assert more.cuts[1] == "sharpen overwrites a buffer that the pass still reads"
    check_results(more)
    around = Made().add("invert", a, a).add("sharpen", a, out)
    assert around.passes == ["invert", "sharpen"]
    assert around.cuts == ["invert overwrites a buffer that the pass still reads"]
    check_results(around)


def test_points_on_one_buffer_need_no_cut() -> None:
    a = image()
    made = Made().add("brightness", a, a, value=0.1).add("invert", a, a).add("contrast", a, a)
    work = made.only_pass()
    assert work.inlined == ("brightness", "invert")
    assert work.reads[0].place == work.writes[0].place == Place("slot", 0)
    check_results(made)


def test_a_scratch_buffer_may_be_used_again() -> None:
    """Each content of a scratch buffer is a temporary of its own, so nothing is overwritten."""
    a, s, out = image(), scratch(), blank()
    made = Made().add("blur", a, s, radius=1).add("sharpen", s, s).add("sharpen", s, s)
    made.add("invert", s, out)
    assert made.only_pass().labels == ("blur.1", "blur.2", "sharpen", "sharpen", "invert")
    check_results(made)
    cut = Made().add("blur", a, s, radius=1).barrier().add("sharpen", s, s).barrier()
    cut.add("invert", s, out)
    assert cut.passes == ["blur.1 → blur.2", "sharpen", "invert"]
    assert len(cut.plan.temps) == 2
    check_results(cut)


def test_cut_too_many_instructions() -> None:
    def many(src):
        p = src[0, 0].r
        for i in range(5000):
            p = p * 0.5 + i
        return p

    compute.register("many", many)
    a, s, out = image((2, 3, 4)), scratch((2, 3, 4)), blank((2, 3, 4))
    made = Made().add("many", a, s).add("many", s, out)
    assert made.passes == ["many", "many"]
    assert made.cuts == [f"the pass would grow past {MAX_LENGTH} instructions"]


def test_cut_too_many_rows() -> None:
    a, s, out = image((9, 3, 4)), scratch((9, 3, 4)), blank((9, 3, 4))
    made = Made().add("blur", a, s, radius=100).add("blur", s, out, radius=61)
    assert made.cuts == [f"the stencils together would reach past {MAX_HALO_ROWS} rows"]
    check_results(made)
    fits = Made().add("blur", a, s, radius=100).add("blur", s, out, radius=60)
    assert fits.cuts == []


# --- what is dropped ------------------------------------------------------------------------------


def test_a_scratch_that_nobody_reads_is_dropped() -> None:
    a, s, t, out = image(), scratch(), scratch(), blank()
    made = Made().add("blur", a, s, radius=1).add("sharpen", s, t).add("invert", a, out)
    assert made.passes == ["invert"]
    assert made.plan.dropped == ("blur.1", "blur.2", "sharpen")
    assert made.explained.endswith(
        "\n  dropped, because nobody reads the result: blur.1, blur.2, sharpen"
    )
    check_results(made)


def test_a_result_that_is_overwritten_is_dropped() -> None:
    a, out = image(), blank()
    made = Made().add("blur", a, out, radius=1).add("invert", a, out)
    assert made.passes == ["invert"]
    assert made.plan.dropped == ("blur.1", "blur.2")
    check_results(made)
    read = Made().add("contrast", a, out).add("invert", out, out)
    assert read.plan.dropped == ()


def test_dead_whole_arrays_are_dropped_too() -> None:
    a, s, out = (make((4, 4), "f32") for make in (image, scratch, blank))
    made = Made().add("matmul", [a, a], s).add("relu", a, out)
    assert made.passes == ["relu"]
    assert made.plan.dropped == ("matmul",)
    assert made.cuts == []
    check_results(made)


def test_a_pipeline_without_results() -> None:
    assert Made().explained == "0 stages → 0 passes on reference"
    dead = Made().add("invert", image(), scratch())
    assert dead.explained == (
        "1 stage → 0 passes on reference\n  dropped, because nobody reads the result: invert"
    )
    dead.pipeline.run()


# --- in words -------------------------------------------------------------------------------------


def test_explain_a_fused_pipeline() -> None:
    @dala.kernel
    def soften(src):
        across = intermediate(average([src[-2, 0], src[0, 0], src[2, 0]], [1, 2, 1]))
        return average([across[0, -2], across[0, 0], across[0, 2]], [1, 2, 1])

    shape = (480, 640, 4)
    a, s, t, u, out = image(shape), scratch(shape), scratch(shape), scratch(shape), blank(shape)
    made = Made().add("soften", a, s).add("sharpen", s, t).add("contrast", t, u)
    made.add("grayscale", u, out)
    assert made.explained == (
        "4 stages → 1 pass on reference\n"
        "pass 1: soften.1 → soften.2 → sharpen → contrast → grayscale\n"
        "    image of 480×640×4; reads 1, writes 1 arrays (2.3 MiB in all)\n"
        "    inlined into what follows: sharpen, contrast\n"
        "    held as rows, never an image: soften.1 (5 rows)\n"
        "    held as rows, never an image: soften.2 (3 rows)"
    )


def test_explain_one_row() -> None:
    @dala.kernel
    def smear(src):
        return intermediate(sqrt(src[0, 0]))[1, 0]

    made = Made().add("smear", image(), blank())
    assert made.explained.endswith("    held as rows, never an image: smear.1 (1 row)")


def test_explain_a_pipeline_with_cuts() -> None:
    a, s, t, small = image(), scratch(), scratch(), scratch((20, 30, 4))
    out, dead = blank((20, 30, 4)), scratch()
    made = Made().add("invert", a, s).add("grayscale", s, dead).add("brightness", s, t, value=0.1)
    made.add("resize", t, small).barrier().add("sharpen", small, out).copy(out, blank((20, 30, 4)))
    assert made.explained == (
        "7 stages → 4 passes on reference\n"
        "pass 1: invert → brightness\n"
        "    image of 48×64×4; reads 1, writes 1 arrays (0.0 MiB in all)\n"
        "    inlined into what follows: invert\n"
        "  cut: resize writes (20, 30, 4), the pass so far (48, 64, 4)\n"
        "pass 2: resize\n"
        "    image of 20×30×4; reads 1, writes 1 arrays (0.0 MiB in all)\n"
        "  cut: a barrier was asked for\n"
        "pass 3: sharpen\n"
        "    image of 20×30×4; reads 1, writes 1 arrays (0.0 MiB in all)\n"
        "  cut: copy_buffer works on whole arrays\n"
        "pass 4: copy_buffer of 20×30×4, whole\n"
        "  dropped, because nobody reads the result: grayscale"
    )
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


# --- stages that a device computes in a way of its own --------------------------------------------


def separable(reach: int, *, apart: bool) -> Program:
    """Down the columns, then along the rows."""

    def average(source: int, dx: int, dy: int) -> tuple[Node, ...]:
        weight = Node("const", F32, (), 1.0)
        taps = [
            [Node("load", F32, (), Access(source, c, dx * s, dy * s)) for s in (-1, 1)]
            for c in range(4)
        ]
        return tuple(make("average", *pair, weight, weight) for pair in taps)

    way = Arithmetic("own", alone=True) if apart else PLAIN
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
    assert [(b.label, b.arithmetic.name, bool(b.held)) for b in work.bodies] == [
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


def test_stages_of_one_way_are_fused_only_with_each_other() -> None:
    """Maps of bytes share one body; what lies before and behind them is held as rows."""
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
