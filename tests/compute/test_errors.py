"""The exact diagnostics: typed, precise, given before anything starts, and nothing is changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dala
from dala import compute
from dala.backends.host import physical_memory
from dala.compute import Buffer
from dala.errors import (
    ArgumentError,
    BufferFreedError,
    CommandError,
    CommandTimeoutError,
    DalaError,
    DeviceError,
    DTypeError,
    KernelError,
    KernelNotFoundError,
    OutOfMemoryError,
    ParameterError,
    PipelineError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("device", "registry")

zeros = compute.buffer_zeros


def refuse(error: type[Exception], message: str, action: Callable[[], object]) -> None:
    """The action raises exactly this, and it is one of dala's errors."""
    with pytest.raises(error) as caught:
        action()
    assert str(caught.value) == message
    assert type(caught.value) is error
    assert isinstance(caught.value, DalaError)


class Things:
    """Buffers with a content that must survive every refusal."""

    def __init__(self) -> None:
        self.a = compute.buffer([1.0, 2.0, 3.0])
        self.b = compute.buffer([4.0, 5.0, 6.0])
        self.out = compute.buffer([7.0, 8.0, 9.0])
        self.ints = compute.buffer([1, 2, 3], dtype="s32")
        self.matrix = compute.buffer([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        self.image = compute.from_array(np.full((4, 6, 4), 100, np.uint8))
        self.result = compute.from_array(np.full((4, 6, 4), 200, np.uint8))
        self.scratch = compute.scratch((4, 6, 4))
        self.freed = zeros((3,))
        self.freed.free()

    def content(self) -> list[bytes]:
        named = [getattr(self, n) for n in ("a", "b", "out", "ints", "matrix", "image", "result")]
        return [b.read().tobytes() for b in named]


@pytest.fixture
def things() -> Any:
    made = Things()
    before = made.content()
    yield made
    assert made.content() == before


# -- shapes ------------------------------------------------------------------------------------

WHOLE = "a shape is a tuple of whole numbers, got "
RANGE = "every axis must have 1..2147483647 elements, got "


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((-1,), RANGE + "(-1,)"),
        ((0,), RANGE + "(0,)"),
        ((3, 0), RANGE + "(3, 0)"),
        ((2**31,), RANGE + "(2147483648,)"),
        ((10**30,), RANGE + "(1000000000000000000000000000000,)"),
        ((2.0,), WHOLE + "(2.0,)"),
        ((True, 2), WHOLE + "(True, 2)"),
        (("3",), WHOLE + "('3',)"),
        ((None,), WHOLE + "(None,)"),
        ([[1]], WHOLE + "([1],)"),
        ((float("nan"),), WHOLE + "(nan,)"),
        ("3", WHOLE + "'3'"),
        (b"3", WHOLE + "b'3'"),
        (2.5, WHOLE + "2.5"),
        (True, WHOLE + "True"),
        (None, WHOLE + "None"),
        ({3}, WHOLE + "{3}"),
        ((), "a shape has 1 to 8 axes, got 0"),
        ((1,) * 9, "a shape has 1 to 8 axes, got 9"),
        ((1,) * 1_000_000, "a shape has 1 to 8 axes, got 1000000"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_absurd_shapes(shape: Any, message: str) -> None:
    refuse(ShapeError, message, lambda: zeros(shape))
    refuse(ShapeError, message, lambda: compute.scratch(shape))
    refuse(ShapeError, message, lambda: compute.buffer_from_binary(b"abc", shape))
    refuse(ShapeError, message, lambda: compute.to_array(zeros((3,)), shape)) if shape else None
    if shape is not None:
        refuse(ShapeError, message, lambda: compute.buffer([1, 2, 3], shape))


@pytest.mark.parametrize(
    ("shape", "dtype", "mib"),
    [
        ((10**9, 10**9), "u8", "953,674,316,406"),
        ((10**9, 10**9), "f32", "3,814,697,265,625"),
        ((2**31 - 1,) * 8, "f64", "3,450,873,160,539,777,539,645,455,726,802,815,987,496"),
    ],
)
def test_absurd_sizes(shape: tuple[int, ...], dtype: str, mib: str, device: str) -> None:
    with pytest.raises(OutOfMemoryError) as caught:
        zeros(shape, dtype)
    text = str(caught.value)
    assert text.startswith(f"an array of {shape} {dtype} needs {mib}")
    if device == "webgpu":
        assert re.search(r"; .+ binds [\d,]+ MiB at most$", text)
    else:
        assert text.endswith(f"more than this machine's {physical_memory() / 2**20:,.0f} MiB")
    assert isinstance(caught.value, MemoryError)


def test_absurd_scratch_is_refused_when_it_would_be_made() -> None:
    column, row = zeros((10**6, 1)), zeros((1, 10**6))
    table, total = compute.scratch((10**6, 10**6), "f32"), zeros((1,))  # describes: takes no memory
    p = compute.pipeline()
    p.add({"kernel": "matmul", "inputs": [column, row], "output": table})
    p.add({"kernel": "reduce_sum", "inputs": [table], "output": total})
    with pytest.raises(
        OutOfMemoryError, match=r"^an array of \(1000000, 1000000\) f32 needs 3,814,697"
    ):
        p.run()
    with pytest.raises(CommandError, match=r"^read: its input was never written: .* 3,814,697 MiB"):
        total.read()
    total.write([5.0])
    assert compute.read_list(total) == [5.0]


@pytest.mark.parametrize("dtype", ["f16", "float", "", "F32", 3, "complex64", object, bool])
def test_unknown_dtypes(dtype: Any) -> None:
    if dtype == "float":  # NumPy's word for f64
        assert zeros((1,), dtype).dtype == "f64"
        return
    message = f"dtype: expected one of f32 f64 s32 s64 u32 u8, got {dtype!r}"
    refuse(DTypeError, message, lambda: zeros((3,), dtype))
    refuse(DTypeError, message, lambda: compute.buffer([1], dtype=dtype))
    refuse(DTypeError, message, lambda: compute.buffer_from_binary(b"a", (1,), dtype))
    refuse(DTypeError, message, lambda: compute.scratch((1,), dtype))


@pytest.mark.parametrize(
    ("data", "shape", "dtype", "error", "message"),
    [
        (b"abc", (2,), "u8", ShapeError, "shape (2,) of u8 needs 2 bytes, got 3"),
        (b"abcd", (2,), "f32", ShapeError, "shape (2,) of f32 needs 8 bytes, got 4"),
        (b"", (1,), "u8", ShapeError, "shape (1,) of u8 needs 1 bytes, got 0"),
        ([1, 2], (2,), "u8", ArgumentError, "expected contiguous bytes, got list"),
        ("ab", (2,), "u8", ArgumentError, "expected contiguous bytes, got str"),
        (None, (2,), "u8", ArgumentError, "expected contiguous bytes, got NoneType"),
        (memoryview(b"abcd")[::2], (2,), "u8", ArgumentError,
         "expected contiguous bytes, got memoryview"),
    ],
)  # fmt: skip
def test_binary(data: Any, shape: Any, dtype: str, error: type[Exception], message: str) -> None:
    refuse(
        error,
        f"buffer_from_binary: {message}",
        lambda: compute.buffer_from_binary(data, shape, dtype),
    )


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
         "expected a u8 or f32 input image, got f64; convert it first"),
        ("invert", [((4, 6, 4), "u8")], ((4, 6, 4), "f64"), DTypeError,
         "expected a u8 or f32 output image, got f64; convert it first"),
        ("sharpen", [((4, 6, 4), "s32")], ((4, 6, 4), "u8"), DTypeError,
         "expected a u8 or f32 input image, got s32; convert it first"),
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


# -- freed buffers -----------------------------------------------------------------------------

USES: dict[str, Callable[[Things], object]] = {
    "read": lambda t: compute.read(t.freed),
    "read_list": lambda t: compute.read_list(t.freed),
    "read_binary": lambda t: compute.read_binary(t.freed),
    "to_array": lambda t: compute.to_array(t.freed),
    "from_array": lambda t: compute.from_array(t.freed),
    "buffer": lambda t: compute.buffer(t.freed),
    "write": lambda t: t.freed.write([1, 2, 3]),
    "write from": lambda t: t.a.write(t.freed),
    "asarray": lambda t: np.asarray(t.freed),
    "dlpack": lambda t: np.from_dlpack(t.freed),
    "storage": lambda t: t.freed.storage(),
    "run_kernel input": lambda t: compute.run_kernel("relu", [t.freed], t.out),
    "run_kernel output": lambda t: compute.run_kernel("relu", [t.a], t.freed),
    "run_kernel_async": lambda t: compute.run_kernel_async("relu", [t.freed], t.out),
    "submit": lambda t: compute.submit({"kernel": "relu", "inputs": [t.a], "output": t.freed}),
    "submit copy": lambda t: compute.submit(
        {"op": "copy_buffer", "inputs": [t.freed], "output": t.out}
    ),
    "stream": lambda t: compute.stream().submit(
        {"kernel": "relu", "inputs": [t.freed], "output": t.out}
    ),
    "pipeline_add": lambda t: compute.pipeline_add(
        compute.pipeline(), {"kernel": "relu", "inputs": [t.freed], "output": t.out}
    ),
    "exchange": lambda t: (
        compute.pipeline()
        .add({"kernel": "relu", "inputs": [t.a], "output": t.out})
        .run(buffers={t.out: t.freed})
    ),
    "add": lambda t: compute.add(t.freed, t.a, t.out),
    "add second": lambda t: compute.add(t.a, t.freed, t.out),
    "multiply": lambda t: compute.multiply(t.a, t.b, t.freed),
    "relu": lambda t: compute.relu(t.freed, t.out),
    "scale": lambda t: compute.scale(t.freed, 2.0, t.out),
    "matmul": lambda t: compute.matmul(t.freed, t.matrix, t.out),
}


@pytest.mark.parametrize("use", USES)
def test_freed_buffers_are_refused_everywhere(things: Things, use: str) -> None:
    message = "this buffer of (3,) f32 has been freed"
    refuse(BufferFreedError, message, lambda: USES[use](things))


def test_a_buffer_freed_after_it_was_added(things: Things) -> None:
    target = zeros((3,))
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": target})
    p.run()
    target.free()
    for start in (p.run, p.submit):
        refuse(BufferFreedError, "this buffer of (3,) f32 has been freed", start)


# -- scratch -----------------------------------------------------------------------------------

NEVER = (
    "a scratch buffer lives only inside a pipeline and may never exist; "
    "give the stage a real buffer to read its result"
)


@pytest.mark.parametrize(
    "use",
    [compute.read, compute.read_list, compute.read_binary, compute.to_array, compute.from_array,
     compute.buffer, np.asarray],
)  # fmt: skip
def test_scratch_cannot_be_read(things: Things, use: Callable[[object], object]) -> None:
    refuse(PipelineError, NEVER, lambda: use(things.scratch))


def test_scratch_outside_a_pipeline(things: Things) -> None:
    only = "is a scratch buffer; those only work in a pipeline"
    t = things
    for message, inputs, output in (
        (f"invert: input 0 {only}", [t.scratch], t.result),
        (f"invert: output {only}", [t.image], t.scratch),
    ):
        spec = {"kernel": "invert", "inputs": inputs, "output": output}
        run = lambda i=inputs, o=output: compute.run_kernel("invert", i, o)  # noqa: E731
        refuse(PipelineError, message, run)
        refuse(PipelineError, message, lambda s=spec: compute.submit(s))  # type: ignore[misc]
        refuse(PipelineError, message, lambda s=spec: compute.stream().submit(s))  # type: ignore[misc]


def test_scratch_read_before_it_is_written(things: Things) -> None:
    t = things
    p = compute.pipeline().add({"kernel": "invert", "inputs": [t.image], "output": t.result})
    refuse(
        PipelineError,
        "stage 1 (blur): input 0 is a scratch buffer that no earlier stage writes",
        lambda: p.add({"kernel": "blur", "inputs": [t.scratch], "output": t.result}),
    )
    assert len(p) == 1
    refuse(
        PipelineError,
        "stage 1 (invert): input 0 is a scratch buffer that no earlier stage writes",
        lambda: p.add({"kernel": "invert", "inputs": [t.scratch], "output": t.scratch}),
    )


# -- stage specs -------------------------------------------------------------------------------

KEYS = "expected op, kernel, inputs, output, params"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ({"param": {}}, PipelineError,
         f"unknown key 'param' in a stage; {KEYS}; did you mean 'params'?"),
        ({"kernle": "relu"}, PipelineError,
         f"unknown key 'kernle' in a stage; {KEYS}; did you mean 'kernel'?"),
        ({3: "relu"}, PipelineError, f"unknown key 3 in a stage; {KEYS}"),
        ({"op": "run"}, PipelineError,
         "unknown op 'run'; expected run_kernel, copy_buffer, barrier"),
        ({"op": "run_kernl"}, PipelineError,
         "unknown op 'run_kernl'; expected run_kernel, copy_buffer, barrier; did you mean 'run_kernel'?"),
        ({"op": None}, PipelineError, "unknown op None; expected run_kernel, copy_buffer, barrier"),
        ({"op": "barrier", "inputs": ["a"]}, PipelineError,
         "a barrier takes nothing else, got inputs"),
        ({"op": "barrier", "inputs": ["a"], "output": "out", "params": {"x": 1}}, PipelineError,
         "a barrier takes nothing else, got inputs, output, params"),
        ({"kernel": "relu", "inputs": ["a"]}, PipelineError, "a run_kernel stage needs an 'output'"),
        ({"inputs": ["a"], "output": "out"}, PipelineError, "a run_kernel stage needs a 'kernel'"),
        ({}, PipelineError, "a run_kernel stage needs an 'output'"),
        ({"op": "copy_buffer", "inputs": ["a"]}, PipelineError,
         "a copy_buffer stage needs an 'output'"),
        ({"op": "copy_buffer", "output": "out"}, ShapeError, "copy_buffer: expected 1 input, got 0"),
        ({"op": "copy_buffer", "inputs": ["a", "b"], "output": "out"}, ShapeError,
         "copy_buffer: expected 1 input, got 2"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "out", "params": {"x": 1}}, PipelineError,
         "a copy_buffer stage takes 'inputs' and 'output' only"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "out", "kernel": "relu"}, PipelineError,
         "a copy_buffer stage takes 'inputs' and 'output' only"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "matrix"}, ShapeError,
         "copy_buffer: (3,) f32 does not fit into (2, 3) f32; both need as many elements of one dtype"),
        ({"op": "copy_buffer", "inputs": ["a"], "output": "ints"}, ShapeError,
         "copy_buffer: (3,) f32 does not fit into (3,) s32; both need as many elements of one dtype"),
    ],
)  # fmt: skip
def test_stage_specs(
    things: Things, spec: dict[Any, Any], error: type[Exception], message: str
) -> None:
    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(v) for v in value]
        return getattr(things, value, value) if isinstance(value, str) else value

    spec = {k: named(v) if k in ("inputs", "output") else v for k, v in spec.items()}
    p = compute.pipeline()
    refuse(error, message, lambda: p.add(spec))
    assert len(p) == 0
    refuse(error, message, lambda: compute.submit(spec))
    refuse(error, message, lambda: compute.stream().submit(spec))


