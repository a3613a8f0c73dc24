"""Times are exact, whatever they are written as."""

from __future__ import annotations

import math
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dala import scene
from dala.errors import ArgumentError, ParameterError
from dala.scene.times import exact, milliseconds, seconds_of, written


def test_what_a_caller_writes() -> None:
    assert exact(1_500_000) == Fraction(3, 2)  # whole numbers are microseconds
    assert exact(np.int64(250_000)) == Fraction(1, 4)
    assert exact(0.1) == Fraction(1, 10)  # a float is the decimal that it prints as
    assert exact(timedelta(milliseconds=40)) == Fraction(1, 25)
    assert exact(Fraction(1001, 30000)) == Fraction(1001, 30000)
    assert milliseconds(33.3, "d") == Fraction(333, 10_000)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e300, 10**30])
def test_impossible_times_are_refused(wrong: float) -> None:
    with pytest.raises(ParameterError, match="time"):
        exact(wrong)


@pytest.mark.parametrize("wrong", ["1", None, True, [1]])
def test_other_things_are_no_times(wrong: object) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        exact(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "time",
    [
        Fraction(0),
        Fraction(3),
        Fraction(1, 4),
        Fraction(1001, 30000),
        Fraction(1, 3),
        Fraction(-1, 7),
    ],
)
def test_a_time_in_a_file_reads_as_the_same_fraction(time: Fraction) -> None:
    assert seconds_of(written(time), "t") == time


@pytest.mark.parametrize("wrong", ["1/0", "a", "1//2", True, None, [1], 1e400])
def test_wrong_times_in_a_file(wrong: object) -> None:
    with pytest.raises((ArgumentError, ParameterError), match="t: expected"):
        seconds_of(wrong, "t")


@pytest.mark.parametrize("end", [4, -4, 999, np.int64(4)])
def test_so_few_microseconds_were_meant_as_seconds(end: int, tmp_path: Path) -> None:
    with scene.Scene(8, 8) as stage:
        bar = stage.add_shape(size=(4, 4))
        for plan in (
            lambda: stage.add_shape(end=end),
            lambda: stage.animate(bar, "opacity", to=0, at=end),
            lambda: stage.keyframes(bar, "opacity", {end: 0}),
            lambda: scene.export(stage, tmp_path / "out.mp4", end=end),
            lambda: scene.stream(stage, tmp_path / "out.m3u8", end=end),
        ):
            with pytest.raises(ParameterError, match=f"{end} seconds are {float(end)}"):
                plan()
        stage.add_shape(start=0, end=1000)


def test_times_that_are_asked_for_may_be_any() -> None:
    """A clock in microseconds begins somewhere."""
    with scene.Scene(8, 8) as stage:
        assert stage.render(4).time == Fraction(4, 1_000_000)
