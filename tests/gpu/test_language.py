"""The rasteriser's language: compiled, a function does what it does as Python."""

from __future__ import annotations

import ctypes
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples
from several_threads import use_threads

from dala.backends.cpu.llvm.jit import Module, detect_host
from dala.errors import KernelSyntaxError
from dala.gpu import Recorder
from dala.gpu.canvas import Canvas, Outcome
from dala.gpu.opcodes import Op
from dala.gpu.raster import bands, code, layout, painter, rows, words
from dala.gpu.raster.language import compile_functions
from dala.gpu.raster.words import below, load64, root, store64, udiv

LIMIT = 7


def everything(a: int, b: int, memory: int) -> int:
    """Each construct once."""
    x, y = b, a
    x, y = y, x
    total = 0
    for i in range(3, LIMIT):
        total += i * x
    for i in range(LIMIT):
        total ^= i << 3
    while total > 1000:
        total = total >> 1
    if x < y and not x >= 5:
        total -= 1
    elif x > y or x == 5:
        total = -total
    else:
        return Op.BATCH
    if -10 <= total < 10:
        total = total + (100 if x > 0 else 200)
    store64(memory, max(min(total, 50), -50))
    nothing(total)
    return load64(memory) + helper(total) * (x == y) + (total & 15 | 64)


def helper(a: int) -> int:
    return a + 1


def nothing(a: int) -> None:
    a += 1


def arithmetic(a: int, b: int, which: int) -> int:
    if which == 0:
        return below(a, b)
    if which == 1:
        return udiv(a, max(b, 1))
    return root(a)


def native(function: object, count: int) -> object:
    module = Module(compile_functions([function]), optimise=True)  # type: ignore[list-item]
    call = ctypes.CFUNCTYPE(*[ctypes.c_int64] * (count + 1))(module.address(function.__name__))  # type: ignore[attr-defined]
    call.keep = module  # type: ignore[attr-defined]
    return call


small = st.integers(-1000, 1000)
word = st.one_of(
    small, st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**32).map(lambda v: v * v)
)


@pytest.fixture(scope="module")
def compiled() -> object:
    return native(everything, 3)


@given(a=small, b=small)
def test_every_construct(compiled: object, a: int, b: int) -> None:
    memory = np.zeros(1, np.int64)
    address = int(memory.ctypes.data)
    expected = everything(a, b, address)
    stored = int(memory[0])
    memory[0] = 0
    assert compiled(a, b, address) == expected  # type: ignore[operator]
    assert memory[0] == stored


@pytest.fixture(scope="module")
def calculator() -> object:
    return native(arithmetic, 3)


@settings(max_examples=examples(500))
@given(a=word, b=word, which=st.integers(0, 2))
def test_unsigned_words(calculator: object, a: int, b: int, which: int) -> None:
    a, b = (v - 2**64 if v >= 2**63 else v for v in (a % 2**64, b % 2**64))
    result = calculator(a, b, which)  # type: ignore[operator]
    assert result % 2**64 == arithmetic(a, b, which)


