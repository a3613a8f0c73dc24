"""Ink: coverage against exact areas, strokes and gradients against slow definitions."""

from __future__ import annotations

import ctypes
import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from drawn_ink import SIZE, Array, alpha_of
from several_threads import use_threads

from dala import gpu
from dala.backends.cpu.llvm.jit import Module, detect_host
from dala.errors import ArgumentError, ParameterError
from dala.gpu import Surface
from dala.gpu.raster import rows
from dala.gpu.raster.ink.cut import LAID, PIECES_BYTES, ROWS_AT, cut_pieces, lay_edge
from dala.gpu.raster.ink.ring import ring_edges
from dala.gpu.raster.ink.sampled import blend_covered, sample_affine
from dala.gpu.raster.ink.sweep import sweep_color
from dala.gpu.raster.language import compile_functions


def clip_half(points: list[tuple[float, float]], axis: int, limit: float, sign: int) -> Any:
    """What of a polygon lies on one side of a line parallel to an axis."""
    kept = []
    for a, b in zip(points, [*points[1:], *points[:1]], strict=True):
        inside_a, inside_b = sign * (a[axis] - limit) >= 0, sign * (b[axis] - limit) >= 0
        if inside_a:
            kept.append(a)
        if inside_a != inside_b:
            t = (limit - a[axis]) / (b[axis] - a[axis])
            kept.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
    return kept


def exact_areas(points: list[tuple[float, float]], width: int, height: int) -> Array:
    """The area of every pixel within a simple polygon, by clipping."""
    areas = np.zeros((height, width))
    for y in range(height):
        row = clip_half(clip_half(points, 1, y, 1), 1, y + 1, -1)
        for x in range(width):
            cell = clip_half(clip_half(row, 0, x, 1), 0, x + 1, -1)
            pairs = zip(cell, [*cell[1:], *cell[:1]], strict=True)
            areas[y, x] = abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2
    return areas


def supersampled(inside: Any, width: int = SIZE, height: int = SIZE, steps: int = 16) -> Array:
    """The share of sample points of every pixel that are inside."""
    at = (np.arange(width * steps) + 0.5) / steps
    down = (np.arange(height * steps) + 0.5) / steps
    hits = inside(at[None, :], down[:, None])
    return np.asarray(hits.reshape(height, steps, width, steps).mean((1, 3)))


# -- coverage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_triangle_covers_its_exact_area(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = (-15, 55) if seed % 2 else (1, SIZE - 1)
    points = [tuple(p) for p in rng.uniform(low, high, (3, 2)).astype(np.float32).tolist()]
    got = alpha_of(lambda s: s.fill_polygon(points, "white"))
    assert np.abs(got - exact_areas(points, SIZE, SIZE) * 255).max() <= 1.0


def test_thin_and_tiny_shapes_keep_their_area() -> None:
    sliver = [(2.0, 3.0), (38.0, 3.4), (38.0, 3.5)]
    got = alpha_of(lambda s: s.fill_polygon(sliver, "white"))
    assert np.abs(got - exact_areas(sliver, SIZE, SIZE) * 255).max() <= 1.0
    dot = alpha_of(lambda s: s.fill_path("M5.25 5.25 h.5 v.5 h-.5 Z", "white"))
    assert dot[5, 5] == 64 and dot.sum() == 64


def test_shapes_that_share_an_edge_leave_no_gap() -> None:
    def draw(surface: Surface) -> None:
        surface.fill_path("M3.3 2.7 L20.1 30.2 L30.4 5.5 Z M30.4 5.5 L20.1 30.2 L38 38 Z", "white")

    got = alpha_of(draw)
    whole = alpha_of(lambda s: s.fill_path("M3.3 2.7 L20.1 30.2 L38 38 L30.4 5.5 Z", "white"))
    assert (got == whole).all()


def test_rules() -> None:
    twice = "M5 5 H35 V35 H5 Z M10 10 H30 V30 H10 Z"
    assert alpha_of(lambda s: s.fill_path(twice, "white"))[20, 20] == 255
    assert alpha_of(lambda s: s.fill_path(twice, "white", "evenodd"))[20, 20] == 0
    hole = "M5 5 H35 V35 H5 Z M10 10 V30 H30 V10 Z"
    assert alpha_of(lambda s: s.fill_path(hole, "white"))[20, 20] == 0


