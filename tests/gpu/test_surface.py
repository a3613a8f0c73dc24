"""What a surface promises: order, persistence, atomic batches, errors on receipts, a clean end."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import effort
from in_threads import in_threads
from processes import environment

from dala import gpu
from dala.errors import (
    ArgumentError,
    CommandTimeoutError,
    ParameterError,
    PictureNotFoundError,
    ProtocolError,
    ShapeError,
    SurfaceDestroyedError,
    SurfaceError,
    UnsupportedError,
)
from dala.gpu import Receipt, Surface, command, renderer
from dala.gpu.raster import rows

RED, GREEN, BLUE = [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]


@pytest.fixture(params=["cpu", pytest.param("webgpu", marks=pytest.mark.webgpu)])
def surface(request: pytest.FixtureRequest) -> Iterator[Surface]:
    """One that the CPU draws, and one that a GPU draws."""
    with gpu.create_surface(40, 30, device=request.param) as made:
        yield made


@pytest.fixture
def cpu_surface() -> Iterator[Surface]:
    with gpu.create_surface(40, 30, device="cpu") as made:
        yield made


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


# -- ends ------------------------------------------------------------------------------------------


def test_destroying_with_work_in_flight() -> None:
    for _ in range(20):
        surface = gpu.create_surface(300, 200)
        receipts = []
        for i in range(10):
            surface.fill_circles(np.full((500, 3), 50), (i, 0, 0, 255))
            receipts.append(surface.present())
        surface.destroy()
        assert all(r.done and not r.errors for r in receipts)
        assert surface.destroyed
        assert (
            surface.get_pixels()[(50 * 300 + 50) * 4] == 9
        )  # what was shown can still be looked at


def test_a_destroyed_surface_refuses(surface: Surface) -> None:
    surface.destroy()
    surface.destroy()
    assert repr(surface) == "<dala surface 40 × 30, destroyed>"
    for call in (
        lambda: surface.clear("red"),
        lambda: surface.present(),
        lambda: surface.submit(b"\x05"),
        lambda: surface.read_pixels(0, 0, 1, 1),
        lambda: surface.set_pixels(bytes(40 * 30 * 4)),
    ):
        with pytest.raises(SurfaceDestroyedError, match="has been destroyed"):
            call()


def test_a_destroyed_surface_gives_its_memory_back() -> None:
    """At once, though somebody holds it: all but the frame that is shown."""
    surface = gpu.create_surface(64, 64)
    surface.load_sprite(1, bytes(16), 2, 2)
    surface.load_image(1, bytes(16), 2, 2)
    surface.clear("red")
    surface.present()
    surface.fill_rect(0, 0, 9, 9, "blue")
    surface.read_pixels(0, 0, 1, 1)
    canvas = surface._renderer.canvas
    kept = canvas.back.host(), canvas.sprites.pages[0].pixels, canvas.images.find(1).pixels
    surface.destroy()
    nobody_else = [sys.getrefcount(thing) for thing in (object(), object(), object())]
    assert [sys.getrefcount(array) for array in kept] == nobody_else
    assert surface.get_pixels()[:4] == bytes([255, 0, 0, 255])
    gone = weakref.ref(surface)
    gc.disable()
    try:
        del surface
        assert gone() is None  # without the garbage collector
    finally:
        gc.enable()


def test_a_forgotten_surface_is_collected() -> None:
    surface = gpu.create_surface(64, 64)
    surface.clear("red")
    surface.present().wait()
    thread = surface._renderer._thread
    assert thread is not None
    gone = [weakref.ref(surface), weakref.ref(surface._renderer)]
    del surface
    gc.collect()
    thread.join(300)
    assert not thread.is_alive()
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told(cpu_surface: Surface) -> None:
    cpu_surface.clear("red")
    cpu_surface.present().wait()
    under_way = Receipt(2)  # nobody in the other process will settle it
    child = os.fork()
    if child == 0:
        refused = 0
        assert cpu_surface.get_pixels()[:4] == bytes(RED)
        cpu_surface._last = under_way
        for call in (cpu_surface.present, cpu_surface.get_pixels, under_way.wait):
            try:
                call()
            except SurfaceError as error:
                refused += "forked" in str(error)
        os._exit(0 if refused == 3 else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    cpu_surface.present().wait()


# -- much, and from everywhere ---------------------------------------------------------------------


def test_a_million_commands_in_order_and_bounded() -> None:
    """Each command overwrites a pixel with its number; the last number must win everywhere."""
    count, width = 256 * 4000, 256
    with gpu.create_surface(width, 8) as surface:
        deepest = 0
        for i in range(count):
            surface.fill_rect(i % width, 0, 1, 1, (i & 255, i >> 8 & 255, i >> 16))
            if i % 4096 == 0:
                renderer = surface._renderer
                queued = renderer._queue.qsize() * 1024 * 21 + len(renderer.pending) * 21
                deepest = max(deepest, queued)
        seen = surface.read_pixels(0, 0, width, 1).copy().view("<u4")[0, :, 0]
        assert (seen == np.arange(count - width, count) | 0xFF000000).all()
        assert deepest < 2 << 20


def test_sixteen_threads_on_sixteen_surfaces() -> None:
    surfaces = [gpu.create_surface(100, 100) for _ in range(16)]

    def draw(number: int) -> None:
        for i in range(400):
            surfaces[number].fill_rect(i % 100, 0, 1, 100, (number, i % 256, 0))
            if i % 20 == 0:
                surfaces[number].present()
        surfaces[number].present().wait()

    in_threads(16, draw)
    for number, surface in enumerate(surfaces):
        seen = np.asarray(surface)
        assert (seen[..., 0] == number).all()
        assert (seen[0, :, 1] == np.arange(300, 400) % 256).all()
        surface.destroy()


def test_sixteen_threads_on_one_surface() -> None:
    """Every thread counts up in its own pixel, alone or in batches; nothing is lost, each is in order."""
    with gpu.create_surface(16, 3) as surface:

        def draw(number: int) -> None:
            for i in range(1, 1001):
                color = (i & 255, i >> 8, number, 255)
                surface.fill_rect(number, 0, 1, 1, color)
                if i % 10 == 0:
                    parts = [command.encode_fill_rect(number, y, 1, 1, color) for y in (1, 2)]
                    surface.batch(parts)
                if i % 100 == 0:
                    surface.present()

        in_threads(16, draw)
        receipt = surface.present()
        receipt.wait()
        assert receipt.frame == 16 * 10 + 1
        assert (np.asarray(surface) == [[(1000 & 255, 3, n, 255) for n in range(16)]] * 3).all()


def test_the_main_thread_stays_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of 5,000 primitives: who draws hands them over, and another thread paints them."""
    rng = np.random.default_rng(0)
    circles = rng.integers((0, 0, 3), (1920, 1080, 20), (5000, 3))
    colors = rng.integers(0, 256, (5000, 4), dtype=np.uint8)
    painters: set[str] = set()
    do = renderer.Renderer._do

    def noted(self: renderer.Renderer, *args: Any) -> None:
        painters.add(threading.current_thread().name)
        do(self, *args)

    def draw(many: int) -> int:
        """How many calls it takes to draw and present a frame."""
        with effort() as made:
            surface.clear("black")
            surface.fill_circles(circles[:many], colors[:many])
            receipt = surface.present()
        receipt.wait()
        return made.calls

    monkeypatch.setattr(renderer.Renderer, "_do", noted)
    with gpu.create_surface(1920, 1080) as surface:
        draw(5000)
        few, many = (min(draw(count) for _ in range(3)) for count in (50, 5000))
        assert many < few + 100 < 1000  # not one for each circle
    assert painters and threading.current_thread().name not in painters


