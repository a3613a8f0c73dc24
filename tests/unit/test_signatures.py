"""What the signature of a kernel declares, and the names kernels go by."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from user_kernels import numbers

import dala
from dala import compute
from dala.errors import (
    KernelError,
    KernelNotFoundError,
    ParameterError,
)
from dala.language.kernel import make_kernel
from dala.language.parameter import REQUIRED, Param
from dala.language.values import Image, Tensor
from dala.language.vocabulary import (
    mix,
)


@pytest.fixture(autouse=True)
def _fresh(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


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