@pytest.mark.parametrize("radius", [0.4, 1, 3.3, 7.5, 16, 19])
def test_discs(radius: float) -> None:
    cx, cy = 20.3, 19.6
    got = alpha_of(lambda s: s.fill_ellipse(cx, cy, radius, radius, "white"))
    wanted = supersampled(lambda x, y: (x - cx) ** 2 + (y - cy) ** 2 < radius**2, steps=64) * 255
    assert np.abs(got - wanted).max() <= 2.5  # one level, and the samples' own error
    assert abs(got.sum() / 255 - math.pi * radius**2) < 0.02 + 0.002 * radius


def test_an_ellipse_is_its_path() -> None:
    path = gpu.Path().ellipse(20.2, 18.9, 15, 6, rotation=33)
    a = alpha_of(lambda s: s.fill_path(path, "white"))
    b = alpha_of(lambda s: s.fill_ellipse(20.2, 18.9, 15, 6, "white", rotation=33))
    assert np.abs(a - b).max() <= 2


def test_curves_are_smooth() -> None:
    def bezier(t: Array) -> Array:
        p = np.array([[2, 30], [10, -20], [30, 60], [38, 8]])
        weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
        return sum(w[:, None] * q for w, q in zip(weights, p, strict=True))

    fine = bezier(np.linspace(0, 1, 2000))
    a = alpha_of(lambda s: s.fill_path("M2 30 C10 -20 30 60 38 8 Z", "white", "evenodd"))
    b = alpha_of(lambda s: s.fill_polygon(fine, "white", "evenodd"))
    assert np.abs(a - b).max() <= 2


# -- strokes -----------------------------------------------------------------------------------------


def distance(x: Array, y: Array, a: tuple[float, float], b: tuple[float, float]) -> Array:
    dx, dy = b[0] - a[0], b[1] - a[1]
    t = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy), 0, 1)
    return np.asarray(np.hypot(x - a[0] - t * dx, y - a[1] - t * dy))


def test_round_strokes_are_what_is_near() -> None:
    points = [(6.0, 7.0), (33.0, 12.0), (12.0, 33.0)]
    wanted = supersampled(
        lambda x, y: (
            np.minimum(distance(x, y, points[0], points[1]), distance(x, y, points[1], points[2]))
            < 3
        )
    )
    path = gpu.Path.polyline(points)
    got = alpha_of(lambda s: s.stroke_path(path, "white", 6, "round", "round"))
    error = np.abs(got - wanted * 255)
    assert error.mean() < 0.6 and (error > 12).sum() <= 3  # where two pieces' rims meet within


@pytest.mark.parametrize("cap", ["butt", "round", "square"])
def test_a_line_is_a_path_of_two_points(cap: Any) -> None:
    a = alpha_of(lambda s: s.stroke_line(5.5, 9, 30, 31.25, "white", 5, cap))
    b = alpha_of(lambda s: s.stroke_path("M5.5 9 L30 31.25", "white", 5, cap=cap))
    assert np.abs(a - b).max() <= 1
    length = math.hypot(24.5, 22.25) + (5 if cap == "square" else 0)
    area = 5 * length + (math.pi * 2.5**2 if cap == "round" else 0)
    assert abs(a.sum() / 255 - area) < 0.5


def test_joins() -> None:
    def corner(join: Any, limit: float = 10) -> Array:
        return alpha_of(
            lambda s: s.stroke_path("M5 30 L20 8 L35 30", "white", 6, join, miter_limit=limit)
        )

    miter, round_, bevel = corner("miter"), corner("round"), corner("bevel")
    assert miter.sum() > round_.sum() > bevel.sum()
    assert miter[3, 20] > 100 and bevel[4, 20] == 0 < round_[5, 20]
    assert (corner("miter", 1) == bevel).all()


