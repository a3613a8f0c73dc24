"""Kernels over tensors, written as Python functions: types, positions, what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from user_kernels import define, numbers, program

import dala
from dala import compute
from dala.errors import (
    DTypeError,
    KernelError,
    ShapeError,
)
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8, DType
from dala.language.kernel import make_kernel
from dala.language.vocabulary import (
    index,
    sign,
    size,
)


@pytest.fixture(autouse=True)
def _fresh(registry: None) -> Iterator[None]:
    with dala.use("reference"):
        yield


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