def test_arrays_do_not_pile_up() -> None:
    """However much is drawn before the first present, only a little of it waits."""
    circles = np.full((20_000, 3), 5)
    with gpu.create_surface(16, 16) as surface:
        renderer = surface._renderer
        for _ in range(100):
            surface.fill_circles(circles, "red")
            waiting = sum(map(len, renderer.pending))
            assert waiting < 1 << 16
            assert renderer._queue.qsize() <= 32


def test_a_thread_is_made_when_it_is_needed(surface: Surface) -> None:
    made = [gpu.create_surface(8, 8) for _ in range(20)]
    names = {made_one._renderer.name for made_one in made}  # what others left behind is not ours

    def ours() -> list[str]:
        return [t.name for t in threading.enumerate() if t.name in names]

    assert len(names) == 20
    assert ours() == []
    made[0].present().wait(300)
    assert ours() == [made[0]._renderer.name]


INTERRUPTED = """
import numpy as np
from dala import gpu
from interrupting import interrupt_often
surface = gpu.create_surface(200, 150, device="cpu")
circles = np.full((3000, 3), 50)
def work():
    for i in range(300):
        surface.fill_rect(i % 200, 0, 3, 150, (i % 256, 0, 0))
    surface.fill_circles(circles, "gold")
    surface.present()
    surface.read_pixels(0, 0, 9, 9)
def check():
    surface.clear("red")
    surface.present().wait(300)
    assert np.asarray(surface)[9, 9].tolist() == [255, 0, 0, 255]
check()
interrupt_often(50, work, check)
print("fine")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_ctrl_c_at_any_moment_of_drawing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr


# -- files -----------------------------------------------------------------------------------------


def test_ctrl_c_while_the_thread_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be there or not: in either case there is one in the end, and one only."""

    class Interrupted(threading.Thread):
        left = 2  # starts that are interrupted: before there is a thread, and after

        def start(self) -> None:
            Interrupted.left -= 1
            if Interrupted.left == 0:
                super().start()
            if Interrupted.left >= 0:
                self._ident = None  # nobody knows yet
                raise KeyboardInterrupt
            super().start()

    for ends in (2, 1, 0):
        surface = gpu.create_surface(8, 8)
        with monkeypatch.context() as patch:
            patch.setattr(renderer.threading, "Thread", Interrupted)
            Interrupted.left = 2
            for _ in range(ends):
                with pytest.raises(KeyboardInterrupt):
                    surface.present()
        if ends == 1:  # and nothing is ever drawn
            surface.destroy()
            continue
        for i in range(100):
            surface.fill_rect(i % 8, 0, 1, 1, (i, 0, 0, 255))
            surface.submit(command.encode_fill_rect(i % 8, 1, 1, 1, (i, 0, 0, 255)))
        assert (surface.read_pixels(3, 0, 1, 2)[..., 0] == 99).all()
        surface.destroy()


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
