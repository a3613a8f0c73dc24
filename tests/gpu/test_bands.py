"""Drawing by several threads: the pixels, and everything else, are those of one."""

from __future__ import annotations

import ctypes
import dataclasses
import mmap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from alone import alone
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples
from several_threads import use_threads
from streams import DRAWN, Writer, apply_to, new_canvas

import dala
from dala.backends.cpu.llvm import jit
from dala.backends.cpu.llvm.jit import detect_host
from dala.backends.cpu.run.pool import pool
from dala.backends.cpu.run.pool_code import ACTIVE
from dala.gpu import Recorder, command
from dala.gpu.raster import layout, painter
from dala.gpu.raster import rows as row_words
from dala.gpu.raster.code import code

THREADS = 4


@contextmanager
def in_bands(rows: int | None) -> Iterator[None]:
    """Everything is painted by several threads, in bands of so many rows, or as many as it is worth."""
    with pytest.MonkeyPatch.context() as patch:
        use_threads(patch, THREADS)
        if rows is not None:
            patch.setattr(painter, "band_rows", lambda *_: rows)
        yield


@settings(max_examples=examples(300), deadline=None)
@given(
    size=st.tuples(st.integers(1, 200), st.integers(1, 70)),
    replace=st.booleans(),
    ground=st.sampled_from([0, 80, 255]),
    rows=st.sampled_from([1, 2, 3, 7, None]),
    seed=st.integers(0, 2**32),
    before=st.integers(0, 10),
    presented=st.booleans(),
    count=st.integers(1, 25),
)
def test_pixels_are_those_of_one_thread(
    size: tuple[int, int],
    replace: bool,
    ground: int,
    rows: int | None,
    seed: int,
    before: int,
    presented: bool,
    count: int,
) -> None:
    writer = Writer(seed)
    earlier = command.encode_clear((10, 200, 30, ground)) + writer.stream(before)
    earlier += command.encode_present() * presented
    data = writer.stream(count)
    canvases = [new_canvas(*size, replace=replace) for _ in range(2)]
    for canvas in canvases:
        apply_to(canvas, earlier)  # frames, clips and sizes that were not there from the beginning
    wanted = apply_to(canvases[0], data)
    with in_bands(rows):
        assert apply_to(canvases[1], data) == wanted


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("rows", [1, None])
def test_each_primitive_alone(name: str, rows: int | None) -> None:
    """All of its rows are painted, though nothing else is."""
    writer, canvases = Writer(8), [new_canvas(200, 60), new_canvas(200, 60)]
    for _ in range(examples(40)):
        data = writer.draw(name)
        wanted = apply_to(canvases[0], data)
        with in_bands(rows):
            assert apply_to(canvases[1], data) == wanted