@pytest.mark.parametrize("spec", [None, "relu", ["relu"], 3])
def test_a_stage_is_a_dict(spec: Any) -> None:
    message = f"a stage is a dict, got {type(spec).__name__}"
    refuse(ArgumentError, message, lambda: compute.pipeline().add(spec))
    refuse(ArgumentError, message, lambda: compute.submit(spec))


def test_a_wrong_stage_leaves_the_pipeline_as_it_was(things: Things) -> None:
    target = zeros((3,))
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": target})
    stages = p.stages
    with pytest.raises(ParameterError):
        p.add({"kernel": "scalar_mul", "inputs": [target], "output": target})
    assert p.stages == stages
    p.run()
    assert compute.read_list(target) == [1.0, 2.0, 3.0]


# -- pipelines ---------------------------------------------------------------------------------


def test_set_params(things: Things) -> None:
    target = zeros((3,))
    spec = {"kernel": "scalar_mul", "inputs": [things.a], "output": target, "params": {"scalar": 2}}
    p = compute.pipeline()
    refuse(PipelineError, "there is no stage 0; there are 0", lambda: p.set_params(0, scalar=1))
    p.add(spec).add({"op": "barrier"})
    for stage in (2, -3, 10**9):
        message = f"there is no stage {stage}; there are 2"
        refuse(PipelineError, message, lambda s=stage: p.set_params(s, scalar=1))  # type: ignore[misc]
    for name in ("blur", 0.0, None, True):
        message = f"a stage is named by its number, got {name!r}"
        refuse(PipelineError, message, lambda n=name: p.set_params(n, scalar=1))  # type: ignore[misc]
    message = "stage 1 (barrier) has no parameters"
    refuse(PipelineError, message, lambda: p.set_params(1, scalar=1))
    message = "scalar_mul: unknown parameter 'scaler'; it takes: scalar; did you mean 'scalar'?"
    refuse(ParameterError, message, lambda: p.set_params(0, scaler=1))
    message = "scalar_mul: scalar must be a number, got 'x'"
    refuse(ParameterError, message, lambda: p.set_params(0, scalar="x"))
    assert p.stages[0]["params"] == {"scalar": 2}
    p.run()
    assert compute.read_list(target) == [2.0, 4.0, 6.0]


