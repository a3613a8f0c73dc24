"""Kernels written as Python functions: what a signature declares, what a body may do, and how a
mistake is reported at the user's own line."""

from __future__ import annotations

import inspect
import linecache
import textwrap
import time
import types
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import dala
from dala import compute
from dala.errors import (
    DTypeError,
    KernelError,
    KernelNotFoundError,
    KernelSyntaxError,
    ParameterError,
    ShapeError,
)
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, S32, U8, DType
from dala.ir.graph import Program
from dala.ir.printer import print_program
from dala.language.budget import MAX_NODES, MAX_STAGES
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import REQUIRED, Param
from dala.language.values import Image, Tensor, Vec
from dala.language.vocabulary import (
    VOCABULARY,
    average,
    index,
    intermediate,
    luma,
    mix,
    rgba,
    sign,
    size,
    smoothstep,
    sqrt,
    where,
    width,
    x,
    y,
)

PIXELS = ArrayType((4, 6, 4), U8)
GREY = ArrayType((4, 6), U8)


@pytest.fixture(autouse=True)
def _fresh(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


def define(source: str, **names: object) -> Callable[..., object]:
    """A function as a user's module would define it: with a file of its own to be quoted from."""
    text = textwrap.dedent(source).lstrip("\n")
    filename = f"<user {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    module = types.ModuleType("user")
    module.__dict__.update(names)
    exec(compile(text, filename, "exec"), module.__dict__)
    found = [v for v in module.__dict__.values() if inspect.isfunction(v)]
    return next(f for f in reversed(found) if f.__code__.co_filename == filename)


def program(
    function: Callable[..., object] | Kernel,
    inputs: tuple[ArrayType, ...] = (PIXELS,),
    output: ArrayType = PIXELS,
    **params: object,
) -> Program:
    kernel = function if isinstance(function, Kernel) else make_kernel(function)
    work = kernel.specialize(inputs, output, kernel.bind(params)).work
    assert isinstance(work, Program)
    return work


def printed(*args: object, **kwargs: object) -> str:
    return print_program(program(*args, **kwargs)).split("\n", 1)[1]  # without the kernel's name


def same(one: Callable[..., object], other: Callable[..., object], **params: object) -> None:
    assert printed(one, **params) == printed(other)


def numbers(kernel: Kernel, *arrays: object, dtype: str = "f32", **params: object) -> list[float]:
    inputs = [compute.buffer(a, dtype=dtype) for a in arrays]
    out = compute.buffer_zeros(inputs[0].shape, dtype)
    compute.run_kernel(kernel, inputs, out, params)
    return compute.read_list(out)


# --- what a signature declares --------------------------------------------------------------------


def test_arguments_without_annotation_and_default_are_inputs() -> None:
    @dala.kernel
    def blend(a, b, amount: float = 0.5, flip: bool = False, steps: int = 2, mode: str = "up"):
        """Two images mixed."""
        return mix(a[0, 0], b[0, 0], amount)

    assert (blend.name, blend.inputs, blend.domain) == ("blend", 2, "image")
    assert blend.doc == "Two images mixed."
    assert blend.params == (
        Param("amount", "float", 0.5),
        Param("flip", "bool", False, static=True),
        Param("steps", "int", 2),
        Param("mode", "str", "up", static=True),
    )
    assert repr(blend) == "<dala image kernel blend(2 inputs; amount, flip, steps, mode)>"


def test_parameters_without_default_are_required() -> None:
    @dala.kernel
    def dim(src, amount: float):
        return src[0, 0] * amount

    assert dim.params == (Param("amount", "float"),)
    assert dim.params[0].default is REQUIRED
    image = compute.buffer_zeros((2, 2, 4), "u8")
    with pytest.raises(ParameterError) as caught:
        compute.run_kernel(dim, [image], image)
    assert str(caught.value) == "dim: parameter 'amount' is missing; give a finite number"


def test_the_type_of_an_argument_that_only_has_a_default() -> None:
    @dala.kernel
    def loose(src, amount=0.5, count=3, flip=True, mode="a", sigma=None):
        return src[0, 0] * amount

    assert [(p.name, p.type, p.static, p.default) for p in loose.params] == [
        ("amount", "float", False, 0.5),
        ("count", "float", False, 3),
        ("flip", "bool", True, True),
        ("mode", "str", True, "a"),
        ("sigma", "float", False, None),
    ]


@pytest.mark.parametrize(
    ("annotation", "type_"),
    [
        (float, "float"), (int, "int"), (bool, "bool"), (str, "str"), ("float", "float"),
        ("int | None", "int"), (float | None, "float"), (int | None, "int"), ("builtins.int", "int"),
    ],
)  # fmt: skip
def test_annotations_may_be_types_or_text(annotation: object, type_: str) -> None:
    def f(src, n=None):
        return src[0, 0]

    f.__annotations__["n"] = annotation
    assert make_kernel(f).params == (Param("n", type_, None),)  # type: ignore[arg-type]


def test_static_annotations_make_compile_time_parameters() -> None:
    def f(src, n: Static[int] = 2):  # noqa: F821
        return src[n, 0]

    assert make_kernel(f).params == (Param("n", "int", 2, static=True),)


def test_an_input_may_be_annotated() -> None:
    def image_kernel(src: Image, amount: float = 1.0):
        return src[0, 0] * amount

    def tensor_kernel(a: Tensor, b: dala.language.values.Tensor, amount: float = 1.0):
        return a * amount + b

    assert (make_kernel(image_kernel).inputs, make_kernel(image_kernel).domain) == (1, "image")
    assert (make_kernel(tensor_kernel).inputs, make_kernel(tensor_kernel).domain) == (2, "tensor")


def test_inputs_and_params_can_be_declared_outside() -> None:
    def f(src, levels, gamma=1.0):
        return src[0, 0] * levels * gamma

    levels = Param("levels", "float", 4.0, min=1, max=16, help="How many.")
    kernel = compute.register("declared", f, inputs=1, params=[levels, "gamma"])
    assert kernel.inputs == 1
    assert kernel.params == (levels, Param("gamma", "float", 1.0))
    assert make_kernel(f, params=["levels"]).params[0] == Param("levels")


def test_a_declaration_outside_keeps_the_default_of_the_signature() -> None:
    def f(src, levels: float = 4.0):
        return src[0, 0] * levels

    kernel = make_kernel(f, params=[Param("levels", min=1, max=16)])
    assert kernel.params == (Param("levels", "float", 4.0, min=1, max=16),)
    with pytest.raises(KernelError) as caught:
        make_kernel(f, params=[Param("levels", min=8, max=16)])
    assert str(caught.value) == (
        "kernel 'f': the default of levels must be a number in 8..16, got 4.0"
    )


def late_input(src, amount: float, other):
    return src[0, 0] * amount + other[0, 0]


def unknown_type(src: np.ndarray, amount: float = 1.0):
    return src[0, 0]


def many(*sources):
    return sources[0][0, 0]


def plain(src, amount: float = 1.0):
    return src[0, 0] * amount


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (
            lambda: make_kernel(late_input),
            "kernel 'late_input': input 'other' stands after a parameter; put the inputs first",
        ),
        (
            lambda: make_kernel(unknown_type),
            "kernel 'unknown_type': src is annotated 'ndarray'; inputs are Image or Tensor, "
            "parameters float, int, bool, str",
        ),
        (lambda: make_kernel(many), "kernel 'many': *args and **kwargs are not allowed"),
        (
            lambda: make_kernel(plain, inputs=3),
            "kernel 'plain': 3 inputs declared, but it takes src, amount",
        ),
        (
            lambda: make_kernel(plain, inputs=-1),
            "kernel 'plain': -1 inputs declared, but it takes src, amount",
        ),
        (
            lambda: make_kernel(plain, inputs="1"),  # type: ignore[arg-type]
            "kernel 'plain': '1' inputs declared, but it takes src, amount",
        ),
        (
            lambda: make_kernel(plain, params=["radius"]),
            "kernel 'plain' has no argument for parameter radius",
        ),
        (
            lambda: make_kernel(plain, domain="pixels"),  # type: ignore[arg-type]
            "kernel 'plain': domain must be 'image' or 'tensor', got 'pixels'",
        ),
        (lambda: make_kernel(7), "expected a function or text, got int"),  # type: ignore[arg-type]
        (
            lambda: compute.register("two words", plain),
            "a kernel's name must be an identifier, got 'two words'",
        ),
        (
            lambda: compute.register("_hidden", plain),
            "a kernel's name must be an identifier, got '_hidden'",
        ),
    ],
)
def test_a_wrong_declaration(declare: Callable[[], object], message: str) -> None:
    with pytest.raises(KernelError) as caught:
        declare()
    assert str(caught.value) == message


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
            p = p + f32(u8(p.r)) + f32(u32(p.r)) + f32(s64(p.r)) + f32(f64(p.r))
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
    begin = time.perf_counter()
    with pytest.raises(KernelError) as caught:
        make_kernel(define(source))
    assert time.perf_counter() - begin < 5  # generous: the slowest takes a fraction of a second
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


