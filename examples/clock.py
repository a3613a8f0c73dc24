"""A smooth clock: transforms, a gradient, hands with shadows. In a window it shows the time."""

from __future__ import annotations

import time

from dala import gpu
from stage import Example, nothing

SIZE, MIDDLE = 480, 240
# bars of a digit: x, y, across or down
BARS = {
    "top": (0, 0, True), "left top": (0, 0, False), "right top": (1, 0, False),
    "middle": (0, 1, True), "left low": (0, 1, False), "right low": (1, 1, False), "low": (0, 2, True),
}  # fmt: skip
DIGITS = ["abcefg", "cf", "acdeg", "acdfg", "bcdf", "abdfg", "abdefg", "acf", "abcdefg", "abcdfg"]
LIT = {str(d): ["abcdefg".index(bar) for bar in bars] for d, bars in enumerate(DIGITS)}


def draw(surface: gpu.Surface, seconds: float) -> None:
    surface.clear("#0e1116")
    glow = gpu.RadialGradient(MIDDLE, MIDDLE - 60, 300, ["#2b3546", "#161b23"])
    surface.fill_ellipse(MIDDLE, MIDDLE, 226, 226, glow)
    surface.stroke_ellipse(MIDDLE, MIDDLE, 226, 226, "#3a4556", 3)
    for minute in range(60):
        hour = minute % 5 == 0
        with surface.transformed(translate=(MIDDLE, MIDDLE), rotate=minute * 6):
            color, width = ("#e8e6e3", 4) if hour else ("#5b6675", 1.5)
            surface.stroke_line(0, -213, 0, -192 if hour else -204, color, width, "round")
    draw_time(surface, seconds)
    draw_hand(surface, seconds / 43200, 112, 9, "#e8e6e3")
    draw_hand(surface, seconds / 3600, 168, 6, "#c9ccd1")
    draw_hand(surface, seconds / 60, 184, 2, "#ff5d47")
    surface.fill_ellipse(MIDDLE, MIDDLE, 10, 10, "#ff5d47")
    surface.present()


def draw_hand(surface: gpu.Surface, turn: float, length: float, width: float, color: str) -> None:
    outline = [[-width, 0], [0, -length], [width, 0], [0, length / 6]]
    with surface.transformed(translate=(MIDDLE + 3, MIDDLE + 4), rotate=turn * 360):
        surface.fill_polygon(outline, (0, 0, 0, 70))  # its shadow
    with surface.transformed(translate=(MIDDLE, MIDDLE), rotate=turn * 360):
        surface.fill_polygon(outline, color)


def draw_time(surface: gpu.Surface, seconds: float) -> None:
    total = int(seconds) % 86400
    text = f"{total // 3600:02}{total // 60 % 60:02}"
    for place, digit in enumerate(text):
        x = MIDDLE - 62 + place * 30 + (8 if place > 1 else 0)
        for number, (dx, dy, across) in enumerate(BARS.values()):
            color = "#5fd38d" if number in LIT[digit] else "#232b36"
            w, h = (16, 4) if across else (4, 16)
            surface.fill_round_rect(
                x + dx * 16 + across * 2, 300 + dy * 18 + (not across) * 3, w, h, 2, color
            )


def draw_now(surface: gpu.Surface, seconds: float) -> None:
    now = time.localtime()
    draw(surface, now.tm_hour * 3600 + now.tm_min * 60 + now.tm_sec + time.time() % 1)


EXAMPLE = Example("clock", (SIZE, SIZE), nothing, draw, at=10 * 3600 + 9 * 60 + 36)

if __name__ == "__main__":
    EXAMPLE._replace(draw=draw_now).main()
