"""Waiting leaves the GPU to others; what is enqueued is there when it is read."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_clock import FakeClock
from in_threads import PATIENCE_S
from processes import HANGS_S, run_to_the_end, start_python

from dala import compute
from dala.backends.webgpu import faults, waiting
from dala.backends.webgpu.adapters import find_adapters
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.staging import StagingRing
from dala.compute import Buffer
from dala.compute.engine import Engine
from dala.compute.pipelines import Pipeline
from dala.errors import DeviceLostError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32

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
    ask = waiting._asking(calls.append)
    for block in (True, False, True):
        ask(block)
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
    waiter.until_done("long work")
    assert len(calls) > 3 and not any(calls)


# -- how a wait ends ---------------------------------------------------------------------------


def test_a_wait_lasts_as_long_as_the_work(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A driver may compile for a minute, a stopped process goes on hours later: no GPU is lost by that."""
    waiter = waiting.AskingWaiter(gpu.gpu)
    clock = itertools.count(0.0, 3600.0)
    monkeypatch.setattr(waiting.time, "perf_counter", lambda: next(clock))
    left = iter(range(40))
    waiter._ask_while(lambda: next(left, None) is not None, "median → blur")
    told = [r.getMessage() for r in caplog.records if r.name == "dala.webgpu"]
    assert told[0] == "median → blur: waiting for the GPU, for 3600 s so far"
    assert 2 <= len(told) <= 5  # ever more seldom


def test_short_work_is_not_told_about(gpu: WebGpuDevice, caplog: pytest.LogCaptureFixture) -> None:
    negation_of(compute.buffer([1.0, 2.0])).run()
    assert not caplog.records


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs signals that stop a process")
def test_a_process_that_was_stopped_goes_on() -> None:
    text = """
        import numpy as np
        import dala
        from dala import compute
        from dala.compute.pipelines import Pipeline
        dala.use("webgpu")
        a, b = compute.from_array(np.ones((640, 640), np.float32)), compute.buffer_zeros((640, 640))
        p = Pipeline(a.engine)
        for _ in range(4):
            p.add({"kernel": "matmul", "inputs": [a, a], "output": b})
        p.compile()
        print("waiting", flush=True)
        for _ in range(4):
            p.run()
        print(b.read()[0, 0], flush=True)
    """
    with start_python(text) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n", process.communicate()
        time.sleep(0.2)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)  # longer than any patience there once was
        process.send_signal(signal.SIGCONT)
        out, errors = process.communicate(timeout=HANGS_S)
    assert (process.returncode, out) == (0, "640.0\n"), errors


def test_an_error_of_the_driver_ends_a_wait(gpu: WebGpuDevice) -> None:
    waiter = waiting.AskingWaiter(gpu.gpu)
    lib, ffi = waiter._lib, waiter._ffi
    text = ffi.new("char[]", b"device removed")
    speaks = len(ffi.typeof("WGPUQueueWorkDoneCallback").args) == 4  # from wgpu-py 0.32 on

    def fail(queue: Any, info: Any) -> None:
        message = ffi.new("WGPUStringView *", {"data": text, "length": 14})
        words = [message[0]] if speaks else []
        info.callback(lib.WGPUQueueWorkDoneStatus_Error, *words, info.userdata1, ffi.NULL)

    mode = lib.WGPUCallbackMode_AllowProcessEvents
    waiter._lib = SimpleNamespace(
        wgpuQueueOnSubmittedWorkDone=fail, WGPUCallbackMode_AllowProcessEvents=mode
    )
    with pytest.raises(RuntimeError, match=r"did not finish \(status \d\): ") as caught:
        waiter.until_done("a kernel")
    assert str(caught.value).endswith("device removed" if speaks else ": ")


def test_what_one_thread_is_told_ends_the_waits_of_others() -> None:
    fresh = WebGpuDevice(find_adapters()[0])
    turns = itertools.count()

    def unfinished() -> bool:
        if next(turns) == 5:  # as the driver tells whoever calls it
            with pytest.raises(DeviceLostError), faults.mapped("another call", device=fresh):
                raise RuntimeError("Parent device is lost")
        return True

    with pytest.raises(DeviceLostError, match=r"^a kernel: the GPU was lost; open it again"):  # noqa: SIM117
        with faults.mapped("a kernel", device=fresh):
            fresh.waiter._ask_while(unfinished, "a kernel")  # type: ignore[attr-defined]
    assert fresh.lost