def test_dashes() -> None:
    got = alpha_of(lambda s: s.stroke_path("M0 5 H40", "white", 2, dash=[6, 4], dash_offset=3))
    on = (np.arange(SIZE) + 3) % 10 < 6
    assert (got[5] == np.where(on, 255, 0)).all()
    closed = alpha_of(lambda s: s.stroke_path("M5 5 H35 V35 H5 Z", "white", 2, dash=[10, 5]))
    assert abs(closed.sum() / 255 - 160) < 8  # two thirds of the way round, two wide


# -- paints, layers, transforms ----------------------------------------------------------------------


def pixels_of(draw: Any, **how: Any) -> Array:
    with gpu.create_surface(SIZE, SIZE, device="cpu", **how) as surface:
        draw(surface)
        return np.asarray(surface.read_pixels(0, 0, SIZE, SIZE)).astype(int)


def test_gradients() -> None:
    square = gpu.Path().rect(0, 0, SIZE, SIZE)
    ramp = gpu.LinearGradient(0, 0, SIZE, 0, ["black", "white"])
    linear = pixels_of(lambda s: s.fill_path(square, ramp))
    assert np.abs(linear[7, :, 0] - (np.arange(SIZE) + 0.5) / SIZE * 255).max() <= 1
    radial = pixels_of(
        lambda s: s.fill_path(square, gpu.RadialGradient(20, 20, 20, ["black", "white"]))
    )
    far = np.hypot(np.arange(SIZE) + 0.5 - 20, 0.5)
    assert np.abs(radial[20, :, 0] - np.minimum(far / 20, 1) * 255).max() <= 1
    conic = pixels_of(lambda s: s.fill_path(square, gpu.ConicGradient(20, 20, ["black", "white"])))
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5 - 20
    assert np.abs(conic[..., 0] - np.arctan2(y, x) / (2 * np.pi) % 1 * 255).max() <= 1
    again = gpu.LinearGradient(0, 0, 10, 0, ["black", "white"], spread="reflect")
    mirrored = pixels_of(lambda s: s.fill_path(square, again))
    assert (mirrored[0, :10, 0] == mirrored[0, 19:9:-1, 0]).all()


def test_patterns_repeat() -> None:
    tile = np.random.default_rng(1).integers(0, 256, (5, 7, 4), np.uint8)
    tile[..., 3] = 255

    def draw(surface: Surface) -> None:
        surface.load_image(3, tile)
        surface.fill_path(gpu.Path().rect(0, 0, SIZE, SIZE), gpu.Pattern(3))

    got = pixels_of(draw)
    assert (got == np.tile(tile, (8, 6, 1))[:SIZE, :SIZE]).all()


def test_transforms_nest() -> None:
    def draw(surface: Surface) -> None:
        with surface.transformed(translate=(10, 5)), surface.transformed(scale=2, rotate=90):
            surface.fill_path("M0 0 h5 v3 h-5 Z", "white")

    assert (alpha_of(draw) > 0).nonzero()[0].min() == 5
    there = alpha_of(draw)
    assert (there[5:15, 4:10] == 255).all() and there.sum() == 255 * 60


def test_a_layer_is_one_picture() -> None:
    def draw(surface: Surface) -> None:
        surface.clear("blue")
        with surface.layer(0.5, clip="M10 10 H30 V30 H10 Z"):
            surface.fill_rect(0, 0, SIZE, SIZE, "red")
            surface.fill_circle(20, 20, 5, "red")

    got = pixels_of(draw)
    assert got[20, 20].tolist() == [128, 0, 127, 255] == got[11, 11].tolist()
    assert got[5, 5].tolist() == [0, 0, 255, 255]


