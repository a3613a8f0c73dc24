"""Ink that a GPU paints to the byte: edges and pictures are whole numbers on both devices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from searching import examples
from streams import apply_to, load_pictures, new_canvas

from dala import gpu
from dala.compute.default import device
from dala.gpu import Recorder
from dala.gpu.canvas import Canvas
from dala.gpu.shaders import ShaderSet
from dala.gpu.tiles.canvas import TileCanvas

pytestmark = pytest.mark.webgpu
COUNT = 250
WIDTH, HEIGHT = 150, 90
Draw = Callable[[Recorder, np.random.Generator], None]


def canvases() -> tuple[Canvas, TileCanvas]:
    """The same pictures, and one of noise, on the CPU and on the GPU."""
    shaders = ShaderSet(device("webgpu"))  # type: ignore[arg-type]
    both = new_canvas(WIDTH, HEIGHT), TileCanvas(WIDTH, HEIGHT, replace=False, shaders=shaders)
    load_pictures(both[1])
    noise = np.random.default_rng(1).integers(0, 256, (20, 28, 4), dtype=np.uint8)
    for canvas in both:
        canvas.sprites.load(9, noise)
        canvas.images.load(9, noise)
    return both


def places(rng: np.random.Generator, many: int = COUNT) -> np.ndarray:
    return rng.uniform((-20, -20), (WIDTH + 20, HEIGHT + 20), (many, 2))


def colors(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 256, (COUNT, 4), dtype=np.uint8)


def draw_lines(to: Recorder, rng: np.random.Generator) -> None:
    ends = np.concatenate([places(rng), places(rng)], 1)
    to.stroke_lines(ends, colors(rng), rng.uniform(0.1, 9, COUNT))


def draw_short_lines(to: Recorder, rng: np.random.Generator) -> None:
    at = np.round(places(rng) * 2) / 2  # edges through corners of pixels, and along their borders
    to.stroke_lines(np.concatenate([at, at + rng.integers(-9, 9, at.shape)], 1), colors(rng), 1)


def draw_triangles(to: Recorder, rng: np.random.Generator) -> None:
    to.fill_polygons(np.stack([places(rng) for _ in range(3)], 1), colors(rng))


def draw_quads(to: Recorder, rng: np.random.Generator) -> None:
    """Some of them cross themselves."""
    corners = places(rng)[:, None] + rng.uniform(-12, 12, (COUNT, 4, 2))
    to.fill_polygons(np.round(corners * 8) / 8, colors(rng))


def draw_turned(to: Recorder, rng: np.random.Generator) -> None:
    to.draw_sprites(np.full(COUNT, 9), places(rng), rotation=rng.uniform(0, 360, COUNT))


def draw_turned_of_all_sizes(to: Recorder, rng: np.random.Generator) -> None:
    """From a part of a pixel to wider than the surface, and some thinner than a pixel."""
    scale = 10 ** rng.uniform(-2, 1.5, (COUNT, 2)) * rng.choice([-1, 1], (COUNT, 2))
    turned = rng.choice([0, 45, 90, 180, 30.5, 89.9, 359.99], COUNT)
    at = np.round(places(rng) * 4) / 4  # sides along the borders of pixels and tiles, too
    for number in range(COUNT):
        x, y = at[number].tolist()
        to.draw_sprite(9, x, y, scale=tuple(scale[number].tolist()), rotation=float(turned[number]))


def draw_slanted(to: Recorder, rng: np.random.Generator) -> None:
    """Sprites and lines that a transform makes parallelograms of, either way round."""
    for _ in range(10):
        a, b, c, d = rng.uniform(-1.5, 1.5, 4)
        to.push_transform((a, b, c, d, *rng.uniform(0, HEIGHT, 2)))
        to.draw_sprites(
            np.full(20, 9), rng.uniform(-60, 60, (20, 2)), rotation=rng.uniform(0, 360, 20)
        )
        to.stroke_lines(
            rng.uniform(-60, 60, (20, 4)), "gold", rng.uniform(0.1, 20, 20), cap="square"
        )
        to.pop_transform()


def draw_patterns(to: Recorder, rng: np.random.Generator) -> None:
    for extend in ("pad", "repeat", "reflect", "none"):
        for smooth in ("bilinear", "nearest"):
            a, b, c, d = rng.uniform(-3, 3, 4)
            where = tuple(rng.uniform(-900, 900, 2))
            paint = gpu.Pattern(9, extend, (a, b, c, d, *where), "gold", smooth)  # type: ignore[arg-type]
            to.fill_polygon(places(rng, 4), paint)


@pytest.mark.parametrize(
    "draw",
    [
        draw_lines,
        draw_short_lines,
        draw_triangles,
        draw_quads,
        draw_turned,
        draw_turned_of_all_sizes,
        draw_slanted,
        draw_patterns,
    ],
    ids=lambda draw: draw.__name__,
)
def test_edges_and_pictures_are_the_cpu_s(draw: Draw) -> None:
    cpu, tiles = canvases()
    for seed in range(examples(2)):
        recorder = Recorder()
        recorder.clear("black")
        draw(recorder, np.random.default_rng(seed))
        assert apply_to(tiles, bytes(recorder)) == apply_to(cpu, bytes(recorder)), seed


@pytest.mark.parametrize("scale", [1e-9, 1e-5, 3e4])
@pytest.mark.parametrize("extend", ["pad", "none"])
def test_pictures_far_smaller_and_larger_than_the_surface(scale: float, extend: str) -> None:
    """Their positions are beyond 32 bits, but for the pixels where it matters."""
    cpu, tiles = canvases()
    recorder = Recorder()
    recorder.clear("black")
    paint = gpu.Pattern(9, extend, (scale, 0, 0, scale, 70.3, 40.3))  # type: ignore[arg-type]
    recorder.fill_polygon([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], paint)
    assert apply_to(tiles, bytes(recorder)) == apply_to(cpu, bytes(recorder))


def test_discs_are_the_cpu_s_to_a_level() -> None:
    """Of all sizes, also rings: their corners are rounded from f32, and few of them differ."""
    cpu, tiles = canvases()
    rng = np.random.default_rng(4)
    recorder = Recorder()
    recorder.clear("black")
    discs = np.concatenate([places(rng), 10 ** rng.uniform(-1.5, 2, (COUNT, 1))], 1)
    recorder.fill_discs(discs, colors(rng))
    recorder.stroke_circles(discs, colors(rng), rng.uniform(0.1, 12, COUNT))
    for number in range(60):
        x, y = places(rng, 1)[0]
        wide, high = 10 ** rng.uniform(-1.5, 3, 2)
        recorder.fill_ellipse(
            x, y, wide, high, (*rng.integers(0, 256, 3).tolist(), 90), rotation=number * 7
        )
    shown = []
    for canvas in (cpu, tiles):
        apply_to(canvas, bytes(recorder))
        shown.append(canvas.read(0, 0, WIDTH, HEIGHT).astype(int))
    apart = np.abs(shown[0] - shown[1])
    assert apart.max() <= 1
    assert np.count_nonzero(apart) < apart.size // 1000
