"""What a surface promises: order, persistence, atomic batches, errors on receipts."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from dala import gpu
from dala.errors import (
    ArgumentError,
    CommandTimeoutError,
    ParameterError,
    PictureNotFoundError,
    ProtocolError,
    ShapeError,
    UnsupportedError,
)
from dala.gpu import Surface, command
from dala.gpu.raster import rows

RED, GREEN, BLUE = [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]


def pixel(surface: Surface, x: int, y: int) -> list[int]:
    return surface.read_pixels(x, y, 1, 1)[0, 0].tolist()  # type: ignore[no-any-return]


def shown(surface: Surface, x: int, y: int) -> list[int]:
    return np.asarray(surface)[y, x].tolist()  # type: ignore[no-any-return]


# -- frames ----------------------------------------------------------------------------------------


def test_a_new_surface_is_transparent(surface: Surface) -> None:
    assert surface.get_pixels() == bytes(40 * 30 * 4)
    assert not surface.read_pixels(0, 0, 40, 30).any()
    assert (surface.width, surface.height) == (gpu.width(surface), gpu.height(surface)) == (40, 30)


def test_what_was_presented_is_the_next_frame_s_start(surface: Surface) -> None:
    surface.clear("red")
    surface.present()
    surface.fill_rect(0, 0, 1, 1, "blue")
    assert shown(surface, 0, 0) == RED  # not presented yet
    assert pixel(surface, 0, 0) == BLUE  # but drawn
    surface.present()
    assert (shown(surface, 0, 0), shown(surface, 1, 0)) == (BLUE, RED)
    for _ in range(5):
        surface.present()  # nothing drawn: nothing changes
    assert (shown(surface, 0, 0), shown(surface, 1, 0)) == (BLUE, RED)
    assert (pixel(surface, 0, 0), pixel(surface, 1, 0)) == (BLUE, RED)


def test_frames_are_not_copied_before_a_clear(surface: Surface) -> None:
    """The content is carried over only if something looks at it."""
    canvas = surface._renderer.canvas
    surface.clear("red")
    surface.present().wait()
    canvas.back.host().array[...] = 77  # a mark in the frame that is drawn next
    surface.set_clip(0, 0, 5, 5)
    surface.load_sprite(1, bytes(4), 1, 1)
    surface.present().wait()
    assert canvas.back.host().array[0, 0, 0] == 77  # no copy for what does not paint
    surface.clear("blue")
    surface.present().wait()
    surface.fill_rect(0, 0, 1, 1, "green")
    assert pixel(surface, 9, 9) == BLUE


def test_a_view_of_a_frame_stays_as_it_is(surface: Surface) -> None:
    surface.clear("red")
    surface.present()
    kept = np.asarray(surface)
    part = np.asarray(surface)[:3, :3]
    assert kept.base is not None
    assert not kept.flags.writeable
    for color in ("green", "blue", "white", "black"):
        surface.clear(color)
        surface.present().wait()
    assert (kept == RED).all()
    assert (part == RED).all()
    assert np.array(surface, np.float32).dtype == np.float32


def test_two_frames_are_enough(surface: Surface) -> None:
    seen = set()
    for _ in range(20):
        surface.clear("red")
        surface.present().wait()
        seen.add(surface._renderer.canvas.front.host().address)
    assert len(seen) == 2


def test_receipts(surface: Surface) -> None:
    receipts = [surface.present() for _ in range(4)]
    assert [r.frame for r in receipts] == [1, 2, 3, 4]
    receipts[-1].wait(300)
    assert all(r.done and not r.errors for r in receipts)
    assert repr(receipts[0]) == "<dala receipt of frame 1: done>"

    async def draw() -> bool:
        surface.clear("red")
        receipt = surface.present()
        await receipt
        await receipt  # again, when it is done
        return receipt.done

    assert asyncio.run(draw())
    assert shown(surface, 0, 0) == RED


def test_waiting_has_an_end(surface: Surface) -> None:
    receipt = gpu.Receipt(3)
    with pytest.raises(CommandTimeoutError, match=r"frame 3 is not done after 0\.01 s"):
        receipt.wait(0.01)


# -- pixels ----------------------------------------------------------------------------------------


def test_reading_outside(surface: Surface) -> None:
    surface.clear("red")
    seen = surface.read_pixels(-2, 29, 4, 3)
    assert seen.shape == (3, 4, 4)
    assert seen[0, :, 0].tolist() == [0, 0, 255, 255]
    assert not seen[1:].any()
    assert not surface.read_pixels(-50, 0, 4, 3).any()
    assert not surface.read_pixels(4000, 0, 4, 3).any()
    with pytest.raises(ParameterError, match="read_pixels: 0 × 1 pixels"):
        surface.read_pixels(0, 0, 0, 1)


def test_reading_where_no_pixel_can_be(surface: Surface) -> None:
    with pytest.raises(ArgumentError, match="x and y are whole numbers, got 'a', 0"):
        surface.read_pixels("a", 0, 1, 1)  # type: ignore[arg-type]


def test_a_surface_as_another_array(surface: Surface) -> None:
    assert np.asarray(surface, np.float32).dtype == np.float32
    with pytest.raises(ParameterError, match="has to be copied"):
        surface.__array__(np.float32, copy=False)


def test_setting_pixels(surface: Surface) -> None:
    content = np.random.default_rng(0).integers(0, 256, (30, 40, 4), dtype=np.uint8)
    surface.set_clip(0, 0, 1, 1)  # does not matter
    for given in (content, content.tobytes(), content[::-1][::-1]):
        surface.clear("black")
        surface.set_pixels(given)
        assert (surface.read_pixels(0, 0, 40, 30) == content).all()
    surface.set_pixels(content[..., :3])
    assert (surface.read_pixels(0, 0, 40, 30)[..., 3] == 255).all()
    mine = content.copy()
    surface.set_pixels(mine)
    mine[...] = 0  # too late to matter
    assert (surface.read_pixels(0, 0, 40, 30) == content).all()
    with pytest.raises(ShapeError, match="set_pixels: expected 40 × 30 pixels, got 39 × 30"):
        surface.set_pixels(content[:, 1:])
    with pytest.raises(ShapeError, match="need 4800 bytes of RGBA, got 4"):
        surface.set_pixels(bytes(4))


def test_changing_pixels(surface: Surface) -> None:
    surface.clear("red")

    def draw_into(pixels: np.ndarray) -> None:
        pixels[0, 0] = BLUE

    surface.with_pixels(draw_into)
    assert (pixel(surface, 0, 0), pixel(surface, 1, 0)) == (BLUE, RED)
    surface.with_pixels(lambda pixels: pixels[:, ::-1])
    assert pixel(surface, 39, 0) == BLUE
    with pytest.raises(ZeroDivisionError):
        surface.with_pixels(lambda pixels: 1 // 0)  # type: ignore[arg-type, return-value]
    assert pixel(surface, 39, 0) == BLUE
    with pytest.raises(ArgumentError, match="expected a function"):
        surface.with_pixels(3)  # type: ignore[arg-type]


def test_resizing(surface: Surface) -> None:
    surface.clear("red")
    surface.set_clip(0, 0, 50, 50)
    surface.present()
    surface.resize(60, 20)
    assert (surface.width, surface.height) == (60, 20)
    assert (pixel(surface, 39, 19), pixel(surface, 40, 0)) == (RED, [0, 0, 0, 0])
    assert np.asarray(surface).shape == (30, 40, 4)  # presented before
    surface.fill_rect(0, 0, 100, 100, "blue")  # the clip is larger than the surface was
    assert (pixel(surface, 49, 0), pixel(surface, 50, 0)) == (BLUE, [0, 0, 0, 0])
    surface.present().wait()
    assert np.asarray(surface).shape == (20, 60, 4)
    surface.submit(command.encode_resize(7, 9))
    assert (surface.width, surface.height) == (7, 9)
    surface.fill_rect(0, 0, 1, 1, "green")
    surface.present().wait()
    assert len(surface.get_pixels()) == 7 * 9 * 4


# -- pictures --------------------------------------------------------------------------------------


def test_pictures_are_replaced_and_removed(surface: Surface) -> None:
    surface.load_sprite(1, bytes(RED), 1, 1)
    surface.load_image(1, bytes(BLUE), 1, 1)  # another table
    surface.blit(1, 0, 0)
    surface.draw_image(1, 1, 0, 3, 3)
    surface.load_sprite(1, bytes(GREEN) * 4, 2, 2)
    surface.blit(1, 10, 10)
    assert [pixel(surface, *p) for p in ((0, 0), (2, 1), (11, 11))] == [RED, BLUE, GREEN]
    surface.remove_sprite(1)
    surface.remove_image(1)
    surface.present().wait()
    for draw in (lambda: surface.blit(1, 0, 0), lambda: surface.draw_image(1, 0, 0, 2, 2)):
        draw()
        with pytest.raises(PictureNotFoundError, match="has the number 1; load it first"):
            surface.present().wait()
    surface.remove_sprite(1)
    with pytest.raises(PictureNotFoundError, match="no sprite has the number 1"):
        surface.present().wait()


def test_numbers_of_pictures_are_64_bits(surface: Surface) -> None:
    for number in (0, 2**63, 2**64 - 1, 5):
        surface.load_sprite(number, bytes([number % 251, 0, 0, 255]), 1, 1)
    for x, number in enumerate((2**64 - 1, 5, 0, 2**63)):
        surface.blit(number, x, 0)
        assert pixel(surface, x, 0)[0] == number % 251


def test_pictures_from_anywhere(surface: Surface) -> None:
    image = pytest.importorskip("PIL.Image")
    surface.load_sprite(1, image.new("RGB", (2, 2), (255, 0, 0)))
    surface.load_sprite(2, np.full((2, 2), 9, np.uint8))
    surface.blit(1, 0, 0)
    surface.blit(2, 4, 0)
    assert (pixel(surface, 1, 1), pixel(surface, 5, 1)) == (RED, [9, 9, 9, 255])


# -- batches ---------------------------------------------------------------------------------------


def test_a_batch_is_whole_or_not_at_all(surface: Surface) -> None:
    surface.clear("red")
    surface.load_sprite(1, bytes(GREEN), 1, 1)
    surface.present().wait()
    refused = [
        command.encode_set_clip(0, 0, 2, 2),
        command.encode_load_sprite(1, bytes(BLUE), 1, 1),
        command.encode_load_sprite(2, bytes(BLUE), 1, 1),
        command.encode_resize(8, 8),
        command.encode_clear("blue"),
        command.encode_present(),
        command.encode_batch([command.encode_fill_rect(0, 0, 9, 9, "white")]),
        command.encode_remove_image(99),  # there is none
        command.encode_clear("black"),
    ]
    with pytest.raises(PictureNotFoundError, match="no image has the number 99"):
        surface.batch(refused).wait()
    assert (surface.width, surface.height) == (40, 30)
    assert (pixel(surface, 0, 0), shown(surface, 0, 0)) == (RED, RED)
    surface.fill_rect(5, 5, 1, 1, "blue")  # the clip is the one from before: none
    surface.blit(1, 0, 0)
    assert (pixel(surface, 5, 5), pixel(surface, 0, 0)) == (BLUE, GREEN)
    surface.blit(2, 0, 0)
    with pytest.raises(PictureNotFoundError):
        surface.present().wait()
    surface.batch([c for c in refused if c[0] != 0x18]).wait()
    assert (surface.width, surface.height) == (8, 8)
    assert shown(surface, 7, 7) == BLUE


def test_a_batch_of_drawing_alone_with_an_unknown_sprite(surface: Surface) -> None:
    surface.clear("red")
    bad = [command.encode_clear("blue"), command.encode_blit(4, 0, 0)]
    with pytest.raises(PictureNotFoundError):
        surface.batch(bad).wait()
    assert pixel(surface, 0, 0) == RED
    surface.submit(command.encode_batch(bad) + command.encode_fill_rect(1, 0, 1, 1, "green"))
    assert (pixel(surface, 0, 0), pixel(surface, 1, 0)) == (RED, GREEN)


def test_batches_from_a_recorder(surface: Surface) -> None:
    recorder = gpu.Recorder()
    recorder.clear("red")
    recorder.fill_rects([[0, 0, 1, 1], [3, 0, 1, 1]], "blue")
    surface.batch(recorder).wait()
    assert [pixel(surface, x, 0) for x in (0, 1, 3)] == [BLUE, RED, BLUE]
    surface.batch([]).wait()


# -- errors ----------------------------------------------------------------------------------------


def test_a_malformed_submit_is_refused_whole(surface: Surface) -> None:
    surface.clear("red")
    good = command.encode_clear("blue")
    with pytest.raises(ProtocolError) as caught:
        surface.submit(good + b"\x99")
    assert (caught.value.opcode, caught.value.offset) == (0x99, len(good))
    assert pixel(surface, 0, 0) == RED
    with pytest.raises(ArgumentError, match="commands are bytes"):
        surface.submit("x")  # type: ignore[arg-type]


def test_the_surface_lives_on_after_an_error(surface: Surface) -> None:
    surface.clear("red")
    surface.blit(9, 0, 0)
    surface.fill_rect(1, 1, 1, 1, "blue")
    receipt = surface.present()
    with pytest.raises(PictureNotFoundError):
        receipt.wait()
    with pytest.raises(PictureNotFoundError):  # again for whoever asks
        receipt.wait()
    assert len(receipt.errors) == 1
    assert (shown(surface, 0, 0), shown(surface, 1, 1)) == (RED, BLUE)
    surface.present().wait()  # the next frame has nothing to complain about


def test_errors_are_logged_at_a_bearable_rate(
    surface: Surface, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "dala.gpu"):
        for number in range(500):
            surface.blit(number, 0, 0)
        receipt = surface.present()
        receipt.await_done()
    assert 1 < len(caplog.records) < 10
    assert caplog.records[0].exc_info is not None
    assert len(receipt.errors) == 32  # the first ones


def test_a_hundred_thousand_errors_are_told_soon(
    surface: Surface, caplog: pytest.LogCaptureFixture
) -> None:
    surface.blits(np.full(100_000, 9), np.zeros((100_000, 2), int))
    surface.fill_rect(0, 0, 1, 1, "red")
    receipt = surface.present()
    receipt.await_done(120)
    assert len(receipt.errors) == 32
    assert "and 99968 more commands failed" in caplog.text
    assert shown(surface, 0, 0) == RED


def test_computing_on_the_cpu_is_refused(cpu_surface: Surface) -> None:
    assert cpu_surface.supports_compute is gpu.supports_compute(cpu_surface) is False
    for call in (
        lambda: cpu_surface.dispatch_compute("fn"),
        lambda: cpu_surface.load_shader("a", "b"),
        lambda: cpu_surface.set_uniform("a", b""),
        lambda: cpu_surface.submit(command.encode_set_uniform("a", b"")),
    ):
        with pytest.raises(UnsupportedError, match="compute shaders need a GPU"):
            call()


def test_wrong_surfaces() -> None:
    for size in ((0, 5), (5, -1), (100_000, 1), (32_768, 32_768)):
        with pytest.raises(ParameterError, match="create_surface"):
            gpu.create_surface(*size)
    with pytest.raises(ArgumentError, match="whole numbers"):
        gpu.create_surface(2.5, 3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'over' or 'replace'"):
        gpu.create_surface(2, 3, blend="add")  # type: ignore[arg-type]


# -- files -----------------------------------------------------------------------------------------


def test_files(surface: Surface, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    noise = np.random.default_rng(0).integers(0, 256, (30, 40, 4), dtype=np.uint8)
    surface.set_pixels(noise)
    surface.present()
    surface.save(tmp_path / "x.png")
    with image.open(tmp_path / "x.png") as opened:
        assert (np.asarray(opened) == noise).all()
    assert surface._repr_png_() == (tmp_path / "x.png").read_bytes()
    surface.clear((200, 100, 50, 255))
    surface.present()
    for name in ("x.jpg", "x.jpeg", "x.webp"):
        surface.save(str(tmp_path / name))
        with image.open(tmp_path / name) as opened:
            near = np.abs(np.asarray(opened.convert("RGB"), int) - (200, 100, 50))
            assert near.max() <= 4
    with pytest.raises(ParameterError, match=r"no picture format for 'x\.bmp'"):
        surface.save(tmp_path / "x.bmp")


def test_an_image_in_a_notebook(surface: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as it can be seen without one: what IPython is given."""
    given: list[object] = []

    class Shell:
        kernel = object()

    class IPython:
        @staticmethod
        def get_ipython() -> Shell:
            return Shell()

    class Display:
        Image = staticmethod(lambda data, format: (data, format))
        display = staticmethod(given.append)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    assert surface.show() is None
    assert given == [(surface._repr_png_(), "png")]

    def frame(drawn: Surface, seconds: float) -> None:
        drawn.clear((int(seconds), 0, 9))
        drawn.present()

    surface.show(frame=frame)
    assert given[1] == (surface._repr_png_(), "png") != given[0]


def test_one_pixel_of_the_rule() -> None:
    assert rows.blend_pixel(0x80FF0000, 0xFF000000) == 0xFF800000
    assert rows.blend_pixel(0x00FFFFFF, 0x00123456) == 0x00123456
