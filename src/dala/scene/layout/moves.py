"""Members that come and go: the others move to their new cells, wherever they are at that moment.

At every coming or going the members are arranged anew, and each moves from where it is to its new cell.
Where it is then follows from the coming or going before: so the place at a time needs the times of all of
them and nothing else. A pause as long as a move forgets what was before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dala.scene.animation.easing import Easing
from dala.scene.layout.arrange import Cell, Member, Rule, arrange

SMALLEST = 0.6  # of its cell: how a member begins


@dataclass(frozen=True)
class Guest:
    """A member, and when it is there."""

    member: Member
    start: Fraction | None
    end: Fraction | None

    def is_there(self, time: Fraction | None) -> bool:
        """At a time; None is before everything."""
        begins = self.start if self.start is not None and self.start > 0 else None
        if time is None:
            return begins is None and not (self.end is not None and self.end <= 0)
        return (begins is None or begins <= time) and (self.end is None or time < self.end)


@dataclass(frozen=True)
class Placed:
    """Where a member is, and how much of it is there yet."""

    cell: Cell
    presence: float = 1.0


def places_at(
    rule: Rule, guests: Sequence[Guest], move: Fraction, easing: Easing, time: Fraction
) -> tuple[dict[int, Placed], Fraction | None]:
    """The place of every member that is there, and until when it stays (``time`` itself: it moves)."""
    events = sorted(
        {t for guest in guests for t in (guest.start, guest.end) if t is not None and t > 0}
    )
    past = [t for t in events if t <= time]
    coming = next((t for t in events if t > time), None)
    first = len(past)  # the first of those that follow each other without a pause
    while first and (time if first == len(past) else past[first]) - past[first - 1] < move:
        first -= 1
    before = past[first - 1] if first else None
    there = {n: Placed(cell) for n, cell in _cells(rule, guests, before).items()}
    if first == len(past):
        return there, coming
    begin, origin, target = past[first], there, there
    for moment in past[first:]:
        now = _between(origin, target, _part(begin, moment, move, easing))
        cells = _cells(rule, guests, moment)
        origin = {n: now.get(n) or Placed(_small(cell), 0.0) for n, cell in cells.items()}
        target = {n: Placed(cell) for n, cell in cells.items()}
        begin = moment
    return _between(origin, target, _part(begin, time, move, easing)), time


def _cells(rule: Rule, guests: Sequence[Guest], time: Fraction | None) -> dict[int, Cell]:
    return arrange(rule, [guest.member for guest in guests if guest.is_there(time)])


def _part(begin: Fraction, now: Fraction, move: Fraction, easing: Easing) -> float:
    return 1.0 if move == 0 else easing(float((now - begin) / move))


def _between(
    origin: dict[int, Placed], target: dict[int, Placed], part: float
) -> dict[int, Placed]:
    found = {}
    for number, there in target.items():
        here = origin.get(number, there)
        x, y, w, h = (a + (b - a) * part for a, b in zip(here.cell, there.cell, strict=True))
        presence = here.presence + (there.presence - here.presence) * part
        found[number] = Placed((x, y, max(w, 0.0), max(h, 0.0)), min(max(presence, 0.0), 1.0))
    return found


def _small(cell: Cell) -> Cell:
    x, y, w, h = cell
    return (x + w * (1 - SMALLEST) / 2, y + h * (1 - SMALLEST) / 2, w * SMALLEST, h * SMALLEST)
