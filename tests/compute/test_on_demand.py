"""Commands that are not begun before somebody asks for them."""

from __future__ import annotations

import asyncio
import threading

import pytest
from in_threads import PATIENCE_S

from dala import compute
from dala.compute import Command
from dala.compute.commands import command_on_demand
from dala.errors import CommandError


def test_on_demand_nothing_happens_before_somebody_asks() -> None:
    ran: list[str] = []

    def work() -> None:
        ran.append(threading.current_thread().name)

    command = command_on_demand("later", work)
    other = command_on_demand("meanwhile", lambda: None)
    assert other.status in ("pending", "completed")  # that one is asked about, and so it is done
    other.wait()
    assert ran == []
    command.wait()
    assert ran == [threading.current_thread().name]  # whoever waits does it
    for ask in (
        lambda c: c.status,
        lambda c: c.wait(timeout=PATIENCE_S),
        lambda c: asyncio.run(as_coroutine(c)),
        lambda c: compute.poll(c.id),
    ):
        command = command_on_demand("later", work)
        ask(command)
        command.wait()
        assert command.status == "completed"
        assert ran.pop() != threading.current_thread().name  # others have it done


async def as_coroutine(command: Command) -> None:
    await command


def test_on_demand_by_many_threads_it_runs_once() -> None:
    for _ in range(50):
        ran: list[int] = []
        command = command_on_demand("later", lambda ran=ran: ran.append(1))  # type: ignore[misc]
        threads = [threading.Thread(target=command.wait) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert ran == [1] and command.status == "completed"


def test_on_demand_a_failure_reaches_whoever_waits() -> None:
    def fail() -> None:
        raise CommandError("no")

    command = command_on_demand("later", fail)
    for _ in range(2):
        with pytest.raises(CommandError, match="no"):
            command.wait()
    compute.synchronize()  # and nothing is left under way
