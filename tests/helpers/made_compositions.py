"""Compositions made by chance: contents of every kind, placed anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from dala.scene.layers import BLENDS, Composition, Group, Layer, Planes, Rgba, Solid

near = st.floats(-40, 120, allow_nan=False, width=32)
scales = st.one_of(st.sampled_from([1.0, 0.5, 2.0, 0.25, -1.0]), st.floats(0.03125, 3, width=32))
levels = st.integers(0, 255)


def noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


@st.composite
def contents(draw: st.DrawFn) -> Rgba | Planes | Solid:
    seed, width, height = (
        draw(st.integers(0, 99)),
        draw(st.integers(1, 90)),
        draw(st.integers(1, 70)),
    )
    kind = draw(st.sampled_from(["planes", "opaque", "translucent", "solid"]))
    if kind == "solid":
        return Solid((*noise(seed, 3).tolist(), draw(st.sampled_from([0, 90, 255]))), width, height)
    if kind == "planes":
        half = -(-height // 2), -(-width // 2)
        return Planes(
            noise(seed, height, width + 3)[:, :width], noise(seed + 1, *half), noise(seed + 2, *half),
            draw(st.sampled_from(["bt601", "bt709", "bt2020"])), draw(st.booleans()),
        )  # fmt: skip
    pixels = noise(seed, height, width, 4)
    if kind == "opaque":
        pixels[..., 3] = 255
    else:
        pixels[..., 3] = np.where(pixels[..., 0] < 60, 0, pixels[..., 3])
    return Rgba(pixels, opaque=kind == "opaque")


@st.composite
def matrices(draw: st.DrawFn) -> tuple[float, ...]:
    x, y = draw(near), draw(near)
    if draw(st.booleans()):
        x, y = float(round(x)), float(round(y))
    across, down = draw(scales), draw(scales)
    if draw(st.booleans()):
        return across, 0.0, 0.0, down, x, y
    turn = math.radians(draw(st.sampled_from([90.0, 180.0, 45.0, 10.0, 200.0])))
    c, s = math.cos(turn), math.sin(turn)
    return across * c, across * s, -down * s, down * c, x, y


rectangles = st.tuples(near, near, near, near).map(
    lambda r: (min(r[0], r[2]), min(r[1], r[3]), max(r[0], r[2]), max(r[1], r[3]))
)
layers = st.builds(
    Layer,
    content=contents(),
    matrix=matrices(),
    crop=st.none() | rectangles,
    opacity=st.sampled_from([1.0, 1.0, 0.5, 0.03]),
    blend=st.sampled_from(["over"] * 8 + list(BLENDS)),
    corner_radius=st.sampled_from([0.0, 0.0, 3.5, 30.0]),
    clip=st.none() | st.none() | rectangles,
    softness=st.sampled_from([0.0, 0.0, 0.0, 6.5]),
)
compositions = st.builds(
    Composition,
    width=st.integers(1, 120),
    height=st.integers(1, 90),
    background=st.sampled_from([(0, 0, 0, 255), (0, 0, 0, 0), (200, 10, 90, 77)]),
    layers=st.lists(layers, max_size=4).map(tuple),
)


def pairs_of_levels(blend: str) -> Iterator[Composition]:
    """Two pictures with every pair of levels, one onto the other."""
    below, above = np.mgrid[:256, :256].astype(np.uint8)
    for alpha in (255, 100):
        pictures = [np.repeat(levels[..., None], 4, axis=2) for levels in (below, above)]
        pictures[0][..., 3], pictures[1][..., 3] = alpha, 255 - below
        first, second = (
            Layer(Rgba(p), blend=b) for p, b in zip(pictures, ("over", blend), strict=True)
        )
        yield Composition(256, 256, layers=(first, second))


def much_smaller(scale: float, turn: float) -> Iterator[Composition]:
    """A video, a picture and a group, each scaled and turned."""
    c, s = math.cos(turn) * scale, math.sin(turn) * scale
    video = Planes(noise(1, 701, 1003), noise(2, 351, 502), noise(3, 351, 502))
    group = Group((Layer(Rgba(noise(5, 701, 1003, 4))),), 1003, 701)
    for content in (video, Rgba(noise(4, 701, 1003, 4)), group):
        layer = Layer(content, (c, s, -s, c, 33.3, 21.7))
        yield Composition(160, 120, (9, 9, 9, 255), (layer,))
