"""Where the members of a layout stand when nothing moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = tuple[float, float, float, float]  # x, y, width, height


@dataclass(frozen=True)
class Rule:
    """How a layout fills its box."""

    way: str  # row, column, grid, tiles
    width: float
    height: float
    gap: float = 0.0
    padding: float = 0.0
    columns: int = 0  # of a grid; 0: as many as rows
    aspect: float = 16 / 9  # of tiles


@dataclass(frozen=True)
class Member:
    """What a layout needs to know of a member."""

    order: int
    size: tuple[float, float]
    weight: float = 1.0


def arrange(rule: Rule, members: Sequence[Member]) -> dict[int, Cell]:
    """The cell of each member, by its order.

    >>> arrange(Rule("row", 100, 40, gap=20), [Member(1, (0, 0)), Member(2, (0, 0), weight=3)])
    {1: (0.0, 0.0, 20.0, 40.0), 2: (40.0, 0.0, 60.0, 40.0)}
    """
    if not members:
        return {}
    wide = max(rule.width - 2 * rule.padding, 0.0)
    high = max(rule.height - 2 * rule.padding, 0.0)
    if rule.way == "row":
        cells = [(x, 0.0, w, high) for x, w in _along(rule, members, wide, 0)]
    elif rule.way == "column":
        cells = [(0.0, y, wide, h) for y, h in _along(rule, members, high, 1)]
    elif rule.way == "grid":
        cells = _grid(rule, len(members), wide, high)
    else:
        cells = _tiles(rule, len(members), wide, high)
    return {
        member.order: (float(x + rule.padding), float(y + rule.padding), float(w), float(h))
        for member, (x, y, w, h) in zip(members, cells, strict=True)
    }


def _along(
    rule: Rule, members: Sequence[Member], room: float, axis: int
) -> list[tuple[float, float]]:
    """Places and lengths: those of weight 0 keep their own, the others share what is left."""
    own = sum(member.size[axis] for member in members if member.weight == 0)
    shared = max(room - own - rule.gap * (len(members) - 1), 0.0)
    weights = sum(member.weight for member in members) or 1.0
    found, place = [], 0.0
    for member in members:
        length = shared * member.weight / weights if member.weight else member.size[axis]
        found.append((place, length))
        place += length + rule.gap
    return found


def _grid(rule: Rule, count: int, wide: float, high: float) -> list[Cell]:
    columns = rule.columns or math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    w = max((wide - rule.gap * (columns - 1)) / columns, 0.0)
    h = max((high - rule.gap * (rows - 1)) / rows, 0.0)
    return [
        ((n % columns) * (w + rule.gap), (n // columns) * (h + rule.gap), w, h)
        for n in range(count)
    ]


def _tiles(rule: Rule, count: int, wide: float, high: float) -> list[Cell]:
    """So many columns that tiles are largest; every row stands in the middle."""

    def side(columns: int) -> float:
        rows = math.ceil(count / columns)
        across = (wide - rule.gap * (columns - 1)) / columns
        down = (high - rule.gap * (rows - 1)) / rows
        return max(min(across, down * rule.aspect), 0.0)

    columns = max(range(1, count + 1), key=lambda n: (round(side(n), 6), n))
    rows = math.ceil(count / columns)
    w = side(columns)
    h = w / rule.aspect
    top = (high - rows * h - (rows - 1) * rule.gap) / 2
    found = []
    for row in range(rows):
        members = min(columns, count - row * columns)
        left = (wide - members * w - (members - 1) * rule.gap) / 2
        found += [
            (left + n * (w + rule.gap), top + row * (h + rule.gap), w, h) for n in range(members)
        ]
    return found
