"""A call of a kernel that is wrong: its name, inputs, parameters, shapes and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import Things, refuse, zeros

from dala import compute
from dala.compute import Buffer
from dala.errors import (
    ArgumentError,
    DTypeError,
    KernelError,
    KernelNotFoundError,
    ParameterError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("device", "registry")


# -- kernels by name, inputs, parameters -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rel", "no kernel is named 'rel'; did you mean 'relu'?"),
        ("blurr", "no kernel is named 'blurr'; did you mean 'blur'?"),
        ("grayscal", "no kernel is named 'grayscal'; did you mean 'grayscale'?"),
        ("zzzzzz", "no kernel is named 'zzzzzz'; see compute.kernels()"),
        (3, "a kernel is named by a string, got int"),
        (None, "a kernel is named by a string, got NoneType"),
    ],
)
def test_unknown_kernels(things: Things, name: Any, message: str) -> None:
    refuse(KernelNotFoundError, message, lambda: compute.run_kernel(name, [things.a], things.out))
    spec = {"kernel": name, "inputs": [things.a], "output": things.out}
    refuse(KernelNotFoundError, message, lambda: compute.submit(spec))
    refuse(KernelNotFoundError, message, lambda: compute.pipeline().add(spec))
    refuse(KernelNotFoundError, message, lambda: compute.find_kernel(name))
    assert issubclass(KernelNotFoundError, LookupError)


RADIUS = "blur: radius must be a whole number in 0..100, got "


@pytest.mark.parametrize(
    ("kernel", "params", "message"),
    [
        ("scalar_mul", {}, "scalar_mul: parameter 'scalar' is missing; give a number"),
        ("scalar_mul", None, "scalar_mul: parameter 'scalar' is missing; give a number"),
        ("scalar_mul", {"scaler": 2},
         "scalar_mul: unknown parameter 'scaler'; it takes: scalar; did you mean 'scalar'?"),
        ("scalar_mul", {"scalar": "2"}, "scalar_mul: scalar must be a number, got '2'"),
        ("scalar_mul", {"scalar": None}, "scalar_mul: scalar must be a number, got None"),
        ("scalar_mul", {"scalar": [2]}, "scalar_mul: scalar must be a number, got [2]"),
        ("scalar_mul", {"scalar": True}, "scalar_mul: scalar must be a number, got True"),
        ("scalar_mul", {"scalar": 1j}, "scalar_mul: scalar must be a number, got 1j"),
        ("relu", {"slope": float("nan")}, "relu: slope must be a finite number, got nan"),
        ("relu", {"slope": float("inf")}, "relu: slope must be a finite number, got inf"),
        ("sigmoid", {"slope": 1}, "sigmoid: unknown parameter 'slope'; it takes: none"),
        ("sigmoid", {1: 2}, "sigmoid: unknown parameter 1; it takes: none"),
    ],
)  # fmt: skip
def test_tensor_parameters(things: Things, kernel: str, params: Any, message: str) -> None:
    refuse(
        ParameterError, message, lambda: compute.run_kernel(kernel, [things.a], things.out, params)
    )
    assert issubclass(ParameterError, ValueError)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"radius": float("nan")}, RADIUS + "nan"),
        ({"radius": float("inf")}, RADIUS + "inf"),
        ({"radius": -1}, RADIUS + "-1"),
        ({"radius": 101}, RADIUS + "101"),
        ({"radius": 10**30}, RADIUS + "1000000000000000000000000000000"),
        ({"radius": 2.5}, RADIUS + "2.5"),
        ({"radius": True}, RADIUS + "True"),
        ({"radius": "3"}, RADIUS + "'3'"),
        ({"radius": None}, RADIUS + "None"),
        ({"sigma": 0}, "blur: sigma must be a number in 0.01..1000, got 0"),
        ({"sigma": float("nan")}, "blur: sigma must be a number in 0.01..1000, got nan"),
        ({"radios": 3},
         "blur: unknown parameter 'radios'; it takes: radius, sigma; did you mean 'radius'?"),
    ],
)  # fmt: skip
def test_image_parameters(things: Things, params: Any, message: str) -> None:
    refuse(
        ParameterError,
        message,
        lambda: compute.run_kernel("blur", [things.image], things.result, params),
    )


def test_params_that_are_no_dict(things: Things) -> None:
    refuse(
        ArgumentError,
        "relu: params must be a dict, got list",
        lambda: compute.run_kernel("relu", [things.a], things.out, [("slope", 1)]),  # type: ignore[arg-type]
    )


BRACKETS = "relu: inputs is a list of buffers"
NUMPY = "got ndarray; make one with compute.from_array(x)"


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (lambda t: t.a, ArgumentError, f"{BRACKETS}; put brackets around it"),
        (lambda t: np.zeros(3), ArgumentError, f"{BRACKETS}, got ndarray"),
        (lambda t: "ab", ArgumentError, f"{BRACKETS}, got str"),
        (lambda t: None, ArgumentError, f"{BRACKETS}, got NoneType"),
        (lambda t: {t.a}, ArgumentError, f"{BRACKETS}, got set"),
        (lambda t: [np.zeros(3)], ArgumentError, f"relu: input 0 must be a buffer, {NUMPY}"),
        (lambda t: [t.a, None], ArgumentError,
         "relu: input 1 must be a buffer, got NoneType; make one with compute.from_array(x)"),
        (lambda t: [], ShapeError, "relu: expected 1 inputs, got 0"),
        (lambda t: [t.a, t.b], ShapeError, "relu: expected 1 inputs, got 2"),
    ],
)  # fmt: skip
def test_inputs(things: Things, inputs: Any, error: type[Exception], message: str) -> None:
    refuse(error, message, lambda: compute.run_kernel("relu", inputs(things), things.out))
    refuse(error, message, lambda: compute.run_kernel_async("relu", inputs(things), things.out))


def test_an_array_is_no_output(things: Things) -> None:
    target = np.zeros(3, np.float32)
    message = f"relu: output must be a buffer, {NUMPY}"
    refuse(ArgumentError, message, lambda: compute.relu(things.a, target))  # type: ignore[arg-type]
    assert not target.any()


@pytest.mark.parametrize(
    "name", ["read", "read_list", "read_binary", "to_array", "free", "shape", "dtype", "size"]
)
@pytest.mark.parametrize("thing", [np.zeros(3), [1.0], None, 3])
def test_functions_of_a_buffer_refuse_anything_else(name: str, thing: Any) -> None:
    message = f"{name}: expected a buffer, got {type(thing).__name__}"
    refuse(ArgumentError, message, lambda: getattr(compute, name)(thing))
    assert issubclass(ArgumentError, TypeError)


def test_functions_of_a_pipeline_refuse_anything_else(things: Things) -> None:
    for name, arguments in (("pipeline_run", ()), ("free_pipeline", ()), ("pipeline_add", ({},))):
        refuse(
            ArgumentError,
            f"{name}: expected a pipeline, got Buffer",
            lambda n=name, a=arguments: getattr(compute, n)(things.a, *a),  # type: ignore[misc]
        )


def test_free_many_wants_several(things: Things) -> None:
    refuse(
        ArgumentError,
        "free_many: expected several buffers, got Buffer; put brackets around it",
        lambda: compute.free_many(things.a),  # type: ignore[arg-type]
    )


# -- shapes and dtypes of kernels --------------------------------------------------------------

ONE = "expected one dtype for inputs and output, got"


@pytest.mark.parametrize(
    ("kernel", "inputs", "output", "params", "error", "message"),
    [
        ("elementwise_add", [(3,), (4,)], (3,), {}, ShapeError,
         "input 1 is (4,) but the output is (3,); they must have one shape"),
        ("elementwise_add", [(3,), (3,)], (4,), {}, ShapeError,
         "input 0 is (3,) but the output is (4,); they must have one shape"),
        ("elementwise_add", [(3,), (1, 3)], (3,), {}, ShapeError,
         "input 1 is (1, 3) but the output is (3,); they must have one shape"),
        ("elementwise_add", [(3,), (3,)], ((3,), "s32"), {}, DTypeError, f"{ONE} f32 and f32 into s32"),
        ("elementwise_mul", [((3,), "s32"), ((3,), "s32")], (3,), {}, DTypeError,
         f"{ONE} s32 and s32 into f32"),
        ("relu", [((3,), "u8")], ((3,), "s64"), {}, DTypeError, f"{ONE} u8 into s64"),
        ("exp", [((3,), "s32")], ((3,), "s32"), {}, DTypeError, "needs f32 or f64, got s32"),
        ("sqrt", [((3,), "u8")], ((3,), "u8"), {}, DTypeError, "needs f32 or f64, got u8"),
        ("sigmoid", [((3,), "s64")], ((3,), "s64"), {}, DTypeError, "needs f32 or f64, got s64"),
        ("softmax", [((3,), "s32")], ((3,), "s32"), {}, DTypeError, "needs f32 or f64, got s32"),
        ("softmax", [(3,)], (4,), {}, ShapeError, "expected an output of (3,), got (4,)"),
        ("softmax", [(2, 3)], (2, 3), {"axis": 2}, ParameterError, "axis must be in -2..1, got 2"),
        ("softmax", [(2, 3)], (2, 3), {"axis": -3}, ParameterError, "axis must be in -2..1, got -3"),
        ("reduce_mean", [((3,), "u8")], ((1,), "u8"), {}, DTypeError, "needs f32 or f64, got u8"),
        ("reduce_sum", [(2, 3)], (3,), {"axis": 2}, ParameterError, "axis must be in -2..1, got 2"),
        ("reduce_sum", [(2, 3)], (3,), {"axis": 1}, ShapeError, "expected an output of (2,), got (3,)"),
        ("reduce_sum", [(2, 3)], (3,), {"axis": 0.5}, ParameterError,
         "axis must be a whole number, got 0.5"),
        ("reduce_max", [(2, 3)], (3,), {}, ShapeError, "over all axes the output is (1,), got (3,)"),
        ("reduce_min", [(3,)], ((1,), "f64"), {}, DTypeError, f"{ONE} f32 into f64"),
        ("matmul", [(2, 3), (2, 3)], (2, 3), {}, ShapeError,
         "inner sizes differ: (2, 3) × (2, 3); the first's columns must equal the second's rows"),
        ("matmul", [(3,), (3, 2)], (2,), {}, ShapeError, "input 0 must be 2-D, got (3,)"),
        ("matmul", [(2, 3), (1, 3, 2)], (2, 2), {}, ShapeError, "input 1 must be 2-D, got (1, 3, 2)"),
        ("matmul", [(2, 3), (3, 2)], (2, 3), {}, ShapeError, "expected an output of (2, 2), got (2, 3)"),
        ("matmul", [(2, 3), ((3, 2), "f64")], (2, 2), {}, DTypeError, f"{ONE} f32 and f64 into f32"),
        ("transpose", [(2, 3)], (2, 3), {}, ShapeError, "expected an output of (3, 2), got (2, 3)"),
        ("reshape", [(2, 3)], (7,), {}, ShapeError, "(2, 3) has 6 elements, but the output (7,) has 7"),
        ("scalar_mul", [((3,), "s32")], ((3,), "s32"), {"scalar": 2.5}, DTypeError,
         "scalar=2.5 is not a whole number, and the buffers are s32; round it or use f32 buffers"),
        ("scalar_add", [((3,), "s32")], ((3,), "s32"), {"scalar": float("nan")}, DTypeError,
         "scalar=nan is not a whole number, and the buffers are s32; round it or use f32 buffers"),
        ("scalar_mul", [((3,), "s32")], ((3,), "s32"), {"scalar": 2**31}, DTypeError,
         "scalar=2147483648 does not fit into s32 (-2147483648..2147483647)"),
        ("scalar_mul", [((3,), "u8")], ((3,), "u8"), {"scalar": -1}, DTypeError,
         "scalar=-1 does not fit into u8 (0..255)"),
    ],
)  # fmt: skip
def test_tensor_kernels(
    kernel: str,
    inputs: list[Any],
    output: Any,
    params: dict[str, object],
    error: type[Exception],
    message: str,
) -> None:
    def make(spec: Any) -> Buffer:
        shape, dtype = spec if isinstance(spec[0], tuple) else (spec, "f32")
        return compute.buffer(np.full(shape, 3), dtype=dtype)

    sources, target = [make(s) for s in inputs], make(output)
    refuse(
        error, f"{kernel}: {message}", lambda: compute.run_kernel(kernel, sources, target, params)
    )
    assert (target.read() == 3).all()


FITS = "shape (H, W, 4), (H, W, 1) or (H, W), got"


@pytest.mark.parametrize(
    ("kernel", "inputs", "output", "error", "message"),
    [
        ("blur", [((4, 6, 3), "u8")], ((4, 6, 4), "u8"), ShapeError,
         f"expected an input of {FITS} (4, 6, 3); add an alpha channel"),
        ("blur", [((4, 6, 4), "u8")], ((4, 6, 3), "u8"), ShapeError,
         f"expected an output of {FITS} (4, 6, 3); add an alpha channel"),
        ("blur", [((1, 4, 6, 4), "u8")], ((4, 6, 4), "u8"), ShapeError,
         f"expected an input of {FITS} (1, 4, 6, 4); one image at a time"),
        ("invert", [((4, 6, 4), "f64")], ((4, 6, 4), "u8"), DTypeError,
         "expected a u8, u16 or f32 input image, got f64; convert it first"),
        ("invert", [((4, 6, 4), "u8")], ((4, 6, 4), "f64"), DTypeError,
         "expected a u8, u16 or f32 output image, got f64; convert it first"),
        ("sharpen", [((4, 6, 4), "s32")], ((4, 6, 4), "u8"), DTypeError,
         "expected a u8, u16 or f32 input image, got s32; convert it first"),
        ("blur", [((4, 6, 4), "u8")], ((4, 5, 4), "u8"), ShapeError,
         "input 0 is (4, 6, 4) but the output is (4, 5, 4); they must have one size"),
        ("invert", [((4, 6, 4), "u8")], ((6, 4, 4), "u8"), ShapeError,
         "input 0 is (4, 6, 4) but the output is (6, 4, 4); they must have one size"),
        ("blur", [((4, 6, 4), "u8")], ((4, 6), "u8"), ShapeError,
         "colours do not fit into an output of (4, 6); use one of (4, 6, 4)"),
        ("generate_gradient", [((4, 6, 4), "u8")], ((4, 6, 4), "u8"), ShapeError,
         "expected 0 inputs, got 1"),
    ],
)  # fmt: skip
def test_image_kernels(
    kernel: str, inputs: list[Any], output: Any, error: type[Exception], message: str
) -> None:
    sources, target = [zeros(*s) for s in inputs], zeros(*output)
    refuse(error, f"{kernel}: {message}", lambda: compute.run_kernel(kernel, sources, target))
    assert not target.read().any()


def test_a_users_kernel_is_to_blame_for_its_own_code() -> None:
    compute.register("decay", "def decay(a):\n    return exp(-a)")
    ints = compute.buffer([1, 2], dtype="s32")
    with pytest.raises(KernelError, match="decay"):
        compute.run_kernel("decay", [ints], ints)
    assert compute.read_list(ints) == [1, 2]
