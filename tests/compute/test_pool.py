"""Native threads that help: all of the work is done, once, whoever comes, leaves, or is late."""

from __future__ import annotations

import ctypes
import math
import os
import tempfile
import textwrap
import threading
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_threads import wait_until
from pretended import run_pretended
from processes import run_to_the_end

import dala
from dala import compute, media
from dala.backends import groups, host
from dala.backends.cpu.llvm.jit import Module
from dala.backends.cpu.run import cores, launch, native_threads, pool, pool_code
from dala.errors import ParameterError

# Each thread takes pieces by number, adds one to the piece's own count, and writes to its scratch memory
# whose it is; a piece that finds another's number there is counted as an error. Block: the next piece, how
# many there are, errors, threads inside now, the most that were inside, turns per piece, then the counts.
WORK = """
define void @work(ptr %block, ptr %scratch) {
entry:
  %count.at = getelementptr i64, ptr %block, i64 1
  %count = load i64, ptr %count.at
  %errors.at = getelementptr i64, ptr %block, i64 2
  %inside.at = getelementptr i64, ptr %block, i64 3
  %most.at = getelementptr i64, ptr %block, i64 4
  %turns.at = getelementptr i64, ptr %block, i64 5
  %turns = load i64, ptr %turns.at
  %inside = atomicrmw add ptr %inside.at, i64 1 seq_cst
  %now = add i64 %inside, 1
  %most = atomicrmw max ptr %most.at, i64 %now seq_cst
  br label %next
next:
  %piece = atomicrmw add ptr %block, i64 1 seq_cst
  %more = icmp slt i64 %piece, %count
  br i1 %more, label %do, label %end
do:
  store volatile i64 %piece, ptr %scratch
  br label %turn
turn:
  %n = phi i64 [ 0, %do ], [ %n.next, %turn ]
  %seen = load volatile i64, ptr %scratch
  %n.next = add i64 %n, 1
  %on = icmp slt i64 %n.next, %turns
  br i1 %on, label %turn, label %count_it
count_it:
  %wrong = icmp ne i64 %seen, %piece
  %error = zext i1 %wrong to i64
  %e = atomicrmw add ptr %errors.at, i64 %error seq_cst
  %place = add i64 %piece, 6
  %own.at = getelementptr i64, ptr %block, i64 %place
  %own = load i64, ptr %own.at
  %own.next = add i64 %own, 1
  store i64 %own.next, ptr %own.at
  br label %next
end:
  %left = atomicrmw sub ptr %inside.at, i64 1 seq_cst
  ret void
}
"""


class Work:
    """Pieces of work that know who did them."""

    def __init__(self) -> None:
        self.module = Module(WORK)

    def do(self, helpers: int, pieces: int = 200, turns: int = 200, need: int = 8) -> int:
        """All pieces; returns how many threads were inside at once at most."""
        block = array("q", [0, pieces, 0, 0, 0, turns] + [0] * pieces)
        scratch = array("q", [0])
        addresses = (self.module.address("work"), block.buffer_info()[0], scratch.buffer_info()[0])
        pool.pool().run(*addresses, need, helpers)
        assert block[2] == 0, "two threads had the same scratch memory"
        assert block[3] == 0, "somebody is still inside"
        assert list(block[6:]) == [1] * pieces
        return block[4]


def pretend(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(cores, "machine_threads", lambda: threads)


def test_every_piece_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 4)
    work = Work()
    for need in (8, 1 << 16, 64, 1 << 20):
        for _ in range(100):
            work.do(3, need=need)
        wait_until(lambda need=need: work.do(3, need=need) > 1)  # they do come


def test_many_callers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """More callers than slots; helpers only take what is left of the cores."""
    pretend(monkeypatch, 6)
    work, seen, failed = Work(), [], []

    def call() -> None:
        try:
            seen.extend(work.do(5) for _ in range(50))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=call) for _ in range(pool_code.SLOTS + 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(seen) == 50 * len(threads) and max(seen) <= 6
    assert ctypes.c_int32.from_address(pool.pool().address + pool_code.ACTIVE).value == 0


def test_no_more_threads_than_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 8)
    work = Work()
    for wanted in (1, 2, 3):
        with dala.use("cpu", threads=wanted):
            assert dala.compute.device_info()["threads"] == wanted
            assert max(work.do(7, turns=2_000) for _ in range(30)) <= wanted
    assert cores.thread_count() == 8


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_threads_that_make_no_sense(threads: object) -> None:
    with pytest.raises(ParameterError, match=r"threads must be a whole number from 1 on, not "):
        dala.use("cpu", threads=threads)  # type: ignore[arg-type]


