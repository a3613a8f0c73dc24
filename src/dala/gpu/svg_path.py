"""Path text of SVG: letters and numbers, all of SVG 1.1's commands, relative and absolute."""

from __future__ import annotations

import math
import re
from typing import Protocol

from dala.errors import ParameterError

MAX_TEXT = 1 << 25  # characters
_TOKEN = re.compile(
    r"\s*,?\s*(?:([MmZzLlHhVvCcSsQqTtAa])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))"
)
_FLAG = re.compile(r"\s*,?\s*([01])")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


class Pen(Protocol):
    """What a text is drawn with: a path."""

    @property
    def current(self) -> tuple[float, float]: ...
    def move_to(self, x: float, y: float, /) -> object: ...
    def line_to(self, x: float, y: float, /) -> object: ...
    def quad_to(self, cx: float, cy: float, x: float, y: float, /) -> object: ...
    def cubic_to(
        self, ax: float, ay: float, bx: float, by: float, x: float, y: float, /
    ) -> object: ...
    def close(self) -> object: ...
    def go_round(
        self,
        cx: float,
        cy: float,
        rx: float,
        ry: float,
        start: float,
        end: float,
        rotation: float,
        /,
    ) -> object: ...
    def __len__(self) -> int: ...


def read_svg(path: Pen, text: str) -> None:
    """Add what a text says to a path; ParameterError says where it is wrong."""
    if not isinstance(text, str):
        raise ParameterError(f"Path: expected SVG path text, got {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise ParameterError(f"Path: a text of {len(text)} characters; {MAX_TEXT} at the most")
    _Reader(path, text).read()


class _Reader:
    def __init__(self, path: Pen, text: str) -> None:
        self.path = path
        self.text = text
        self.at = 0
        self.control = (0.0, 0.0)  # of the curve before, for S and T
        self.before = ""

    def fail(self, reason: str) -> ParameterError:
        near = self.text[self.at : self.at + 12]
        return ParameterError(f"Path: {reason} at character {self.at}: {near!r}")

    def read(self) -> None:
        letter, end = "", len(self.text.rstrip(" \t\r\n,"))
        while self.at < end:
            found = _TOKEN.match(self.text, self.at)
            if not found:
                raise self.fail("expected a command or a number")
            if found[1]:
                letter, self.at = found[1], found.end()
            elif letter in ("", "Z", "z"):
                raise self.fail("expected a command")
            elif letter in "Mm":
                letter = "L" if letter == "M" else "l"  # what follows a move is lines
            if not len(self.path) and letter not in "Mm":
                raise self.fail("a path begins with M")
            self.add(letter)

    def number(self) -> float:
        found = _TOKEN.match(self.text, self.at)
        if not found or not found[2]:
            raise self.fail("expected a number")
        self.at = found.end()
        return float(found[2])

    def flag(self) -> bool:
        found = _FLAG.match(self.text, self.at)
        if not found:
            raise self.fail("expected 0 or 1")
        self.at = found.end()
        return found[1] == "1"

    def add(self, letter: str) -> None:
        kind, path = letter.upper(), self.path
        x, y = path.current
        ox, oy = (x, y) if letter.islower() else (0.0, 0.0)
        if kind == "A":
            self.arc(x, y, ox, oy)
        else:
            n = [self.number() for _ in range(_COUNTS[kind])]
            if kind == "H":
                path.line_to(ox + n[0], y)
            elif kind == "V":
                path.line_to(x, oy + n[0])
            elif kind == "Z":
                path.close()
            else:
                self.curve(kind, [v + (oy if i % 2 else ox) for i, v in enumerate(n)], x, y)
        self.before = kind

    def curve(self, kind: str, n: list[float], x: float, y: float) -> None:
        path = self.path
        if kind == "M":
            path.move_to(*n)
        elif kind == "L":
            path.line_to(*n)
        elif kind in "QT":
            c = (n[0], n[1]) if kind == "Q" else self.mirrored("QT", x, y)
            path.quad_to(*c, n[-2], n[-1])
            self.control = c
        else:
            c = (n[0], n[1]) if kind == "C" else self.mirrored("CS", x, y)
            path.cubic_to(*c, *n[-4:])
            self.control = (n[-4], n[-3])

    def mirrored(self, kinds: str, x: float, y: float) -> tuple[float, float]:
        """The last control point on the other side of the current point."""
        if not self.before or self.before not in kinds:
            return x, y
        return 2 * x - self.control[0], 2 * y - self.control[1]

    def arc(self, x: float, y: float, ox: float, oy: float) -> None:
        rx, ry, turned = abs(self.number()), abs(self.number()), self.number()
        large, sweep = self.flag(), self.flag()
        end_x, end_y = ox + self.number(), oy + self.number()
        if rx == 0 or ry == 0 or (x, y) == (end_x, end_y):
            self.path.line_to(end_x, end_y)
            return
        cos, sin = math.cos(math.radians(turned)), math.sin(math.radians(turned))
        # the ends in the ellipse's own coordinates, where it is a unit circle
        half_x, half_y = (x - end_x) / 2, (y - end_y) / 2
        u, v = (cos * half_x + sin * half_y) / rx, (cos * half_y - sin * half_x) / ry
        square = u * u + v * v
        if square > 1:  # too small for its ends: grown until it fits
            grown = math.sqrt(square)
            rx, ry, u, v, square = rx * grown, ry * grown, u / grown, v / grown, 1.0
        far = math.sqrt(max(0.0, 1 / square - 1)) * (-1 if large == sweep else 1)
        cu, cv = far * v, -far * u
        center_x = cos * cu * rx - sin * cv * ry + (x + end_x) / 2
        center_y = sin * cu * rx + cos * cv * ry + (y + end_y) / 2
        first = math.degrees(math.atan2(v - cv, u - cu))
        last = math.degrees(math.atan2(-v - cv, -u - cu))
        if sweep and last < first:
            last += 360
        elif not sweep and last > first:
            last -= 360
        self.path.go_round(center_x, center_y, rx, ry, first, last, turned)
