"""Rows, columns, grids and tiles; members that come and go."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dala import scene
from dala.scene import Scene
from dala.scene.animation.easing import EASINGS
from dala.scene.layout.arrange import Member, Rule, arrange
from dala.scene.layout.moves import Guest, places_at


def members(count: int) -> list[Member]:
    return [Member(n, (10.0, 10.0)) for n in range(count)]


def test_rows_and_columns_share_by_weight() -> None:
    rule = Rule("row", 320, 100, gap=10, padding=5)
    assert arrange(rule, members(3)) == {
        0: (5.0, 5.0, pytest.approx(96.67, abs=0.01), 90.0),
        1: (pytest.approx(111.67, abs=0.01), 5.0, pytest.approx(96.67, abs=0.01), 90.0),
        2: (pytest.approx(218.33, abs=0.01), 5.0, pytest.approx(96.67, abs=0.01), 90.0),
    }
    own = [Member(0, (10, 20), weight=0), Member(1, (0, 0), weight=2), Member(2, (0, 0), weight=1)]
    assert arrange(Rule("column", 100, 110), own) == {
        0: (0.0, 0.0, 100.0, 20.0), 1: (0.0, 20.0, 100.0, 60.0), 2: (0.0, 80.0, 100.0, 30.0),
    }  # fmt: skip


def test_grids_and_tiles() -> None:
    nine = arrange(Rule("grid", 320, 200, gap=10), members(9))
    assert nine[0] == (0.0, 0.0, 100.0, 60.0) and nine[8] == (220.0, 140.0, 100.0, 60.0)
    assert arrange(Rule("grid", 100, 100, columns=1), members(2))[1] == (0.0, 50.0, 100.0, 50.0)
    five = arrange(Rule("tiles", 1920, 1080, aspect=16 / 9), members(5))
    assert {cell[2:] for cell in five.values()} == {(640.0, 360.0)}
    assert five[3][0] == 320.0  # the last row stands in the middle
    assert arrange(Rule("tiles", 1920, 1080), []) == {}
    tiny = arrange(Rule("tiles", 10, 10, gap=50), members(7))
    assert all(w >= 0 and h >= 0 for _, _, w, h in tiny.values())


def test_members_make_room_and_close_the_gap() -> None:
    rule = Rule("row", 100, 10)
    guests = [
        Guest(Member(1, (0, 0)), None, None),
        Guest(Member(2, (0, 0)), Fraction(1), Fraction(3)),
    ]

    def cells(time: Fraction) -> dict[int, tuple[float, float]]:
        places, _ = places_at(rule, guests, Fraction(1), EASINGS["linear"], time)
        return {n: (place.cell[0], place.cell[2]) for n, place in places.items()}

    assert cells(Fraction(0)) == {1: (0.0, 100.0)}
    assert cells(Fraction(1))[1] == (0.0, 100.0)
    assert cells(Fraction(3, 2))[1] == (0.0, 75.0)
    assert cells(Fraction(2)) == {1: (0.0, 50.0), 2: (50.0, 50.0)}
    assert cells(Fraction(7, 2)) == {1: (0.0, 75.0)}
    assert cells(Fraction(9)) == {1: (0.0, 100.0)}


def test_a_move_that_is_interrupted_goes_on_from_where_it_is() -> None:
    rule = Rule("row", 100, 10)
    guests = [
        Guest(Member(1, (0, 0)), None, None),
        Guest(Member(2, (0, 0)), Fraction(1), Fraction(3, 2)),
    ]
    places, until = places_at(rule, guests, Fraction(1), EASINGS["linear"], Fraction(3, 2))
    assert places[1].cell[2] == 75.0 and until == Fraction(
        3, 2
    )  # half of its way to 50, and back from there
    places, _ = places_at(rule, guests, Fraction(1), EASINGS["linear"], Fraction(2))
    assert places[1].cell[2] == 87.5
    assert places_at(rule, guests, Fraction(1), EASINGS["linear"], Fraction(5))[1] is None


def left_edge(stage: Scene, color: tuple[int, ...], time: float | None = None) -> int:
    shown = stage.render(time).to_array()
    return int((shown[5] == (*color, 255)).all(-1).argmax())


def test_live_members_come_and_go_smoothly() -> None:
    """While a scene runs on its clock, a member that is added makes the others move from then on."""
    clock = scene.Clock("manual")
    stage = Scene(100, 10, clock=clock)
    row = stage.add_row(move_ms=1000, easing="linear")
    stage.add_shape(fill="red", parent=row)
    blue = stage.add_shape(fill="blue", parent=row)
    clock.advance(1.0)
    assert left_edge(stage, (0, 0, 255)) == 50
    lime = stage.add_shape(fill="lime", parent=row)
    assert stage.node(lime).start == 1
    clock.advance(0.5)
    assert left_edge(stage, (0, 0, 255)) in (41, 42)  # halfway to 33 1/3
    clock.advance(1.5)
    assert left_edge(stage, (0, 0, 255)) in (33, 34)
    stage.remove_node(lime)
    clock.advance(0.5)
    assert left_edge(stage, (0, 0, 255)) in (41, 42)
    clock.advance(0.5)
    assert left_edge(stage, (0, 0, 255)) == 50
    assert stage.node(blue).start is None


def test_members_keep_their_size_when_asked_to() -> None:
    stage = Scene(100, 40)
    row = stage.add_row(align="center")
    stage.add_shape(fill="red", parent=row, size=(10, 10))
    shown = stage.render(0.0).to_array()[..., 3] > 0
    assert shown.sum() == 100 and shown[15:25, 45:55].all()