# --- tensors --------------------------------------------------------------------------------------


def test_tensor_kernels_compute_in_the_type_of_the_buffers() -> None:
    @dala.kernel
    def affine(a, k: float = 2.0):
        return a * k + 1

    assert numbers(affine, [1.0, 2.5]) == [3.0, 6.0]
    assert numbers(affine, [1, 2], dtype="s64", k=2**61) == [2**61 + 1, 2**62 + 1]
    assert numbers(affine, [1, 200], dtype="u8") == [3, 145]
    out = compute.buffer_zeros((2,), "u8")
    for value, message in [
        (0.5, "affine: k=0.5 is not a whole number, and the buffers are u8; round it or use f32 "
         "buffers"),
        (300, "affine: k=300 does not fit into u8 (0..255)"),
        (-1, "affine: k=-1 does not fit into u8 (0..255)"),
    ]:  # fmt: skip
        with pytest.raises(DTypeError) as caught:
            compute.run_kernel(affine, [out], out, {"k": value})
        assert str(caught.value) == message


def test_a_whole_number_too_large_for_an_image_kernel() -> None:
    @dala.kernel
    def times(src, n: int = 1):
        return src[0, 0] * n

    image = compute.buffer_zeros((2, 2, 4), "u8")
    with pytest.raises(DTypeError) as caught:
        compute.run_kernel(times, [image], image, {"n": 2**40})
    assert str(caught.value) == (
        "times: n=1099511627776 does not fit into s32 (-2147483648..2147483647)"
    )


