"""Every primitive once: lines, circles, triangles, rounded rectangles, clips, sprites, images, blending."""

from __future__ import annotations

import numpy as np

from dala import gpu
from stage import Example

WIDTH, HEIGHT, CELL = 960, 480, 240
INK, PAPER, SHADE = "#e8e6e3", "#14181f", "#1d232d"


def setup(surface: gpu.Surface) -> None:
    y, x = np.mgrid[:64, :64] - 31.5
    ball = np.zeros((64, 64, 4), np.uint8)
    inside = x * x + y * y < 31 * 31
    light = np.clip(255 - ((x + 12) ** 2 + (y + 12) ** 2) / 9, 40, 255)
    ball[..., 0], ball[..., 1], ball[..., 2] = light, light // 2, 60
    ball[..., 3] = inside * 230
    surface.load_sprite(1, ball)
    checks = np.indices((8, 8)).sum(0) % 2 * 255
    surface.load_image(1, checks.astype(np.uint8))


def draw(surface: gpu.Surface, seconds: float) -> None:
    surface.clear(PAPER)
    cells = [(x, y) for y in (0, CELL) for x in range(0, WIDTH, CELL)]
    surface.fill_round_rects([[x + 10, y + 10, CELL - 20, CELL - 20, 18] for x, y in cells], SHADE)
    surface.draw_round_rects(
        [[x + 10, y + 10, CELL - 20, CELL - 20, 18] for x, y in cells], "#2c3442"
    )
    draw_lines(surface, 0, 0)
    draw_circles(surface, CELL, 0)
    draw_triangles(surface, 2 * CELL, 0)
    draw_round_rects(surface, 3 * CELL, 0)
    draw_clip(surface, 0, CELL)
    draw_blending(surface, CELL, CELL)
    surface.blits(1, [[2 * CELL + 30 + i * 24, CELL + 40 + i * i * 8 % 110] for i in range(6)])
    surface.draw_image(1, 3 * CELL + 40, CELL + 40, 160, 160)
    surface.present()


def draw_lines(surface: gpu.Surface, x: int, y: int) -> None:
    steps = np.arange(0, 181, 12)
    fan = np.stack([x + 30 + 0 * steps, y + 30 + steps, x + 30 + steps, y + 210 + 0 * steps], 1)
    hues = np.stack([80 + steps // 2, 200 - steps // 2, 255 - steps // 4], 1).astype(np.uint8)
    surface.draw_lines(fan, hues)
    surface.draw_lines(
        np.stack([x + 30 + steps, y + 30 + 0 * steps, x + 210 + 0 * steps, y + 30 + steps], 1), hues
    )


def draw_circles(surface: gpu.Surface, x: int, y: int) -> None:
    surface.fill_circle(x + 90, y + 95, 52, "tomato")
    for radius in range(8, 90, 9):
        surface.draw_circle(x + 130, y + 130, radius, INK)
    surface.fill_circle(x + 165, y + 165, 22, "gold")


def draw_triangles(surface: gpu.Surface, x: int, y: int) -> None:
    for i in range(6):
        a = (x + 30 + i * 30, y + 40)
        surface.fill_triangle(
            *a, a[0] + 30, a[1], a[0] + 15, a[1] + 60, (60 + i * 35, 90, 220 - i * 25)
        )
    surface.fill_triangle(x + 40, y + 205, x + 130, y + 125, x + 120, y + 200, "mediumseagreen")
    surface.draw_triangle(x + 110, y + 200, x + 200, y + 120, x + 205, y + 205, INK)


def draw_round_rects(surface: gpu.Surface, x: int, y: int) -> None:
    surface.fill_round_rect(x + 35, y + 35, 110, 70, 24, "steelblue")
    surface.draw_round_rect(x + 95, y + 75, 110, 70, 12, INK)
    surface.fill_round_rect(x + 35, y + 160, 170, 45, 100, "darkorange")
    surface.draw_round_rect(x + 40, y + 165, 160, 35, 100, PAPER)


def draw_clip(surface: gpu.Surface, x: int, y: int) -> None:
    surface.set_clip(x + 50, y + 50, 140, 140)
    for i in range(14):
        surface.fill_rect(x + 30 + i * 14, y + 30, 7, 180, (40 + i * 14, 70, 160))
    surface.fill_circle(x + 190, y + 190, 80, "#ffd70090")
    surface.reset_clip()
    surface.draw_round_rect(x + 49, y + 49, 142, 142, 0, INK)


def draw_blending(surface: gpu.Surface, x: int, y: int) -> None:
    for dx, dy, color in ((0, 0, "#ff000090"), (50, 0, "#00ff0090"), (25, 43, "#0000ff90")):
        surface.fill_circle(x + 95 + dx, y + 98 + dy, 50, color)


EXAMPLE = Example("primitives", (WIDTH, HEIGHT), setup, draw)

if __name__ == "__main__":
    EXAMPLE.main()