@pytest.mark.parametrize(
    ("blend", "wanted"),
    [
        ("over", [200, 100, 50]), ("multiply", [78, 78, 49]), ("screen", [222, 222, 251]),
        ("darken", [100, 100, 50]), ("lighten", [200, 200, 250]), ("add", [255, 255, 255]),
        ("difference", [100, 100, 200]), ("exclusion", [143, 143, 202]), ("overlay", [157, 188, 247]),
        ("hard_light", [189, 157, 98]), ("erase", [100, 200, 250]),
    ],
)  # fmt: skip
def test_blend_modes(blend: Any, wanted: list[int]) -> None:
    def draw(surface: Surface) -> None:
        surface.clear((100, 200, 250))
        with surface.layer(blend=blend):
            surface.fill_rect(0, 0, 9, 9, (200, 100, 50))

    got = pixels_of(draw)
    assert np.abs(got[4, 4, :3] - wanted).max() <= 1
    assert got[4, 4, 3] == (0 if blend == "erase" else 255)
    assert got[20, 20].tolist() == [100, 200, 250, 255]


def test_a_surface_that_replaces() -> None:
    def draw(surface: Surface) -> None:
        surface.clear("white")
        surface.fill_path("M0 0 H10.5 V10 H0 Z", (0, 0, 0, 0))

    got = pixels_of(draw, blend="replace")
    assert got[5, 5, 3] == 0 and got[5, 10, 3] == 127 and got[5, 11, 3] == 255


# -- sprites -----------------------------------------------------------------------------------------


def test_sprites_turn_and_flip() -> None:
    art = np.random.default_rng(2).integers(0, 256, (6, 8, 4), np.uint8)
    art[..., 3] = 255

    def shown(**how: Any) -> Array:
        def draw(surface: Surface) -> None:
            surface.load_sprite(1, art)
            surface.draw_sprite(1, 20, 20, **how)

        return pixels_of(draw)

    assert (shown()[17:23, 16:24] == art).all()
    assert (shown(flip="x")[17:23, 16:24] == art[:, ::-1]).all()
    assert (shown(rotation=90)[16:24, 17:23] == np.rot90(art, -1)).all()
    assert (shown(rotation=180, anchor=(0, 0))[14:20, 12:20] == art[::-1, ::-1]).all()
    doubled = shown(scale=2, filter="nearest")[14:26, 12:28]
    assert (doubled == art.repeat(2, 0).repeat(2, 1)).all()
    tinted = shown(tint=(255, 0, 0), opacity=0.5)[17:23, 16:24]
    assert (tinted[..., 1:3] == 0).all() and (tinted[..., 3] == 128).all()
    half = shown(anchor=(0.5, 0.5), scale=1)[17:23, 16:24]
    assert (half == art).all()


def test_images_are_cropped_and_turned() -> None:
    art = np.arange(4 * 6 * 4, dtype=np.uint8).reshape(4, 6, 4) | 192
    art[..., 3] = 255

    def draw(surface: Surface) -> None:
        surface.load_image(1, art)
        surface.draw_image(1, 10, 10, 2, 3, crop=(2, 1, 2, 3))
        surface.draw_image(1, 20.5, 20, 6, 4, opacity=0.5)

    got = pixels_of(draw)
    assert (got[10:13, 10:12] == art[1:4, 2:4]).all()
    assert got[22, 20, 3] == 64 and got[22, 23, 3] == 128


# -- whoever paints, the same pixels -----------------------------------------------------------------


def scene(surface: Surface) -> None:
    rng = np.random.default_rng(5)
    surface.load_sprite(1, rng.integers(0, 256, (16, 16, 4), np.uint8))
    surface.clear("#123456")
    for _ in range(60):
        surface.fill_discs(rng.uniform(-20, 320, (20, 3)) * (1, 1, 0.1), (255, 255, 0, 90))
        surface.stroke_lines(rng.uniform(-50, 350, (20, 4)), "red", 2.5, "round")
        surface.draw_sprites(
            1, rng.uniform(0, 300, (5, 2)), rotation=rng.uniform(0, 360, 5), scale=2
        )
        with surface.layer(0.7, "screen", clip=gpu.Path().ellipse(150, 150, 90, 120)):
            surface.stroke_path("M0 0 C300 0 0 300 300 300", "cyan", 30, dash=[20, 5])
            paint = gpu.RadialGradient(150, 150, 150, ["red", (0, 0, 255, 0)])
            surface.fill_polygon(rng.uniform(0, 300, (5, 2)), paint, "evenodd")


