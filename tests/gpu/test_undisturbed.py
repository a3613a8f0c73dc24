"""Sections in which no signal's handler runs and nothing is closed: behind them, everything happens."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from dala.gpu.undisturbed import SIGNALS, Undisturbed


@pytest.fixture
def came() -> Iterator[list[str]]:
    """What happened; a Ctrl-C is noted there."""
    happened: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: happened.append("signal"))
    yield happened
    signal.signal(signal.SIGINT, before)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in SIGNALS]


def test_closings_then_users_functions_then_signals(came: list[str]) -> None:
    section, before = Undisturbed(), handlers()
    with section:
        signal.raise_signal(signal.SIGINT)
        section.behind(lambda: came.append("function"))
        with section:
            section.at_the_end(lambda: came.append("closing"))
            signal.raise_signal(signal.SIGINT)
        came.append("left the inner one")
    assert came == ["left the inner one", "closing", "function", "signal"]
    assert handlers() == before


def test_outside_everything_happens_at_once(came: list[str]) -> None:
    section = Undisturbed()
    section.at_the_end(lambda: came.append("closing"))
    section.behind(lambda: came.append("function"))
    signal.raise_signal(signal.SIGINT)
    assert came == ["closing", "function", "signal"]
    assert not section.entered


def test_nothing_is_left_out_when_something_raises(came: list[str]) -> None:
    section, before = Undisturbed(), handlers()

    def fail() -> None:
        came.append("closing")
        raise ValueError("no")

    def work() -> None:
        with section:
            section.at_the_end(fail)
            section.behind(lambda: came.append("function"))
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(ValueError, match="no"):
        work()
    assert came == ["closing", "function", "signal"]
    assert not section.entered
    assert handlers() == before


def test_an_interrupt_is_raised_behind_the_section() -> None:
    section, reached = Undisturbed(), []

    def work() -> None:
        with section:
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached == ["the end"]
    assert not section.entered


def test_an_interrupt_on_the_way_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is inside then, and all handlers are as they were."""
    section, before = Undisturbed(), handlers()

    def interrupted(_number: int) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(signal, "getsignal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        section.__enter__()
    monkeypatch.undo()
    assert not section.entered
    assert handlers() == before


def test_other_threads_have_sections_of_their_own() -> None:
    section, happened = Undisturbed(), []

    def elsewhere() -> None:
        assert not section.entered
        with section:
            section.behind(lambda: happened.append("there"))

    with section:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join(300)
        assert happened == ["there"]