def test_a_driver_that_gave_up_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should it never say what became of the work, it refuses another call."""
    fresh = WebGpuDevice(find_adapters()[0])
    monkeypatch.setattr(waiting, "TELL_S", 0.01)
    fresh.gpu.destroy()
    with pytest.raises(DeviceLostError), faults.mapped("a kernel", device=fresh):
        fresh.waiter._ask_while(lambda: True, "a kernel")  # type: ignore[attr-defined]


def test_a_gpu_that_is_destroyed_while_it_is_waited_for() -> None:
    fresh = WebGpuDevice(find_adapters()[0])
    engine = Engine(fresh)
    type_ = ArrayType((200, 200), F32)
    under_way = threading.Barrier(4)
    raised: list[BaseException] = []

    def work(kind: int) -> None:
        a = Buffer(engine, type_, fresh.allocate(type_))
        a.write(np.ones((200, 200), np.float32))
        product = {"kernel": "matmul", "inputs": [a, a], "output": a}
        p = Pipeline(engine).add(product)
        steps = [p.run, a.read, lambda: a.write(np.ones((200, 200), np.float32))]
        p.run()
        under_way.wait(HANGS_S)
        try:
            while True:
                steps[kind]()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in range(3)]
    for thread in threads:
        thread.start()
    under_way.wait(HANGS_S)
    with (
        fresh.queue.lock
    ):  # a submit to a GPU that is gone, unknown to us, ends the process: see faults.py
        fresh.gpu.destroy()
        fresh.lost = True
    for thread in threads:
        thread.join(HANGS_S)
    assert not any(thread.is_alive() for thread in threads)
    assert [type(error) for error in raised] == [DeviceLostError] * 3
    assert fresh.lost


def test_an_interrupted_wait_leaves_nothing_behind(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, a = long_work(), compute.from_array(np.ones(3 << 20, np.uint8))
    polls = itertools.count()
    others = set(
        waiting._waits
    )  # a surface of an earlier test may look at its last frame now and then

    def poll() -> None:
        if next(polls) == 2:
            raise KeyboardInterrupt

    assert isinstance(gpu.waiter, waiting.AskingWaiter)
    for run in (work.run, a.read):
        polls = itertools.count()
        with monkeypatch.context() as patch:
            patch.setattr(gpu.waiter, "_poll", poll)
            with pytest.raises(KeyboardInterrupt):
                run()
    assert (a.read() == 1).all()
    work.run()
    assert set(waiting._waits) <= others


def sixteen_bytes(gpu: WebGpuDevice) -> Any:
    buffer = gpu.gpu.create_buffer(size=16, usage="MAP_READ|COPY_DST")
    gpu.gpu.queue.write_buffer(buffer, 0, bytes(range(16)))
    gpu.gpu.queue.submit([gpu.gpu.create_command_encoder().finish()])
    return buffer


def test_ctrl_c_within_the_word_that_a_buffer_is_mapped(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is raised behind the poll; the buffer is mapped nevertheless, and can be waited for again."""
    assert isinstance(gpu.waiter, waiting.AskingWaiter)
    buffer = sixteen_bytes(gpu)
    mapping = gpu.waiter.map(buffer, "READ")

    class Interrupting(dict[int, Any]):
        def get(self, number: int, default: Any = None) -> Any:
            if number == mapping.number and next(calls) == 0:
                raise KeyboardInterrupt  # as a signal's handler does, within wgpu's call
            return super().get(number, default)

    calls = itertools.count()
    monkeypatch.setattr(waiting, "_waits", Interrupting(waiting._waits))
    with pytest.raises(KeyboardInterrupt):
        mapping.finish("a download")
    mapping.finish("a download")
    assert bytes(buffer.read_mapped()) == bytes(range(16))
    assert not capfd.readouterr().err  # where cffi tells of what it drops


