"""A command that fails: who hears of it, what it spoils, what goes on."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from launches import PATIENCE_S, Launches, numbers, start

from dala import compute
from dala.compute import Buffer, Command, commands, running
from dala.compute.failures import RememberedFailures
from dala.errors import CommandError

pytestmark = pytest.mark.usefixtures("device", "registry")


class Broken(Exception):
    """What a driver might raise."""


def never(label: str, command: Command, what: str = "the driver fell over") -> str:
    return f"{label}: its input was never written: command {command.id} (exp) failed: {what}"


@pytest.fixture
def failing(launches: Launches) -> Launches:
    launches.fail("exp", Broken("the driver fell over"))
    return launches


def test_a_failure_reaches_whoever_asks(failing: Launches) -> None:
    a, b = numbers(1), numbers(7)
    command = start("exp", a, b)
    for ask in (command.wait, lambda: compute.wait(command), lambda: compute.wait(command.id)):
        with pytest.raises(Broken, match="the driver fell over"):
            ask()
    assert command.status == compute.poll(command) == compute.poll(command.id) == "failed"
    assert isinstance(command.error, Broken)

    async def main() -> None:
        await command

    with pytest.raises(Broken, match="the driver fell over"):
        asyncio.run(main())


def test_a_failure_of_a_blocking_call_is_raised_by_it(failing: Launches) -> None:
    a, b = numbers(1), numbers(7)
    with pytest.raises(Broken, match="the driver fell over"):
        compute.run_kernel("exp", [a], b)
    p = compute.pipeline().add({"kernel": "exp", "inputs": [a], "output": b})
    with pytest.raises(Broken, match="the driver fell over"):
        p.run()
    with pytest.raises(Broken, match="the driver fell over"):
        p.submit().wait()


def test_a_failed_number_outlives_its_command(failing: Launches) -> None:
    a, b = numbers(1), numbers(7)
    number = start("exp", a, b).id
    with pytest.raises(Broken):
        compute.wait(number)
    b.write([1])
    gc.collect()
    assert compute.poll(number) == "failed"
    with pytest.raises(Broken, match="the driver fell over"):
        compute.wait(number)


def test_failures_of_long_ago_are_not_called_a_success(
    failing: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = RememberedFailures(3)
    monkeypatch.setattr(running, "failures", few)
    monkeypatch.setattr(commands, "failures", few)
    a = numbers(1)
    ids = [start("exp", a, numbers(0)).id for _ in range(5)]
    compute.synchronize()
    assert [compute.poll(n) for n in ids[2:]] == ["failed"] * 3
    for ask in (compute.poll, compute.wait):
        with pytest.raises(CommandError) as caught:
            ask(ids[1])
        assert str(caught.value) == (f"command {ids[1]} is too long ago to tell what became of it")


def test_readers_of_what_was_never_written_fail_too(failing: Launches) -> None:
    a, b, c = numbers(1), numbers(7), numbers(8)
    broken = start("exp", a, b)
    with pytest.raises(Broken):
        broken.wait()
    with pytest.raises(CommandError) as caught:
        b.read()
    assert str(caught.value) == never("read", broken)
    dependant = start("relu", b, c)
    with pytest.raises(CommandError) as caught:
        dependant.wait()
    assert str(caught.value) == never("relu", broken)
    assert compute.poll(dependant) == "failed"
    with pytest.raises(CommandError):
        compute.run_kernel("relu", [b], c)


@pytest.mark.parametrize("how", ["wait", "await", "read", "id"])
def test_dependants_that_were_waiting_already_fail_too(failing: Launches, how: str) -> None:
    """The failure comes while they are queued: they must not run on what was never written."""
    a, b, c, d = numbers(1), numbers(7), numbers(8), numbers(9)
    failing.hold("exp")
    broken = start("exp", a, b)
    first = start("relu", b, c)
    second = start("abs", c, d)
    failing.let_go("exp")

    async def main() -> None:
        await second

    ask: dict[str, Callable[[], object]] = {
        "wait": second.wait,
        "await": lambda: asyncio.run(main()),
        "read": d.read,
        "id": lambda: compute.wait(second.id),
    }
    with pytest.raises(CommandError) as caught:
        ask[how]()
    assert str(caught.value) == never("read" if how == "read" else "abs", broken)
    assert [c.status for c in (broken, first, second)] == ["failed"] * 3
    assert failing.log == ["exp"]  # neither relu nor abs was launched


def test_the_first_cause_is_named_however_long_the_chain(failing: Launches) -> None:
    a, b = numbers(1), numbers(7)
    failing.hold("exp")
    broken = start("exp", a, b)
    chain = [start("relu", b, b) for _ in range(2000)]
    failing.let_go("exp")
    with pytest.raises(CommandError) as caught:
        chain[-1].wait(PATIENCE_S)
    assert str(caught.value) == never("relu", broken)
    assert {c.status for c in chain} == {"failed"}


def test_later_commands_still_run(failing: Launches) -> None:
    a, b, c = numbers(-4), numbers(7), numbers(8)
    broken = start("exp", a, b)
    other = start("abs", a, c)  # behind it on the same stream, but it reads nothing of it
    other.wait()
    assert broken.status == "failed"
    assert compute.read_list(c) == [4]
    assert compute.read_list(a) == [-4]


def test_a_good_write_repairs_a_buffer(failing: Launches) -> None:
    a, b, c = numbers(1), numbers(7), numbers(8)
    with pytest.raises(Broken):
        start("exp", a, b).wait()
    b.write([2])
    assert compute.read_list(b) == [2]
    with pytest.raises(Broken):
        start("exp", a, b).wait()
    start("relu", a, b).wait()
    assert compute.read_list(b) == [1]
    start("relu", b, c).wait()
    assert compute.read_list(c) == [1]
    failing.repair("exp")
    compute.run_kernel("exp", [a], b)
    assert compute.read_list(b) == pytest.approx([np.e])


def test_a_repair_that_is_queued_behind_the_failure(failing: Launches) -> None:
    a, b, c = numbers(-1), numbers(7), numbers(8)
    failing.hold("exp")
    broken = start("exp", a, b)
    start("abs", a, b)
    after = start("relu", b, c)
    failing.let_go("exp")
    after.wait(PATIENCE_S)
    assert broken.status == "failed"
    assert compute.read_list(b) == compute.read_list(c) == [1]


def test_a_failure_in_place_spoils_the_buffer(failing: Launches) -> None:
    a = numbers(1)
    with pytest.raises(Broken):
        start("exp", a, a).wait()
    with pytest.raises(CommandError, match="its input was never written"):
        a.read()


def test_synchronize_does_not_raise(failing: Launches) -> None:
    a, b = numbers(1), numbers(7)
    command = start("exp", a, b)
    compute.synchronize()
    assert command.status == "failed"


def test_a_failure_on_a_stream(failing: Launches) -> None:
    a, b, c = numbers(1), numbers(7), numbers(8)
    stream = compute.stream()
    stream.submit({"kernel": "exp", "inputs": [a], "output": b})
    with pytest.raises(Broken):
        stream.synchronize()
    stream.submit({"kernel": "relu", "inputs": [a], "output": c})
    stream.synchronize()
    assert compute.read_list(c) == [1]


def test_raising_does_not_change_what_is_remembered(failing: Launches) -> None:
    command = start("exp", numbers(1), numbers(7))
    for _ in range(3):
        with pytest.raises(Broken):
            command.wait()
    assert command.error is not None
    assert command.error.__traceback__ is None  # frames would keep alive what is in them
    assert "in before\n" in str(command.error.__cause__)  # the place is told as text


def test_a_failure_keeps_no_memory(failing: Launches) -> None:
    a, b = numbers(1), numbers(7)
    storages = [weakref.ref(x.storage()) for x in (a, b)]
    ids: list[int] = []

    def fail(source: Buffer, target: Buffer) -> None:
        for _ in range(3):
            command = start("exp", source, target)
            ids.append(command.id)
            with pytest.raises(Broken):
                command.wait()
            with pytest.raises(Broken):
                compute.run_kernel("exp", [source], target)

    gc.collect()
    gc.disable()
    try:
        fail(a, b)
        del a, b
        assert [s() for s in storages] == [None, None]
    finally:
        gc.enable()
    assert {compute.poll(n) for n in ids} == {"failed"}


def test_a_failure_while_another_is_handled(failing: Launches) -> None:
    """What the caller is dealing with is neither kept nor lost."""
    a, b = numbers(1), numbers(7)

    def handle() -> None:
        try:
            raise KeyError("of the caller")
        except KeyError:
            compute.run_kernel("exp", [a], b)

    with pytest.raises(Broken) as caught:
        handle()
    assert isinstance(caught.value.__context__, KeyError)
    assert b.writer is not None
    assert b.writer.error is not None
    assert b.writer.error.__context__ is None


def test_the_same_exception_again_and_again(failing: Launches) -> None:
    """A device may remember why it is lost and raise that each time."""
    a = numbers(1)
    for _ in range(3):
        with pytest.raises(Broken) as caught:
            compute.run_kernel("exp", [a], numbers(1))
        where = caught.value.__cause__
        assert where is not None
        assert where.__cause__ is None


def test_a_failure_with_a_cause(launches: Launches) -> None:
    error = Broken("outer")
    error.__cause__ = ValueError("inner")
    launches.fail("exp", error)
    with pytest.raises(Broken, match="outer") as caught:
        start("exp", numbers(1), numbers(1)).wait()
    assert isinstance(caught.value.__cause__, ValueError)
    assert "in before\n" in str(caught.value.__cause__.__cause__)


def test_an_exception_that_cannot_be_copied(launches: Launches) -> None:
    class Stubborn(Exception):
        def __init__(self, code: int, *, hint: str) -> None:
            super().__init__(f"{code}: {hint}")

    launches.fail("exp", Stubborn(3, hint="reboot"))
    command = start("exp", numbers(1), numbers(1))
    for _ in range(2):
        with pytest.raises(Stubborn, match="3: reboot"):
            command.wait()
