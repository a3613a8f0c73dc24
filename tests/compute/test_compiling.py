"""Machine code is made and freed where no signal comes."""

from __future__ import annotations

import ctypes
import gc

from processes import run_to_the_end

from dala.backends.cpu import jit

NOTHING = "define i32 @answer() {{ ret i32 {} }}"


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


def test_ctrl_c_while_code_is_made_and_freed() -> None:
    """llvmlite's own Python, cut off half-way, frees twice, or keeps its lock."""
    text = """
        import ctypes, itertools
        from dala.backends.cpu import jit
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