def test_without_helpers_the_caller_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system gives no threads."""
    pretend(monkeypatch, 64)

    work, own = Work(), pool.Pool()
    monkeypatch.setattr(pool, "pool", lambda: own)
    monkeypatch.setattr(native_threads, "start", lambda _code, _argument: None)
    assert work.do(63) == 1
    assert own.serving == 0


def test_who_sleeps_uses_no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 8)
    work = Work()
    work.do(7)

    def is_quiet() -> bool:  # other threads of this process may be busy for a while
        before = time.process_time()
        time.sleep(0.4)
        return (
            time.process_time() - before < 0.2
        )  # seven that look on would use all of it, for good

    wait_until(is_quiet)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_helpers_of_its_own() -> None:
    text = """
        import os, threading, time
        import numpy as np
        from dala import media
        from dala.backends.cpu.run import pool

        image = np.random.default_rng(0).integers(0, 256, (700, 900, 3), np.uint8)
        right = media.apply_filter(image, "blur", device="cpu")
        stop = threading.Event()

        def keep_busy():
            while not stop.is_set():
                media.apply_filter(image, "blur", device="cpu")

        busy = threading.Thread(target=keep_busy)
        busy.start()
        parents = pool.pool()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                same = np.array_equal(media.apply_filter(image, "blur", device="cpu"), right)
                while not pool.pool().serving:  # they begin when there is a core for them
                    time.sleep(0.01)
                os._exit(0 if same and pool.pool() is not parents else 1)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        busy.join()
        print("fine")
        """
    done = run_pretended(text, cores=4, switch_interval=0.005)
    assert done.stdout == "fine\n", done.stderr


def test_they_end_with_the_interpreter() -> None:
    """Also while a daemon thread goes on calling."""
    text = """
        import atexit, threading, time
        import numpy as np
        from dala import media
        from dala.backends.cpu.run import pool

        image = np.zeros((700, 900, 3), np.uint8)

        def go_on():
            while True:
                media.apply_filter(image, "blur", device="cpu")

        atexit.register(lambda: print("served by", pool.pool().serving > 0))
        for _ in range(3):
            threading.Thread(target=go_on, daemon=True).start()
        while not pool.pool().serving:
            time.sleep(0.01)
        time.sleep(0.1)
        """
    done = run_pretended(text, cores=8)
    assert (done.returncode, done.stdout) == (0, "served by True\n"), done.stderr


SUB_INTERPRETERS = """
import sys
try:
    import _interpreters
    interpreter = _interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as _interpreters
    interpreter = _interpreters.create(isolated=False)

def run(text):
    try:
        failed = _interpreters.run_string(interpreter, f"import sys; sys.path[:] = {sys.path!r}\\n" + text)
    except Exception as error:
        failed = error
    return repr(failed) if failed else ""
"""


def test_a_sub_interpreter_has_helpers_and_ends() -> None:
    """It is the first to use dala: NumPy can be loaded once in a process."""
    text = """
said = run("import warnings\\nwarnings.simplefilter('ignore')\\nfrom used import *")  # NumPy's warning
_interpreters.destroy(interpreter)
print("ended", said)
"""
    used = """
        import numpy as np
        from dala import media
        from dala.backends.cpu.run import cores, pool

        cores.machine_threads = lambda: 4
        image = np.full((1200, 1600, 3), 7, np.uint8)
        assert (np.asarray(media.apply_filter(image, "blur", device="cpu")) == 7).all()
        from in_threads import wait_until
        wait_until(lambda: pool.pool().serving == 3)
        """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "used.py").write_text(textwrap.dedent(used))
        path = f"import sys; sys.path.insert(0, {folder!r})\n"
        code, out, errors = run_to_the_end(path + SUB_INTERPRETERS + text)
    assert (code, out) == (0, "ended \n"), errors


def test_beside_a_sub_interpreter() -> None:
    """NumPy does not load there since 2.3 and says so; who uses dala already goes on."""
    text = """
