"""Nothing grows behind the API: wgpu's own count of its objects is flat."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest
from alone import alone
from in_threads import wait_until

import dala
from dala import compute
from dala.compute import engine
from dala.errors import DalaError

pytestmark = [pytest.mark.webgpu, pytest.mark.parametrize("device", ["webgpu"])]
COUNTED = (
    "BindGroup", "BindGroupLayout", "Buffer", "CommandBuffer", "CommandEncoder", "ComputePipeline",
    "Device", "PipelineLayout", "QuerySet", "ShaderModule",
)  # fmt: skip


def native_objects() -> dict[str, int]:
    from wgpu import diagnostics

    compute.synchronize()
    gc.collect()
    report = diagnostics.wgpu_native_counts.get_dict()
    return {name: row["count"] for name, row in report.items() if name in COUNTED}


def assert_flat(work: Callable[[int], object], warm: int, rounds: int) -> None:
    for n in range(warm):
        work(n)
    before = native_objects()
    assert before["Buffer"] > 0  # it does count
    for n in range(warm, warm + rounds):
        work(n)
    after: dict[str, int] = {}

    def is_flat() -> bool:  # who ran the last command may just be leaving it
        after.update(native_objects())
        return after == before

    wait_until(is_flat, lambda: f"{before} became {after}")


@alone
def test_thousands_of_runs(device: str) -> None:
    image = np.full((16, 16, 4), 100, np.uint8)
    a, out = compute.from_array(image), compute.from_array(image)
    soft = compute.scratch(a.shape)
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": soft, "params": {"radius": 1}})
    p.add({"kernel": "brightness", "inputs": [soft], "output": out, "params": {"value": 0.1}})

    def run(n: int) -> None:
        p.set_params(1, value=(n % 100) / 100)
        p.run() if n % 4 else p.submit()

    assert_flat(run, warm=100, rounds=2_000)


@alone
def test_hundreds_of_buffers_in_and_out(device: str) -> None:
    data = np.ones((100, 300), np.float32)

    def run(n: int) -> None:
        b = compute.from_array(data)
        compute.relu(b, b)
        assert b.read()[0, 0] == 1

    assert_flat(run, warm=50, rounds=500)


@alone
def test_reads_that_are_views_give_their_memory_back(device: str) -> None:
    b = compute.from_array(np.zeros(2 << 20, np.uint8))

    def run(n: int) -> None:
        first, second = b.read(), b.read()
        assert first.base is not second.base

    assert_flat(run, warm=5, rounds=40)


@alone
def test_shaders_that_nobody_keeps(device: str) -> None:
    a, out = compute.buffer([1.0, 2.0]), compute.buffer_zeros((2,))

    def run(n: int) -> None:
        compute.register("fresh", f"def fresh(a): return a * {n}.5")
        compute.run_kernel("fresh", [a], out)
        compute.unregister("fresh")

    assert_flat(run, warm=engine.CACHED_PLANS + 20, rounds=60)


@alone
def test_runs_that_share_a_submit(device: str) -> None:
    a = compute.from_array(np.full((16, 16, 4), 100, np.uint8))
    p = compute.pipeline().add({"kernel": "invert", "inputs": [a], "output": a})
    assert_flat(lambda _: p.enqueue(), warm=100, rounds=1_000)


@alone
def test_gpus_that_are_lost_with_runs_under_way(device: str) -> None:
    """wgpu-native keeps a command buffer for good that is complete and never submitted, and its device."""

    def run(_: int) -> None:
        a = compute.from_array(np.full((16, 16, 4), 100, np.uint8))
        p = compute.pipeline().add({"kernel": "invert", "inputs": [a], "output": a})
        for _ in range(6):
            p.enqueue()
        dala.compute.default.default_engine().device.lost = True
        for use in (p.run, p.enqueue, a.read, lambda: p.submit().wait()):
            with pytest.raises(DalaError, match="lost"):
                use()
        dala.use("webgpu")

    assert_flat(run, warm=2, rounds=5)