def test_positions_of_a_tensor() -> None:
    @dala.kernel
    def backwards(a):
        return a.at(size(0) - 1 - index(0))

    assert numbers(backwards, [1.0, 2.0, 3.0]) == [3.0, 2.0, 1.0]
    with pytest.raises(KernelError) as caught:
        numbers(backwards, [[1.0, 2.0]])
    assert str(caught.value).split("\n")[0].endswith(": at() needs 2 indices, got 1")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: a + index(1), "index(1) does not exist; the output (3,) has 1 axes"),
        (lambda a: a + size(2), "size(2) does not exist; the output (3,) has 1 axes"),
    ],
)
def test_an_axis_that_the_output_does_not_have(
    function: Callable[..., object], message: str
) -> None:
    kernel = compute.register("axes", function)
    with pytest.raises(ShapeError) as caught:
        numbers(kernel, [1.0, 2.0, 3.0])
    assert str(caught.value) == f"axes: {message}"


def test_an_image_has_two_axes() -> None:
    with pytest.raises(ShapeError) as caught:
        program(lambda src: src[0, 0] * index(2))
    assert str(caught.value) == (
        "<lambda>: index(2) does not exist; the output (4, 6, 4) has rows and columns, 0 and 1"
    )


@pytest.mark.parametrize(
    ("line", "dtype", "message"),
    [
        ("return 300", U8, "300 does not fit into u8 (0..255)"),
        ("return 1.5", U8, "1.5 is not a whole number, and the values here are u8"),
        ("return f32(a)", U8, "it computes f32, but the output is u8; convert the result with u8(…) "
         "or use an output of f32"),
        ("return", F32, "a tensor kernel returns one number, got NoneType"),
        ("return a > 0", F32, "it computes bool, but the output is f32; convert the result with "
         "f32(…) or use an output of bool"),
        ("return rgb(1, 2, 3)", F32, "a tensor kernel returns one number, got Vec"),
    ],
)  # fmt: skip
def test_a_wrong_result_of_a_tensor_kernel(line: str, dtype: DType, message: str) -> None:
    kernel = make_kernel(define(f"def f(a):\n    {line}"), domain="tensor")
    array = ArrayType((3,), dtype)
    with pytest.raises(KernelError) as caught:
        kernel.specialize([array], array, {})
    assert str(caught.value) == f"kernel 'f', line 2: {message}\n    {line}"