import numpy as np
from dala import media

image = np.random.default_rng(0).integers(0, 256, (700, 900, 3), np.uint8)
before = media.apply_filter(image, "blur", device="cpu")
told = run("import dala; import numpy")
assert "ImportError" in told or np.lib.NumpyVersion(np.__version__) < "2.3.0"
_interpreters.destroy(interpreter)
assert np.array_equal(media.apply_filter(image, "blur", device="cpu"), before)
print("fine")
"""
    code, out, errors = run_to_the_end(SUB_INTERPRETERS + text)
    assert (code, out) == (0, "fine\n"), errors


def test_systems_that_have_only_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of macOS and others, on Linux."""
    text = """
        from dala.backends.cpu.run import cores, parking, pool
        find = parking.find_system
        parking.find_system = lambda: find(plainly=True)
        cores.machine_threads = lambda: 4
        import in_threads, test_pool
        work = test_pool.Work()
        in_threads.wait_until(lambda: work.do(3) > 1)
        pool.pool()._close()
        assert pool.pool().serving == 0
        assert work.do(3) == 1
        print("fine")
        """
    here = Path(__file__).parent
    path = f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent / 'helpers')!r}]\n"
    code, out, errors = run_to_the_end(path + "if True:\n" + text)
    assert (code, out) == (0, "fine\n"), errors


@pytest.mark.parametrize(
    ("files", "membership", "quota"),
    [
        ({}, "0::/\n", float("inf")),
        ({"cpu.max": "max 100000\n"}, "0::/\n", float("inf")),
        ({"cpu.max": "200000 100000\n"}, "0::/\n", 2.0),
        ({"a/b/cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n"}, "0::/a/b\n", 1.5),
        ({"cpu.max": "50000 100000\n"}, "0::/not/seen/from/here\n", 0.5),
        ({"cpu,cpuacct/x/cpu.cfs_quota_us": "300000", "cpu,cpuacct/x/cpu.cfs_period_us": "100000"},
         "4:cpu,cpuacct:/x\n2:memory:/\n", 3.0),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "1:cpu:/\n", float("inf")),
    ],
)  # fmt: skip
def test_shares_of_cores(
    tmp_path: Path, files: dict[str, str], membership: str, quota: float
) -> None:
    write_groups(tmp_path, files, membership)
    assert groups.find_cores(tmp_path, tmp_path / "membership") == quota


def write_groups(folder: Path, files: dict[str, str], membership: str) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "membership").write_text(membership)


@pytest.mark.parametrize(
    ("files", "membership", "memory"),
    [
        ({}, "0::/\n", float("inf")),
        ({"memory.max": "max\n"}, "0::/\n", float("inf")),
        ({"a/memory.max": "536870912\n", "memory.max": "max\n"}, "0::/a\n", 1 << 29),
        ({"memory/x/memory.limit_in_bytes": "1073741824\n",
          "memory/memory.limit_in_bytes": "9223372036854771712\n"}, "4:cpu:/\n2:memory:/x\n", 1 << 30),
    ],
)  # fmt: skip
def test_shares_of_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    membership: str,
    memory: float,
) -> None:
    """What is queued, opened and kept goes by the container's memory, not by the machine's."""
    write_groups(tmp_path, files, membership)
    found = groups.find_memory(tmp_path, tmp_path / "membership")
    assert found == memory
    monkeypatch.setattr(host, "find_memory", lambda: found)
    assert host.physical_memory._make() == min(memory, host.physical_memory())


def test_a_container_with_half_a_core_gets_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DALA_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    for quota, threads in ((0.5, 1), (2.0, 2), (2.5, 3), (float("inf"), 64)):
        monkeypatch.setattr(cores, "find_cores", lambda quota=quota: quota)
        assert cores.machine_threads._make() == threads