def test_a_wgpu_that_notes_elsewhere_what_is_mapped_waits_its_own_way(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting._Mapping, "finish", waiting._Asked.finish)
    waiter = waiting.make_waiter(gpu.gpu)
    assert type(waiter) is waiting.Waiter
    monkeypatch.undo()
    buffer = sixteen_bytes(gpu)
    waiter.map(buffer, "READ").finish("a download")
    assert bytes(buffer.read_mapped()) == bytes(range(16))


# -- order -------------------------------------------------------------------------------------


def test_a_buffer_that_is_freed_after_all_modules() -> None:
    """wgpu tells its callback then that nothing was mapped; that was freed, and the program crashed."""
    program = """
        import sys, types
        import wgpu.backends.wgpu_native
        held = sys.kept = sys.modules["held"] = types.ModuleType("held")  # its names go after ...
        from dala.backends.webgpu import waiting
        held.waiting_stays = waiting  # ... those of this one
        from dala.compute.default import device
        gpu = device("webgpu")
        held.buffers = [gpu.gpu.create_buffer(size=64, usage="MAP_READ|COPY_DST") for _ in range(8)]
        for buffer in held.buffers:
            gpu.waiter.map(buffer, "READ")
        del buffer
        """
    assert run_to_the_end(program) == (0, "", "")


def test_an_enqueued_run_is_done_when_it_is_read(gpu: WebGpuDevice) -> None:
    work = long_work()
    a = compute.buffer([1.0, 2.0])
    after = negation_of(a)
    work.enqueue()
    for _ in range(3):
        after.enqueue()
    assert compute.read_list(a) == [-1.0, -2.0]


def test_synchronize_waits_for_enqueued_runs(gpu: WebGpuDevice) -> None:
    work = long_work()
    work.run()
    work.enqueue()
    assert gpu.enqueued
    compute.synchronize()
    assert not gpu.enqueued and not gpu.queue.holds_back
    waits: list[str] = []
    gpu.waiter.until_done, until_done = waits.append, gpu.waiter.until_done  # type: ignore[method-assign]
    try:
        compute.synchronize()  # nothing is left to wait for
    finally:
        gpu.waiter.until_done = until_done  # type: ignore[method-assign]
    assert waits == []


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

    def poll() -> None:
        asked.append(clock.now)
        clock.now += 10e-6  # asking takes a little

    monkeypatch.setattr(waiter, "_poll", poll)
    until = clock.now + 0.2
    waiter._ask_while(lambda: clock.now < until, "nothing")
    brief = [t for t in asked if t - asked[0] < waiting.BRIEF_S]
    assert len(brief) == pytest.approx(waiting.BRIEF_S / 10e-6, abs=2)  # short work: no pause
    assert clock.naps == sorted(clock.naps)
    first = waiting.BRIEF_S / waiting.PAUSE_PART
    assert (
        clock.naps[0] == pytest.approx(first, rel=0.2) and clock.naps[-1] == waiting.LONGEST_PAUSE_S
    )
    late = [t for t in asked if t > asked[0] + 0.05]
    assert len(late) <= 0.15 / waiting.LONGEST_PAUSE_S + 2


def test_without_those_parts_wgpu_waits_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = WebGpuDevice(find_adapters()[0])
    stripped: Any = SimpleNamespace(queue=fresh.gpu.queue, _poll_wait=fresh.gpu._poll_wait)
    waiter = waiting.make_waiter(stripped)
    assert type(waiter) is waiting.Waiter
    waiter.until_done("nothing")
    monkeypatch.setattr(waiting, "SLEEPS_SHORTLY", False)
    public = waiting.make_waiter(fresh.gpu)
    assert type(public) is waiting.Waiter
    array, out = fresh.allocate(ArrayType((3,), F32)), np.empty(3, np.float32)
    fresh.upload(array, np.array([1, 2, 3], np.float32))
    StagingRing(fresh.gpu, fresh.queue, public).download(array.memory, out)
    assert out.tolist() == [1, 2, 3]


def test_who_has_no_number_yet_is_nobody() -> None:
    """A signal's exception came before it had one: it goes without a word."""
    asked = waiting._Asked.__new__(waiting._Asked)
    asked.__del__()
