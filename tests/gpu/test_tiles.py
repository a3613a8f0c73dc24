"""Surfaces that a GPU draws: the CPU's pixels for the 24 opcodes, a level at most for ink."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from searching import examples, first_seed
from several_threads import use_threads
from streams import (
    DRAWN,
    INKS,
    InkWriter,
    Writer,
    apply_to,
    load_pictures,
    new_canvas,
)

import dala
from dala import compute, gpu
from dala.compute.default import device
from dala.errors import DeviceLostError, PictureNotFoundError
from dala.gpu import Surface, command
from dala.gpu.canvas import Canvas, Outcome
from dala.gpu.shaders import ShaderSet
from dala.gpu.tiles import gathered, layout
from dala.gpu.tiles.canvas import TileCanvas

pytestmark = pytest.mark.webgpu
Array = np.ndarray[Any, Any]


def canvases(width: int, height: int, *, replace: bool = False) -> tuple[Canvas, TileCanvas]:
    """The same pictures on the CPU and on the GPU."""
    shaders = ShaderSet(device("webgpu"))  # type: ignore[arg-type]
    tiles = TileCanvas(width, height, replace=replace, shaders=shaders)
    load_pictures(tiles)
    return new_canvas(width, height, replace=replace), tiles


def visible(canvas: Canvas) -> Array:
    """Alpha, and colours as much as they are seen."""
    pixels = canvas.read(0, 0, *canvas.size).astype(np.float64)
    pixels[..., :3] *= pixels[..., 3:] / 255
    return pixels


# -- the 24 opcodes --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_each_primitive_is_the_cpu_s(name: str) -> None:
    writer, (cpu, tiles) = Writer(5), canvases(150, 60)
    for _ in range(8):
        data = command.encode_clear((9, 90, 200, 70)) + b"".join(
            writer.draw(name) for _ in range(10)
        )
        assert apply_to(tiles, data) == apply_to(cpu, data)


@pytest.mark.parametrize("part", range(4))
def test_random_frames_are_the_cpu_s(part: int) -> None:
    """Two of each seed."""
    count = examples(20)
    first = first_seed() + part * count
    for seed in range(first, first + count):
        writer, size = Writer(seed), (1 + seed * 37 % 180, 1 + seed * 23 % 70)
        both = canvases(*size, replace=seed % 5 == 0)
        for count in (8, 20):  # the second time frames, clips and sizes are there from before
            data = writer.stream(count)
            assert apply_to(both[1], data) == apply_to(both[0], data), seed


def test_numbers_at_the_ends_of_the_wire() -> None:
    """Products of 64 bits, and what lies beyond 32."""
    most, least, whole = 2**31 - 1, -(2**31), 2**32 - 1
    cpu, tiles = canvases(70, 40)
    data = command.encode_clear("black") + b"".join([
        command.encode_draw_line(least, least, most, most, (255, 0, 0, 99)),
        command.encode_draw_line(least, 30, most, -3, (255, 0, 0, 99)),
        command.encode_draw_line(20, most, 33, least, (255, 200, 0, 99)),
        command.encode_fill_circle(least, 0, 2**31 + 30, (0, 255, 0, 99)),
        command.encode_draw_circle(most, most, 3037000470, (0, 255, 255, 99)),
        command.encode_draw_circle(35, -40000, 40020, (0, 255, 255, 99)),
        command.encode_fill_triangle(least, least, most, 20, 30, most, (0, 0, 255, 99)),
        command.encode_fill_round_rect(10, 5, whole, whole, whole, (80, 80, 0, 99)),
        command.encode_draw_round_rect(3, 2, whole, whole, whole, (255, 255, 255, 99)),
        command.encode_draw_image(1, -9, least + 12, 200_000, whole),
    ])  # fmt: skip
    assert apply_to(tiles, data) == apply_to(cpu, data)


@pytest.mark.parametrize("threads", [1, 3])
def test_more_than_is_gathered_at_once(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    use_threads(monkeypatch, threads)
    monkeypatch.setattr(gathered, "PRIM_BLOCKS", 0)  # as few as there may be
    cpu, tiles = canvases(130, 40)
    rng, recorder = np.random.default_rng(1), gpu.Recorder()
    corners = rng.integers(0, 40, (20_000, 2))
    recorder.fill_rects(np.concatenate([corners, corners // 3], 1), (3, 200, 90, 40))
    recorder.draw_triangles(rng.integers(-9, 60, (9_000, 6)), (90, 200, 90, 40))
    assert apply_to(tiles, bytes(recorder)) == apply_to(cpu, bytes(recorder))


# -- ink -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [k for k in INKS if k not in ("plain", "pop")])
def test_ink_is_the_cpu_s_to_a_level(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.INKS", (kind, "plain") if kind != "push" else INKS)
    for seed in range(6):
        cpu, tiles = canvases(1 + seed * 29 % 140, 110 - seed * 31 % 100, replace=seed == 4)
        data = InkWriter(seed).stream(5)
        outcomes = Outcome(), Outcome()
        for canvas, outcome in zip((cpu, tiles), outcomes, strict=True):
            canvas.apply(data, outcome)
        told = [[str(error) for error in outcome.errors] for outcome in outcomes]
        assert told[0] == told[1]
        assert np.abs(visible(cpu) - visible(tiles)).max() < 1.5, seed


def test_layers_stay_open_while_somebody_looks() -> None:
    shown = []
    for name in ("cpu", "webgpu"):
        with gpu.create_surface(60, 40, device=name) as surface:
            surface.clear((200, 90, 30, 120))
            surface.push_layer(0.6, "multiply", "M5 5 L50 8 L30 38 Z")
            surface.fill_rect(0, 0, 40, 40, (0, 90, 255, 200))
            surface.set_clip(10, 5, 25, 20)
            surface.push_layer(0.5)
            surface.clear("white")
            before = surface.read_pixels(0, 0, 60, 40)  # the layers are not on it yet
            assert (before == (200, 90, 30, 120)).all()
            surface.fill_ellipse(20, 12, 9, 6, "black")
            surface.pop_layer()
            surface.reset_clip()
            surface.pop_layer()
            shown.append(surface.read_pixels(0, 0, 60, 40).astype(int))
    assert np.abs(shown[0] - shown[1]).max() <= 1


def test_a_path_of_many_edges() -> None:
    """Lists for rows of tiles, and more data than there was room for."""
    turns = np.linspace(0, 400, 30_000)
    points = np.stack([60 + 55 * np.cos(turns) * np.cos(turns / 91), 50 + 48 * np.sin(turns)], 1)
    shown = []
    for name in ("cpu", "webgpu"):
        with gpu.create_surface(120, 100, device=name) as surface:
            surface.clear("navy")
            for rule in ("nonzero", "evenodd"):
                surface.fill_polygon(points, (255, 220, 90, 150), rule)  # type: ignore[arg-type]
            shown.append(surface.read_pixels(0, 0, 120, 100).astype(int))
    assert np.abs(shown[0] - shown[1]).max() <= 1


# -- what a surface promises -------------------------------------------------------------------------


@pytest.fixture
def surface() -> Any:
    with gpu.create_surface(40, 30, device="webgpu") as made:
        yield made


def test_nothing_is_read_back_unless_asked(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    staging = type(surface.device.staging)  # type: ignore[attr-defined]
    whole = staging.begin_read_part

    def noted(self: Any, *where: Any) -> Any:
        fetched.append("read")
        return whole(self, *where)

    monkeypatch.setattr(staging, "begin_read_part", noted)
    surface.load_sprite(1, np.full((4, 4, 4), 90, np.uint8))
    for _ in range(3):
        surface.fill_circle(20, 15, 9, (255, 0, 0, 99))
        surface.blit(1, 3, 3)
        surface.stroke_line(0, 0, 40, 30, "white", 2)
        surface.set_clip(0, 0, 20, 20)
        surface.present().wait()
    surface.resize(50, 20)
    with dala.use("webgpu"):
        compute.run_to_surface("generate_gradient", [], None, surface, {})
    surface.present().wait()
    assert fetched == []
    assert surface.read_pixels(3, 3, 2, 2).shape == (2, 2, 4)
    assert fetched == ["read"]


def test_a_batch_is_whole_or_not_at_all(surface: Surface) -> None:
    surface.clear("red")
    surface.push_layer(0.5)
    surface.fill_rect(0, 0, 10, 10, "blue")
    bad = [
        command.encode_load_sprite(5, np.zeros((2, 2, 4), np.uint8)),
        command.encode_fill_rect(0, 0, 40, 30, "white"),
        command.encode_blit(77, 0, 0),
    ]
    with pytest.raises(PictureNotFoundError):
        surface.batch(bad).wait()
    surface.pop_layer()
    surface.present().wait()
    seen = np.asarray(surface)
    assert seen[20, 20].tolist() == [255, 0, 0, 255]
    assert seen[5, 5].tolist() == [127, 0, 128, 255]


def test_memory_of_pictures_is_used_again(surface: Surface) -> None:
    tiles = surface._renderer.canvas.tiles  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    for number in range(40):
        pixels = rng.integers(0, 256, (100, 200, 4), dtype=np.uint8)
        pixels[..., 3] = 255
        surface.load_image(1, pixels)
        surface.draw_image(1, 0, 0, 200, 100)
        surface.load_image(1, pixels[::-1])  # before the first was painted
        surface.draw_image(1, 0, 20, 200, 100)
        surface.present().wait()
        seen = np.asarray(surface)
        assert (seen[:20] == pixels[:20, :40]).all(), number
        assert (seen[20:] == pixels[::-1][:10, :40]).all(), number
    assert tiles.pictures.memory.bytes <= 1 << 20


@pytest.fixture
def losing(surface: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next time that the surface paints, its GPU is lost; to others it is as before."""
    found: list[bool] = []

    def lose(*_: object) -> None:
        raise RuntimeError("device lost")

    canvas: Any = surface._renderer.canvas
    surface.clear("red")
    surface.present().wait()
    monkeypatch.setattr(canvas.tiles, "_dispatch", lose)
    told = property(lambda self: bool(found), lambda self, lost: found.append(lost))
    monkeypatch.setattr(type(surface.device), "lost", told)


