"""Two hundred sprites that bounce off the walls; the position at any second is computed, not stepped."""

from __future__ import annotations

import numpy as np

from dala import gpu
from stage import Example

WIDTH, HEIGHT, COUNT, KINDS, SIDE = 640, 360, 200, 8, 40


def setup(surface: gpu.Surface) -> None:
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    distance = np.sqrt(x * x + y * y)
    edge = np.clip((SIDE / 2 - distance) * 255, 0, 255)
    shine = np.clip(1.2 - np.hypot(x + 7, y + 7) / SIDE * 1.6, 0.25, 1.15)
    for kind in range(KINDS):
        base = np.array([90 + 160 * (kind & 1), 70 + 90 * (kind >> 1 & 1), 60 + 190 * (kind >> 2)])
        ball = np.clip(base * shine[..., None], 0, 255)
        surface.load_sprite(kind, np.dstack([ball, edge]).astype(np.uint8))


def draw(surface: gpu.Surface, seconds: float) -> None:
    rng = np.random.default_rng(3)
    room = np.array([WIDTH - SIDE, HEIGHT - SIDE])
    begin, speed = rng.random((COUNT, 2)) * room, rng.uniform(-140, 140, (COUNT, 2))
    way = np.mod(begin + speed * seconds, 2 * room)
    places = np.where(way > room, 2 * room - way, way)
    surface.clear("#10131a")
    for x in range(0, WIDTH, 40):
        surface.draw_line(x, 0, x, HEIGHT - 1, "#1a202b")
    surface.blits(np.arange(COUNT) % KINDS, places.astype(int))
    surface.present()


EXAMPLE = Example("bouncing_sprites", (WIDTH, HEIGHT), setup, draw, at=3.25)

if __name__ == "__main__":
    EXAMPLE.main()
