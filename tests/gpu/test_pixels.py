"""Every primitive paints exactly the pixels that the slow rasteriser does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from searching import examples
from slow_raster import Pixel, Slow, bresenham_line, midpoint_circle, on_circle, over

from dala import gpu
from dala.gpu import Surface

WIDTH, HEIGHT = 37, 29
FAR = 2**31
near = st.integers(-15, 50)
far = st.one_of(st.integers(-FAR, -FAR + 40), st.integers(FAR - 40, FAR - 1))
coordinate = st.one_of(near, near, near, near, far, st.integers(-FAR, FAR - 1))
small = st.integers(0, 60)
length = st.one_of(small, small, small, st.integers(0, 2**32 - 1), st.just(2**32 - 1))
# where the wire is unsigned, Python still takes what is negative
corner = st.one_of(near, near, near, st.integers(-FAR, 2**32 - 1))
level = st.one_of(st.sampled_from([0, 1, 77, 128, 200, 254, 255]), st.integers(0, 255))
color = st.tuples(level, level, level, level)
clip = st.one_of(st.none(), st.none(), st.tuples(near, near, small, small))
background = st.tuples(level, level, level, st.sampled_from([0, 90, 255, 255]))

SHAPES: dict[str, list[st.SearchStrategy[int]]] = {
    "fill_rect": [corner, corner, length, length],
    "draw_line": [coordinate] * 4,
    "draw_circle": [coordinate, coordinate, length],
    "fill_circle": [coordinate, coordinate, length],
    "draw_triangle": [coordinate] * 6,
    "fill_triangle": [coordinate] * 6,
    "draw_round_rect": [corner, corner, length, length, length],
    "fill_round_rect": [corner, corner, length, length, length],
}
shape = st.one_of(
    [st.tuples(st.just(name), st.tuples(*fields), color) for name, fields in SHAPES.items()]
)
MANY = settings(max_examples=examples(400))


@pytest.fixture(scope="module", params=["over", "replace"])
def surface(request: pytest.FixtureRequest) -> Iterator[Surface]:
    with gpu.create_surface(WIDTH, HEIGHT, blend=request.param) as made:
        yield made


def replaces(surface: Surface) -> bool:
    surface.reset_clip()
    surface.clear("black")
    surface.fill_rect(0, 0, 1, 1, (0, 0, 0, 0))
    return int(surface.read_pixels(0, 0, 1, 1)[0, 0, 3]) == 0


def expect(surface: Surface, slow: Slow) -> None:
    seen = surface.read_pixels(0, 0, slow.width, slow.height)
    wanted = np.array(slow.rows, np.uint8)
    wrong = np.argwhere((seen != wanted).any(-1))
    if len(wrong):
        y, x = wrong[0]
        raise AssertionError(
            f"{len(wrong)} pixels differ, first ({x}, {y}): {seen[y, x]} instead of {wanted[y, x]}"
        )


def begin(surface: Surface, ground: Pixel, area: Any) -> Slow:
    slow = Slow(WIDTH, HEIGHT, replace=replaces(surface))
    slow.clear(ground)
    surface.clear(ground)
    if area is not None:
        surface.set_clip(*area)
        slow.clip = area
    return slow


@MANY
@given(shapes=st.lists(shape, min_size=1, max_size=4), ground=background, area=clip)
@example([("fill_triangle", (0, 0, 36, 1, 0, 28), (255, 0, 0, 255))], (0, 0, 0, 0), None)
@example([("draw_line", (-FAR, -FAR, FAR - 1, FAR - 1), (1, 2, 3, 128))], (9, 9, 9, 255), None)
@example([("fill_circle", (-FAR, 14, FAR + 3), (1, 2, 3, 255))], (9, 9, 9, 255), None)
@example([("draw_circle", (18, 14 - FAR, FAR), (1, 2, 3, 255))], (9, 9, 9, 255), None)
def test_shapes(surface: Surface, shapes: list[Any], ground: Pixel, area: Any) -> None:
    slow = begin(surface, ground, area)
    for name, fields, paint in shapes:
        getattr(surface, name)(*fields, paint)
        getattr(slow, name)(*fields, paint)
    expect(surface, slow)


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data(), ground=background, area=clip)
@settings(max_examples=examples(150))
def test_each_shape(surface: Surface, name: str, data: Any, ground: Pixel, area: Any) -> None:
    fields, paint = data.draw(st.tuples(*SHAPES[name])), data.draw(color)
    slow = begin(surface, ground, area)
    getattr(surface, name)(*fields, paint)
    getattr(slow, name)(*fields, paint)
    expect(surface, slow)


pictures = st.tuples(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**32 - 1), level)


def picture_of(w: int, h: int, seed: int, alpha: int) -> np.ndarray:
    pixels = np.random.default_rng(seed).integers(0, 256, (h, w, 4), dtype=np.uint8)
    if seed % 3 == 0:
        pixels[..., 3] = alpha
    elif seed % 3 == 1:  # a mask
        pixels[..., 3] = np.where(pixels[..., 3] < 128, 0, 255)
    return pixels


@MANY
@given(made=pictures, x=coordinate, y=coordinate, ground=background, area=clip)
def test_sprites(surface: Surface, made: Any, x: int, y: int, ground: Pixel, area: Any) -> None:
    slow, pixels = begin(surface, ground, area), picture_of(*made)
    surface.load_sprite(1, pixels)
    surface.blit(1, x, y)
    slow.blit([[tuple(p) for p in row] for row in pixels.tolist()], x, y)
    expect(surface, slow)


@MANY
@given(
    made=pictures,
    place=st.tuples(coordinate, coordinate, length, length),
    ground=background,
    area=clip,
)
def test_scaled_images(surface: Surface, made: Any, place: Any, ground: Pixel, area: Any) -> None:
    slow, pixels = begin(surface, ground, area), picture_of(*made)
    surface.load_image(1, pixels)
    surface.draw_image(1, *place)
    slow.draw_image([[tuple(p) for p in row] for row in pixels.tolist()], *place)
    expect(surface, slow)


def test_every_blend_is_the_nearest() -> None:
    """All alphas on all alphas, for a few colours."""
    with gpu.create_surface(256, 256) as square:
        for s, d in ((0, 255), (255, 0), (13, 200), (255, 255), (101, 99)):
            ground = np.empty((256, 256, 4), np.uint8)
            ground[..., :3], ground[..., 3] = d, np.arange(256)
            square.set_pixels(ground)
            rows = np.stack([np.zeros(256), np.arange(256), np.full(256, 256), np.ones(256)], 1)
            paint = np.full((256, 4), s, np.uint8)
            paint[:, 3] = np.arange(256)
            square.fill_rects(rows.astype(int), paint)
            seen = square.read_pixels(0, 0, 256, 256)
            for a in range(0, 256, 5):
                for b in range(256):
                    assert tuple(seen[a, b].tolist()) == over((s, s, s, a), (d, d, d, b)), (a, b)


# -- the slow rasteriser against the textbook ------------------------------------------------------


def test_circles_are_the_textbook_s() -> None:
    for r in range(60):
        around = range(-r - 2, r + 3)
        assert midpoint_circle(r) == {(x, y) for x in around for y in around if on_circle(x, y, r)}


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_lines_are_the_textbook_s(ends: tuple[int, int, int, int]) -> None:
    assert sorted(Slow(31, 31).line(*ends)) == sorted(bresenham_line(*ends))


@MANY
@given(points=st.tuples(*[st.integers(-10, 45)] * 8), paint=color)
def test_triangles_share_no_pixel(
    surface: Surface, points: tuple[int, ...], paint: tuple[int, ...]
) -> None:
    """Two triangles on either side of an edge paint what each alone does, and no pixel twice."""
    xa, ya, xb, yb, xc, yc, xd, yd = points

    def side(x: int, y: int) -> int:
        return (xb - xa) * (y - ya) - (yb - ya) * (x - xa)

    if side(xc, yc) * side(xd, yd) >= 0:
        return
    painted = []
    for x, y in ((xc, yc), (xd, yd)):
        surface.reset_clip()
        surface.clear("transparent")
        surface.fill_triangle(xa, ya, xb, yb, x, y, "white")
        painted.append(surface.read_pixels(0, 0, WIDTH, HEIGHT)[..., 3] > 0)
    assert not (painted[0] & painted[1]).any()


def test_two_triangles_are_a_rectangle(surface: Surface) -> None:
    surface.reset_clip()
    surface.clear("transparent")
    surface.fill_triangle(3, 4, 23, 4, 23, 20, (9, 9, 9, 128))
    surface.fill_triangle(3, 4, 23, 20, 3, 20, (9, 9, 9, 128))
    seen = surface.read_pixels(0, 0, WIDTH, HEIGHT)
    assert (seen[4:20, 3:23] == (9, 9, 9, 128)).all()
    assert int((seen[..., 3] > 0).sum()) == 20 * 16
