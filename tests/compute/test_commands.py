"""Commands: polled, waited for and awaited; freed buffers, many threads, the end of the process."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest
from in_threads import in_threads
from launches import PATIENCE_S, Launches, numbers, start
from processes import environment

from dala import compute
from dala.compute import Command, commands, running
from dala.errors import CommandTimeoutError
from dala.threads import Runners

pytestmark = pytest.mark.usefixtures("device", "registry")


# -- one command -------------------------------------------------------------------------------


def test_pending_then_completed(launches: Launches) -> None:
    a, b = numbers(-1, 2), numbers(0, 0)
    launches.hold("relu")
    command = start("relu", a, b)
    launches.wait_until_started("relu")
    assert command.status == compute.poll(command) == compute.poll(command.id) == "pending"
    assert repr(command) == f"<dala command {command.id} relu: pending>"
    launches.let_go("relu")
    compute.wait(command.id, timeout=PATIENCE_S)
    assert command.status == compute.poll(command) == compute.poll(command.id) == "completed"
    assert command.error is None
    assert repr(command) == f"<dala command {command.id} relu: completed>"
    assert compute.read_list(b) == [0, 2]


def test_a_number_outlives_its_command() -> None:
    a, b = numbers(4), numbers(0)
    number = start("sqrt", a, b).id
    compute.wait(number)
    a.write([1])
    b.write([1])
    gc.collect()  # now nothing refers to the command
    assert compute.poll(number) == "completed"
    compute.wait(number, timeout=0)


def test_numbers_grow() -> None:
    a = numbers(1)
    ids = [start("relu", a, a).id for _ in range(20)]
    assert ids == sorted(set(ids))
    assert [int(start("relu", a, a)) > ids[-1]] == [True]


def test_waiting_twice_and_from_many_threads(launches: Launches) -> None:
    a = numbers(1)
    launches.hold("exp")
    command = start("exp", a, a)
    seen: list[str] = []

    def wait() -> None:
        command.wait(PATIENCE_S)
        seen.append(command.status)

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for t in threads:
        t.start()
    launches.let_go("exp")
    for t in threads:
        t.join(PATIENCE_S)
    command.wait()
    command.wait(0)
    assert seen == ["completed"] * 8


def test_wait_with_a_timeout(launches: Launches) -> None:
    a = numbers(1)
    launches.hold("exp")
    command = start("exp", a, a)
    for give_up in (lambda: command.wait(0.01), lambda: compute.wait(command.id, timeout=0.01)):
        with pytest.raises(CommandTimeoutError) as caught:
            give_up()
        assert str(caught.value) == f"command {command.id} (exp) is not done after 0.01 s"
    assert command.status == "pending"  # it goes on
    launches.let_go("exp")
    command.wait(float("inf"))
    assert command.status == "completed"


def test_labels(launches: Launches) -> None:
    a, b = numbers(1), numbers(1)
    spec = {"kernel": "relu", "inputs": [a], "output": b}
    p = compute.pipeline().add(spec).add({"op": "barrier"}).add(spec)
    assert p.submit().label == "relu → barrier → relu"
    assert p.add(spec).submit().label == "4 stages"
    copy = compute.submit({"op": "copy_buffer", "inputs": [a], "output": b})
    assert copy.label == "copy_buffer"
    assert compute.submit({"op": "barrier"}).label == "barrier"


# -- asyncio -----------------------------------------------------------------------------------


def test_await() -> None:
    a, b = numbers(4, 9), numbers(0, 0)

    async def main() -> None:
        assert await start("sqrt", a, b) is None  # type: ignore[func-returns-value]

    asyncio.run(main())
    assert compute.read_list(b) == [2, 3]


def test_await_of_what_is_done_already() -> None:
    a, b = numbers(4), numbers(0)
    command = start("sqrt", a, b)
    command.wait()

    async def main() -> list[None]:
        return [await command, await command]

    assert asyncio.run(main()) == [None, None]
    assert compute.read_list(b) == [2]


def test_several_at_once() -> None:
    sources = [numbers(float(n)) for n in range(1, 21)]
    targets = [numbers(0) for _ in sources]

    async def main() -> None:
        pairs = zip(sources, targets, strict=True)
        await asyncio.gather(*(start("scalar_mul", a, b, scalar=3) for a, b in pairs))

    asyncio.run(main())
    assert [compute.read_list(b)[0] for b in targets] == [3.0 * n for n in range(1, 21)]


def test_the_loop_goes_on_while_a_chain_runs(launches: Launches) -> None:
    """Submitting does not run anything, and whoever awaits it leaves the loop to others."""
    image = compute.from_array(np.full((270, 480, 4), 90, np.uint8))
    out = compute.buffer_zeros(image.shape, "u8")
    soft = compute.scratch(image.shape)
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [image], "output": soft, "params": {"radius": 4}})
    p.add({"kernel": "sharpen", "inputs": [soft], "output": out})
    launches.hold("sharpen")  # the last of one pass, or of two

    async def main() -> None:
        submitted = [p.submit() for _ in range(4)]
        waiting = [asyncio.create_task(_awaited(command)) for command in submitted]
        for _ in range(1000):
            await asyncio.sleep(0)
        launches.wait_until_started("sharpen")
        assert [command.status for command in submitted] == ["pending"] * 4
        assert not any(task.done() for task in waiting)
        launches.let_go("sharpen")
        await asyncio.gather(*waiting)

    asyncio.run(main())
    assert (out.read() == 90).all()


def test_cancelling_a_task_leaves_the_command(launches: Launches) -> None:
    a, b = numbers(-1), numbers(5)
    launches.hold("relu")

    async def main() -> Command:
        command = start("relu", a, b)

        async def waiting() -> None:
            await command

        task = asyncio.create_task(waiting())
        await asyncio.sleep(0)  # it has come to its await, as there is nothing before it
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert command.status == "pending"
        launches.let_go("relu")
        await command
        return command

    assert asyncio.run(main()).status == "completed"
    assert compute.read_list(b) == [0]


def test_a_deadline_in_asyncio(launches: Launches) -> None:
    a = numbers(1)
    launches.hold("exp")

    async def main() -> None:
        command = start("exp", a, a)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_awaited(command), 0.01)
        launches.let_go("exp")
        await asyncio.wait_for(_awaited(command), PATIENCE_S)

    asyncio.run(main())


async def _awaited(command: Command) -> None:
    await command


def test_a_loop_closed_before_the_command_is_done(launches: Launches) -> None:
    a = numbers(4)
    launches.hold("sqrt")
    command = start("sqrt", a, a)

    async def main() -> None:
        task = asyncio.create_task(_awaited(command))
        await asyncio.sleep(0)  # it has come to its await, as there is nothing before it
        task.cancel()

    asyncio.run(main())
    launches.let_go("sqrt")
    command.wait(PATIENCE_S)
    assert compute.read_list(a) == [2]


# -- freeing -----------------------------------------------------------------------------------


def test_free_while_in_flight(launches: Launches) -> None:
    a, b = numbers(16), numbers(0)
    launches.hold("sqrt")
    command = start("sqrt", a, b)
    after = start("relu", b, b)
    a.free()
    launches.let_go("sqrt")
    after.wait(PATIENCE_S)
    assert command.status == "completed"
    assert compute.read_list(b) == [4]


def test_free_of_the_output_while_in_flight(launches: Launches) -> None:
    a, b = numbers(16), numbers(0)
    launches.hold("sqrt")
    command = start("sqrt", a, b)
    b.free()
    launches.let_go("sqrt")
    command.wait(PATIENCE_S)
    assert command.status == "completed"


def test_a_command_holds_what_it_needs(launches: Launches) -> None:
    a, b = numbers(16), numbers(0)
    launches.hold("sqrt")
    storage = weakref.ref(a.storage())
    command = start("sqrt", a, b)
    del a
    assert storage() is not None
    launches.let_go("sqrt")
    command.wait(PATIENCE_S)
    assert compute.read_list(b) == [4]
    deadline = time.monotonic() + PATIENCE_S
    while storage() is not None and time.monotonic() < deadline:
        time.sleep(0.001)  # the runner is just leaving the call
    assert storage() is None


# -- threads -----------------------------------------------------------------------------------


def test_sixteen_threads_with_their_own_buffers() -> None:
    results: dict[int, list[float]] = {}

    def work(n: int) -> None:
        a = compute.buffer(np.full(1000, n, np.float32))
        b = compute.buffer_zeros((1000,))
        for k in range(20):
            command = compute.submit(
                {"kernel": "scalar_mul", "inputs": [a], "output": b, "params": {"scalar": k}}
            )
            if k % 3 == 0:
                command.wait(PATIENCE_S)
        results[n] = sorted(set(b.read().tolist()))

    in_threads(16, work)
    assert results == {n: [19.0 * n] for n in range(16)}


def test_sixteen_threads_with_one_buffer() -> None:
    total = numbers(0)
    spec = {"kernel": "scalar_add", "inputs": [total], "output": total, "params": {"scalar": 1}}

    def work(n: int) -> None:
        stream = compute.stream() if n % 2 else None
        for _ in range(25):
            if stream is None:
                compute.submit(spec)
            else:
                stream.submit(spec)
        if n % 4 == 0:
            total.read()

    in_threads(16, work)
    assert compute.read_list(total) == [400]


def test_sixteen_threads_compile_one_kernel() -> None:
    compute.register("threaded", "def threaded(a, k: float = 2.0): return a * k + 0.125")
    outs: list[list[float]] = []

    def work(n: int) -> None:
        a, b = numbers(float(n)), numbers(0)
        compute.run_kernel("threaded", [a], b)
        outs.append(compute.read_list(b))

    in_threads(16, work)
    assert sorted(outs) == [[2.0 * n + 0.125] for n in range(16)]


def test_sixteen_threads_share_a_pipeline() -> None:
    shape = (40, 30, 4)
    first, last = compute.buffer_zeros(shape, "u8"), compute.buffer_zeros(shape, "u8")
    soft = compute.scratch(shape)
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [first], "output": soft, "params": {"radius": 2}})
    p.add({"kernel": "invert", "inputs": [soft], "output": last})

    def work(n: int) -> None:
        a = compute.from_array(np.full(shape, n, np.uint8))
        b = compute.buffer_zeros(shape, "u8")
        for _ in range(5):
            p.run(buffers={first: a, last: b})
        expected = np.full(shape, 255 - n, np.uint8)
        expected[..., 3] = n
        np.testing.assert_array_equal(b.read(), expected)

    in_threads(16, work)


def test_without_threads_commands_run_where_they_are_submitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    fewer = Runners("few", 2)
    monkeypatch.setattr(running, "_runners", lambda: fewer)
    a = numbers(16)
    chain = [start("sqrt", a, a) for _ in range(2)]
    assert [c.status for c in chain] == ["completed"] * 2
    assert compute.read_list(a) == [2]


# -- the end of the process, and its children --------------------------------------------------


def test_commands_finish_when_the_interpreter_leaves(device: str) -> None:
    """A chain that is under way at exit is finished, and a read in an exit handler sees it."""
    out = run_python(
        f"""
        import atexit
        import dala
        from dala import compute
        dala.use({device!r})
        a = compute.buffer([0.0])
        spec = {{"kernel": "scalar_add", "inputs": [a], "output": a, "params": {{"scalar": 1}}}}
        atexit.register(lambda: print(compute.read_list(a)))
        for _ in range(3000):
            compute.submit(spec)
        """
    )
    assert out == "[3000.0]\n"


def test_a_forked_child_can_submit(device: str) -> None:
    if device == "webgpu":
        pytest.skip("a GPU's driver does not survive a fork: see tests/webgpu/test_failures.py")
    out = run_python(
        f"""
        import os, warnings
        warnings.simplefilter("ignore")  # later Pythons warn of forks beside threads
        import dala
        from dala import compute
        if not hasattr(os, "fork"):
            print("ok")
            raise SystemExit
        dala.use({device!r})
        a = compute.buffer([4.0])
        compute.run_kernel_async("sqrt", [a], a).wait()
        child = os.fork()
        if child == 0:
            compute.run_kernel_async("sqrt", [a], a).wait(300)
            os._exit(0 if abs(compute.read_list(a)[0] - 2 ** 0.5) < 1e-6 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert compute.read_list(a) == [2.0]
        print("ok")
        """
    )
    assert out == "ok\n"


def test_ctrl_c_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It falls into what brings an interrupted command to its end, too; who waits behind that is told."""
    me, finish = threading.get_ident(), Command._finish

    def interrupted(command: Command) -> None:
        if threading.get_ident() == me:
            raise KeyboardInterrupt
        finish(command)

    a, behind = compute.buffer([-1.0, 2.0]), list[Command]()

    def somebody_else() -> None:
        behind.append(compute.run_kernel_async("relu", [a], a))

    def run() -> None:
        thread = threading.Thread(target=somebody_else)
        thread.start()
        thread.join()

    monkeypatch.setattr(Command, "_finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        commands.submit_command("first", run, [a], [0], [0], stream=None, inline=True)
    behind[0].wait(60)
    monkeypatch.undo()
    assert a.read().tolist() == [0.0, 2.0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("moment", ["small kernels", "large kernels"])
def test_ctrl_c_at_any_moment(device: str, moment: str) -> None:
    """Whatever a signal handler's exception cuts short, nothing crashes, nothing waits forever."""
    shape = (1, 1, 4) if moment == "small kernels" else (600, 800, 4)
    if device != "cpu" and moment == "large kernels":  # or it takes long
        shape = (60, 80, 4)
    out = run_python(
        f"""
        import numpy as np
        import dala
        from dala import compute
        from interrupting import interrupt_often

        dala.use({device!r})
        shape = {shape}
        image = np.full(shape, 100, np.uint8)

        def work(target):
            source = compute.from_array(image)
            compute.run_kernel("blur", [source], target, {{"radius": 5}})
            compute.run_kernel_async("invert", [target], target)
            target.read()

        def check():
            target = compute.buffer_zeros(shape, "u8")
            compute.run_kernel_async("generate_gradient", [], target).wait(300)
            work(target)
            assert target.read()[0, 0].tolist() == [155, 155, 155, 100]
            compute.synchronize()

        check()
        interrupt_often(50, lambda: work(compute.buffer_zeros(shape, "u8")), check,
                        dala.errors.CommandError)
        print("fine")
        """
    )
    assert out == "fine\n"


def run_python(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
