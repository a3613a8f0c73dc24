"""Where a line may and must end (UAX #14), with the numbers of its section 8.2, example 7.

Scripts written without spaces (Thai, Lao, Khmer) break at U+200B and at spaces alone: where their words
end only a dictionary can say.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dala.text.unicode.tables import LINE, Array, letters, tables

MAY, MUST = 1, 2
_HARD = frozenset("krfn")
# LB25: within a number, with its sign and unit, no line ends. Marks were taken out before.
# A unit may be the sign of the next number as well, so it is looked at, and not taken.
_NUMBER = re.compile(r"[$%]?[(\[\-]?0[0/,]*[\])}]?(?=([$%])?)")


def line_breaks(records: Array) -> list[int]:
    """For each character whether a line may (``MAY``) or must (``MUST``) end after it, or neither (0)."""
    return break_classes(letters(tables().line, records))


def break_classes(classes: str) -> list[int]:
    """The same, of classes (letters of ``tables.LINE``)."""
    count = len(classes)
    breaks = [0] * count
    if not count:
        return breaks
    units, ends = _join_marks(classes)
    within = _within_numbers(units)
    flags = 0  # regional indicators in a row so far
    for place in range(len(units) - 1):
        flags = flags + 1 if units[place] == "R" else 0
        if place not in within:  # LB25
            joined = classes[ends[place]] == "j"
            breaks[ends[place]] = _between(units, place, flags, joined=joined)
    breaks[-1] = MUST  # LB3
    return breaks


def _between(units: str, place: int, flags: int, *, joined: bool) -> int:
    """What happens behind a unit; the first rule that fits decides."""
    before, after = units[place], units[place + 1]
    if before in _HARD:
        return 0 if before == "r" and after == "f" else MUST  # LB4, LB5
    if after in _HARD or after in " z":  # LB6, LB7
        return 0
    if joined and before not in " z":  # LB8a
        return 0
    if before == " ":
        return _after_spaces(units, place, after)
    if before == "z":  # LB8
        return MAY
    return 0 if before + after in _pairs() or _by_three(units, place, flags) else MAY


def _join_marks(classes: str) -> tuple[str, list[int]]:
    """LB9 and LB10: marks belong to what they stand on; where each unit ends in the text."""
    units: list[str] = []
    ends: list[int] = []
    for index, letter in enumerate(classes):
        if letter in "mj":
            if units and units[-1] not in "krfn z":
                ends[-1] = index
                continue
            letter = "a"
        units.append(letter)
        ends.append(index)
    return "".join(units), ends


def _within_numbers(units: str) -> set[int]:
    found: set[int] = set()
    for number in _NUMBER.finditer(units) if "0" in units else ():
        found.update(range(number.start(), number.end() - (number[1] is None)))
    return found


def _after_spaces(units: str, place: int, after: str) -> int:
    """LB8, LB11 to LB18 after one or more spaces."""
    first = place
    while first >= 0 and units[first] == " ":
        first -= 1
    before = units[first] if first >= 0 else ""
    if before == "z":
        return MAY
    if after in "w])}!,/" or before in ("(", "["):  # LB11, LB13, LB14
        return 0
    kept = (
        (before == "q" and after in "([")  # LB15
        or (before in ("]", ")", "}") and after == "s")  # LB16
        or before + after == "22"  # LB17
    )
    return 0 if kept else MAY


def _by_three(units: str, place: int, flags: int) -> bool:
    """Rules that look at more than two: LB21a, LB30a."""
    before, after = units[place], units[place + 1]
    if before in "-b" and place and units[place - 1] == "h":
        return after != "c"  # LB20 comes first
    return before + after == "RR" and flags % 2 == 1


@lru_cache(1)
def _pairs() -> frozenset[str]:
    """Pairs that stay together whatever stands around them: LB11 to LB31, the first rule that fits."""
    every = "".join(letter for letter in LINE.values() if letter not in "krfnmj z")
    return frozenset(a + b for a in every for b in every if _stay_together(a, b))


def _stay_together(a: str, b: str) -> bool:
    if a == "w" or b == "w" or a == "g":  # LB11, LB12
        return True
    if b == "g":  # LB12a
        return a not in "-b"
    if b in "])}!,/" or a in "([":  # LB13, LB14
        return True
    if (b in "([" and a == "q") or (a in "])}" and b == "s") or a + b == "22":  # LB15 to LB17
        return True
    if a == "q" or b == "q":  # LB19
        return True
    if a == "c" or b == "c":  # LB20
        return False
    if b in "b-s" or a == "B" or a + b == "/h" or b == "i":  # LB21, LB21b, LB22
        return True
    return any(a in first and b in second for first, second in _TOGETHER)


_LETTERS, _IDEOGRAPHS, _HANGUL = "ah", "IXeM", "LVtHT"
_TOGETHER = (
    (_LETTERS, "0"), ("0", _LETTERS),  # LB23
    ("$", _IDEOGRAPHS), (_IDEOGRAPHS, "%"),  # LB23a
    ("$%", _LETTERS), (_LETTERS, "$%"),  # LB24
    ("L", "LVHT"), ("VH", "Vt"), ("tT", "t"),  # LB26
    (_HANGUL, "%"), ("$", _HANGUL),  # LB27
    (_LETTERS, _LETTERS),  # LB28
    (",", _LETTERS),  # LB29
    (_LETTERS + "0", "("), (")", _LETTERS + "0"),  # LB30
    ("eX", "M"),  # LB30b
)  # fmt: skip
