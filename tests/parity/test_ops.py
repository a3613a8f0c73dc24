"""Every op of the table, on every type it takes: the CPU and the GPU against the NumPy meaning.

Also on narrower machines than this one: the same code is emitted for 128- and 256-bit vectors and
without fused multiply-add.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from precision import EITHER_ZERO, EXCEPTIONS, EXCEPTIONS_F64, FARTHEST_ANGLE, FLUSHED

from dala.backends.auto import open_device
from dala.backends.base import Device
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm import spelling as cpu_spelling
from dala.backends.cpu.llvm.jit import Host, detect_host
from dala.backends.reference.device import ReferenceDevice
from dala.backends.webgpu import spelling as webgpu_spelling
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import BOOL, BUFFER_DTYPES, F32, F64, S32, U8, DType
from dala.ir.graph import Access, Node, Program, RuntimeParam, Stage
from dala.ir.ops import LEAVES, OPS, VARIADIC
from dala.ir.verify import verify
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot

COMPUTED = [name for name in OPS if name not in LEAVES and name not in ("cast", "level", "level16")]


def special_values(dtype: DType) -> np.ndarray:
    rng = np.random.default_rng(7)
    if dtype.is_float:
        tiny = np.finfo(dtype.numpy).tiny
        listed = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 100.0, -100.0, 1e-3, 88.0]
        listed += [np.inf, -np.inf, np.nan, float(tiny), float(tiny) / 8, 1e30, -1e30, 255.5, 1e5]
        drawn = rng.normal(size=40) * 10.0 ** rng.integers(-6, 4, 40)
        return np.concatenate([listed, drawn]).astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    listed = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 100, info.max, info.max - 1, info.min]
    if info.min < 0:
        listed += [-1, -2, -3, -7, -8, -33, info.min + 1]
    drawn = rng.integers(info.min, info.max, 40, dtype=dtype.numpy, endpoint=True)
    return np.concatenate([np.array(listed, dtype.numpy), drawn])


def pairs(dtype: DType, arity: int) -> list[np.ndarray]:
    """Operands such that every special value meets every other."""
    values = special_values(dtype)
    if arity == 1:
        return [values]
    if arity == 2:
        grid = np.array(list(itertools.product(values, values)), dtype.numpy)
        return [np.ascontiguousarray(grid[:, i]) for i in range(2)]
    rng = np.random.default_rng(3)
    return [rng.permutation(np.tile(values, 40)) for _ in range(arity)]


SPELLED_OUT_BEFORE = {"average", "half"}  # by a device's prepare


def run_program(
    device: Device, program: Program, inputs: list[np.ndarray], out: DType
) -> np.ndarray:
    verify(program)
    shape = inputs[0].shape if inputs else (5,)
    by_numpy = {d.numpy: d for d in BUFFER_DTYPES}
    types = [ArrayType(a.shape, by_numpy[a.dtype]) for a in inputs] + [ArrayType(shape, out)]
    slots = [Slot(t) for t in types]
    if program.stages[0].body[0].op in SPELLED_OUT_BEFORE:
        program = device.prepare(program, types[:-1], types[-1])
    plan = plan_calls([Call(program, tuple(range(len(inputs))), len(inputs))], slots)
    arrays = [device.allocate(t) for t in types]
    for array, data in zip(arrays, inputs, strict=False):
        device.upload(array, data)
    device.compile(plan).launch(arrays, ())
    result = np.empty(shape, out.numpy)
    device.download(arrays[-1], result)
    return result


@pytest.fixture(params=["cpu", "webgpu"])
def compiled(request: pytest.FixtureRequest) -> Device:
    return open_device(request.param)


def allowed(device: Device, name: str, dtype: DType) -> float:
    """What a device may be off by, relative."""
    tolerance = OPS[name].tolerance
    if dtype == F64 and tolerance:
        tolerance = 1e-14 if name != "fma" else 1e-9  # the meaning of an f64 fma rounds twice
    if device.name == "webgpu":
        tolerance = max(tolerance, EXCEPTIONS.get(name, 0.0) if dtype == F32 else 0.0)
        if dtype == F64 and name in EXCEPTIONS:
            tolerance = max(tolerance, EXCEPTIONS_F64)
    return tolerance


def without_subnormals(
    device: Device, inputs: list[np.ndarray], *results: np.ndarray
) -> tuple[np.ndarray, ...]:
    """A GPU may take numbers below the smallest normal one for zero."""
    if device.name != "webgpu" or results[0].dtype.kind != "f":
        return results
    floats = [a for a in (*inputs, *results) if a.dtype.kind == "f"]
    smallest = {d.numpy: number for d, number in FLUSHED.items()}
    with np.errstate(all="ignore"):
        odd = [(np.abs(a) < smallest[a.dtype] * 2**24) & (a != 0) for a in floats]
    usable = ~np.logical_or.reduce(odd)
    assert usable.sum() > usable.size // 2
    return tuple(r[usable] for r in results)


def tensor_program(body: Node, inputs: int, params: tuple[RuntimeParam, ...] = ()) -> Program:
    return Program("probe", "tensor", inputs, params, (Stage((body,)),))


def op_program(name: str, operand: DType) -> tuple[Program, DType, int] | None:
    """The op on loads of one type; booleans enter and leave as 0/1 of that type."""
    row = OPS[name]
    arity = 6 if row.arity == VARIADIC else row.arity
    loads = [Node("load", operand, (), Access(i)) for i in range(arity)]
    zero = Node("const", operand, (), 0.0 if operand.is_float else 0)
    one = Node("const", operand, (), 1.0 if operand.is_float else 1)
    args: list[Node] = list(loads)
    if name == "select":
        args[0] = Node("gt", BOOL, (loads[0], zero))
    if name == "not":
        args = [Node("gt", BOOL, (loads[0], zero))]
    result = row.types([a.dtype for a in args])
    if isinstance(result, str):
        return None
    body = Node(name, result, tuple(args))
    if result == BOOL:
        body = Node("select", operand, (body, one, zero))
    return tensor_program(body, arity), operand, arity


def assert_close(
    name: str, got: np.ndarray, want: np.ndarray, tolerance: float, *, either_zero: bool = False
) -> None:
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, err_msg=name)
        return
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan, err_msg=f"{name}: NaN")
    endless = np.isinf(want)
    np.testing.assert_array_equal(got[endless], want[endless], err_msg=f"{name}: inf")
    rest = ~nan & ~endless
    if tolerance == 0.0:
        np.testing.assert_array_equal(got[rest], want[rest], err_msg=name)
        if either_zero:
            return
        np.testing.assert_array_equal(
            np.signbit(got[rest]), np.signbit(want[rest]), err_msg=f"{name}: sign of zero"
        )
        return
    smallest = float(np.finfo(got.dtype).tiny)
    np.testing.assert_allclose(got[rest], want[rest], rtol=tolerance, atol=smallest, err_msg=name)


CASES = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name in COMPUTED
    for dtype in BUFFER_DTYPES
    if op_program(name, dtype) is not None
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_op_agrees_with_its_meaning(compiled: Device, name: str, dtype: DType) -> None:
    built = op_program(name, dtype)
    assert built is not None
    program, out, arity = built
    inputs = pairs(dtype, arity)
    if name == "average":
        inputs = [np.abs(value) + 1 for value in inputs]  # else cancellation, not rounding, decides
    want = run_program(ReferenceDevice(), program, inputs, out)
    got = run_program(compiled, program, inputs, out)
    tolerance = allowed(compiled, name, dtype)
    if name in ("sin", "cos"):  # relative error is meaningless near the zeros of the function
        far, off = (1e9, 2e-7) if compiled.name == "cpu" else FARTHEST_ANGLE
        usable = np.isfinite(inputs[0]) & (np.abs(inputs[0]) < far)
        np.testing.assert_allclose(got[usable], want[usable], atol=off, rtol=0)
        assert np.isnan(got[~np.isfinite(inputs[0])]).all()
        return
    if name == "fma":
        usable = np.abs(want) > 1e-3 * np.abs(inputs[2])  # else cancellation, not rounding, decides
        inputs = [a[usable] for a in inputs]
        got, want = got[usable], want[usable]
    got, want = without_subnormals(compiled, inputs, got, want)
    either_zero = compiled.name == "webgpu" and name in EITHER_ZERO
    assert_close(name, got, want, tolerance, either_zero=either_zero)


QUOTIENTS = ("any bits", "multiples", "beside multiples", "ordinary")


def quotients(kind: str, dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    """Dividends and divisors, many of them where the last place of a quotient decides."""
    rng = np.random.default_rng(QUOTIENTS.index(kind))
    count, bits = 20_000, np.dtype(f"u{dtype.bytes}")
    if kind == "any bits":
        drawn = rng.integers(0, np.iinfo(bits).max, (2, count), bits, endpoint=True)
        a, b = drawn.view(dtype.numpy)
        return a, b
    b = (rng.normal(size=count) * 10.0 ** rng.integers(-5, 5, count)).astype(dtype.numpy)
    if kind == "ordinary":
        return (rng.normal(size=count) * 10.0 ** rng.integers(-3, 9, count)).astype(dtype.numpy), b
    a = b * rng.integers(-5000, 5000, count).astype(dtype.numpy)
    towards = rng.choice(np.array([-np.inf, np.inf], dtype.numpy), count)
    return (np.nextafter(a, towards), b) if kind != "multiples" else (a, b)


@pytest.mark.parametrize("kind", QUOTIENTS)
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_whole_quotients_are_exact(compiled: Device, name: str, dtype: DType, kind: str) -> None:
    """However a device divides, and whether it contracts products and sums."""
    built = op_program(name, dtype)
    assert built is not None
    inputs = [np.ascontiguousarray(v) for v in quotients(kind, dtype)]
    want = run_program(ReferenceDevice(), built[0], inputs, dtype)
    got = run_program(compiled, built[0], inputs, dtype)
    got, want = without_subnormals(compiled, inputs, got, want)
    assert_close(name, got, want, 0.0)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("test", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_choice_of_what_is_compared_keeps_nan(
    compiled: Device, test: str, swapped: bool, dtype: DType
) -> None:
    """What compilers take for min or max: ``a if a < b else b``, spelled as a choice."""
    a, b = (Node("load", dtype, (), Access(i)) for i in range(2))
    choices = (b, a) if swapped else (a, b)
    program = tensor_program(Node("select", dtype, (Node(test, BOOL, (a, b)), *choices)), 2)
    inputs = pairs(dtype, 2)
    want = run_program(ReferenceDevice(), program, inputs, dtype)
    got = run_program(compiled, program, inputs, dtype)
    got, want = without_subnormals(compiled, inputs, got, want)
    assert_close(test, got, want, 0.0, either_zero=compiled.name == "webgpu")


@pytest.mark.parametrize("backend", [cpu_spelling, webgpu_spelling], ids=["cpu", "webgpu"])
def test_every_op_has_a_spelling(backend: Any) -> None:
    spelled = set(backend.SPELLINGS) | backend.SPELLED_APART
    assert spelled | SPELLED_OUT_BEFORE >= {name for name in OPS if name not in LEAVES}


@pytest.mark.parametrize("target", BUFFER_DTYPES, ids=str)
@pytest.mark.parametrize("source", BUFFER_DTYPES, ids=str)
def test_cast_policy(compiled: Device, source: DType, target: DType) -> None:
    body = Node("cast", target, (Node("load", source, (), Access(0)),))
    program = tensor_program(body, 1)
    values = special_values(source)
    want = run_program(ReferenceDevice(), program, [values], target)
    got = run_program(compiled, program, [values], target)
    if target.is_float:
        got, want = without_subnormals(compiled, [values], got, want)
    assert_close(f"{source}→{target}", got, want, 0.0)


def test_level_of_every_value(compiled: Device) -> None:
    values = np.concatenate(
        [np.arange(256) / 255, np.linspace(-1, 2, 3001), [np.nan, np.inf, -np.inf, -0.0]]
    ).astype(np.float32)
    program = tensor_program(Node("level", F32, (Node("load", F32, (), Access(0)),)), 1)
    want = run_program(ReferenceDevice(), program, [values], F32)
    got = run_program(compiled, program, [values], F32)
    np.testing.assert_array_equal(got, want)
    assert got[:256].tolist() == list(range(256))
    assert got[-4:].tolist() == [0.0, 255.0, 0.0, 0.0]


def test_level16_of_every_value(compiled: Device) -> None:
    values = np.concatenate(
        [np.arange(65536) / 65535, np.linspace(-1, 2, 3001), [np.nan, np.inf, -np.inf, -0.0]]
    ).astype(np.float32)
    program = tensor_program(Node("level16", F32, (Node("load", F32, (), Access(0)),)), 1)
    want = run_program(ReferenceDevice(), program, [values], F32)
    got = run_program(compiled, program, [values], F32)
    np.testing.assert_array_equal(got, want)
    assert got[:65536].tolist() == list(range(65536))
    assert got[-4:].tolist() == [0.0, 65535.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", BUFFER_DTYPES, ids=str)
@pytest.mark.parametrize(
    "count", [1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 1000, 16_384, 16_385, 40_001]
)
def test_every_length_of_tensor(compiled: Device, dtype: DType, count: int) -> None:
    """Whole vectors, partial ones, several pieces: nothing missed, nothing past the end."""
    load = Node("load", dtype, (), Access(0))
    program = tensor_program(Node("add", dtype, (load, load)), 1)
    data = (np.arange(count) % 100).astype(dtype.numpy)
    got = run_program(compiled, program, [data], dtype)
    np.testing.assert_array_equal(got, data + data)


NARROW = [Host("x", "", 64, True), Host("x", "", 32, True), Host("x", "", 16, False)]


@pytest.mark.parametrize("narrow", NARROW, ids=["512", "256", "128-nofma"])
@pytest.mark.parametrize("name", ["exp", "pow", "tanh", "floordiv", "mod", "shr", "select", "min"])
def test_other_vector_widths(narrow: Host, name: str) -> None:
    host = detect_host()
    changed = Host(host.name, host.features, narrow.vector_bytes, narrow.fma and host.fma)
    for dtype in (F32, S32, U8, F64):
        built = op_program(name, dtype)
        if built is None:
            continue
        program, out, arity = built
        inputs = pairs(dtype, arity)
        want = run_program(ReferenceDevice(), program, inputs, out)
        got = run_program(CpuDevice(changed), program, inputs, out)
        assert_close(name, got, want, OPS[name].tolerance)
