"""A mistake in a kernel is reported at the user's own line; arrays that do not fit, in words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from effort import effort
from user_kernels import GREY, PIXELS, define, program

import dala
from dala import compute
from dala.errors import (
    DTypeError,
    KernelError,
    KernelSyntaxError,
    ShapeError,
)
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import S32, U8
from dala.language.budget import MAX_NODES, MAX_STAGES
from dala.language.kernel import make_kernel
from dala.language.vocabulary import (
    VOCABULARY,
    intermediate,
)


@pytest.fixture(autouse=True)
def _fresh(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


# --- mistakes -------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[str, str]] = {
    "an if on pixels": (
        """
        def f(src):
            p = src[0, 0]
            if p.r > 0.5:
                return p
            return 1 - p
        """,
        "kernel 'f', line 3: a condition that depends on pixels or run-time parameters cannot steer "
        "`if`, `and` or `or`; use where(condition, a, b), & and |, or declare the parameter static\n"
        "    if p.r > 0.5:",
    ),
    "and on pixels": (
        """
        def f(src):
            p = src[0, 0]
            return where(p.r > 0.5 and p.g > 0.5, p, 0.0)
        """,
        "kernel 'f', line 3: a condition that depends on pixels or run-time parameters cannot steer "
        "`if`, `and` or `or`; use where(condition, a, b), & and |, or declare the parameter static\n"
        "    return where(p.r > 0.5 and p.g > 0.5, p, 0.0)",
    ),
    "an unknown component": (
        """
        def f(src):
            color = src[0, 0].rgb
            return color * color.a
        """,
        "kernel 'f', line 3: a value of 3 components has no .a\n    return color * color.a",
    ),
    "a component that does not exist": (
        """
        def f(src):
            return src[0, 0][4]
        """,
        "kernel 'f', line 2: component 4 does not exist; expected 0..3\n    return src[0, 0][4]",
    ),
    "a wrong attribute": (
        """
        def f(src):
            return src[0, 0].red
        """,
        "kernel 'f', line 2: AttributeError: 'Vec' object has no attribute 'red'\n"
        "    return src[0, 0].red",
    ),
    "an offset that is computed": (
        """
        def f(src):
            return src[x, 0]
        """,
        "kernel 'f', line 2: offsets must be known while tracing; read at a computed position with "
        "src.at(column, row) or src.sample(u, v)\n"
        "    return src[x, 0]",
    ),
    "an offset that is a parameter": (
        """
        def f(src, shift: int = 3):
            return src[shift, 0]
        """,
        "kernel 'f', line 2: offsets must be known while tracing; read at a computed position with "
        "src.at(column, row) or src.sample(u, v)\n"
        "    return src[shift, 0]",
    ),
    "a broken offset": (
        """
        def f(src):
            return src[0.5, 0]
        """,
        "kernel 'f', line 2: offsets must be whole numbers, got (0.5, 0)\n    return src[0.5, 0]",
    ),
    "a far offset": (
        """
        def f(src):
            return src[0, 513]
        """,
        "kernel 'f', line 2: offsets reach at most 512 pixels, got (0, 513)\n"
        "    return src[0, 513]",
    ),
    "one offset": (
        """
        def f(src):
            return src[0]
        """,
        "kernel 'f', line 2: an image takes two offsets: src[dx, dy]\n    return src[0]",
    ),
    "three components": (
        """
        def f(src):
            p = src[0, 0]
            return p.rgb * 2
        """,
        "kernel 'f', line 3: expected a pixel of 4 components, got 3; add .with_alpha(p.a)\n"
        "    return p.rgb * 2",
    ),
    "three components, over two lines": (
        """
        def f(src):
            return (
                src[0, 0].rgb
            )
        """,
        "kernel 'f', line 2: expected a pixel of 4 components, got 3; add .with_alpha(p.a)\n"
        "    return (",
    ),
    "three components, from one of two returns": (
        """
        def f(src, flip: bool = False):
            if flip:
                return src[0, 0]
            return src[0, 0].rgb
        """,
        "kernel 'f': expected a pixel of 4 components, got 3; add .with_alpha(p.a)",
    ),
    "components that do not fit": (
        """
        def f(src):
            p = src[0, 0]
            return p + p.rgb
        """,
        "kernel 'f', line 3: values of 3 and 4 components do not fit together\n    return p + p.rgb",
    ),
    "one number where a pixel is": (
        """
        def f(src):
            return rgba(src[0, 0], 0, 0, 1)
        """,
        "kernel 'f', line 2: expected one number, got 4 components; take .r, .g, .b or .a\n"
        "    return rgba(src[0, 0], 0, 0, 1)",
    ),
    "an undefined name": (
        """
        def f(src):
            return src[0, 0] * gain
        """,
        "kernel 'f', line 2: NameError: name 'gain' is not defined\n    return src[0, 0] * gain",
    ),
    "a word in a helper": (
        """
        def helper(p):
            return floor(p)

        def f(src):
            return helper(src[0, 0])
        """,
        "kernel 'f', line 5: NameError: name 'floor' is not defined; a helper must import it: "
        "from dala.language.vocabulary import floor\n"
        "    return helper(src[0, 0])",
    ),
    "no return": (
        """
        def f(src):
            p = src[0, 0]
            q = p * 2
        """,
        "kernel 'f', line 3: expected a pixel or a number, got nothing; add a return?\n"
        "    q = p * 2",
    ),
    "a list": (
        """
        def f(src):
            return [src[0, 0], 1]
        """,
        "kernel 'f', line 2: expected a pixel or a number, got list; add a return?\n"
        "    return [src[0, 0], 1]",
    ),
    "True": (
        """
        def f(src):
            return True
        """,
        "kernel 'f', line 2: expected a pixel or a number, got bool; add a return?\n"
        "    return True",
    ),
    "a comparison": (
        """
        def f(src):
            return src[0, 0].r > 0.5
        """,
        "kernel 'f', line 2: expected f32, got bool; cast it\n    return src[0, 0].r > 0.5",
    ),
    "a run-time range": (
        """
        def f(src, n: int = 3):
            for i in range(n):
                pass
            return src[0, 0]
        """,
        "kernel 'f', line 2: a number known while tracing is needed here, but this value is only "
        "known at run time; declare the parameter static, or use the kernel language's own function\n"
        "    for i in range(n):",
    ),
    "Python's mathematics": (
        """
        import math
        def f(src):
            return math.sqrt(src[0, 0].r)
        """,
        "kernel 'f', line 3: a number known while tracing is needed here, but this value is only "
        "known at run time; declare the parameter static, or use the kernel language's own function\n"
        "    return math.sqrt(src[0, 0].r)",
    ),
    "types that do not fit": (
        """
        def f(src):
            return u8(src[0, 0].r) + src[0, 0].r
        """,
        "kernel 'f', line 2: 'add' needs operands of one type, got u8 and f32; cast one of them\n"
        "    return u8(src[0, 0].r) + src[0, 0].r",
    ),
    "a choice without a condition": (
        """
        def f(src):
            return where(src[0, 0].r, 1.0, 0.0)
        """,
        "kernel 'f', line 2: 'select' needs a condition (a comparison), got f32\n"
        "    return where(src[0, 0].r, 1.0, 0.0)",
    ),
    "a word called wrongly": (
        """
        def f(src):
            return clamp(src[0, 0])
        """,
        "kernel 'f', line 2: TypeError: clamp() missing 2 required positional arguments: 'low' and "
        "'high'\n    return clamp(src[0, 0])",
    ),
    "a loop over a number": (
        """
        def f(src):
            return sum([c for c in src[0, 0].r])
        """,
        "kernel 'f', line 2: a scalar has no components; a pixel (src[0, 0]) has\n"
        "    return sum([c for c in src[0, 0].r])",
    ),
    "the user's own error": (
        """
        def f(src):
            raise LookupError("no such table")
        """,
        "kernel 'f', line 2: LookupError: no such table\n    raise LookupError(\"no such table\")",
    ),
    "a helper without end": (
        """
        def helper(p):
            return helper(p)

        def f(src):
            return helper(src[0, 0])
        """,
        "kernel 'f' calls itself without end",
    ),
    "nodes without end": (
        """
        def f(src):
            p = src[0, 0]
            while True:
                p = p * p
        """,
        f"kernel 'f', line 4: the kernel unrolls to more than {MAX_NODES} operations; shorten its "
        "loops or split it into several kernels\n    p = p * p",
    ),
    "a sum without end": (
        """
        def f(src):
            return sum([src[dx, dy] for dx in range(-400, 401) for dy in range(-400, 401)])
        """,
        f"kernel 'f', line 2: the kernel unrolls to more than {MAX_NODES} operations; shorten its "
        "loops or split it into several kernels\n"
        "    return sum([src[dx, dy] for dx in range(-400, 401) for dy in range(-400, 401)])",
    ),
    "images without end": (
        """
        def f(src):
            image = src
            for _ in range(1000):
                image = intermediate(image[1, 0])
            return image[0, 0]
        """,
        f"kernel 'f', line 4: a kernel has at most {MAX_STAGES} intermediate images\n"
        "    image = intermediate(image[1, 0])",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_quoted(mistake: str) -> None:
    source, message = MISTAKES[mistake]
    with effort() as made, pytest.raises(KernelError) as caught:
        make_kernel(define(source))
    assert made.calls < 2_000_000  # the longest, 30,000 operations, makes half as many
    assert made.peak_bytes < 16 * 2**20
    assert str(caught.value) == message
    assert not isinstance(caught.value, KernelSyntaxError)


def test_as_many_stages_as_allowed() -> None:
    def f(src):
        image = src
        for _ in range(MAX_STAGES):
            image = intermediate(image[1, 0])
        return image[0, 0]

    assert len(program(f).stages) == MAX_STAGES + 1


def test_intermediate_only_works_inside() -> None:
    with pytest.raises(KernelError, match=r"^intermediate\(\) only works inside a kernel$"):
        VOCABULARY["intermediate"](1.0)  # type: ignore[operator]


def test_a_failed_kernel_leaves_nothing_behind() -> None:
    with pytest.raises(KernelError):

        @dala.kernel
        def broken(src):
            return src[0, 0].rgb

    assert "broken" not in compute.kernels()


# --- arrays that do not fit -----------------------------------------------------------------------


def plain(src, amount: float = 1.0):
    return src[0, 0] * amount


@pytest.mark.parametrize(
    ("inputs", "output", "message"),
    [
        ([ArrayType((4, 6, 3), U8)], PIXELS, "plain: expected an input of shape (H, W, 4), (H, W, 1) "
         "or (H, W), got (4, 6, 3); add an alpha channel"),
        ([ArrayType((24,), U8)], PIXELS, "plain: expected an input of shape (H, W, 4), (H, W, 1) or "
         "(H, W), got (24,); add a channel axis"),
        ([ArrayType((1, 4, 6, 4), U8)], PIXELS, "plain: expected an input of shape (H, W, 4), "
         "(H, W, 1) or (H, W), got (1, 4, 6, 4); one image at a time"),
        ([ArrayType((4, 7, 4), U8)], PIXELS, "plain: input 0 is (4, 7, 4) but the output is "
         "(4, 6, 4); they must have one size"),
        ([PIXELS, PIXELS], PIXELS, "plain: expected 1 inputs, got 2"),
    ],
)  # fmt: skip
def test_images_that_do_not_fit(inputs: list[ArrayType], output: ArrayType, message: str) -> None:
    kernel = make_kernel(plain)
    with pytest.raises(ShapeError) as caught:
        kernel.specialize(inputs, output, kernel.bind({}))
    assert str(caught.value) == message


def test_element_types_that_do_not_fit() -> None:
    kernel = make_kernel(plain)
    with pytest.raises(DTypeError) as caught:
        kernel.specialize([ArrayType((4, 6, 4), S32)], PIXELS, kernel.bind({}))
    assert str(caught.value) == (
        "plain: expected a u8, u16 or f32 input image, got s32; convert it first"
    )


def test_a_pixel_does_not_fit_into_a_grey_image() -> None:
    with pytest.raises(KernelError) as caught:
        program(define("def f(src): return src[0, 0]"), (PIXELS,), GREY)
    assert str(caught.value) == (
        "kernel 'f', line 1: it gives a pixel of 4 channels, but the output has 1; use an (H, W, 4) "
        "output, or return a number such as luma(p)\n    def f(src): return src[0, 0]"
    )
