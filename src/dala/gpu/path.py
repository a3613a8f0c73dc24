"""Paths: lines, curves and arcs, as a person builds them or writes them in SVG."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

import numpy as np

from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.gpu.ink_fields import path_bytes
from dala.gpu.opcodes import MAX_POINTS
from dala.gpu.svg_path import read_svg

_MOVE, _LINE, _QUAD, _CUBIC, _CLOSE = range(5)


class Path:
    """An outline of lines and curves; every call returns the path, so they can be chained. Coordinates are
    pixels, (0, 0) the left top corner of the left top pixel.

    >>> from dala import gpu
    >>> path = gpu.Path().move_to(10, 10).line_to(50, 10).quad_to(60, 40, 30, 50).close()
    >>> gpu.Path("M10 10 H50 Q60 40 30 50 Z") == path
    True
    """

    __slots__ = ("_points", "_start", "_verbs")

    def __init__(self, svg: str | None = None) -> None:
        self._verbs = bytearray()
        self._points = array("d")
        self._start = (0.0, 0.0)
        if svg is not None:
            read_svg(self, svg)

    @classmethod
    def polyline(cls, points: object, *, closed: bool = False) -> Path:
        """Points (N, 2) joined by lines.

        >>> from dala import gpu
        >>> len(gpu.Path.polyline([[0, 0], [5, 0], [5, 5]], closed=True))
        4
        """
        table = np.asarray(points, np.float64)
        if table.ndim != 2 or table.shape[1:] != (2,) or not len(table):
            raise ShapeError(f"polyline: expected points (N, 2), got {table.shape}")
        path = cls()
        path._check(table.ravel().tolist(), "polyline")
        path._verbs += bytes([_MOVE]) + bytes([_LINE]) * (len(table) - 1)
        path._points.extend(table.ravel().tolist())
        path._start = (float(table[0, 0]), float(table[0, 1]))
        return path.close() if closed else path

    # -- building ----------------------------------------------------------------------------------

    def move_to(self, x: float, y: float) -> Path:
        """Begin another part at (x, y).

        >>> from dala import gpu
        >>> gpu.Path().move_to(1, 2)
        Path('M1 2')
        """
        self._add(_MOVE, "move_to", x, y)
        self._start = (float(x), float(y))
        return self

    def line_to(self, x: float, y: float) -> Path:
        """A straight line.

        >>> from dala import gpu
        >>> gpu.Path().move_to(1, 2).line_to(3, 4)
        Path('M1 2 L3 4')
        """
        return self._go(_LINE, "line_to", x, y)

    def quad_to(self, cx: float, cy: float, x: float, y: float) -> Path:
        """A quadratic curve with one control point.

        >>> from dala import gpu
        >>> gpu.Path().move_to(0, 0).quad_to(1, 0, 1, 1)
        Path('M0 0 Q1 0 1 1')
        """
        return self._go(_QUAD, "quad_to", cx, cy, x, y)

    def cubic_to(self, c1x: float, c1y: float, c2x: float, c2y: float, x: float, y: float) -> Path:
        """A cubic curve with two control points.

        >>> from dala import gpu
        >>> gpu.Path().move_to(0, 0).cubic_to(0, 1, 1, 1, 1, 0)
        Path('M0 0 C0 1 1 1 1 0')
        """
        return self._go(_CUBIC, "cubic_to", c1x, c1y, c2x, c2y, x, y)

    def close(self) -> Path:
        """A line back to where this part began.

        >>> from dala import gpu
        >>> gpu.Path().move_to(0, 0).line_to(4, 0).line_to(0, 4).close()
        Path('M0 0 L4 0 L0 4 Z')
        """
        if self._verbs and self._verbs[-1] != _CLOSE:
            self._verbs.append(_CLOSE)
        return self

    def arc(
        self,
        cx: float,
        cy: float,
        radius: float,
        start: float = 0.0,
        end: float = 360.0,
        *,
        radius_y: float | None = None,
        rotation: float = 0.0,
    ) -> Path:
        """An arc about (cx, cy) from one angle to another, in degrees; clockwise if ``end`` is larger. A
        line leads to it if the path is open. ``radius_y`` and ``rotation`` make it an ellipse's.

        >>> from dala import gpu
        >>> gpu.Path().arc(0, 0, 10, 0, 180).bounds()
        (-10.0, 0.0, 10.0, 10.0)
        """
        ry = radius if radius_y is None else radius_y
        self._check((cx, cy, radius, ry, start, end, rotation), "arc")
        angle, turned = math.radians(start), math.radians(rotation)
        x, y = radius * math.cos(angle), ry * math.sin(angle)
        first = (
            cx + x * math.cos(turned) - y * math.sin(turned),
            cy + x * math.sin(turned) + y * math.cos(turned),
        )
        (self.line_to if self._open else self.move_to)(*first)
        return self.go_round(cx, cy, radius, ry, start, end, rotation)

    def go_round(
        self, cx: float, cy: float, rx: float, ry: float, start: float, end: float, rotation: float
    ) -> Path:
        """The curves of an ellipse's arc that begins where the path is, in degrees.

        >>> from dala import gpu
        >>> len(gpu.Path().move_to(10, 0).go_round(0, 0, 10, 10, 0, 90, 0))
        3
        """
        turned = math.radians(rotation)
        cos, sin = math.cos(turned), math.sin(turned)

        def place(u: float, v: float) -> tuple[float, float]:
            x, y = u * rx, v * ry
            return cx + x * cos - y * sin, cy + x * sin + y * cos

        span = max(-360.0, min(360.0, end - start))
        pieces = max(1, math.ceil(abs(span) / 45))
        step = math.radians(span) / pieces
        bow = 4 / 3 * math.tan(step / 4)
        for i in range(pieces):
            angle = math.radians(start) + i * step
            c, s, c1, s1 = (
                math.cos(angle),
                math.sin(angle),
                math.cos(angle + step),
                math.sin(angle + step),
            )
            a, b = place(c - bow * s, s + bow * c), place(c1 + bow * s1, s1 - bow * c1)
            self.cubic_to(*a, *b, *place(c1, s1))
        return self

    def ellipse(self, cx: float, cy: float, rx: float, ry: float, *, rotation: float = 0.0) -> Path:
        """A whole ellipse, as a part of its own.

        >>> from dala import gpu
        >>> gpu.Path().ellipse(5, 5, 5, 3).bounds()
        (0.0, 2.0, 10.0, 8.0)
        """
        self._check((cx, cy, rx, ry, rotation), "ellipse")
        turned = math.radians(rotation)
        self.move_to(cx + rx * math.cos(turned), cy + rx * math.sin(turned))
        return self.go_round(cx, cy, rx, ry, 0.0, 360.0, rotation).close()

    def rect(self, x: float, y: float, w: float, h: float, radius: float = 0.0) -> Path:
        """A rectangle, with round corners or not, as a part of its own.

        >>> from dala import gpu
        >>> gpu.Path().rect(1, 2, 3, 4)
        Path('M1 2 L4 2 L4 6 L1 6 Z')
        """
        self._check((x, y, w, h, radius), "rect")
        r = min(radius, abs(w) / 2, abs(h) / 2)
        if r <= 0:
            self.move_to(x, y).line_to(x + w, y).line_to(x + w, y + h).line_to(x, y + h)
            return self.close()
        left, top, right, bottom = min(x, x + w), min(y, y + h), max(x, x + w), max(y, y + h)
        self.move_to(left + r, top)
        self.arc(right - r, top + r, r, -90, 0).arc(right - r, bottom - r, r, 0, 90)
        self.arc(left + r, bottom - r, r, 90, 180).arc(left + r, top + r, r, 180, 270)
        return self.close()

    # -- looking -----------------------------------------------------------------------------------

    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of its points; those of curves may lie a little outside the curve.

        >>> from dala import gpu
        >>> gpu.Path("M1 2 L5 9").bounds()
        (1.0, 2.0, 5.0, 9.0)
        """
        if not self._points:
            return 0.0, 0.0, 0.0, 0.0
        table = np.frombuffer(self._points, np.float64).reshape(-1, 2)
        low, high = table.min(0), table.max(0)
        rounded = [round(float(v), 9) + 0.0 for v in (*low, *high)]
        return rounded[0], rounded[1], rounded[2], rounded[3]

    def __bytes__(self) -> bytes:
        """As it is on the wire."""
        points = np.frombuffer(self._points, np.float64).astype("<f4") if self._points else b""
        return path_bytes(bytes(self._verbs), bytes(points))

    def __len__(self) -> int:
        return len(self._verbs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return self._verbs == other._verbs and self._points == other._points

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        words, at = [], 0
        for verb in self._verbs[:64]:
            count = 2 * (1, 1, 2, 3, 0)[verb]
            numbers = " ".join(f"{v:.6g}" for v in self._points[at : at + count])
            words.append("MLQCZ"[verb] + numbers)
            at += count
        more = f" … {len(self._verbs) - 64} more" if len(self._verbs) > 64 else ""
        return f"Path('{' '.join(words)}{more}')"

    # -- adding ------------------------------------------------------------------------------------

    @property
    def _open(self) -> bool:
        return bool(self._verbs) and self._verbs[-1] != _CLOSE

    @property
    def current(self) -> tuple[float, float]:
        """Where the next piece begins.

        >>> from dala import gpu
        >>> gpu.Path("M1 2 L5 9").current
        (5.0, 9.0)
        """
        if not self._open:
            return self._start
        return self._points[-2], self._points[-1]

    def _go(self, verb: int, who: str, *numbers: float) -> Path:
        if not self._verbs:
            raise ParameterError(f"{who}: the path has no point yet; call move_to first")
        self._add(verb, who, *numbers)
        return self

    def _add(self, verb: int, who: str, *numbers: float) -> None:
        self._check(numbers, who)
        self._verbs.append(verb)
        self._points.extend(numbers)

    def _check(self, numbers: Iterable[float], who: str) -> None:
        for number in numbers:
            try:
                fine = math.isfinite(number) and abs(number) < 3e38
            except TypeError:
                raise ArgumentError(f"{who}: expected numbers, got {number!r}") from None
            if not fine:
                raise ParameterError(f"{who}: coordinates are finite numbers, got {number!r}")
        if len(self._verbs) >= MAX_POINTS or len(self._points) >= 2 * MAX_POINTS:
            raise ParameterError(f"{who}: a path has {MAX_POINTS} points at the most; make several")
