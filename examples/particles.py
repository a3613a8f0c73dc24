"""A fountain of 100,000 sprites that turn, fade and are tinted: arrays in one call, added up in a layer."""

from __future__ import annotations

import numpy as np

from dala import gpu
from stage import Example

WIDTH, HEIGHT, COUNT, LIFE = 960, 540, 100_000, 4.0
_rng = np.random.default_rng(3)
BORN = _rng.uniform(0, LIFE, COUNT)
ANGLE = _rng.normal(0, 0.35, COUNT)
SPEED = _rng.uniform(180, 420, COUNT)
SPIN = _rng.uniform(-360, 360, COUNT)
COLORS = np.stack([_rng.integers(200, 256, COUNT), _rng.integers(40, 200, COUNT),
                   _rng.integers(10, 90, COUNT), np.full(COUNT, 255)], 1).astype(np.uint8)  # fmt: skip


def setup(surface: gpu.Surface) -> None:
    """A soft spark of 6 × 3 pixels."""
    y, x = np.mgrid[:3, :6]
    spark = np.full((3, 6, 4), 255, np.uint8)
    spark[..., 3] = np.clip(255 - ((x - 2.5) ** 2 * 25 + (y - 1) ** 2 * 150), 0, 255)
    surface.load_sprite(1, spark)


def draw(surface: gpu.Surface, seconds: float) -> None:
    age = (seconds + BORN) % LIFE
    x = WIDTH / 2 + np.sin(ANGLE) * SPEED * age
    y = HEIGHT - 20 - np.cos(ANGLE) * SPEED * age + 120 * age**2
    surface.fill_path(
        gpu.Path().rect(0, 0, WIDTH, HEIGHT),
        gpu.LinearGradient(0, 0, 0, HEIGHT, ["#05060d", "#1b1230"]),
    )
    with surface.layer(blend="add"):
        surface.draw_sprites(
            1,
            np.stack([x, y], 1),
            rotation=SPIN * age,
            opacity=(1 - age / LIFE) * 0.5,
            tints=COLORS,
        )
    surface.present()


EXAMPLE = Example("particles", (WIDTH, HEIGHT), setup, draw, at=1.0)

if __name__ == "__main__":
    EXAMPLE.main()
