"""Processes that are forked beside threads: on the CPU, the child goes on whatever those were doing."""

from __future__ import annotations

import ctypes
import os

import pytest
from processes import run_to_the_end

from dala import forking

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

BESIDE = """
    import os, sys, threading, warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks beside threads
    import dala
    from dala import compute

    dala.use("cpu")

    def end_child(work):
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)

    def fork_and_wait(work):
        child = os.fork()
        if child == 0:
            end_child(work)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run_beside(text: str) -> None:
    code, out, errors = run_to_the_end(BESIDE + text)
    assert (code, out) == (0, "done\n"), errors


def test_beside_threads_that_compile() -> None:
    run_beside("""
    import itertools
    numbers = itertools.count(1)

    def compile_and_run(number):
        kernel = dala.kernel(eval(f"lambda x: x * {number}.25 + {number}.0"))
        a, b = compute.buffer([1.0, 2.0]), compute.buffer([0.0, 0.0])
        compute.run_kernel_async(kernel, [a], b).wait()
        assert compute.read_list(b) == [x * (number + 0.25) + number for x in (1.0, 2.0)]

    def compile_on():
        while not ended:
            compile_and_run(next(numbers))

    ended = False
    compile_and_run(0)
    threads = [threading.Thread(target=compile_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(12):
        fork_and_wait(lambda: (compile_and_run(100_000 + turn), compile_and_run(0)))
    ended = True
    for thread in threads:
        thread.join()
    print("done")
    """)


def test_beside_the_first_import_of_the_compiler() -> None:
    run_beside("""
    import time

    def compile_first():
        begun.set()
        a = compute.buffer([4.0])
        compute.run_kernel("sqrt", [a], a)

    begun = threading.Event()
    thread = threading.Thread(target=compile_first)
    thread.start()
    begun.wait()
    for turn in range(8):
        fork_and_wait(compile_first)
        time.sleep(0.02)
    thread.join()
    print("done")
    """)


def test_beside_a_thread_that_holds_a_lock() -> None:
    """All the short ones, of kernels, engines and commands: each is held at the moment of the fork."""
    run_beside("""
    from dala import forking

    def hold_all():
        for lock in list(forking._locks):
            lock.acquire()
        held.set()
        released.wait()
        for lock in list(forking._locks):
            lock.release()

    def use_all():
        kernel = dala.kernel(lambda x: x + 0.5)
        a = compute.buffer([1.0])
        compute.run_kernel_async(kernel, [a], a).wait()
        compute.synchronize()
        assert compute.read_list(a) == [1.5]

    use_all()
    held, released = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold_all)
    thread.start()
    held.wait()
    fork_and_wait(use_all)
    released.set()
    thread.join()
    use_all()
    print("done")
    """)


def test_what_was_under_way_elsewhere_is_said_to_be() -> None:
    run_beside("""
    a = compute.buffer([1.0])
    for _ in range(2000):
        command = compute.submit({"kernel": "sqrt", "inputs": [a], "output": a})

    def child():
        try:
            command.wait(300)
        except dala.errors.CommandError as error:
            assert "the process was forked meanwhile" in str(error), error
        a.write([9.0])
        compute.run_kernel("sqrt", [a], a)
        assert compute.read_list(a) == [3.0]

    fork_and_wait(child)
    command.wait()
    print("done")
    """)


def test_a_child_that_ends_as_usual() -> None:
    """It does not do again what its parent's threads were given, nor wait for them."""
    run_beside("""
    image = compute.buffer_zeros((64, 64, 4), "u8")
    for _ in range(200):
        compute.submit({"kernel": "invert", "inputs": [image], "output": image})
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        compute.synchronize()
        print("done")
    """)


def test_workers_of_multiprocessing() -> None:
    run_beside("""
    import multiprocessing
    import numpy as np
    from dala import media

    def blur(level):
        return int(media.blur(np.full((90, 120, 4), level, np.uint8), radius=3)[40, 50, 0])

    assert blur(7) == 7
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(blur, range(20)) == list(range(20))
    print("done")
    """)


GARBAGE = """
    import gc, os, warnings
    from dala import forking
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads

    class Garbage:
        def __init__(self, whose):
            self.whose, self.itself = whose, self

        def __del__(self):
            print(f"{self.whose} in the {'parent' if os.getpid() == parent else 'child'}", flush=True)

    parent = os.getpid()
    forking.leave_drivers_alone()
    gc.disable()
    Garbage("the parent's")
    gc.enable()
    before = gc.get_freeze_count()  # Python 3.12 has some at once
    child = os.fork()
    if child == 0:
        Garbage("the child's")
        gc.collect()
        os._exit(0 if gc.isenabled() else 1)
    frozen = gc.get_freeze_count() - before
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gc.isenabled(), frozen)
    gc.collect()
    gc.disable()
    child = os.fork()
    if child == 0:
        os._exit(gc.isenabled())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gc.isenabled())
"""


def test_what_was_garbage_before_is_left_alone() -> None:
    """Once there may be GPUs' garbage, a child collects its own alone."""
    code, out, errors = run_to_the_end(GARBAGE)
    told = ["the child's in the child", "0 True 0", "the parent's in the parent", "0 False"]
    assert (code, out.splitlines()) == (0, told), errors


INTERRUPTED = """
    import os, signal, threading, warnings
    from dala import forking, leaving
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads

    class Told(Exception):
        pass

    def tell(*_):
        raise Told

    class Waiting:
        def _is_owned(self):
            return False

        def acquire(self):
            os.kill(os.getpid(), signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, tell)
    forking.hold(lambda: [Waiting()])  # behind the gates of native code
    child = os.fork()
    if child == 0:
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    def enter():
        with leaving.native:
            print("inside", flush=True)

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    thread.join(60)
    os._exit(0)
"""


ANYWHERE = """
    import gc, os, sys, threading, time, warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
    from signals_anywhere import interrupt_everywhere
    from dala import forking, leaving, locks

    def live():
        with leaving.native:
            ready.set()
        over.wait()

    sys.unraisablehook = id  # says nothing
    section, ready, over = locks.rlock(), threading.Event(), threading.Event()
    forking.hold(lambda: [section])
    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    ready.wait()
    with leaving.native:
        pass
    watched = [section, leaving._registry, *leaving._gates]
    parent, states = os.getpid(), set()

    def check():
        "In the child, too, from wherever it was interrupted."
        held = [each for each in watched if each._is_owned() or not each.acquire(blocking=False)]
        if os.getpid() != parent:
            os._exit(len(held))
        assert not held, held
        for each in watched:
            each.release()
        assert gc.isenabled()
        try:
            states.add(os.waitstatus_to_exitcode(os.wait()[1]))
        except ChildProcessError:  # interrupted before
            pass

    print(interrupt_everywhere(os.fork, check) > 100, states)
    over.set()
    thread.join()
"""


def test_a_signal_anywhere_in_a_fork_leaves_nothing_taken() -> None:
    code, out, errors = run_to_the_end(ANYWHERE)
    assert (code, out) == (0, "True {0}\n"), errors


def test_a_signal_before_a_fork_leaves_nothing_taken() -> None:
    """Python ignores what is raised there, and forks."""
    code, out, errors = run_to_the_end(INTERRUPTED)
    assert (code, out) == (0, "0\ninside\n"), errors
    assert "Told" in errors


def test_where_nothing_forks_gpus_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where a C library without a name is a TypeError."""
    monkeypatch.delattr(os, "fork")
    monkeypatch.setattr(ctypes, "CDLL", None)
    monkeypatch.setattr(forking, "_ending", [])
    forking.leave_drivers_alone()
    assert not forking._ending