def test_threads_paint_the_same_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    for threads in (1, 2, 5):
        use_threads(monkeypatch, threads)
        with gpu.create_surface(300, 300, device="cpu") as surface:
            scene(surface)
            surface.present().wait()
            shown.append(np.array(np.asarray(surface)))
    assert (shown[0] == shown[1]).all() and (shown[0] == shown[2]).all()


def test_a_batch_paints_what_the_calls_paint() -> None:
    recorder = gpu.Recorder()
    scene(recorder)  # type: ignore[arg-type]
    with (
        gpu.create_surface(300, 300, device="cpu") as a,
        gpu.create_surface(300, 300, device="cpu") as b,
    ):
        scene(a)
        b.batch([bytes(recorder)]).wait()
        assert (a.read_pixels(0, 0, 300, 300) == b.read_pixels(0, 0, 300, 300)).all()


# -- texts and steps ---------------------------------------------------------------------------------


def test_texts_go_through_transforms_and_batches() -> None:
    pytest.importorskip("uharfbuzz")

    def draw(surface: Any) -> None:
        with surface.transformed(translate=(5, 3)):
            surface.draw_text(2.5, 1, "Ink", size=16, color="gold")

    there = alpha_of(lambda s: s.draw_text(7.5, 4, "Ink", size=16))
    assert there.max() == 255 and (alpha_of(draw) == there).all()
    recorder = gpu.Recorder()
    draw(recorder)
    assert (alpha_of(lambda s: s.batch(recorder.commands)) == there).all()
    assert not alpha_of(lambda s: s.draw_text(0, 0, "")).any()
    with gpu.create_surface(8, 8, device="cpu") as surface, pytest.raises(ParameterError):
        surface.draw_text(math.nan, 0, "x")


def test_steps_are_made_up_for_but_not_for_ever() -> None:
    steps = gpu.FixedStep(50, most=4)
    assert [steps.due(t) for t in (0.0, 0.01, 0.02, 0.07, 0.07, 9.0, 9.02)] == [0, 0, 1, 2, 0, 4, 1]
    assert 0 <= steps.blend <= 1
    for wrong in (0, -1, math.nan, 5e-324):
        with pytest.raises(ParameterError, match="rate"):
            gpu.FixedStep(wrong)
    for odd in ("a", None):
        with pytest.raises(ArgumentError, match="rate"):
            gpu.FixedStep(odd)  # type: ignore[arg-type]
    far = gpu.FixedStep(1e30)
    assert [far.due(t) for t in (-1e30, 1e30, 1e30)] == [0, 8, 0]


# -- words mean in Python what they do in machine code -----------------------------------------------


def call_sample(to: int, pixels: int, u: float, v: float, du: float, dv: float, how: int) -> int:
    return sample_affine(to, 19, pixels, 28, 7, 5, u, v, du, dv, how & 3, how >> 2)


def call_blend(to: int, border: int, pixels: int, cover: int, tint: int) -> int:
    return blend_covered(to, 19, border, pixels, cover, tint)


def call_sweep(to: int, border: int, cells: int, pixel: int, rule: int) -> int:
    return sweep_color(to, 128, 3, 29, 2, border, pixel, cells, 128, rule)


def call_lay(edge: int, row: int, pieces: int, number: int) -> int:
    return lay_edge(edge, row, pieces, number)


def call_cut(pieces: int, count: int, left: int, top: int, stride: int) -> int:
    return cut_pieces(pieces, count, left, top, stride)


def call_ring(out: int, table: int, x: float, y: float, ux: float, uy: float, v: float) -> int:
    return ring_edges(out, table, 32, x, y, ux, uy, v, -v)