def test_more_work_has_more_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helper k comes 10 + 2·(k - 1) µs after it was called; the last core is busy elsewhere."""
    pretend(monkeypatch, 16)
    arrivals = [10_000 + 2_000 * k for k in range(14)]
    measured = pool.Waking.__new__(pool.Waking)
    measured.arrivals, measured._due = [*arrivals, pool.LONGEST_WAKE_NS], math.inf
    monkeypatch.setattr(pool, "waking", lambda: measured)
    counts = [pool.useful_helpers(us * 1000.0) for us in (5, 15, 25, 60, 200, 1000)]
    assert counts == sorted(counts) and counts[0] == 0 and counts[2] >= 1 and counts[-1] == 14
    assert pool.useful_helpers(1e8) == 15
    pretend(monkeypatch, 1)
    assert pool.useful_helpers(1e9) == 0


def test_how_long_waking_takes_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 4)
    found = pool.waking._make().arrivals
    assert len(found) == 3 and found == sorted(found)
    assert all(0 < each <= pool.LONGEST_WAKE_NS for each in found)


def test_a_machine_that_was_busy_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """And runs that were cut for few threads then get more."""
    pretend(monkeypatch, 4)
    never = [pool.LONGEST_WAKE_NS] * 3
    answers = [never, never, [10_000, 11_000, 12_000]]
    monkeypatch.setattr(pool, "_measure_arrivals", lambda: answers.pop(0))
    monkeypatch.setattr(pool, "FIRST_PAUSE_S", 1e6)
    busy = pool.Waking()
    monkeypatch.setattr(pool, "waking", lambda: busy)
    image = np.random.default_rng(5).integers(0, 256, (480, 640, 4), np.uint8)
    with dala.use("cpu"):
        source, out = compute.from_array(image), compute.buffer_zeros(image.shape, "u8")
        pipeline = compute.pipeline()
        pipeline.add({"kernel": "median", "inputs": [source], "output": out})
        helpers: list[int] = []
        run_each = pool.Pool.run_each

        def note(self: pool.Pool, runs: Sequence[pool.Run]) -> None:
            helpers.extend(run[4] for run in runs)
            run_each(self, runs)

        monkeypatch.setattr(pool.Pool, "run_each", note)
        pipeline.run()
        first = out.read()
        assert not helpers
        for expected in ([], [3]):  # still busy, then not
            busy._due = 0.0  # time has passed
            pipeline.run()
            assert helpers == expected
        assert np.array_equal(out.read(), first)
        compute.free_many([source, out])
    assert busy._due == math.inf and busy.ask_again() is busy.arrivals  # a good answer stays


def test_passes_of_a_run_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 4)
    calls: list[int] = []
    image = np.random.default_rng(6).integers(0, 256, (400, 500, 4), np.uint8)
    chain = [("blur", {"radius": 3.0}), *(("rotate", {"degrees": 5.0 * n}) for n in (1, 2, 3))]
    one_by_one = image
    for step in chain:
        one_by_one = np.asarray(media.apply_filters(one_by_one, [step], device="cpu"))
    call = launch._call

    def count(*arguments: Any) -> None:
        calls.append(len(arguments[0]))
        call(*arguments)

    monkeypatch.setattr(launch, "_call", count)
    result = media.apply_filters(image, chain, device="cpu")
    assert len(calls) == 1 and calls[0] > 1
    assert np.array_equal(result, one_by_one)


def test_waking_is_measured_with_all_helpers() -> None:
    """However few threads are wanted when that is first asked for. Alone: others would use the cores.

    A single call may miss one that is just about to sleep: whoever measures asks several times.
    """
    text = """
        import dala
        from dala.backends.cpu.run import cores, pool
        cores.machine_threads = lambda: 4
        pool.LONGEST_WAKE_NS = 1_000_000_000
        with dala.use("cpu", threads=1):
            while max(pool.pool().measure_arrivals(3)) == pool.LONGEST_WAKE_NS:
                pass  # for ever if one is never called: then the test ends it
        print("fine")
        """
    code, out, errors = run_to_the_end(textwrap.dedent(text))
    assert (code, out) == (0, "fine\n"), errors
