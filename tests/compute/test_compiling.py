"""Machine code is made and freed where no signal comes, and for the machine that was asked for."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import platform
import signal

import numpy as np
import pytest
from engines import run_stages
from machines import machine_with
from processes import run_to_the_end

from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm import jit
from dala.backends.cpu.llvm.jit import Host
from dala.compute.engine import Engine

NOTHING = "define i32 @answer() {{ ret i32 {} }}"
EMPTY_PASS = "define void @dala_pass(ptr %args, ptr %scratch) { ret void }"


def test_what_is_dropped_is_freed_by_the_next_one() -> None:
    module = jit.Module(NOTHING.format(1))
    answer = module.function("answer", ctypes.c_int)
    del module
    jit.Module(NOTHING.format(2))
    assert answer() == 1  # the function holds its code
    gc.collect()
    jit.Module(NOTHING.format(3))
    held = len(jit._engines)
    del answer
    last = jit.Module(NOTHING.format(4))
    assert len(jit._engines) == held - 1  # without 1 and 3, with 4
    assert last.function("answer", ctypes.c_int)() == 4


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_ctrl_c_while_code_is_made_and_freed() -> None:
    """llvmlite's own Python, cut off half-way, frees twice, or keeps its lock."""
    text = """
        import ctypes, itertools
        from dala.backends.cpu.llvm import jit
        from interrupting import interrupt_often

        numbers = itertools.count()

        def make():
            number = next(numbers)
            module = jit.Module("define i32 @answer() { ret i32 %d }" % number)
            return number, module.function("answer", ctypes.c_int)

        def check():
            number, answer = make()
            assert answer() == number

        check()
        interrupt_often(150, make, check)
        jit.Module("define void @nothing() { ret void }")
        assert len(jit._engines) < 20, len(jit._engines)
        """
    assert run_to_the_end(text) == (0, "", "")


def test_two_machines_share_no_code() -> None:
    cache, here = jit.CodeCache(), jit.detect_host()
    other = dataclasses.replace(here, vector_bytes=16)
    first = cache.get(EMPTY_PASS, here)
    assert cache.get(EMPTY_PASS, here) is first
    assert cache.get(EMPTY_PASS, other) is not first
    assert cache.compiled == 2


def results_on(host: Host | None) -> tuple[bytes, object]:
    """What a device for a machine computes in integers, and how wide it says its vectors are."""
    image = np.random.default_rng(3).integers(0, 256, (23, 71, 4), dtype=np.uint8)
    device = CpuDevice(host)
    stages = [("blur", {}), ("sharpen", {}), ("grayscale", {})]
    return run_stages(Engine(device), stages, image).tobytes(), device.describe()["vector_bits"]


def test_devices_for_two_machines_side_by_side() -> None:
    wanted, bits = results_on(None)
    assert bits == 8 * jit.detect_host().vector_bytes
    assert results_on(machine_with(16, x86=False)) == (wanted, 128)
    assert results_on(None) == (wanted, bits)


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="needs an x86")
def test_code_is_compiled_for_the_host_of_the_device() -> None:
    """The oldest of them: any other has its instructions."""
    oldest = Host("x86-64", "", 16, fma=False, x86=True)
    assert results_on(oldest) == (results_on(None)[0], 128)
    assert ("x86-64", "", True) in jit._machines
