"""Whoever submits faster than a device works has to wait; nothing is dropped, nobody waits for himself."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from launches import PATIENCE_S, Launches, numbers, start

from dala import compute
from dala.compute import Command, commands

pytestmark = pytest.mark.usefixtures("on_cpu")


def submitted(run: Callable[[], object]) -> Command:
    return commands.submit_command("test", run, [], (), (), stream=None, inline=False)


def test_the_queue_has_a_limit(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    full, wait_for_room = threading.Event(), commands._wait_for_room
    found: list[int] = []
    queued: list[Command] = []

    def wait() -> None:
        full.set()
        wait_for_room()
        found.append(len(commands.pending))

    compute.synchronize()
    monkeypatch.setattr(commands, "QUEUED", 8)
    monkeypatch.setattr(commands, "_wait_for_room", wait)
    a, one = numbers(0), numbers(1)
    launches.hold("elementwise_add")

    def fill() -> None:
        for _ in range(50):
            queued.append(compute.run_kernel_async("elementwise_add", [a, one], a))

    filling = threading.Thread(target=fill)
    filling.start()
    assert full.wait(PATIENCE_S)
    assert len(queued) == len(commands.pending) == 8  # the ninth waits
    launches.let_go("elementwise_add")
    filling.join(PATIENCE_S)
    for command in queued:
        command.wait(PATIENCE_S)
    assert compute.read_list(a) == [50]
    assert max(found) < 8  # there was room whenever one went on


def test_buffers_that_nobody_else_holds_fill_memory(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of commands may each keep an image; those on the same ones keep no more than one does."""
    full, wait_for_room = threading.Event(), commands._wait_for_room

    def wait() -> None:
        if commands._held() > 40:
            full.set()
        wait_for_room()

    compute.synchronize()
    monkeypatch.setattr(commands, "_memory", lambda: 40)
    monkeypatch.setattr(commands, "_wait_for_room", wait)
    a, one = numbers(0), numbers(1)
    launches.hold("elementwise_add")
    same = [compute.run_kernel_async("elementwise_add", [a, one], a) for _ in range(50)]
    assert not full.is_set()
    alone: list[Command] = []

    def fill() -> None:
        for _ in range(50):
            alone.append(compute.run_kernel_async("elementwise_add", [numbers(1), one], numbers(2)))

    filling = threading.Thread(target=fill)
    filling.start()
    assert full.wait(PATIENCE_S)
    assert len(alone) <= 5  # of 8 bytes each, beside those before
    assert commands._held() <= 40 + 8
    launches.let_go("elementwise_add")
    filling.join(PATIENCE_S)
    for command in (*same, *alone):
        command.wait(PATIENCE_S)
    assert compute.read_list(a) == [50]
    assert not commands.holders


def test_a_command_larger_than_that_is_done_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    compute.synchronize()
    monkeypatch.setattr(commands, "_memory", lambda: 3)
    a, one = numbers(0), numbers(1)
    for _ in range(9):
        compute.run_kernel_async("elementwise_add", [a, one], a)
        assert len(commands.pending) <= 1
    assert compute.read_list(a) == [9]


def test_commands_that_submit_others_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue may be waiting for them."""
    compute.synchronize()
    monkeypatch.setattr(commands, "QUEUED", 4)
    inner: list[Command] = []
    again: list[Command] = []
    known, told = threading.Event(), threading.Event()

    def work() -> None:
        assert known.wait(PATIENCE_S)
        inner.extend(submitted(lambda: None) for _ in range(20))

    def tell() -> None:  # when it is done, on the queue's own thread
        again.extend(submitted(lambda: None) for _ in range(20))
        told.set()

    outer = submitted(work)
    outer._when_done(tell)
    known.set()
    outer.wait(PATIENCE_S)
    assert told.wait(PATIENCE_S)
    for command in (*inner, *again):
        command.wait(PATIENCE_S)
    assert (len(inner), len(again)) == (20, 20)


def test_work_on_demand_fills_no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may ever ask for it."""
    compute.synchronize()
    monkeypatch.setattr(commands, "QUEUED", 4)
    waiting = [commands.command_on_demand("later", lambda: None) for _ in range(8)]
    a = numbers(4)
    start("sqrt", a, a).wait(PATIENCE_S)
    assert compute.read_list(a) == [2]
    for command in waiting:
        command.wait(PATIENCE_S)
