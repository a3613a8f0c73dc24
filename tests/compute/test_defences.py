"""What strangers and threads might try."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from effort import effort
from in_threads import PATIENCE_S

import dala
from dala import compute
from dala.backends.host import HostArray, SparePool
from dala.compute.engine import Engine, Prepared
from dala.errors import KernelError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.language.kernel import make_kernel


def test_tensors_have_no_intermediates() -> None:
    kernel = make_kernel("def probe(a: Tensor): return intermediate(a)[0, 0].r")
    a, out = compute.buffer_zeros((4, 5, 6)), compute.buffer_zeros((4, 5, 6))
    with pytest.raises(KernelError, match="intermediate\\(\\) is for images"):
        compute.run_kernel(kernel, [a], out)


@pytest.mark.parametrize(
    "text",
    [
        # few nodes, each of which a device would spell out as thousands
        "def f(src):\n    w = ()\n    for i in range(200):\n        w = w + (1.0,)\n"
        "    v = ()\n    for i in range(200):\n        v = v + (src[0, 0],)\n"
        "    p = src[0, 0]\n    for i in range(100):\n        p = p + average(v, w)\n    return p",
        # one long expression, compiled again for every intermediate image that uses it
        "def f(src):\n    p = src[0, 0]\n    for i in range(1500):\n        p = p * 1.01 + i\n"
        "    q = p\n    for i in range(60):\n        q = intermediate(p + q)[0, 0]\n    return q",
    ],
    ids=["averages", "intermediates"],
)
def test_hidden_size_is_counted(text: str) -> None:
    with effort() as made, pytest.raises(KernelError, match="unrolls to more than"):
        make_kernel(text)
    assert made.calls < 5_000_000  # where it is not counted: hundreds of millions
    assert made.peak_bytes < 64 * 2**20


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_parameters_beyond_f32_are_infinite(device: str) -> None:
    with dala.use(device):
        a, out = compute.buffer([1.0, -2.0]), compute.buffer_zeros((2,))
        compute.run_kernel("scalar_mul", [a], out, {"scalar": 1e39})
        assert compute.read_list(out) == [np.inf, -np.inf]


def test_set_params_is_not_lost_to_a_run_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.random.default_rng(0).integers(0, 256, (9, 9, 4), dtype=np.uint8)
    source, out = compute.from_array(image), compute.buffer_zeros(image.shape, "u8")
    p = compute.pipeline().add(
        {"kernel": "blur", "inputs": [source], "output": out, "params": {"radius": 1}}
    )
    inside, go_on = threading.Event(), threading.Event()
    prepare = Engine.prepare

    def slow(self: Engine, stages: object) -> Prepared:
        ready = prepare(self, stages)  # type: ignore[arg-type]
        inside.set()
        assert go_on.wait(PATIENCE_S)
        return ready

    monkeypatch.setattr(Engine, "prepare", slow)
    runner = threading.Thread(target=p.run)
    runner.start()
    assert inside.wait(PATIENCE_S)
    p.set_params(0, radius=3)
    go_on.set()
    runner.join(PATIENCE_S)
    assert not runner.is_alive()
    monkeypatch.undo()
    p.run()
    wanted = compute.buffer_zeros(image.shape, "u8")
    compute.run_kernel("blur", [source], wanted, {"radius": 3})
    np.testing.assert_array_equal(out.read(), wanted.read())


def test_spare_memory_keeps_to_its_budget() -> None:
    pool = SparePool(100_000)
    for size in range(1_000, 60_000, 1_000):
        pool.give(HostArray(ArrayType((size,), U8)))
        assert 0 <= pool.bytes <= 100_000
    kept = pool.take(ArrayType((59_000,), U8))
    assert pool.take(ArrayType((59_000,), U8)) is not kept
    pool.give(HostArray(ArrayType((200_000,), U8)))
    assert pool.bytes <= 100_000