@pytest.mark.usefixtures("losing")
def test_a_lost_gpu_is_told(surface: Surface) -> None:
    surface.fill_rect(0, 0, 5, 5, "blue")
    with pytest.raises(DeviceLostError, match="the GPU was lost"):
        surface.present().wait()


@pytest.mark.usefixtures("losing")
def test_whatever_comes_after_a_lost_gpu_is_told_what_to_do(surface: Surface) -> None:
    surface.fill_rect(0, 0, 5, 5, "blue")
    surface.present().await_done()
    pixels = np.zeros((30, 40, 4), np.uint8)
    for call in (
        lambda: surface.fill_rect(0, 0, 5, 5, "blue"),
        lambda: surface.load_sprite(1, pixels),
        lambda: surface.fill_discs([[3, 3, 2]], "gold"),
        surface.present,
        lambda: surface.batch([command.encode_clear("red")]),
        lambda: surface.resize(5, 5),
        lambda: surface.read_pixels(0, 0, 1, 1),
        lambda: surface.set_pixels(pixels),
        surface.get_pixels,
        lambda: np.asarray(surface),
    ):
        with pytest.raises(DeviceLostError, match="make the surface again with create_surface"):
            call()
    surface.close()
    assert surface.closed


@pytest.mark.usefixtures("losing")
def test_what_was_queued_when_a_gpu_was_lost_does_not_reach_it(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas: Any = surface._renderer.canvas
    begun, go = threading.Event(), threading.Event()
    applied: list[bytes] = []

    def apply(data: bytes, outcome: Outcome) -> None:
        begun.set()
        go.wait()
        applied.append(data)
        Canvas.apply(canvas, data, outcome)

    monkeypatch.setattr(canvas, "apply", apply)
    surface.fill_rect(0, 0, 5, 5, "blue")
    receipts = [surface.present()]
    begun.wait()
    for _ in range(2):
        surface.fill_rect(0, 0, 5, 5, "blue")
        receipts.append(surface.present())
    go.set()
    for receipt in receipts:
        with pytest.raises(DeviceLostError):
            receipt.wait()
    assert len([data for data in applied if data]) == 2  # the rectangle and the first present


def test_only_a_surface_that_names_a_gpu_draws_there() -> None:
    with gpu.create_surface(8, 8) as made:
        assert not isinstance(made._renderer.canvas, TileCanvas)


def test_every_number_of_the_shader_is_in_its_table() -> None:
    from dala.gpu.tiles.shader import INK, LAYERS, PLAIN, shader_text

    plain, inked, layered = (shader_text(form) for form in (PLAIN, INK, LAYERS))
    assert "cells" not in plain and "add_edges" in inked
    assert "saved" not in inked and "saved" in layered
    kept: Callable[[str], bool] = lambda line: line.startswith("const ")  # noqa: E731
    assert [*filter(kept, plain.splitlines())] == [*filter(kept, inked.splitlines())]
    assert f"const TILE = {layout.TILE}u;" in plain
