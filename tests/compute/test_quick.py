"""Short runs that come again go a shorter way: the same results, the same refusals, the same order."""

from __future__ import annotations

import gc
import math
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dala import compute
from dala.backends.cpu.run import quick
from dala.backends.host import HostExecutable
from dala.compute import Buffer, commands
from dala.compute.default import default_engine
from dala.compute.recipe import QUIET
from dala.errors import BufferFreedError, CommandError, ParameterError

pytestmark = [
    pytest.mark.usefixtures("device", "registry"),
    pytest.mark.parametrize("device", ["reference", "cpu"], indirect=True),
]
PATIENCE_S = 300.0
NUMBERS = ["f32", "f64", "s32", "s64", "u32", "u16", "u8"]


def numbers(*values: float, dtype: str = "f32") -> Buffer:
    return compute.buffer(list(values), dtype=dtype)


def stage(kernel: str, source: object, target: object, **params: object) -> dict[str, object]:
    return {"kernel": kernel, "inputs": [source], "output": target, "params": params}


def commands_made() -> int:
    return commands._newest


@pytest.fixture
def cpu(device: str) -> None:
    if device != "cpu":
        pytest.skip("only the cpu device has a shorter way")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Launches of ``exp`` stop until the event is set."""
    go = threading.Event()
    original = HostExecutable.launch

    def launch(executable: HostExecutable, *args: Any, **options: Any) -> None:
        if any("exp" in work.labels for work in executable.plan.passes):
            assert go.wait(PATIENCE_S)
        original(executable, *args, **options)

    monkeypatch.setattr(HostExecutable, "launch", launch)
    yield go
    go.set()
    compute.synchronize()


def test_runs_after_the_second_make_no_command(cpu: None) -> None:
    a, b = numbers(-1, 2), numbers(0, 0)
    p = compute.pipeline().add(stage("relu", a, b))
    for _ in range(2):
        p.run()
        compute.run_kernel("abs", [a], b, {})
    before = commands_made()
    for _ in range(5):
        p.run()
        compute.run_kernel("abs", [a], b, {})
    assert commands_made() == before
    assert compute.read_list(b) == [1, 2]


def test_a_long_run_is_a_command(cpu: None) -> None:
    """Others are let in meanwhile, so they must be able to see it and to wait for it."""
    a = compute.buffer_zeros((1200, 1200, 4), "u8")
    p = compute.pipeline().add(stage("blur", a, compute.buffer_zeros(a.shape, "u8"), radius=3))
    for _ in range(3):
        p.run()
    before = commands_made()
    p.run()
    assert commands_made() == before + 1


def test_without_a_gil_to_keep(cpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "_entry", lambda: None)
    default_engine().forget()
    a, b = numbers(-1, 2), numbers(0, 0)
    p = compute.pipeline().add(stage("relu", a, b))
    for _ in range(3):
        p.run()
    before = commands_made()
    p.run()
    assert commands_made() == before + 1
    assert compute.read_list(b) == [0, 2]
    default_engine().forget()


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers_of_every_kind(dtype: str) -> None:
    values = {"f32": 0.1, "f64": 0.1, "s32": -7, "s64": -(2**40), "u32": 2**32 - 1}
    values |= {"u16": 65535, "u8": 255}
    a, b = numbers(1, 2, 3, dtype=dtype), numbers(0, 0, 0, dtype=dtype)
    p = compute.pipeline().add(stage("scalar_add", a, b, scalar=0))
    for value in (values[dtype], 1, values[dtype]):
        expected = a.read() + np.array(value, a.read().dtype)
        p.set_params(0, scalar=value)
        for _ in range(2):
            b.write([0, 0, 0])
            p.run()
            assert (b.read() == expected).all()
            compute.run_kernel("scalar_add", [a], b, {"scalar": value})
            assert (b.read() == expected).all()


def test_values_that_compare_equal_are_not_the_same() -> None:
    a, b = numbers(-0.0), numbers(0)
    for _ in range(3):
        for zero in (0.0, -0.0):
            compute.run_kernel("scalar_add", [a], b, {"scalar": zero})
            assert math.copysign(1, compute.read_list(b)[0]) == math.copysign(1, zero)
        compute.run_kernel("scalar_add", [a], b, {"scalar": 1})
        with pytest.raises(ParameterError, match="scalar must be"):
            compute.run_kernel("scalar_add", [a], b, {"scalar": True})


def test_in_place_and_not() -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (9, 21, 4), dtype=np.uint8)
    out = compute.buffer_zeros(pixels.shape, "u8")
    for kernel in ("invert", "blur"):
        source = compute.from_array(pixels)
        compute.run_kernel(kernel, [source], out)
        compute.run_kernel(kernel, [source], out)
        for _ in range(3):
            source.write(pixels)
            compute.run_kernel(kernel, [source], source)
            assert (source.read() == out.read()).all()


def test_buffers_shared_in_every_way() -> None:
    def run(a: Buffer, b: Buffer, c: Buffer) -> list[float | int]:
        compute.run_kernel("elementwise_sub", [a, b], c)
        return compute.read_list(c)

    for _ in range(3):
        a, b, c = numbers(5), numbers(3), numbers(0)
        assert run(a, b, c) == [2]
        assert run(a, a, c) == [0]
        assert run(a, b, a) == [2]
        assert run(a, b, b) == [-1]
        assert run(b, b, b) == [0]


def test_two_outputs_and_scratch() -> None:
    a, b, c, between = numbers(-2, 3), numbers(0, 0), numbers(0, 0), compute.scratch((2,), "f32")
    p = compute.pipeline().add(stage("abs", a, between)).add(stage("relu", a, b))
    p.add(stage("sqrt", between, c))
    for _ in range(3):
        b.write([9, 9])
        c.write([9, 9])
        p.run()
        assert compute.read_list(b) == [0, 3]
        assert np.allclose(c.read(), np.sqrt([2, 3]))


def test_it_waits_for_what_is_under_way(held: threading.Event) -> None:
    a, b, c = numbers(0), numbers(5), numbers(0)
    p = compute.pipeline().add(stage("relu", b, c))
    for _ in range(3):
        p.run()
    compute.run_kernel("relu", [b], c)
    started = compute.run_kernel_async("exp", [a], b)  # b becomes 1
    done: list[float | int] = []

    def run() -> None:
        p.run()
        compute.run_kernel("relu", [b], c)
        done.extend(compute.read_list(c))

    waiting = threading.Thread(target=run)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    assert not done
    held.set()
    waiting.join(PATIENCE_S)
    assert done == [1]
    started.wait()


def test_it_waits_for_who_reads_what_it_writes(held: threading.Event) -> None:
    a, b, c = numbers(5), numbers(0), numbers(0)
    p = compute.pipeline().add(stage("relu", a, b))
    for _ in range(3):
        p.run()
    b.write([0])
    compute.stream().submit(stage("exp", b, c))  # reads 0
    waiting = threading.Thread(target=p.run)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    held.set()
    waiting.join(PATIENCE_S)
    assert compute.read_list(c) == [1]
    assert compute.read_list(b) == [5]


def test_it_does_not_wait_for_strangers(held: threading.Event) -> None:
    a, b, c, d = numbers(0), numbers(5), numbers(7), numbers(0)
    p = compute.pipeline().add(stage("relu", c, d))
    p.run()
    other = compute.stream()
    other.submit(stage("exp", a, b))
    p.run()
    assert compute.read_list(d) == [7]
    held.set()
    other.synchronize()


def test_what_was_never_written_is_refused_and_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b, c = numbers(1), numbers(2), numbers(0)
    p = compute.pipeline().add(stage("relu", b, c))
    q = compute.pipeline().add(stage("scalar_add", a, b, scalar=1))
    for run in (p, q) * 3:
        run.run()
    with monkeypatch.context() as patched:
        patched.setattr(type(q._prepared().executable), "launch", _fail)
        with pytest.raises(CommandError, match="fell over"):
            q.submit().wait()
    for _ in range(2):
        with pytest.raises(CommandError, match="its input was never written"):
            p.run()
        with pytest.raises(CommandError, match="its input was never written"):
            compute.run_kernel("relu", [b], c)
    q.run()
    p.run()
    assert compute.read_list(c) == [2]


def _fail(*args: object, **options: object) -> None:
    raise CommandError("fell over")


def test_a_freed_buffer_goes_and_is_refused() -> None:
    a, b = numbers(1), numbers(0)
    p = compute.pipeline().add(stage("relu", a, b))
    for _ in range(3):
        p.run()
        compute.run_kernel("relu", [a], b)
    gone = weakref.ref(a)
    a.free()
    with pytest.raises(BufferFreedError):
        p.run()
    with pytest.raises(BufferFreedError):
        compute.run_kernel("relu", [a], b)
    p.free()
    del a
    gc.collect()
    assert gone() is None  # neither the recipe nor the remembered call holds it


def test_other_buffers_of_the_same_kind() -> None:
    p = compute.pipeline().add(stage("scalar_mul", a := numbers(1), b := numbers(0), scalar=3))
    for value in range(5):
        other, target = numbers(value), numbers(0)
        p.run(buffers={a: other, b: target})
        compute.run_kernel("scalar_add", [target], target, {"scalar": 1})
        assert compute.read_list(target) == [3 * value + 1]
    assert compute.read_list(b) == [0]


def test_many_threads_on_shared_buffers() -> None:
    """Short runs, commands and writes on the same buffers, at the same time: each is whole."""
    shape = (16, 16)
    a, b = compute.buffer_zeros(shape), compute.buffer_zeros(shape)
    forth = compute.pipeline().add(stage("scalar_add", a, b, scalar=1))
    forth.run()
    torn: list[np.ndarray] = []

    def work(seed: int) -> None:
        own = compute.buffer_zeros(shape)
        for n in range(200):
            forth.run() if n % 3 else forth.submit().wait()
            if n % 5 == seed % 5:
                a.write(np.full(shape, n, np.float32))
            compute.run_kernel("relu", [b], own)
            found = own.read()
            if (found != found[0, 0]).any():
                torn.append(found)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not torn
    assert not commands.pending


class Odd:
    """Like a buffer, but for one thing."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


