"""Work never blocks the interpreter: other threads run while a device computes, copies or compiles.

Nothing is timed. For as long as a test runs nobody is made to give the interpreter up, so a thread that
counts gets on only while another one has let go of it of its own accord: if it has counted during a call
then that call had let go, on a machine of any speed.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from in_threads import PATIENCE_S

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm import jit
from dala.backends.cpu.run import launch

MANY = 20  # more than a call that lets go for a moment at its beginning or end would allow


class Ticker:
    """Counts, in a thread of its own, whenever the interpreter is free."""

    def __init__(self) -> None:
        self.ticks = 0
        self.during: list[int] = []  # ticks in each of the watched calls
        self._stop = False
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop:
            self.ticks += 1
            time.sleep(0)  # lets go as well

    def __enter__(self) -> Ticker:
        self._usual = sys.getswitchinterval()
        sys.setswitchinterval(1000.0)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop = True
        sys.setswitchinterval(self._usual)
        self._thread.join(PATIENCE_S)

    def watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*args: Any, **options: Any) -> Any:
            before = self.ticks
            result = call(*args, **options)
            self.during.append(self.ticks - before)
            return result

        return watching

    def runs_during(self, work: Callable[[], object]) -> bool:
        """Whether it counts on in a watched call: the first, unless it gets no core for so long."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            work()
            if max(self.during, default=0) >= MANY:
                return True
        return False


@pytest.fixture
def ticker() -> Iterator[Ticker]:
    with Ticker() as running:
        yield running


def test_the_ticker_tells_who_lets_go(ticker: Ticker) -> None:
    """What it proves rests on this: nothing is counted during a call that keeps the interpreter."""

    def keep() -> int:
        return sum(range(3_000_000))

    watched = ticker.watched(keep)
    for _ in range(10):
        watched()
    assert ticker.during == [0] * 10
    assert ticker.runs_during(lambda: ticker.watched(time.sleep)(0.01))


@pytest.mark.parametrize("how", ["run", "submit"])
def test_a_thread_keeps_ticking_while_a_chain_runs(
    how: str, ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = (2160, 3840, 4)
    with dala.use("cpu"):
        photo = compute.from_array(np.full(shape, 120, np.uint8))
        out = compute.buffer_zeros(shape, "u8")
        one, two = compute.scratch(shape), compute.scratch(shape)
        p = compute.pipeline()
        p.add({"kernel": "blur", "inputs": [photo], "output": one, "params": {"radius": 8}})
        p.add({"kernel": "sharpen", "inputs": [one], "output": two})
        p.add({"kernel": "contrast", "inputs": [two], "output": out, "params": {"value": 0.5}})
        p.run()  # compiled and warm
        monkeypatch.setattr(launch, "_call", ticker.watched(launch._call))
        assert ticker.runs_during(p.run if how == "run" else lambda: p.submit().wait())
        compute.free_many([photo, out])


def test_a_thread_keeps_ticking_while_arrays_go_in_and_out(
    ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = (4320, 7680, 4)
    for name in ("upload", "download"):
        monkeypatch.setattr(CpuDevice, name, ticker.watched(getattr(CpuDevice, name)))
    with dala.use("cpu"):
        frame = np.zeros(shape, np.uint8)
        b = compute.from_array(frame)
        for way in (lambda: b.write(frame), lambda: b.read(out=frame)):
            ticker.during.clear()
            assert ticker.runs_during(way)


@pytest.mark.usefixtures("registry")
def test_a_thread_keeps_ticking_while_kernels_compile(
    ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tracing is Python and shares the interpreter; LLVM lets go of it."""
    monkeypatch.setattr(jit.Module, "_compile", ticker.watched(jit.Module._compile))
    with dala.use("cpu"):
        a = compute.buffer_zeros((64,))
        numbers = itertools.count(1)

        def compile_one() -> None:
            n = next(numbers)
            compute.register("fresh", f"def fresh(a): return exp(a * {n}.5) + sin(a + {n}.25)")
            compute.run_kernel("fresh", [a], a)

        assert ticker.runs_during(compile_one)
