"""Waiting leaves the GPU to others; what is enqueued is there when it is read."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_clock import FakeClock
from in_threads import PATIENCE_S

from dala import compute
from dala.backends.webgpu import waiting
from dala.backends.webgpu.adapters import find_adapters
from dala.backends.webgpu.device import WebGpuDevice
from dala.compute.pipelines import Pipeline

pytestmark = pytest.mark.webgpu


def long_work() -> Pipeline:
    """Takes hundreds of milliseconds in software."""
    a = compute.from_array(np.ones((640, 640), np.float32))
    b = compute.buffer_zeros((640, 640))
    p = Pipeline(a.engine)
    for _ in range(4):
        p.add({"kernel": "matmul", "inputs": [a, a], "output": b})
    return p.compile()


def negation_of(a: compute.Buffer) -> Pipeline:
    spec = {"kernel": "scalar_mul", "inputs": [a], "output": a, "params": {"scalar": -1.0}}
    return Pipeline(a.engine).add(spec)


def test_this_wgpu_allows_it(gpu: WebGpuDevice) -> None:
    assert isinstance(gpu.waiter, waiting.AskingWaiter)


def test_nobody_blocks_in_wgpu(gpu: WebGpuDevice) -> None:
    """A poll that blocks holds the lock that every submit needs. Software takes one at a time anyway."""
    calls: list[bool] = []
    poller = SimpleNamespace(_poll_func=calls.append)
    waiting._make_it_ask(poller)
    for block in (True, False, True):
        poller._poll_func(block)
    assert calls == [False, False, False]
    waiter = waiting.AskingWaiter(gpu.gpu)
    lib = waiter._lib

    def poll(device: Any, block: bool, index: Any) -> int:
        calls.append(block)
        return int(lib.wgpuDevicePoll(device, block, index))

    same = {name: getattr(lib, name) for name in ("wgpuQueueOnSubmittedWorkDone",)}
    mode = lib.WGPUCallbackMode_AllowProcessEvents
    waiter._lib = SimpleNamespace(
        wgpuDevicePoll=poll, WGPUCallbackMode_AllowProcessEvents=mode, **same
    )
    long_work().enqueue()
    waiter.until_done()
    assert calls[3:] and not any(calls)


def test_a_gpu_that_never_says_so_is_called_lost(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.05)
    waiter = waiting.AskingWaiter(gpu.gpu)
    with pytest.raises(RuntimeError, match="the GPU was lost"):
        waiter._ask_while(lambda: True)


def test_an_enqueued_run_is_done_when_it_is_read(gpu: WebGpuDevice) -> None:
    work = long_work()
    a = compute.buffer([1.0, 2.0])
    after = negation_of(a)
    work.enqueue()
    for _ in range(3):
        after.enqueue()
    assert compute.read_list(a) == [-1.0, -2.0]


def test_enqueued_behind_a_command_on_the_same_buffer(gpu: WebGpuDevice) -> None:
    a = compute.from_array(np.ones((256, 256), np.float32))
    double = {"kernel": "scalar_mul", "inputs": [a], "output": a, "params": {"scalar": 2.0}}
    p = Pipeline(a.engine).add(double)
    for _ in range(20):
        p.submit()
        p.enqueue()
    assert (a.read() == 2.0**40).all()


def test_a_result_to_be_fetched_is_that_of_its_moment(gpu: WebGpuDevice) -> None:
    for size in (16, 3 << 20):  # copied out, and mapped
        a = compute.from_array(np.full(size, 7, np.uint8))
        later = gpu.fetch_later(a.storage())
        a.write(np.full(size, 9, np.uint8))
        assert (later() == 7).all()
        assert (a.read() == 9).all()


def test_many_threads_wait_at_once(gpu: WebGpuDevice) -> None:
    wrong: list[int] = []
    buffers = [compute.from_array(np.full((300, 300), n, np.float32)) for n in range(9)]
    work_of = [(negation_of(b), b) for b in buffers]

    def work(number: int) -> None:
        p, a = work_of[number]
        for turn in range(30):
            p.run()
            if not (a.read() == (number if turn % 2 else -number)).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_pauses_grow_and_nothing_is_asked_in_a_tight_loop(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiter = waiting.AskingWaiter(gpu.gpu)
    clock = FakeClock().put_into(monkeypatch, waiting)
    asked: list[float] = []

    def poll() -> bool:
        asked.append(clock.now)
        clock.now += 10e-6  # asking takes a little
        return False

    monkeypatch.setattr(waiter, "_poll", poll)
    until = clock.now + 0.2
    waiter._ask_while(lambda: clock.now < until)
    brief = [t for t in asked if t - asked[0] < waiting.BRIEF_S]
    assert len(brief) == pytest.approx(waiting.BRIEF_S / 10e-6, abs=2)  # short work: no pause
    assert clock.naps == sorted(clock.naps)
    assert clock.naps[0] < 25e-6 and clock.naps[-1] == waiting.LONGEST_PAUSE_S
    late = [t for t in asked if t > asked[0] + 0.05]
    assert len(late) <= 0.15 / waiting.LONGEST_PAUSE_S + 2


def test_without_those_parts_wgpu_waits_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = WebGpuDevice(find_adapters()[0])
    stripped: Any = SimpleNamespace(queue=fresh.gpu.queue, _poll_wait=fresh.gpu._poll_wait)
    waiter = waiting.make_waiter(stripped)
    assert type(waiter) is waiting.Waiter
    waiter.until_done()
    monkeypatch.setattr(waiting, "SLEEPS_SHORTLY", False)
    assert type(waiting.make_waiter(fresh.gpu)) is waiting.Waiter