def test_freed_pipelines(things: Things) -> None:
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": things.out})
    compute.free_pipeline(p)
    compute.free_pipeline(p)
    uses: list[Callable[[], object]] = [
        p.run,
        p.submit,
        p.explain,
        lambda: p.add({"op": "barrier"}),
        lambda: p.set_params(0, slope=1),
        lambda: compute.pipeline_run(p),
        lambda: compute.pipeline_add(p, {"op": "barrier"}),
    ]
    for use in uses:
        refuse(PipelineError, "this pipeline has been freed; make a new one", use)
    assert len(p) == p.stage_count == 0
    assert p.stages == []


def test_stand_ins(things: Things, device: str) -> None:
    t = things
    p = compute.pipeline().add({"kernel": "relu", "inputs": [t.a], "output": t.out})
    f32 = f"<dala buffer (3,) f32 on {device}>"
    with dala.use("cpu" if device == "reference" else "reference"):
        elsewhere = zeros((3,))
    cases: list[tuple[type[Exception], str, Any]] = [
        (ShapeError, f"<dala buffer (3,) s32 on {device}> cannot stand in for {f32}: "
         "shape and dtype must be the same", {t.a: t.ints}),
        (ShapeError, f"<dala buffer (2, 3) f32 on {device}> cannot stand in for {f32}: "
         "shape and dtype must be the same", {t.out: t.matrix}),
        (PipelineError, f"{f32} is not part of this pipeline", {t.b: t.a}),
        (ArgumentError, f"expected a buffer in place of {f32}, got ndarray", {t.a: np.zeros(3)}),
        (ArgumentError, f"expected a buffer in place of {f32}, got Scratch",
         {t.out: compute.scratch((3,), "f32")}),
        (ArgumentError, "buffers names a str; only buffers can be replaced", {"a": t.b}),
        (ArgumentError, "buffers names a Scratch; only buffers can be replaced", {t.scratch: t.b}),
        (ArgumentError, "buffers is a dict of buffers, got list", [t.a]),
        (DeviceError, f"{elsewhere} cannot stand in for {f32}: they are on different devices",
         {t.a: elsewhere}),
    ]  # fmt: skip
    for error, message, buffers in cases:
        refuse(error, message, lambda b=buffers: p.run(buffers=b))  # type: ignore[misc]
        refuse(error, message, lambda b=buffers: p.submit(buffers=b))  # type: ignore[misc]