@pytest.fixture(params=[16, 32, 64])
def words(request: Any, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Compiled for machines with shorter vectors, too."""
    host = dataclasses.replace(detect_host(), vector_bytes=request.param)
    monkeypatch.setattr(rows, "detect_host", lambda: host)
    rows.vector_names.cache_clear()
    functions: Any = (call_sample, call_blend, call_sweep, call_lay, call_cut, call_ring)
    try:
        return Module(compile_functions(functions), optimise=True)
    finally:
        rows.vector_names.cache_clear()


def test_edges_are_cut_alike_in_python_and_in_machine_code(words: Module) -> None:
    number = ctypes.c_int64
    lay = words.function("call_lay", *[number] * 5)
    cut = words.function("call_cut", *[number] * 6)
    rng = np.random.default_rng(6)
    for reach in (3, 300, 2000, 9000):  # units: within a pixel, up to lines across many
        edges = rng.integers(5120, 5120 + reach, (61, 4)).astype(np.int32)
        first = edges[:, 1::2].min(1) >> 9
        passed = np.minimum((edges[:, 1::2].max(1) + 511 >> 9) - first, LAID)
        numbers, count = np.cumsum(passed) - passed, int(passed.sum())
        both = np.zeros((2, PIECES_BYTES // 4), np.int32)
        for memory, lays, cuts in zip(both, (lay, call_lay), (cut, call_cut), strict=True):
            for edge, row, at in zip(edges, first.tolist(), numbers.tolist(), strict=True):
                lays(edge.ctypes.data, row, memory.ctypes.data, at)
            cuts(memory.ctypes.data, count, 4, 9, 128)
        areas, places = both[:, : count * 4], both[:, ROWS_AT // 4 :][:, :count]
        assert (areas[0] == areas[1]).all() and (places[0] == places[1]).all()
        assert (places[0] < 0).any() == (reach > 1000)  # over more than three cells


def test_rings_are_alike_in_python_and_in_machine_code(words: Module) -> None:
    number, real = ctypes.c_int64, ctypes.c_double
    ring = words.function("call_ring", number, number, number, *[real] * 5)
    angles = np.arange(32) * (np.pi / 16)
    table = np.concatenate([np.cos(angles), np.sin(angles)])
    both = np.zeros((2, 32, 4), np.int32)
    for edges, function in zip(both, (ring, call_ring), strict=True):
        end = function(edges.ctypes.data, table.ctypes.data, 50.3, 60.7, 9.1, -3.3, 4.2)
        assert end == edges.ctypes.data + 32 * 16
    assert (both[0] == both[1]).all()
    assert (both[0, :, :2] == np.roll(both[0, :, 2:], 1, 0)).all()  # each begins where one ended


def test_words_in_python_and_in_machine_code(words: Module) -> None:
    number, real = ctypes.c_int64, ctypes.c_double
    rng = np.random.default_rng(4)
    pixels = rng.integers(0, 2**32, 64, np.uint64).astype(np.uint32)
    sample = words.function("call_sample", number, number, number, real, real, real, real, number)
    blend = words.function("call_blend", *[number] * 6)
    sweep = words.function("call_sweep", *[number] * 6)
    for how in range(8):
        start = rng.uniform(-20, 20, 2).tolist() + rng.uniform(-2, 2, 2).tolist()
        both = np.zeros((2, 64), np.uint32)
        for row, function in zip(both, (sample, call_sample), strict=True):
            function(row.ctypes.data, pixels.ctypes.data, *start, how)
        assert (both[0, :19] == both[1, :19]).all()
    cover = rng.integers(0, 256, 64).astype(np.int32)
    for tint in (0xFFFFFFFF, 0x80FF7F01):
        both = np.stack([rng.permutation(pixels)] * 2)
        for row, function in zip(both, (blend, call_blend), strict=True):
            end = row.ctypes.data + 19 * 4  # what lies behind is another's
            function(row.ctypes.data, end, pixels.ctypes.data, cover.ctypes.data, tint)
        assert (both[0] == both[1]).all()
    for rule in (0, 1):
        cells = rng.integers(-(2**19), 2**19, (2, 32)).astype(np.int32)
        both, sums = np.stack([pixels] * 2), np.stack([cells] * 2)
        for row, sum_, function in zip(both, sums, (sweep, call_sweep), strict=True):
            end = row.ctypes.data + 61 * 4
            function(row.ctypes.data, end, sum_.ctypes.data, 0xC0204080, rule)
        assert (both[0] == both[1]).all() and not sums.any()