@pytest.mark.usefixtures("cpu")
def test_whatever_is_unusual_is_refused() -> None:
    """Python's answers are checked one by one; nothing is raised, nothing is computed."""
    a, out = (
        compute.from_array(np.full((4, 4, 4), 9, np.uint8)),
        compute.buffer_zeros((4, 4, 4), "u8"),
    )
    pipeline = compute.pipeline()
    pipeline.add({"kernel": "contrast", "inputs": [a], "output": out, "params": {"value": 0.5}})
    pipeline.run()
    quick = pipeline._prepared().executable.quick([True, True], QUIET)
    assert quick is not None
    storage = a._storage
    strange = [
        (),
        (a, out),  # a number is missing
        (object(), out, 0.5),
        (Odd(_storage=storage), out, 0.5),  # no writer
        (Odd(_storage=None, writer=None), out, 0.5),
        (Odd(_storage=object(), writer=None), out, 0.5),  # no address
        (Odd(_storage=Odd(address="here"), writer=None), out, 0.5),
        (Odd(_storage=Odd(address=1 << 80), writer=None), out, 0.5),
        (Odd(_storage=Odd(address=0), writer=None), out, 0.5),
        (a, out, "0.5"),
        (a, out, None),
    ]
    before = out.read().copy()
    out.write(np.zeros_like(before))
    for arguments in strange:
        assert quick(*arguments) is False, arguments
    assert not out.read().any()
    assert quick(a, out, -1.0) is True  # a number that looks like an error
    assert quick(a, out, 0.5) is True
    assert np.array_equal(out.read(), before)