def crowd(width: int, height: int, count: int) -> bytes:
    """Many primitives of every kind, opaque and translucent, all over a surface and beyond its edges."""
    rng = np.random.default_rng(count)
    places = rng.integers(-20, max(width, height) + 20, (count, 6))
    sizes = rng.integers(0, 40, (count, 3))
    colors = rng.integers(0, 256, (count, 4), dtype=np.uint8)
    colors[::2, 3] = 255
    recorder = Recorder()
    recorder.clear((1, 2, 3, 200))
    for (x, y, *more), (w, h, r), c in zip(places.tolist(), sizes.tolist(), colors, strict=True):
        paint = tuple(c.tolist())
        recorder.fill_rect(x, y, w, h, paint)
        recorder.fill_circle(x, y, r, paint)
        recorder.draw_circle(x, y, r, paint)
        recorder.draw_line(x, y, *more[:2], paint)
        recorder.fill_triangle(x, y, *more, paint)
        recorder.draw_triangle(x, y, *more, paint)
        recorder.fill_round_rect(x, y, w, h, r // 3, paint)
        recorder.draw_round_rect(x, y, w, h, r // 3, paint)
        recorder.blit(1 + w % 3, x, y)
        recorder.draw_image(1 + h % 3, x, y, w, h)
    return bytes(recorder)


@pytest.mark.parametrize("width", [1, 3, 15, 16, 17, 33, 150])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_crowd_time_and_again(width: int, rows: int) -> None:
    """Threads that paint neighbouring rows at the same moment, as vectors reach over the ends of rows."""
    data = crowd(width, 97, 40)
    wanted = apply_to(new_canvas(width, 97), data)
    with in_bands(rows):
        for _ in range(examples(10)):
            assert apply_to(new_canvas(width, 97), data) == wanted


@pytest.mark.skipif(not hasattr(mmap, "PROT_READ"), reason="memory cannot be taken away here")
@pytest.mark.parametrize("device", ["cpu"])
@pytest.mark.parametrize("machine", ["own", "plain"])
@alone
def test_nothing_beside_a_band_is_touched(
    device: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even read: the memory above and below a band is not there.

    LLVM may make masked stores of others, where the machine has them: so it is tried without, too.
    """
    if machine == "plain":
        host = dataclasses.replace(detect_host(), name="generic", features="", vector_bytes=16)
        for module in (jit, row_words):
            monkeypatch.setattr(module, "detect_host", lambda: host)
    for width in (1, 4, 8, 16, 64, 512):
        paint_between_walls(width)


def paint_between_walls(width: int) -> None:
    high = mmap.PAGESIZE // (4 * width)
    memory = mmap.mmap(-1, 3 * mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for page in (0, 2):
        assert protect(address + page * mmap.PAGESIZE, mmap.PAGESIZE, 0) == 0
    canvas = new_canvas(width, 3 * high)
    data = crowd(width, 3 * high, 60)
    canvas._set(layout.BACK, address)
    canvas._set_tables()
    commands = int(np.frombuffer(data, np.uint8).ctypes.data)
    state, _ = canvas._painter._addresses
    block = np.array([0, 1, high, high, 2 * high, state, commands, 0, len(data)], np.int64)
    paint = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(code().paint_bands)
    paint(int(block.ctypes.data), canvas._painter._room_at)
    seen = np.frombuffer(memory, np.uint8)[mmap.PAGESIZE : 2 * mmap.PAGESIZE].tobytes()
    alike = new_canvas(width, 3 * high)
    apply_to(alike, data)
    assert seen == alike.back.host().array[high : 2 * high].tobytes()


# -- who paints ------------------------------------------------------------------------------------


def test_helpers_take_part() -> None:
    """More than one thread is at work while a large batch is painted."""
    canvas, data = new_canvas(400, 400), crowd(400, 400, 4000)
    active = ctypes.c_int32.from_address(pool().address + ACTIVE)
    most, patience = 0, time.monotonic() + 300
    with in_bands(None):
        while most < 2 and time.monotonic() < patience:  # others may take all cores for a while
            painting = threading.Thread(target=apply_to, args=(canvas, data))
            painting.start()
            while painting.is_alive():
                most = max(most, active.value)
            painting.join()
    assert most > 1


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many helpers each run in bands asked for."""
    asked: list[int] = []
    run = type(pool()).run

    def note(self: Any, *given: int) -> None:
        asked.append(given[-1])
        run(self, *given)

    monkeypatch.setattr(type(pool()), "run", note)
    return asked


def test_a_few_circles_ask_nobody(runs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    least = painter.LEAST_WORK
    use_threads(monkeypatch, THREADS)
    monkeypatch.setattr(painter, "LEAST_WORK", least)
    canvas, recorder = new_canvas(300, 200), Recorder()
    recorder.fill_circles(np.random.default_rng(3).integers(3, 21, (40, 3)), "gold")
    apply_to(canvas, bytes(recorder))
    assert runs == []
    recorder.fill_rects(np.tile((0, 0, 300, 200), (100, 1)), (1, 2, 3, 128))
    apply_to(canvas, bytes(recorder))
    assert runs == [THREADS - 1]


def test_one_thread_asks_nobody(runs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    use_threads(monkeypatch, THREADS)
    canvas, data = new_canvas(90, 90), crowd(90, 90, 30)
    with dala.use("cpu", threads=1):
        alone_seen = apply_to(canvas, data)
    assert runs == []
    assert apply_to(new_canvas(90, 90), data) == alone_seen
    assert runs == [THREADS - 1]
