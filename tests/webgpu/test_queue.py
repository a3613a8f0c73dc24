"""Runs that are handed over one after the other share a submit, and nobody can tell by the results."""

from __future__ import annotations

import gc
import signal
import weakref
from pathlib import Path

import numpy as np
import pytest
from in_threads import in_threads, wait_until
from processes import run_to_the_end

from dala.backends.webgpu import memory, queue, record, replay
from dala.backends.webgpu.adapters import find_adapters
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.record import NativeRecorder, PublicRecorder, Run
from dala.backends.webgpu.replay import ENCODER, PASS, RUNS
from dala.compute import Buffer, Pipeline
from dala.compute.engine import Engine, engine_for
from dala.errors import DalaError, DeviceError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32

pytestmark = pytest.mark.webgpu


def numbers(device: WebGpuDevice, values: list[float], engine: Engine | None = None) -> Buffer:
    type_ = ArrayType((len(values),), F32)
    buffer = Buffer(engine or engine_for(device), type_, device.allocate(type_))
    buffer.write(np.array(values, np.float32))
    return buffer


def doubling(buffer: Buffer) -> Pipeline:
    """``b ← b + b``: how often it was done can be read, and that each run saw the one before."""
    return Pipeline(buffer.engine).add(
        {"kernel": "elementwise_add", "inputs": [buffer, buffer], "output": buffer}
    )


