"""Kernels written as Python functions: domains, words, what a body may do, vectors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from user_kernels import GREY, PIXELS, define, printed, program, same

import dala
from dala import compute
from dala.errors import (
    KernelError,
)
from dala.ir.dtypes import F32, S32
from dala.ir.printer import print_program
from dala.language.kernel import make_kernel
from dala.language.parameter import Param
from dala.language.values import Vec
from dala.language.vocabulary import (
    VOCABULARY,
    average,
    index,
    intermediate,
    luma,
    rgba,
    size,
    smoothstep,
    sqrt,
    where,
    width,
    x,
    y,
)


@pytest.fixture(autouse=True)
def _fresh(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


# --- domains --------------------------------------------------------------------------------------


def test_the_domain_follows_from_what_the_body_does() -> None:
    domains = {
        "image": [
            lambda src: src[0, 0],
            lambda src: luma(src[0, 0]),
            lambda src: src.at(x, y),
            lambda a: a.at(index(1), index(0)),  # could be both; annotate a tensor as a: Tensor
            lambda src: src.width * 1.0,
            lambda: x / width,
            lambda a, b: b[0, 0],
        ],
        "tensor": [
            lambda a: a + 1,
            lambda a: -a,
            lambda a, b: a * b,
            lambda a: sqrt(a),
            lambda a: where(a > 0, a, 0.0),
            lambda a: a.at(size(0) - 1 - index(0)),  # of any rank
            lambda a: a.at(index(0), index(1), index(2)),
            lambda a: a.size(0) * 1.0,
            lambda a: a.size(5) * 1.0,
            lambda a: a // 2 if a.is_integer else a / 2,
            lambda a: a if a.rank > 1 else -a,
            lambda a: a,
        ],
    }
    for domain, functions in domains.items():
        for function in functions:
            assert make_kernel(function).domain == domain, inspect.getsource(function)


def test_the_domain_can_be_said() -> None:
    @dala.kernel(domain="tensor")
    def five():
        return 5

    assert five.domain == "tensor"
    out = compute.buffer_zeros((3,), "u8")
    compute.run_kernel(five, [], out)
    assert compute.read_list(out) == [5, 5, 5]
    assert make_kernel(lambda: 5).domain == "image"


def test_a_kernel_that_is_both_is_neither() -> None:
    function = define("""
        def both(src, a):
            return src[0, 0] + a
        """)
    with pytest.raises(KernelError) as caught:
        make_kernel(function)
    assert str(caught.value) == (
        "kernel 'both', line 2: an image is not a number; read a pixel of it with src[0, 0]\n"
        "    return src[0, 0] + a"
    )


# --- words ----------------------------------------------------------------------------------------


def test_the_words_of_the_language_are_there_without_import() -> None:
    function = define("""
        def all_of_them(src):
            p = src[0, 0]
            p = clamp(floor(p) + ceil(p) + round(p) + trunc(p) + fract(half_precision(p)), 0, 1)
            p = p + sqrt(p) + exp(p) + log(p) + sin(p) + cos(p) + tanh(p) + abs(p) + sign(p)
            p = min(p, 1.0, 2.0) + max(p, 0.0) + pow(p, 2.2) + atan2(p, 1.0)
            p = mix(p, 1.0, 0.5) + step(0.5, p) + smoothstep(0.0, 1.0, p) + where(p > 0.5, p, 0.0)
            p = average([p * dot(p.rgb, p.rgb) * sum(p), luma(p) * pi], [0.25, 0.75])
            p = p + x / width + y / height + f32(s32(p.r)) + f32(index(0) + size(1))
            p = p + f32(u8(p.r)) + f32(u16(p.r)) + f32(u32(p.r)) + f32(s64(p.r)) + f32(f64(p.r))
            return intermediate(rgba(p.r, p.g, p.b, p.a) + rgb(p.r, p.g, p.b).with_alpha(1))[0, 0]
        """)
    assert make_kernel(function).domain == "image"
    used = set(function.__code__.co_names)
    assert set(VOCABULARY) - used == set()


def test_the_words_win_over_python_but_not_over_the_users_module() -> None:
    source = "def f(src): return {}(src[0, 0], 0.5)"
    assert "max" in printed(define(source.format("max")))
    own = define(source.format("max"), max=lambda p, limit: p * limit)
    assert "mul" in printed(own)
    assert "max" not in printed(own)
    shadowed = define("def f(src): return src[0, 0] * width", width=3)
    assert "mul %0 3.0:f32" in printed(shadowed)


def test_words_do_not_leak_into_the_users_module() -> None:
    function = define("def f(src): return floor(src[0, 0])")
    make_kernel(function)
    assert "floor" not in function.__globals__
    assert "max" not in function.__globals__


def test_a_closure_and_keyword_defaults_are_kept() -> None:
    def outer(factor: float) -> Callable[..., object]:
        def f(src, *, amount: float = 2.0):
            return src[0, 0] * factor * amount

        return f

    kernel = make_kernel(outer(0.5))
    assert kernel.params == (Param("amount", "float", 2.0),)
    assert "mul %0 0.5:f32" in print_program(program(kernel))


def test_any_callable_will_do() -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __call__(self, src):
            return src[0, 0] * self.factor

    kernel = compute.register("scaled", Scale(0.5))
    assert (kernel.domain, kernel.inputs) == ("image", 1)
    assert "mul %0 0.5:f32" in print_program(program(kernel))


# --- what a body may do ---------------------------------------------------------------------------


def test_loops_over_compile_time_ranges_unroll() -> None:
    def looped(src, radius: int = dala.static(1)):
        total = src[-radius, 0]
        for dx in range(-radius + 1, radius + 1):
            total = total + src[dx, 0]
        return total / (2 * radius + 1)

    same(looped, lambda src: (src[-1, 0] + src[0, 0] + src[1, 0]) / 3)
    same(
        looped,
        lambda src: (src[-2, 0] + src[-1, 0] + src[0, 0] + src[1, 0] + src[2, 0]) / 5,
        radius=2,
    )


def test_if_on_compile_time_values() -> None:
    def chosen(src, mode: str = "plain", flip: bool = False, sigma: float | None = None):
        p = src[0, 0]
        if sigma is not None:
            return p * sigma
        if mode == "negative":
            p = 1 - p
        return -p if flip else p

    same(chosen, lambda src: src[0, 0])
    same(chosen, lambda src: 1 - src[0, 0], mode="negative")
    same(chosen, lambda src: -(1 - src[0, 0]), mode="negative", flip=True)
    assert "param $0" in printed(chosen, sigma=2.0)


def test_helpers_are_called_like_any_function() -> None:
    same(
        define("""
            def taps(src, n):
                return [src[i, 0] for i in range(n)]

            def average(values):
                total = values[0]
                for value in values[1:]:
                    total = total + value
                return total / len(values)

            def f(src):
                return average(taps(src, 3))
            """),
        lambda src: (src[0, 0] + src[1, 0] + src[2, 0]) / 3,
    )


def test_nested_functions_see_the_words_too() -> None:
    same(
        define("""
            def f(src):
                def soft(p):
                    return smoothstep(0.0, 1.0, p)
                return soft(src[0, 0])
            """),
        lambda src: smoothstep(0.0, 1.0, src[0, 0]),
    )


def test_run_time_parameters_are_symbols_and_compile_time_ones_numbers() -> None:
    seen: dict[str, object] = {}

    def f(src, amount: float = 0.5, count: int = 3, radius: int = dala.static(2)):
        seen.update(amount=amount, count=count, radius=radius)
        return src[0, 0]

    found = program(f)
    assert [(p.name, p.dtype) for p in found.params] == [("amount", F32), ("count", S32)]
    assert seen["radius"] == 2
    assert repr(type(seen["amount"]).__name__) == "'Scalar'"


def test_run_time_parameters_never_retrace() -> None:
    traced: list[int] = []

    @dala.kernel
    def counted(src, amount: float = 0.5, radius: int = dala.static(1)):
        traced.append(radius)
        return src[radius, 0] * amount

    image = compute.buffer_zeros((2, 2, 4), "u8")
    traced.clear()
    for amount in (0.1, 0.2, 0.3):
        compute.run_kernel(counted, [image], image, {"amount": amount})
    assert traced == [1]
    compute.run_kernel(counted, [image], image, {"radius": 2})
    compute.run_kernel(counted, [image], image, {"radius": 1})
    assert traced == [1, 2]


def test_static_values_that_are_equal_but_not_alike_are_told_apart() -> None:
    @dala.kernel
    def ramp(src, step: float = dala.static(1.0)):
        return src[0, 0] + x * step

    whole, broken = printed(ramp, step=2), printed(ramp, step=2.0)
    assert "2:s32" in whole
    assert "2.0:f32" in broken
    assert printed(ramp, step=2) == whole
    assert printed(ramp, step=-0.0) != printed(ramp, step=0.0)


def test_a_kernel_calls_a_kernel() -> None:
    @dala.kernel
    def halve(src, by: float = 2.0):
        return src[0, 0] / by

    def outer(src, amount: float = 3.0):
        return halve(src) + halve(src, by=4) + halve(src, by=amount)

    same(
        outer,
        define("def f(src, amount: float = 3.0): p = src[0, 0]; return p / 2 + p / 4 + p / amount"),
    )


def test_a_kernel_calls_the_catalogue() -> None:
    blur = compute.find_kernel("blur")

    def glow(src, sigma: float = 2.0):
        return max(src[0, 0], intermediate(blur(src, radius=np.int64(1), sigma=sigma))[0, 0])

    found = program(glow)
    assert len(found.stages) == 3
    assert [p.name for p in found.params] == ["sigma"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("inner(src, raduis=2)", "inner: unknown parameter 'raduis'; it takes: radius, amount; "
         "did you mean 'radius'?"),
        ("inner(src, radius=1.5)", "inner: radius must be a whole number in 0..8, got 1.5"),
        ("inner(src, radius=9)", "inner: radius must be a whole number in 0..8, got 9"),
        ("inner(src, radius=n)", "inner: radius is a compile-time parameter, but this value is only "
         "known at run time; give a number, or declare your parameter static"),
        ("inner(src, amount=src)", "inner: amount must be a finite number, got <"),
        ("inner(src, src)", "inner takes 1 inputs, got 2"),
        ("inner()", "inner takes 1 inputs, got 0"),
        ("inner(src[0, 0])", "inner is a kernel: inside another kernel call it with that kernel's "
         "inputs; outside, run it with dala.compute.run_kernel('inner', [input], output)"),
        ("matmul(src, src)", "matmul works on whole tensors and cannot be part of a kernel"),
    ],
)  # fmt: skip
def test_a_wrong_call_of_a_kernel_is_quoted(call: str, message: str) -> None:
    @dala.kernel
    def inner(src, radius: int = dala.static(1, min=0, max=8), amount: float = 1.0):
        return src[radius, 0] * amount

    function = define(
        f"""
        def outer(src, n: int = 3):
            return {call}
        """,
        inner=inner,
        matmul=compute.find_kernel("matmul"),
    )
    with pytest.raises(KernelError) as caught:
        make_kernel(function)
    first, line = str(caught.value).split("\n")
    assert first.startswith(f"kernel 'outer', line 2: {message}")
    assert line == f"    return {call}"


def test_an_error_in_an_inner_kernel_quotes_the_inner_line() -> None:
    inner = define("""
        def inner(src, deep: bool = False):
            if deep:
                return src[0, 0].rgb.a
            return src[0, 0]
        """)
    outer = define("def outer(src): return inner(src, deep=True)", inner=make_kernel(inner))
    with pytest.raises(KernelError) as caught:
        make_kernel(outer)
    assert str(caught.value) == (
        "kernel 'inner', line 3: a value of 3 components has no .a\n    return src[0, 0].rgb.a"
    )


def test_a_kernel_is_not_called_outside() -> None:
    @dala.kernel
    def lonely(src):
        return src[0, 0]

    for call in (lambda: lonely(), lambda: lonely(np.zeros((2, 2, 4)))):
        with pytest.raises(KernelError) as caught:
            call()
        assert str(caught.value) == (
            "lonely is a kernel: inside another kernel call it with that kernel's inputs; "
            "outside, run it with dala.compute.run_kernel('lonely', [input], output)"
        )


def test_intermediate_images_are_stages() -> None:
    def two_pass(src):
        across = intermediate((src[-1, 0] + src[1, 0]) / 2)
        grey = intermediate(luma(across[0, -1] + across[0, 1]))
        return grey[0, 0] + src[0, 0]

    found = program(two_pass)
    assert [len(s.body) for s in found.stages] == [4, 1, 4]
    text = print_program(found)
    assert "load @1.0[+0,-1]" in text
    assert "load @2.0[+0,+0]" in text


def test_a_number_is_painted_grey_and_opaque() -> None:
    found = program(lambda src: luma(src[0, 0]))
    (body,) = [s.body for s in found.stages]
    assert body[0] is body[1] is body[2]
    assert body[3].attr == 1.0
    assert len(program(lambda src: luma(src[0, 0]), (PIXELS,), GREY).stages[0].body) == 1
    # grey in, grey out: the colours are all alike
    assert len(program(lambda src: src[0, 0] * 0.5, (GREY,), GREY).stages[0].body) == 1


# --- vectors --------------------------------------------------------------------------------------


def test_vec_arithmetic_is_component_by_component() -> None:
    def f(src):
        p = src[0, 0]
        q = 2 * p.rgb - p.rgb / 4 + (1 - p.rgb) ** 2 + -p.rgb + abs(p.rgb) // 0.5 + p.rgb % 0.5
        return q.with_alpha(p.a)

    def by_hand(src):
        p = src[0, 0]

        def one(c):
            return 2 * c - c / 4 + (1 - c) * (1 - c) + -c + abs(c) // 0.5 + c % 0.5

        return rgba(one(p.r), one(p.g), one(p.b), p.a)

    same(f, by_hand)


def test_the_parts_of_a_pixel() -> None:
    def f(src):
        p = src[0, 0]
        assert isinstance(p, Vec)
        assert (len(p), len(p.rgb)) == (4, 3)
        assert list(p)[1] is p.g is p[1] is p[-3]
        assert p.rgb.b is p.b
        assert not p.is_integer
        r, g, b, a = p
        return rgba(g, b, r, a)

    same(f, lambda src: rgba(src[0, 0].g, src[0, 0].b, src[0, 0].r, src[0, 0].a))


def test_averages() -> None:
    def f(src, weight: float = 1.0):
        return average([src[0, 0], src[1, 0], 0.5], [weight, 2, 0.25])

    text = printed(f)
    assert text.count("average ") == 4
    assert text.count(" 0.5:f32 %2 2.0:f32 0.25:f32 : f32") == 4  # values first, then weights
    in_text = "def f(src, weight: float = 1.0):\n    return average({}, {})"
    values = "(src[0, 0], src[1, 0], 0.5)"
    assert printed(make_kernel(in_text.format(values, "(weight, 2, 0.25)"))) == text
    for weights, message in [
        ("(weight,)", "average() needs as many weights as values, got 3 and 1"),
        ("(weight, (1, 2), 3)", "expected a number, got a tuple"),
        ("(weight, src, 3)", "an image is not a number; read a pixel of it with src[0, 0]"),
        ("(src[0, 0], 1, 2)", "expected one number, got 4 components; take .r, .g, .b or .a"),
    ]:
        with pytest.raises(KernelError) as caught:
            make_kernel(in_text.format(values, weights))
        assert str(caught.value).split("\n")[0] == f"kernel 'f', line 2: {message}"


def test_comparisons_and_choices_of_pixels() -> None:
    def f(src):
        p = src[0, 0]
        return where((p > 0.5) & ~(p == 1.0) | (p != p), p, 1 - p)

    text = printed(f)
    assert text.count("gt ") == text.count("eq ") == 4
    assert text.count("select ") == 4


def test_powers() -> None:
    def at(n):
        return printed(lambda src: src[0, 0] ** n)

    assert at(1) == printed(lambda src: src[0, 0])
    assert "pow" not in at(2) + at(3) + at(4) + at(2.0)
    assert at(5).count("pow ") == at(0.5).count("pow ") == 4


def test_whole_numbers_meet_floats() -> None:
    # whole coordinates stay whole until they meet a float; the result is one
    assert printed(lambda: (x + 1) * y, (), GREY).count("cast") == 1
    assert printed(lambda: x / width, (), GREY).count("cast") == 2
    assert printed(lambda: x * 0.5, (), GREY).count("cast") == 1
