"""A rasteriser that is slow and plainly right: each primitive is a set of pixels, found by asking
every pixel of the surface (or, for lines, by Bresenham's own loop in unbounded integers).

It shares no code with dala.gpu, and decides each pixel from the rules in design/surfaces.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import floor

Pixel = tuple[int, int, int, int]
Point = tuple[int, int]


class Slow:
    """A surface as a list of rows of (r, g, b, a)."""

    def __init__(self, width: int, height: int, *, replace: bool = False) -> None:
        self.width, self.height, self.replace = width, height, replace
        self.rows: list[list[Pixel]] = [[(0, 0, 0, 0)] * width for _ in range(height)]
        self.clip: tuple[int, int, int, int] | None = None

    def bytes(self) -> bytes:
        return bytes(v for row in self.rows for p in row for v in p)

    def visible(self, x: int, y: int) -> bool:
        if not (0 <= x < self.width and 0 <= y < self.height):
            return False
        if self.clip is None:
            return True
        cx, cy, w, h = self.clip
        return cx <= x < cx + w and cy <= y < cy + h

    def put(self, x: int, y: int, color: Pixel) -> None:
        if self.visible(x, y):
            old = self.rows[y][x]
            self.rows[y][x] = color if self.replace else over(color, old)

    def fill(self, inside: Callable[[int, int], bool], color: Pixel) -> None:
        for y in range(self.height):
            for x in range(self.width):
                if inside(x, y):
                    self.put(x, y, color)

    def plot(self, points: Iterable[Point], color: Pixel) -> None:
        for x, y in points:
            self.put(x, y, color)

    # -- primitives --------------------------------------------------------------------------------

    def clear(self, color: Pixel) -> None:
        self.rows = [[color] * self.width for _ in range(self.height)]

    def fill_rect(self, x: int, y: int, w: int, h: int, color: Pixel) -> None:
        self.fill(lambda px, py: x <= px < x + w and y <= py < y + h, color)

    def draw_line(self, x1: int, y1: int, x2: int, y2: int, color: Pixel) -> None:
        self.plot(self.line(x1, y1, x2, y2), color)

    def line(self, x1: int, y1: int, x2: int, y2: int) -> list[Point]:
        """Pixels of a line on the surface; a tie goes on towards the end."""
        dx, dy = abs(x2 - x1), abs(y2 - y1)
        sx, sy = (1 if x2 >= x1 else -1), (1 if y2 >= y1 else -1)
        points = []
        if dx >= dy:
            for x in range(self.width):
                i = (x - x1) * sx
                if 0 <= i <= dx:
                    points.append((x, y1 + sy * (nearest(i * dy, dx) if dx else 0)))
        else:
            for y in range(self.height):
                i = (y - y1) * sy
                if 0 <= i <= dy:
                    points.append((x1 + sx * nearest(i * dx, dy), y))
        return points

    def draw_triangle(self, *corners_and_color: object) -> None:
        *c, color = corners_and_color
        points = [(c[0], c[1]), (c[2], c[3]), (c[4], c[5])]
        if len(set(points)) == 1:
            self.draw_line(*points[0], *points[0], color)  # type: ignore[arg-type]
            return
        for (xa, ya), (xb, yb) in zip(points, points[1:] + points[:1], strict=True):
            line = self.line(xa, ya, xb, yb)  # type: ignore[arg-type]
            self.plot([p for p in line if p != (xb, yb)], color)  # type: ignore[arg-type]

    def fill_triangle(
        self, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, color: Pixel
    ) -> None:
        corners = [(x1, y1), (x2, y2), (x3, y3)]
        area = (x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)
        if area == 0:
            return
        if area < 0:
            corners.reverse()
        edges = list(zip(corners, corners[1:] + corners[:1], strict=True))

        def inside(x: int, y: int) -> bool:
            for (xa, ya), (xb, yb) in edges:
                side = (xb - xa) * (y - ya) - (yb - ya) * (x - xa)
                # clockwise on a screen: a left edge goes up, a top edge goes right
                counts = yb < ya or (yb == ya and xb > xa)
                if side < 0 or (side == 0 and not counts):
                    return False
            return True

        self.fill(inside, color)

    def draw_circle(self, cx: int, cy: int, r: int, color: Pixel) -> None:
        self.fill(lambda x, y: on_circle(x - cx, y - cy, r), color)

    def fill_circle(self, cx: int, cy: int, r: int, color: Pixel) -> None:
        self.fill(lambda x, y: in_disc(x - cx, y - cy, r), color)

    def fill_round_rect(self, x: int, y: int, w: int, h: int, radius: int, color: Pixel) -> None:
        self.fill(lambda px, py: in_round_rect(px, py, x, y, w, h, radius), color)

    def draw_round_rect(self, x: int, y: int, w: int, h: int, radius: int, color: Pixel) -> None:
        if not w or not h:
            return
        r = min(radius, (min(w, h) - 1) // 2)
        left, right, top, bottom = x + r, x + w - 1 - r, y + r, y + h - 1 - r

        def inside(px: int, py: int) -> bool:
            if left <= px <= right and py in (y, y + h - 1):
                return True
            if top <= py <= bottom and px in (x, x + w - 1):
                return True
            dx = px - left if px < left else max(px - right, 0)
            dy = py - top if py < top else max(py - bottom, 0)
            return dx != 0 and dy != 0 and on_circle(dx, dy, r)

        self.fill(inside, color)

    def blit(self, picture: list[list[Pixel]], x: int, y: int) -> None:
        for j, row in enumerate(picture):
            for i, color in enumerate(row):
                self.put(x + i, y + j, color)

    def draw_image(self, picture: list[list[Pixel]], x: int, y: int, w: int, h: int) -> None:
        for py in range(max(y, 0), min(y + h, self.height)):
            for px in range(max(x, 0), min(x + w, self.width)):
                self.put(px, py, sample(picture, px - x, py - y, w, h))


def nearest(a: int, b: int) -> int:
    """The whole number nearest to a / b; a half is rounded up."""
    return (2 * a + b) // (2 * b)


def in_disc(dx: int, dy: int, r: int) -> bool:
    if r == 0:
        return dx == dy == 0
    small, large = sorted((abs(dx), abs(dy)))
    # a² + (b − ½)² < r², four times that to stay with whole numbers; the centre is always inside
    return large == 0 or 4 * small**2 + (2 * large - 1) ** 2 < 4 * r**2


def on_circle(dx: int, dy: int, r: int) -> bool:
    """In the direction that is longer, the last pixel inside."""
    if r == 0:
        return dx == dy == 0
    small, large = sorted((abs(dx), abs(dy)))
    return in_disc(small, large, r) and not in_disc(small, large + 1, r)


def midpoint_circle(r: int) -> set[Point]:
    """The textbook's loop."""
    points: set[Point] = set()
    x, y, d = 0, r, 1 - r
    while x <= y:
        for px, py in ((x, y), (y, x)):
            points |= {(px, py), (-px, py), (px, -py), (-px, -py)}
        if d < 0:
            d += 2 * x + 3
        else:
            d += 2 * (x - y) + 5
            y -= 1
        x += 1
    return points