def test_a_wrong_result_of_a_text_kernel_is_quoted_too() -> None:
    with pytest.raises(KernelError) as caught:
        compute.register("three", "def three(src):\n    p = src[0, 0]\n    return p.rgb * 2")
    assert str(caught.value) == (
        "kernel 'three', line 3: expected a pixel of 4 components, got 3; add .with_alpha(p.a)\n"
        "    return p.rgb * 2\n"
        "           ^"
    )


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [("f32", [-1.0, 0.0, 1.0]), ("s32", [-1, 0, 1]), ("u8", [1, 0, 1])],
)
def test_the_sign_of_every_type(dtype: str, wanted: list[float]) -> None:
    kernel = make_kernel(lambda a: sign(a))
    given = [200, 0, 7] if dtype == "u8" else [-7, 0, 7]
    assert numbers(kernel, given, dtype=dtype) == wanted


# --- arrays that do not fit -----------------------------------------------------------------------


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
        "plain: expected a u8 or f32 input image, got s32; convert it first"
    )


def test_a_pixel_does_not_fit_into_a_grey_image() -> None:
    with pytest.raises(KernelError) as caught:
        program(define("def f(src): return src[0, 0]"), (PIXELS,), GREY)
    assert str(caught.value) == (
        "kernel 'f', line 1: it gives a pixel of 4 channels, but the output has 1; use an (H, W, 4) "
        "output, or return a number such as luma(p)\n    def f(src): return src[0, 0]"
    )


# --- names ----------------------------------------------------------------------------------------


def test_a_decorated_kernel_is_found_by_its_name() -> None:
    @dala.kernel
    def mine(src):
        return src[0, 0]

    @dala.kernel(name="yours", inputs=1, params=["n"])
    def other(src, n):
        return src[0, 0] * n

    assert compute.find_kernel("mine") is mine
    assert compute.find_kernel("yours") is other
    assert {"mine", "yours"} <= set(compute.kernels())
    assert dala.kernel.register is compute.register


def test_the_catalogues_names_keep_their_meaning() -> None:
    builtin = compute.find_kernel("blur")

    @dala.kernel
    def blur(src):
        return src[1, 0]

    assert compute.find_kernel("blur") is builtin
    assert blur is not builtin
    image = np.zeros((1, 2, 4), np.uint8)
    image[0, 1] = 200
    b, out = compute.from_array(image), compute.buffer_zeros((1, 2, 4), "u8")
    compute.run_kernel(blur, [b], out)  # the kernel itself is the user's
    assert out.read()[0, 0].tolist() == [200] * 4
    compute.run_kernel("blur", [b], out)
    assert out.read()[0, 0].tolist() != [200] * 4


@pytest.mark.parametrize("name", ["blur", "relu", "matmul"])
def test_the_catalogues_names_are_taken(name: str) -> None:
    with pytest.raises(KernelError) as caught:
        compute.register(name, plain)
    assert str(caught.value) == f"{name!r} is a built-in kernel; register yours under another name"
    with pytest.raises(KernelError) as caught:
        compute.unregister(name)
    assert str(caught.value) == f"{name!r} is a built-in kernel and cannot be unregistered"


def test_registering_again_replaces() -> None:
    one = compute.register("again", lambda a: a + 1)
    assert numbers(compute.find_kernel("again"), [1.0]) == [2.0]
    two = compute.register("again", "def again(a): return a + 2")
    assert compute.find_kernel("again") is two is not one
    assert numbers(compute.find_kernel("again"), [1.0]) == [3.0]
    assert compute.kernels().count("again") == 1


def test_a_kernel_can_be_registered_under_more_names() -> None:
    made = compute.register("first", plain)
    assert compute.register("second", made) is made
    assert compute.find_kernel("second") is made


def test_unregister() -> None:
    compute.register("short_lived", plain)
    compute.unregister("short_lived")
    assert "short_lived" not in compute.kernels()
    with pytest.raises(KernelNotFoundError) as caught:
        compute.unregister("short_lived")
    assert str(caught.value) == "no kernel 'short_lived' is registered"
    compute.register("short_line", plain)
    with pytest.raises(KernelNotFoundError) as caught:
        compute.unregister("short_lime")
    assert str(caught.value) == ("no kernel 'short_lime' is registered; did you mean 'short_line'?")


def test_unknown_names() -> None:
    for name, message in [
        ("blurr", "no kernel is named 'blurr'; did you mean 'blur'?"),
        ("qqqqqq", "no kernel is named 'qqqqqq'; see compute.kernels()"),
        (7, "a kernel is named by a string, got int"),
    ]:
        with pytest.raises(KernelNotFoundError) as caught:
            compute.find_kernel(name)  # type: ignore[arg-type]
        assert str(caught.value) == message