@pytest.fixture
def submits(own: WebGpuDevice, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each submit had. What nobody comes for is not submitted."""
    monkeypatch.setattr(queue, "LATE_S", 1000.0)
    counts: list[int] = []
    recorder = own.queue.recorder
    submit = recorder.submit_shared

    def note() -> None:
        counts.append(recorder.shared)
        submit()

    monkeypatch.setattr(recorder, "submit_shared", note)
    return counts


def test_more_and_more_runs_share_a_submit(own: WebGpuDevice, submits: list[int]) -> None:
    a = numbers(own, [1.0, 3.0])
    p = doubling(a)
    for _ in range(60):
        p.enqueue()
    assert submits == [1, 2, 4, 8, 16, 16] and own.queue.recorder.shared == 13
    assert a.read().tolist() == [2.0**60, 3 * 2.0**60]
    assert submits[-1] == 13 + 1  # and the copy of what is read
    p.enqueue()  # somebody has waited: the GPU has nothing to do
    assert submits[-1] == 1


def test_a_run_goes_behind_those_before_it(own: WebGpuDevice, submits: list[int]) -> None:
    a = numbers(own, [1.0])
    p = doubling(a)
    for _ in range(3 + 2):
        p.enqueue()
    p.run()
    assert submits == [1, 2, 2 + 1] and a.read().tolist() == [64.0]


def test_each_run_has_its_own_numbers(own: WebGpuDevice) -> None:
    """They are written before a submit, so runs with others have to be submitted first."""
    a = numbers(own, [0.0])
    p = Pipeline(a.engine)
    p.add({"kernel": "scalar_mul", "inputs": [a], "output": a, "params": {"scalar": 2.0}})
    q = Pipeline(a.engine)
    q.add({"kernel": "scalar_add", "inputs": [a], "output": a, "params": {"scalar": 1.0}})
    wanted = 0.0
    for n in range(40):
        p.set_params(0, scalar=1.0 + n % 3)
        q.set_params(0, scalar=float(n % 5))
        p.enqueue()
        q.enqueue()
        wanted = np.float32(wanted * np.float32(1.0 + n % 3)) + np.float32(n % 5)
    assert a.read().tolist() == [wanted]


def test_dispatches_and_copies_are_one_run(own: WebGpuDevice, submits: list[int]) -> None:
    """Compute passes and copies by turns, in one command buffer."""
    a, b, c = (numbers(own, [n]) for n in (1.0, 0.0, 0.0))
    p = Pipeline(a.engine)
    for source, target in ((a, b), (b, c)):
        p.add({"op": "copy_buffer", "inputs": [source], "output": target})
        p.add({"kernel": "elementwise_add", "inputs": [target, a], "output": target})
    p.add({"op": "copy_buffer", "inputs": [c], "output": a})
    for _ in range(3):
        p.enqueue()
    assert submits == [1, 2] and a.read().tolist() == [27.0]


@pytest.mark.parametrize("in_parts", [True, False])
def test_a_long_run_begins_while_its_rest_is_recorded(
    own: WebGpuDevice, submits: list[int], in_parts: bool
) -> None:
    a = numbers(own, [1.0, 3.0])
    p = doubling(a)
    p.enqueue()
    own.wait()
    submits.clear()
    own.queue.in_parts = in_parts
    executable = p._prepared().executable
    for length in (record.LONG - 1, record.LONG, 40):
        a.write(np.array([1, 3], np.float32))
        executable._make_ready(
            [a.storage()], (), lambda run, n=length: own.queue.submit_run(Run(run * n))
        )
        assert submits == [1] * (2 if in_parts and length >= record.LONG else 1)
        assert a.read().tolist() == [2.0**length, 3 * 2.0**length]
        submits.clear()


def test_what_waits_goes_before_the_first_part(own: WebGpuDevice, submits: list[int]) -> None:
    a = numbers(own, [1.0])
    p = doubling(a)
    for _ in range(2):
        p.enqueue()
    own.queue.in_parts = True
    p._prepared().executable._make_ready(
        [a.storage()], (), lambda run: own.queue.submit_run(Run(run * 20))
    )
    assert submits == [1, 2, 1] and a.read().tolist() == [2.0**22]


def test_what_an_interrupt_left_complete_is_submitted_first(own: WebGpuDevice) -> None:
    """A Ctrl-C between completing a command buffer and its submit: no run of it is lost, none is twice."""
    a = numbers(own, [1.0])
    p, recorder = doubling(a), own.queue.recorder
    assert isinstance(recorder, NativeRecorder)
    for again in (p.enqueue, p.run, a.read):
        with own.queue.lock:
            executable = p._prepared().executable
            executable.enqueue([a.storage()], (), held=True)
            recorder._capture()
            recorder._replay.finish(recorder._open)
        assert recorder.shared == 1
        again()
        own.wait()
    assert a.read().tolist() == [32.0]


def test_what_is_recorded_goes_with_its_device() -> None:
    own = WebGpuDevice(find_adapters()[0])
    a = numbers(own, [1.0], Engine(own))
    executable = doubling(a)._prepared().executable
    executable.enqueue([a.storage()], (), held=True)
    words = own.queue.recorder._open.words
    assert words[ENCODER] and words[PASS] and words[RUNS] == 1
    gone = weakref.ref(own)
    del own, a, executable
    wait_until(lambda: gc.collect() is not None and gone() is None)
    wait_until(lambda: not any(words[ENCODER:]))


@pytest.mark.parametrize(
    ("written", "changed"),
    [("i64 0, ptr null", "i32 0, ptr null"), ("@wgpuQueueSubmit", "@wgpuQueueSubmitTwice")],
)
def test_functions_that_are_not_what_they_were_are_not_called(
    own: WebGpuDevice, written: str, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another wgpu-native may have other arguments: then wgpu-py, which knows them, records."""
    monkeypatch.setattr(replay, "_TEXT", replay._TEXT.replace(written, changed))
    monkeypatch.setattr(record, "make_replay", replay.Replay)
    assert isinstance(record.make_recorder(own.gpu), PublicRecorder)


def test_writes_and_copies_stay_in_order(own: WebGpuDevice) -> None:
    a, b = numbers(own, [1.0]), numbers(own, [0.0])
    add = Pipeline(a.engine).add({"kernel": "elementwise_add", "inputs": [a, b], "output": b})
    for n in range(50):
        add.enqueue()
        a.write(np.array([n], np.float32))
        add.enqueue()
        add.enqueue()
    assert b.read().tolist() == [1.0 + 2 * sum(range(50)) + sum(range(49))]


def test_what_nobody_waits_for_is_done(own: WebGpuDevice) -> None:
    a = numbers(own, [1.0])
    p = doubling(a)
    for _ in range(3):
        for _ in range(2):  # the second one waits for others
            p.enqueue()
        wait_until(lambda: own.queue.recorder.shared == 0)
    assert a.read().tolist() == [64.0]


def test_a_recorder_that_shares_nothing_submits_at_once(own: WebGpuDevice) -> None:
    a = numbers(own, [1.0])
    p = doubling(a)
    own.queue.recorder = PublicRecorder(own.gpu)
    for _ in range(5):
        p.enqueue()
        assert not own.queue.holds_back
    assert a.read().tolist() == [32.0]


def test_without_a_thread_nothing_is_held_back(
    own: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    a = numbers(own, [1.0])
    p = doubling(a)
    monkeypatch.setattr("_thread.start_new_thread", refuse)
    for _ in range(5):
        p.enqueue()
        assert not own.queue.holds_back
    assert a.read().tolist() == [32.0]


def test_memory_of_runs_under_way_is_freed_after_them(
    own: WebGpuDevice, submits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A destroyed buffer in a submit would end the process."""
    monkeypatch.setattr(memory, "SPARE_BYTES", 0)
    kept = numbers(own, [1.0] * 100)
    for size in range(1, 30):
        a, b = numbers(own, [1.0] * 100 * size), numbers(own, [1.0] * 100 * size)
        add = Pipeline(a.engine).add({"kernel": "elementwise_add", "inputs": [a, b], "output": b})
        for _ in range(3):
            add.enqueue()
        a.free()
        b.free()
        doubling(kept).enqueue()
    assert kept.read().tolist() == [2.0**29] * 100
    numbers(own, [1.0]).free()
    assert not own.queue.holds_back and not own.pool._doomed


def test_many_threads(own: WebGpuDevice) -> None:
    buffers = [numbers(own, [1.0]) for _ in range(4)]
    pipelines = [doubling(a) for a in buffers]

    def work(number: int) -> None:
        for _ in range(100):
            pipelines[number].enqueue()

    in_threads(4, work)
    assert [a.read().tolist() for a in buffers] == [[2.0**100]] * 4


def test_a_gpu_that_is_lost_meanwhile(own: WebGpuDevice, submits: list[int]) -> None:
    a = numbers(own, [1.0])
    p = doubling(a)
    for _ in range(2):
        p.enqueue()
    with own.queue.lock:
        own.gpu.destroy()
        own.lost = True
    with pytest.raises(DalaError, match="the GPU was lost"):
        a.read()
    with pytest.raises(DalaError, match="the GPU was lost"):
        own.wait()
    assert submits == [1] and not own.queue.holds_back


def test_runs_that_are_dropped_are_told_to_everybody(own: WebGpuDevice, submits: list[int]) -> None:
    """Even if the GPU would still answer: what it has in memory is from before."""
    a, b = numbers(own, [1.0]), numbers(own, [2.0])
    for buffer in (a, a, b):
        doubling(buffer).enqueue()
    own.lost = True
    for buffer in (a, b, a):
        with pytest.raises(DalaError, match="the GPU was lost"):
            buffer.read()
    assert submits == [1, 2][: len(submits)]


def test_a_late_submit_that_fails_is_told(
    own: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = numbers(own, [1.0])
    p = doubling(a)
    p.enqueue()
    submit = own.queue.recorder.submit_shared

    def fail() -> None:
        own.queue.recorder.forget_shared()
        raise DeviceError("no")

    monkeypatch.setattr(own.queue.recorder, "submit_shared", fail)
    p.enqueue()
    wait_until(lambda: not own.queue.holds_back)
    monkeypatch.setattr(own.queue.recorder, "submit_shared", submit)
    with pytest.raises(DeviceError, match="no"):
        a.read()
    assert a.read().tolist() == [2.0]  # told once


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_interrupts_lose_no_run() -> None:
    """Every enqueue that came back is done once; one that was interrupted may be."""
    text = """
        from interrupting import interrupt_often
        from test_queue import WebGpuDevice, doubling, find_adapters, numbers

        own = WebGpuDevice(find_adapters()[0])
        a = numbers(own, [1.0])
        p = doubling(a)
        p.enqueue()
        came_back = [0]

        def work():
            if came_back[0] < 100:
                p.enqueue()
                came_back[0] += 1

        def check():
            done, tried = a.read()[0], came_back[0]
            assert done in (2.0 ** tried, 2.0 ** (tried + 1)), (done, tried)
            a.write([1.0])
            came_back[0] = 0

        a.write([1.0])
        interrupt_often(60, work, check)
        print("fine")
        """
    here = Path(__file__).parent
    path = f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent / 'helpers')!r}]\n"
    code, out, errors = run_to_the_end(path + "if True:\n" + text)
    assert (code, out) == (0, "fine\n"), errors


def test_its_thread_ends_with_it() -> None:
    own = WebGpuDevice(find_adapters()[0])
    p = doubling(numbers(own, [1.0], Engine(own)))
    for _ in range(2):
        p.enqueue()
    gone = weakref.ref(own.queue)
    bell = own.queue._bell
    del own, p
    wait_until(lambda: gc.collect() is not None and gone() is None)
    assert bell is not None
    wait_until(bell.empty)  # the thread has taken the last word