@pytest.mark.parametrize("v", [0, 1, 2, 3, 2**52, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_roots_at_the_edges(calculator: object, v: int) -> None:
    for near in (v - 1, v, v + 1):
        if 0 <= near < 2**64:
            signed = near - 2**64 if near >= 2**63 else near
            assert calculator(signed, 0, 2) == words.root(near)  # type: ignore[operator]


def starred(a: int) -> int:
    return max(*(a, a))


def floor_divided(a: int) -> int:
    return a // 2


def unknown_name(a: int) -> int:
    return len([a])


def with_break(a: int) -> int:
    while a > 0:
        break
    return a


@pytest.mark.parametrize("function", [starred, floor_divided, unknown_name, with_break])
def test_what_is_outside_is_refused(function: object) -> None:
    with pytest.raises(KernelSyntaxError, match="not part of this language"):
        compile_functions([function])  # type: ignore[list-item]


def test_the_rasteriser_as_python() -> None:
    """The very functions that are compiled, run by Python on a canvas's memory."""
    recorder = Recorder()
    recorder.clear((10, 20, 30, 200))
    recorder.set_clip(1, 1, 17, 13)
    recorder.fill_rect(0, 0, 5, 5, (200, 0, 0, 128))
    recorder.draw_line(-3, 2, 25, 12, (0, 200, 0, 90))
    recorder.fill_circle(9, 7, 5, (0, 0, 200, 200))
    recorder.draw_circle(9, 7, 70, "white")
    recorder.fill_triangle(0, 0, 18, 3, 4, 14, (9, 99, 199, 99))
    recorder.draw_triangle(0, 14, 18, 3, 4, 0, "gold")
    recorder.fill_round_rect(3, 3, 9, 8, 3, (1, 2, 3, 40))
    recorder.draw_round_rect(2, 2, 14, 11, 4, "pink")
    recorder.blit(1, -2, 9)
    recorder.draw_image(2, 5, 3, 11, 4)
    recorder.reset_clip()
    data = bytes(recorder)
    picture = np.random.default_rng(5).integers(0, 256, (7, 6, 4), dtype=np.uint8)
    results = []
    for compiled in (True, False):
        canvas = Canvas(19, 15, replace=False, shaders=None)
        canvas.sprites.load(1, picture)
        canvas.images.load(2, picture)
        address = int(np.frombuffer(data, np.uint8).ctypes.data)
        if compiled:
            assert canvas._run(data, address, 0) == len(data)
        else:
            canvas._set(layout.BACK, canvas.back.host_to_paint().address)
            canvas._set_tables()
            run_as_python(canvas, address, len(data))
        results.append(canvas.back.host().array.copy())
    assert (results[0] == results[1]).all()
    assert rows.blend_pixel(0x80FF0000, 0xFF000000) == 0xFF800000


def run_as_python(canvas: Canvas, data: int, size: int) -> None:
    """As painter.py does it: all that is foreseen, then in bands."""
    used = canvas._painter
    state, after = used._addresses
    assert bands.begin(state, data, 0, size, after, used._room_at, 1) == size
    block = np.array([0, 3, 6, 0, 15, state, data, 0, size], np.int64)
    bands.paint_bands(int(block.ctypes.data), used._room_at)
    assert block[0] == 4  # three bands, and none


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_vectors_of_every_length(vector_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines with shorter vectors paint the same; LLVM splits what this machine does not have."""
    wanted = paint_scene()
    host = dataclasses.replace(detect_host(), vector_bytes=vector_bytes)
    monkeypatch.setattr(rows, "detect_host", lambda: host)
    rows.vector_names.cache_clear()
    try:
        other = code.Code()
    finally:
        rows.vector_names.cache_clear()
    monkeypatch.setattr(painter, "code", lambda: other)
    assert (paint_scene() == wanted).all()
    use_threads(monkeypatch, 3)
    monkeypatch.setattr(painter, "band_rows", lambda *_: 1)
    assert (paint_scene() == wanted).all()


def paint_scene() -> np.ndarray:
    rng = np.random.default_rng(1)
    canvas = Canvas(83, 57, replace=False, shaders=None)
    for number, alpha in ((1, None), (2, 255)):
        pixels = rng.integers(0, 256, (19, 21, 4), dtype=np.uint8)
        if alpha is not None:
            pixels[..., 3] = alpha
        canvas.images.load(number, pixels)
        canvas.sprites.load(number, pixels)
    recorder = Recorder()
    for ground in ((0, 0, 0, 0), (9, 8, 7, 255)):
        recorder.clear(ground)
        places = rng.integers(-20, 80, (60, 6))
        colors = rng.integers(0, 256, (60, 4), dtype=np.uint8)
        recorder.fill_rects(np.abs(places[:, :4]), colors)
        recorder.fill_circles(np.abs(places[:, :3]), colors)
        recorder.fill_triangles(places, colors)
        recorder.draw_lines(places[:, 2:], colors)
        recorder.blits(1 + np.arange(60) % 2, places[:, :2])
        for x, y, w, h, *_ in places.tolist():
            recorder.draw_image(1 + (w > 30), x, y, abs(w), abs(h))
    canvas.apply(bytes(recorder), Outcome())
    return canvas.back.host().array.copy()
