"""A surface ends cleanly, with work in flight or none; many commands, many threads, Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from effort import effort
from in_threads import in_threads
from processes import environment

from dala import gpu
from dala.errors import (
    SurfaceDestroyedError,
    SurfaceError,
)
from dala.gpu import Receipt, Surface, command, renderer


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
        assert cpu_surface.get_pixels()[:4] == bytes([255, 0, 0, 255])
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
