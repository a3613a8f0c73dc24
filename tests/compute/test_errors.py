"""The exact diagnostics: typed, precise, given before anything starts, and nothing is changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import Things, refuse, zeros

import dala
from dala import compute
from dala.backends.host import physical_memory
from dala.errors import (
    ArgumentError,
    BufferFreedError,
    CommandError,
    CommandTimeoutError,
    DeviceError,
    DTypeError,
    KernelError,
    KernelNotFoundError,
    OutOfMemoryError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("device", "registry")


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
    message = f"dtype: expected one of f32 f64 s32 s64 u32 u16 u8, got {dtype!r}"
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
