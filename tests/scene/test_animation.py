"""Easings, tracks, and what they make of properties."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dala import scene
from dala.errors import ParameterError
from dala.scene.animation.easing import EASINGS, cubic_bezier, read_easing
from dala.scene.animation.mixing import mix
from dala.scene.animation.track import Key, Track


@pytest.mark.parametrize(
    "name", [*EASINGS, "steps(3)", "cubic_bezier(0, 1, 1, 0)", "spring(80, 8, 2)"]
)
def test_every_easing_begins_and_ends(name: str) -> None:
    easing = read_easing(name)
    assert (easing(0.0), easing(1.0)) == (0.0, 1.0)
    assert abs(easing(1e-9)) < 0.01
    assert abs(easing(1 - 1e-9) - 1) < 0.02 or name.startswith("steps")
    assert read_easing(easing.name)(0.37) == easing(0.37)  # its name says all


def test_curves_of_css() -> None:
    assert cubic_bezier(0, 0, 1, 1)(0.3) == pytest.approx(0.3, abs=1e-9)
    assert EASINGS["ease_in_out"](0.5) == pytest.approx(0.5, abs=1e-9)
    assert EASINGS["ease_in"](0.5) == pytest.approx(0.3154, abs=1e-4)
    assert EASINGS["ease_out"](0.5) == pytest.approx(0.6846, abs=1e-4)
    assert max(EASINGS["spring"](n / 50) for n in range(50)) > 1.1  # beyond, and back
    assert max(EASINGS["bounce"](n / 50) for n in range(50)) <= 1.0


@pytest.mark.parametrize(
    "wrong",
    ["easy", "steps(0)", "steps(2, 3)", "steps(1.5)", "cubic_bezier(2, 0, 1, 1)", "spring(nan)", 3],
)
def test_wrong_easings(wrong: object) -> None:
    with pytest.raises((ParameterError, TypeError)):
        read_easing(wrong)


def test_what_is_mixed_how() -> None:
    assert mix("number", 1.0, 3.0, 0.25) == 1.5
    assert mix("numbers", (0.0, 0.0), (10.0, 20.0), 0.5) == (5.0, 10.0)
    assert mix("color", (255, 0, 0, 255), (0, 0, 255, 255), 0.5) == (128, 0, 128, 255)
    assert mix("color", (0, 0, 0, 0), (255, 0, 0, 255), 0.5) == (255, 0, 0, 128)
    assert [mix("switch", "a", "b", part) for part in (0.49, 0.5)] == ["a", "b"]


def at(stage: scene.Scene, node: int, name: str, time: float) -> object:
    description = stage.describe()
    return description.value(description.nodes[node], name, scene.times.exact(time))


def test_an_animation_goes_and_stays() -> None:
    stage = scene.Scene(100, 100)
    bar = stage.add_shape()
    stage.animate(
        bar, "opacity", from_=0.2, to=0.8, duration_ms=1000, easing="linear", delay_ms=500
    )
    seen = [at(stage, bar, "opacity", t) for t in (0.0, 0.49, 0.5, 1.0, 1.5, 9.0)]
    assert seen == [1.0, 1.0, 0.2, pytest.approx(0.5), 0.8, 0.8]


def test_repeats_and_alternates() -> None:
    stage = scene.Scene(100, 100)
    bar = stage.add_shape()
    stage.animate(bar, "rotation", 0, 90, 1000, "linear", repeat=3, alternate=True)
    assert [at(stage, bar, "rotation", t) for t in (0.25, 1.25, 2.25, 3.0, 8.0)] == [
        22.5,
        67.5,
        22.5,
        90,
        90,
    ]
    stage.animate(bar, "rotation", 0, 10, 100, "linear", repeat="forever", at=10.0)
    assert at(stage, bar, "rotation", 1000.025) == pytest.approx(2.5)


def test_the_next_one_begins_where_the_last_one_is() -> None:
    stage = scene.Scene(100, 100)
    bar = stage.add_shape()
    stage.animate(bar, "position", to=(100, 0), duration_ms=1000, easing="linear")
    stage.animate(bar, "position", to=(50, 50), duration_ms=1000, easing="linear", at=0.5)
    assert at(stage, bar, "position", 0.5) == (50.0, 0.0)
    assert at(stage, bar, "position", 1.0) == (50.0, 25.0)
    assert at(stage, bar, "position", 2.0) == (50.0, 50.0)


def test_thousands_in_a_row() -> None:
    stage = scene.Scene(100, 100)
    bar = stage.add_shape()
    for n in range(3000):  # each begins where the one before it is: no recursion as deep as that
        stage.animate(bar, "position.x", to=n, duration_ms=10, easing="linear", at=n * 10_000)
    assert at(stage, bar, "position", 29.995) == (2998.5, 0.0)


def test_keyframes_of_colours_and_words() -> None:
    stage = scene.Scene(100, 100)
    title = stage.add_text("a")
    stage.keyframes(title, "color", {1.0: "red", 2.0: "blue"})
    stage.keyframes(title, "text", {1_000_000: "one", 2_000_000: "two"})
    assert at(stage, title, "color", 0.5) == (255, 255, 255, 255)
    assert at(stage, title, "color", 1.5) == (128, 0, 128, 255)
    assert [at(stage, title, "text", t) for t in (0.9, 1.4, 1.6)] == ["a", "one", "two"]


def test_cancelled_it_stays_where_it_is() -> None:
    stage = scene.Scene(100, 100)
    bar = stage.add_shape()
    moving = stage.animate(bar, "opacity", 0, 1, 1000, "linear")
    stage.cancel(moving, at=0.25)
    assert [at(stage, bar, "opacity", t) for t in (0.1, 0.25, 5.0)] == [0.1, 0.25, 0.25]
    later = stage.animate(bar, "opacity", to=0, at=2.0)
    stage.cancel(later, at=1.0)  # before it began: it never was
    assert at(stage, bar, "opacity", 5.0) == 0.25
    stage.animate(bar, "rotation", to=90, duration_ms=1000, easing="linear", at=3.0)
    stage.cancel_all(bar, at=3.5)
    assert at(stage, bar, "rotation", 9.0) == 45.0


def test_parameters_of_effects_move() -> None:
    stage = scene.Scene(20, 20, background="gray")
    bright = stage.add_effect("brightness", value=0.0)
    stage.animate(bright, "value", to=0.5, duration_ms=1000, easing="linear")
    levels = [int(stage.render(t).to_array()[0, 0, 0]) for t in (0.0, 0.5, 1.0)]
    assert levels[0] == 128 and abs(levels[1] - 192) <= 1 and levels[2] == 255


def test_springs_stay_within_what_a_property_takes() -> None:
    stage = scene.Scene(20, 20)
    bar = stage.add_shape()
    stage.animate(bar, "opacity", 0, 1, 1000, "spring")
    assert max(at(stage, bar, "opacity", n / 50) for n in range(50)) == 1.0  # type: ignore[type-var]
    stage.animate(bar, "z_index", 0, 10, 1000, "spring")
    assert all(isinstance(at(stage, bar, "z_index", n / 50), int) for n in range(50))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("positon", "did you mean 'position'"),
        ("start", "says where or when"),
        ("position.z", "has no property"),
    ],
)
def test_what_cannot_be_animated(name: str, says: str) -> None:
    stage = scene.Scene(20, 20)
    with pytest.raises(ParameterError, match=says):
        stage.animate(stage.add_shape(), name, to=1)


def test_wrong_values_change_nothing() -> None:
    stage = scene.Scene(20, 20)
    bar = stage.add_shape()
    for wrong in ({"to": 2}, {"to": "a"}, {}, {"to": 1, "duration_ms": -1}, {"to": 1, "repeat": 0}):
        with pytest.raises((ParameterError, TypeError)):
            stage.animate(bar, "opacity", **wrong)  # type: ignore[arg-type]
    assert len(stage.nodes()) == 1


def test_the_end_of_an_animation_is_exact() -> None:
    stage = scene.Scene(20, 20)
    bar = stage.add_shape(start=Fraction(1, 3), end=Fraction(2, 3))
    third = Fraction(1, 3)
    times = (Fraction(333, 1000), third, 2 * third - Fraction(1, 10**9), 2 * third)
    assert [bool(stage.render(t).to_array().any()) for t in times] == [False, True, True, False]
    assert stage.duration == Fraction(2, 3)
    stage.animate(bar, "opacity", to=0, duration_ms=100, at=1.0)
    assert stage.duration == Fraction(11, 10)


@given(
    st.fractions(-9, 9, max_denominator=40), st.fractions(Fraction(1, 40), 9, max_denominator=40),
    st.sampled_from([None, 1, 2, 3]), st.booleans(), st.fractions(0, 40, max_denominator=90),
)  # fmt: skip
def test_two_keys_are_as_exact_as_many(
    begin: Fraction, length: Fraction, repeat: int | None, alternate: bool, since: Fraction
) -> None:
    linear = EASINGS["linear"]
    ends = Key(Fraction(0), 0.0, linear), Key(length, 1.0, linear)
    quick = Track(begin, ends, repeat, alternate)
    usual = Track(begin, (ends[0], ends[0], ends[1]), repeat, alternate)
    for time in (begin + since, begin + length, begin + 2 * length):
        assert quick.value(time, "number", 0.0) == usual.value(time, "number", 0.0)