def bresenham_line(x1: int, y1: int, x2: int, y2: int) -> list[Point]:
    """The textbook's loop; an error of exactly half a pixel steps aside."""
    dx, dy = abs(x2 - x1), abs(y2 - y1)
    sx, sy = (1 if x2 >= x1 else -1), (1 if y2 >= y1 else -1)
    steep = dy > dx
    major, minor = max(dx, dy), min(dx, dy)
    x, y, error = x1, y1, 0
    points = [(x, y)]
    for _ in range(major):
        error += 2 * minor
        aside = error >= major
        if aside:
            error -= 2 * major
        x += sx if aside or not steep else 0
        y += sy if aside or steep else 0
        points.append((x, y))
    return points


def in_round_rect(px: int, py: int, x: int, y: int, w: int, h: int, radius: int) -> bool:
    if not (x <= px < x + w and y <= py < y + h):
        return False
    r = min(radius, (min(w, h) - 1) // 2)
    dx = max(x + r - px, px - (x + w - 1 - r), 0)
    dy = max(y + r - py, py - (y + h - 1 - r), 0)
    return dx == 0 or dy == 0 or in_disc(dx, dy, r)


def over(s: Pixel, d: Pixel) -> Pixel:
    """Source over destination, both straight: exact fractions, rounded to the nearest, ties up."""
    a, keep = 255 * s[3], d[3] * (255 - s[3])  # both times 255²
    alpha = a + keep
    if alpha == 0:
        return d
    red, green, blue = (nearest(a * s[i] + keep * d[i], alpha) for i in range(3))
    return (red, green, blue, nearest(alpha, 255))


def sample(picture: list[list[Pixel]], i: int, j: int, w: int, h: int) -> Pixel:
    """Bilinear between four pixels, weights in 1/256, colours weighted by alpha."""
    (x0, x1, wx), (y0, y1, wy) = position(i, w, len(picture[0])), position(j, h, len(picture))
    corners = [
        (picture[y0][x0], (256 - wx) * (256 - wy)),
        (picture[y0][x1], wx * (256 - wy)),
        (picture[y1][x0], (256 - wx) * wy),
        (picture[y1][x1], wx * wy),
    ]
    total = sum(p[3] * weight for p, weight in corners)
    if total == 0:
        return (0, 0, 0, 0)
    color = [
        (sum(p[c] * p[3] * weight for p, weight in corners) + total // 2) // total for c in range(3)
    ]
    return (color[0], color[1], color[2], (total + 32768) // 65536)


def position(i: int, size: int, source: int) -> tuple[int, int, int]:
    exact = Fraction((2 * i + 1) * source, 2 * size) - Fraction(1, 2)  # in pixels
    f = min(max(floor(exact * 256), 0), 256 * (source - 1))
    return f // 256, min(f // 256 + 1, source - 1), f % 256
