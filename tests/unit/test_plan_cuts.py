"""Plans: why a pass ends, what is dropped, and how that is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from plans import SIZE, Made, blank, check_results, image, scratch

import dala
from dala import compute
from dala.language.vocabulary import average, intermediate, sqrt
from dala.plan.fuse import Location
from dala.plan.group import MAX_HALO_ROWS, MAX_LENGTH
from dala.plan.whole import WholePass


@pytest.fixture(autouse=True)
def _reference(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


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
    assert work.reads[0].location == work.writes[0].location == Location("slot", 0)
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
        "    ring-buffered, never an image: soften.1 (5 rows)\n"
        "    ring-buffered, never an image: soften.2 (3 rows)"
    )


def test_explain_one_row() -> None:
    @dala.kernel
    def smear(src):
        return intermediate(sqrt(src[0, 0]))[1, 0]

    made = Made().add("smear", image(), blank())
    assert made.explained.endswith("    ring-buffered, never an image: smear.1 (1 row)")


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
        "  through 2 temporary arrays (0.0 MiB in all)\n"
        "  dropped, because nobody reads the result: grayscale"
    )
    check_results(made)