def test_streams_are_streams(things: Things) -> None:
    p = compute.pipeline().add({"kernel": "relu", "inputs": [things.a], "output": things.out})
    message = "submit: expected a stream, got int"
    refuse(ArgumentError, message, lambda: p.submit(stream=0))  # type: ignore[arg-type]


# -- devices -----------------------------------------------------------------------------------


def test_buffers_of_two_devices(things: Things, device: str) -> None:
    other = "cpu" if device == "reference" else "reference"
    with dala.use(other):
        elsewhere = compute.buffer([1.0, 2.0, 3.0])
    t = things
    here = (
        f"a buffer on {other} cannot be used on {device}; "
        f"copy it over with compute.from_array(b) under dala.use({device!r})"
    )
    there = (
        f"a buffer on {device} cannot be used on {other}; "
        f"copy it over with compute.from_array(b) under dala.use({other!r})"
    )
    p = compute.pipeline()
    spec = {"kernel": "relu", "inputs": [elsewhere], "output": t.out}
    refuse(DeviceError, here, lambda: compute.add(t.a, elsewhere, t.out))
    refuse(DeviceError, there, lambda: compute.add(t.a, t.b, elsewhere))
    refuse(DeviceError, here, lambda: p.add(spec))
    refuse(DeviceError, here, lambda: p.add({**spec, "output": elsewhere}))
    refuse(DeviceError, here, lambda: compute.stream().submit({**spec, "output": elsewhere}))
    refuse(DeviceError, here, lambda: compute.submit(spec))
    assert len(p) == 0
    assert compute.read_list(elsewhere) == [1.0, 2.0, 3.0]
    compute.relu(elsewhere, elsewhere)  # each buffer runs where it lives


