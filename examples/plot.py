"""A plot with labels: axes, a grid, curves with an area below them, dashes, texts in any script."""

from __future__ import annotations

import numpy as np

from dala import gpu
from stage import Example, nothing

WIDTH, HEIGHT = 720, 440
LEFT, TOP, RIGHT, BOTTOM = 70, 60, 690, 380
SERIES = {"measured": "#3fb6ff", "model · μ + σ": "#ffb03f"}


def draw(surface: gpu.Surface, seconds: float) -> None:
    surface.clear("#10141b")
    surface.draw_text(
        LEFT, 14, "Signal over time — Signal · إشارة · 信号", size=22, color="#e8edf4"
    )
    draw_axes(surface)
    x = np.linspace(0, 10, 240)
    phase = seconds * 2
    measured = 0.55 + 0.3 * np.sin(x * 1.3 + phase) + 0.06 * np.sin(x * 9 + phase * 3)
    model = 0.55 + 0.3 * np.sin(x * 1.3 + phase)
    draw_area(surface, x, measured)
    for (name, color), values in zip(SERIES.items(), (measured, model), strict=True):
        dash = (10.0, 6.0) if name != "measured" else ()
        path = gpu.Path.polyline(points(x, values))
        surface.stroke_path(path, color, 2.5, "round", "round", dash)
    draw_legend(surface)
    surface.present()


def points(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where values lie on the surface."""
    return np.stack([LEFT + x / 10 * (RIGHT - LEFT), BOTTOM - y * (BOTTOM - TOP)], 1)


def draw_axes(surface: gpu.Surface) -> None:
    for step in range(6):
        y = BOTTOM - step / 5 * (BOTTOM - TOP)
        surface.stroke_line(LEFT, y, RIGHT, y, "#2a3340", 1)
        surface.draw_text(LEFT - 36, y - 9, f"{step / 5:.1f}", size=14, color="#93a1b3")
    for second in range(0, 11, 2):
        x = LEFT + second / 10 * (RIGHT - LEFT)
        surface.stroke_line(x, BOTTOM, x, BOTTOM + 6, "#93a1b3", 1.5)
        surface.draw_text(x - 10, BOTTOM + 10, f"{second} s", size=14, color="#93a1b3")
    surface.stroke_path(f"M{LEFT} {TOP} V{BOTTOM} H{RIGHT}", "#93a1b3", 1.5, "round", "square")


def draw_area(surface: gpu.Surface, x: np.ndarray, y: np.ndarray) -> None:
    corners = np.concatenate([points(x, y), [[RIGHT, BOTTOM], [LEFT, BOTTOM]]])
    fade = gpu.LinearGradient(0, TOP, 0, BOTTOM, [(63, 182, 255, 110), (63, 182, 255, 0)])
    surface.fill_polygon(corners, fade)


def draw_legend(surface: gpu.Surface) -> None:
    for row, (name, color) in enumerate(SERIES.items()):
        y = 8 + row * 22
        surface.stroke_line(RIGHT - 150, y + 9, RIGHT - 122, y + 9, color, 4, "round")
        surface.draw_text(RIGHT - 112, y, name, size=15, color="#e8edf4")


EXAMPLE = Example("plot", (WIDTH, HEIGHT), nothing, draw, at=0.6)

if __name__ == "__main__":
    EXAMPLE.main()
