"""Ink that is asked for what cannot be: numbers that are none, absurd sizes, wrong SVG."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from drawn_ink import SIZE, alpha_of

from dala import gpu
from dala.errors import ArgumentError, DalaError, ParameterError, ProtocolError, SurfaceError
from dala.gpu import command


def test_numbers_that_are_none_are_refused() -> None:
    with gpu.create_surface(8, 8, device="cpu") as surface:
        for bad in (math.nan, math.inf, -math.inf, 1e39):
            with pytest.raises(ParameterError, match="finite"):
                surface.fill_ellipse(bad, 1, 1, 1, "red")
            with pytest.raises(ParameterError, match="finite"):
                gpu.Path().move_to(0, bad)
            with pytest.raises(ParameterError, match="finite"):
                surface.fill_discs([[bad, 0, 1]], "red")
        raw = bytearray(command.encode_stroke_line(1, 2, 3, 4, "red"))
        raw[1:5] = struct.pack("<f", math.nan)
        with pytest.raises(ProtocolError, match="not a finite number"):
            surface.submit(bytes(raw))
        with pytest.raises(ProtocolError, match="version 2; this is 1"):
            surface.submit(command.encode_ink_version(2))


def test_absurd_sizes_are_right_pictures() -> None:
    huge = alpha_of(lambda s: s.fill_ellipse(20, 20, 1e30, 1e30, "white"))
    assert (huge == 255).all()
    away = alpha_of(lambda s: s.fill_ellipse(1e30, -1e30, 5, 5, "white"))
    assert not away.any()
    line = alpha_of(lambda s: s.stroke_line(-1e9, 20, 1e9, 20, "white", 2))
    assert (line[19:21] == 255).all() and line.sum() == 255 * 80
    wide = alpha_of(lambda s: s.stroke_path("M0 0 L40 40", "white", 1e6))
    assert (wide == 255).all()
    assert not alpha_of(lambda s: s.stroke_path("M0 0 L40 40", "white", 0)).any()


def test_a_million_points() -> None:
    angle = np.linspace(0, 2 * np.pi, 1_000_000, endpoint=False)
    ring = np.stack([20 + 15 * np.cos(angle), 20 + 15 * np.sin(angle)], 1)
    got = alpha_of(lambda s: s.fill_path(gpu.Path.polyline(ring, closed=True), "white"))
    wanted = alpha_of(lambda s: s.fill_ellipse(20, 20, 15, 15, "white"))
    assert np.abs(got - wanted).max() <= 2
    with pytest.raises(ParameterError, match="points"):
        gpu.Path.polyline(np.zeros((2**21 + 1, 2)))


def test_dashes_that_are_none() -> None:
    with pytest.raises(ArgumentError, match="a list of dashes"):
        command.encode_stroke_path("M0 20 H40", "white", dash=None)  # type: ignore[arg-type]


def test_dashes_are_counted_before_they_are_made() -> None:
    with gpu.create_surface(SIZE, SIZE, device="cpu") as surface:
        surface.clear("blue")
        surface.stroke_path("M0 20 H40", "white", 2, dash=[1e-30, 1e-30])
        with pytest.raises(ParameterError, match="more than 262144 dashes"):
            surface.present().wait()
        assert (np.asarray(surface) == (0, 0, 255, 255)).all()


def test_ten_thousand_layers() -> None:
    with gpu.create_surface(SIZE, SIZE, device="cpu") as surface:
        surface._renderer._reporter.tell = lambda error: None  # type: ignore[method-assign]
        surface.clear("blue")
        for _ in range(10_000):
            surface.push_layer()
        surface.fill_rect(0, 0, SIZE, SIZE, "red")
        for _ in range(10_000):
            surface.pop_layer()
        with pytest.raises(SurfaceError, match="more than 32 layers"):
            surface.present().wait()
        assert (np.asarray(surface) == (255, 0, 0, 255)).all()


def test_pops_without_a_push() -> None:
    with gpu.create_surface(8, 8, device="cpu") as surface:
        surface.pop_transform()
        with pytest.raises(SurfaceError, match="pop_transform: there is nothing to pop"):
            surface.present().wait()
        surface.push_layer()
        surface.clear("red")
        with pytest.raises(
            SurfaceError, match="present: still pushed, and popped now: 1 × pop_layer"
        ):
            surface.present().wait()
        assert (np.asarray(surface) == (255, 0, 0, 255)).all()
        for _ in range(70):
            surface.push_transform(scale=1e9)
        with pytest.raises(DalaError):
            surface.present().wait()
        surface.fill_path("M0 0 H4 V4 H0 Z", "lime")
        surface.present().wait()
        assert np.asarray(surface)[3, 3].tolist() == [0, 255, 0, 255]


def test_a_batch_that_fails_changes_nothing() -> None:
    with gpu.create_surface(SIZE, SIZE, device="cpu") as surface:
        surface._renderer._reporter.tell = lambda error: None  # type: ignore[method-assign]
        surface.clear("blue")
        surface.push_layer(0.5)
        surface.fill_rect(0, 0, 10, 10, "red")
        before = np.array(surface.read_pixels(0, 0, SIZE, SIZE))
        recorder = gpu.Recorder()
        recorder.fill_ellipse(20, 20, 9, 9, "gold")
        recorder.pop_layer()
        recorder.draw_sprite(99, 5, 5)
        with pytest.raises(LookupError):
            surface.batch([bytes(recorder)]).wait()
        assert (surface.read_pixels(0, 0, SIZE, SIZE) == before).all()
        surface.pop_layer()
        shown = surface.read_pixels(0, 0, SIZE, SIZE)
        assert shown[5, 5].tolist() == [128, 0, 127, 255] and shown[20, 20].tolist() == [
            0,
            0,
            255,
            255,
        ]


@pytest.mark.parametrize(
    "text", ["L1 2", "M1", "M1 2 X", "M1 2 A1 1 0 2 0 3 4", "M1 2 L1e999 0", "M 1 2 Z 3 4", "ä"]
)
def test_svg_that_is_wrong(text: str) -> None:
    with pytest.raises(ParameterError):
        gpu.Path(text)


def test_svg() -> None:
    assert (
        gpu.Path("m1,2l3-4.5.5-1z")
        == gpu.Path().move_to(1, 2).line_to(4, -2.5).line_to(4.5, -3.5).close()
    )
    smooth = gpu.Path("M0 0 C1 1 2 1 3 0 S5 -1 6 0 q1 1 2 0 t2 0")
    assert "C4 -1 5 -1 6 0" in repr(smooth) and "Q9 -1 10 0" in repr(smooth)
    arc = alpha_of(lambda s: s.fill_path("M5 20 A15 15 0 1 1 35 20 A15 15 0 1 1 5 20 Z", "white"))
    disc = alpha_of(lambda s: s.fill_ellipse(20, 20, 15, 15, "white"))
    assert np.abs(arc - disc).max() <= 2
    flags = gpu.Path("M5 20a15 15 0 01 30 0")
    assert tuple(round(v, 6) for v in flags.current) == (35, 20)


def test_the_original_names() -> None:
    assert command.encode_image_blit(7, 0, 0, 4, 4) == command.encode_draw_image(7, 0, 0, 4, 4)
    assert command.color_to_rgba("#11223344") == (17, 34, 51, 68)