@pytest.mark.parametrize("open_", [dala.device, dala.use])
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("refrence", "no device 'refrence'; expected one of 'auto', 'cpu', 'webgpu', 'reference'; "
         "did you mean 'reference'?"),
        ("", "no device ''; expected one of 'auto', 'cpu', 'webgpu', 'reference'"),
        (3, "a device is named by a string, got int"),
        (None, "a device is named by a string, got NoneType"),
    ],
)  # fmt: skip
def test_unknown_devices(
    open_: Callable[[Any], object], spec: Any, message: str, device: str
) -> None:
    refuse(DeviceError, message, lambda: open_(spec))
    assert compute.device_info()["device"] == device


def test_an_unknown_device_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALA_DEVICE", "cuda")
    message = "DALA_DEVICE='cuda' names no device; expected one of auto, cpu, webgpu, reference"
    refuse(DeviceError, message, lambda: dala.device("auto"))
    with dala.use("reference"):  # asked for by name, the environment does not matter
        assert zeros((1,)).device == "reference"


# -- commands ----------------------------------------------------------------------------------


def test_unknown_commands() -> None:
    b = zeros((1,))
    newest = compute.run_kernel_async("relu", [b], b)
    newest.wait()
    for number in (0, -1, newest.id + 1, 10**30):
        message = f"there is no command {number}; the newest is {newest.id}"
        refuse(CommandError, message, lambda n=number: compute.poll(n))  # type: ignore[misc]
        refuse(CommandError, message, lambda n=number: compute.wait(n))  # type: ignore[misc]
    for thing in ("1", None, 1.0, True, b):
        message = f"expected a command or its number, got {type(thing).__name__}"
        refuse(CommandError, message, lambda t=thing: compute.poll(t))  # type: ignore[misc]
        refuse(CommandError, message, lambda t=thing: compute.wait(t))  # type: ignore[misc]


def test_timeouts_are_timeouts() -> None:
    assert issubclass(CommandTimeoutError, TimeoutError)
    assert issubclass(CommandTimeoutError, CommandError)


# -- registering -------------------------------------------------------------------------------


def test_names_of_the_catalogue_are_taken() -> None:
    message = "'blur' is a built-in kernel; register yours under another name"
    refuse(KernelError, message, lambda: compute.register("blur", "def blur(a): return a"))
    message = "'blur' is a built-in kernel and cannot be unregistered"
    refuse(KernelError, message, lambda: compute.unregister("blur"))
    compute.register("mine", "def mine(a): return a + 1")
    message = "no kernel 'minn' is registered; did you mean 'mine'?"
    refuse(KernelNotFoundError, message, lambda: compute.unregister("minn"))
