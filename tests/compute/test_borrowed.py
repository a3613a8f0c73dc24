"""Frames in foreign memory: read in place, with the same result, never past their end, never too long."""

from __future__ import annotations

import ctypes
import gc
import mmap
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dala import compute
from dala.backends.borrowed import BorrowedFrame, Rows, borrow_frame
from dala.backends.host import HostExecutable
from dala.compute import Buffer, Pipeline
from dala.compute.buffers import array_type
from dala.compute.default import default_engine
from dala.errors import VerificationError
from dala.ir.planes import FORMATS

pytestmark = [
    pytest.mark.usefixtures("device", "registry"),
    pytest.mark.parametrize("device", ["reference", "cpu"], indirect=True),
]
PAGE = mmap.PAGESIZE
CHAINS = {
    "nothing": [],
    "curve": [("contrast", {"value": 0.2})],
    "stencils": [("blur", {"radius": 3}), ("sharpen", {"amount": 0.5})],
    "smaller images": [("glow", {}), ("blur", {"radius": 30})],
    "median": [("median", {"radius": 1})],
}


class Planes:
    """Planes with rows so far apart, each in pages of its own: between walls, where there are such.

    They begin with their first page, or end with their last one, less ``room`` bytes.
    """

    def __init__(
        self, frame: Any, format_: str, padding: int, *, at_end: bool, room: int = 0
    ) -> None:
        self.type = array_type(frame.shape, "u8")
        self.format = FORMATS[format_]
        self.rows: list[Rows] = []
        self._held: list[object] = []
        flat = frame.reshape(-1)
        for plane in self.format:
            part, begin = plane.type_in(self.type), plane.offset_in(self.type)
            height, row = part.shape[0], part.shape[1] * part.channels
            stride = row + padding
            size = (height - 1) * stride + row
            memory, pages = self._walled(-(-(size + room) // PAGE) * PAGE)
            offset = pages - size - room if at_end else 0
            for y in range(height):
                place = PAGE + offset + y * stride
                memory[place : place + row] = flat[begin + y * row : begin + (y + 1) * row]
            self.rows.append(Rows(memory.ctypes.data + PAGE + offset, stride))

    def _walled(self, size: int) -> tuple[Any, int]:
        """Memory with a page before and one after that nobody may touch."""
        mapped = mmap.mmap(-1, size + 2 * PAGE)
        memory = np.frombuffer(mapped, np.uint8)
        self._held.append(memory)
        if sys.platform != "win32":
            for wall in (0, PAGE + size):
                address = ctypes.c_void_p(memory.ctypes.data + wall)
                assert ctypes.CDLL(None).mprotect(address, ctypes.c_size_t(PAGE), 0) == 0
                weakref.finalize(self, _open, address.value, mapped)
        return memory, size

    def lend(self) -> BorrowedFrame | None:
        return borrow_frame(self.type, self.format, self.rows, owner=self)


def _open(address: int, mapped: object) -> None:
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), 3)


def some_frame(width: int, height: int) -> Any:
    return np.random.default_rng(0).integers(0, 256, (height * 3 // 2, width), dtype=np.uint8)


def frame_pipeline(format_: str, shape: tuple[int, ...], chain: Any) -> tuple[Pipeline, Any, Any]:
    """From a frame to a picture; its input and its output."""
    source = compute.buffer_zeros(shape, "u8")
    size = (shape[0] // 3 * 2, shape[1], 4)
    stages = [(f"{format_}_to_rgba", {}), *chain]
    made = compute.pipeline()
    before: Any = source
    for number, (kernel, params) in enumerate(stages):
        last = number == len(stages) - 1
        after = compute.buffer_zeros(size, "u8") if last else compute.scratch(size, "u8")
        made.add({"kernel": kernel, "inputs": [before], "output": after, "params": params})
        before = after
    return made, source, before


def run_on(planes: Planes, made: Pipeline, source: Buffer) -> None:
    lent = planes.lend()
    assert lent is not None
    made.run(buffers={source: Buffer(default_engine(), source.type, lent)})


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("padding", [0, 64, 37])
@pytest.mark.parametrize("chain", list(CHAINS))
@pytest.mark.parametrize("format_", ["yuv420p", "nv12"])
def test_the_same_between_walls(format_: str, chain: str, padding: int, at_end: bool) -> None:
    """Rows of whole vectors: not a byte is read that does not belong to them."""
    frame = some_frame(256, 66)
    made, source, out = frame_pipeline(format_, frame.shape, CHAINS[chain])
    source.write(frame)
    made.run()
    wanted = out.read()
    out.write(np.zeros_like(wanted))
    run_on(Planes(frame, format_, padding, at_end=at_end), made, source)
    np.testing.assert_array_equal(out.read(), wanted)


@pytest.mark.parametrize("width", [2, 14, 34, 100, 254, 258])
def test_other_widths_need_the_rest_of_a_vector(width: int) -> None:
    frame = some_frame(width, 10)
    made, source, out = frame_pipeline("yuv420p", frame.shape, CHAINS["stencils"])
    source.write(frame)
    made.run()
    wanted = out.read()
    for room in range(0, 70, 3):
        planes = Planes(frame, "yuv420p", 5, at_end=True, room=room)
        enough = room >= max(-width % 64, -(width // 2) % 64)
        assert (planes.lend() is not None) is enough
        if enough:
            run_on(planes, made, source)
            np.testing.assert_array_equal(out.read(), wanted)


def test_what_is_not_lent() -> None:
    type_, planes = array_type((6, 128), "u8"), FORMATS["yuv420p"]
    good = [Rows(PAGE, 128), Rows(4 * PAGE, 64), Rows(8 * PAGE, 64)]
    assert borrow_frame(type_, planes, good, owner=None) is not None
    for strides in ((-128, 64, 64), (127, 64, 64), (128, 64, 63), (0, 64, 64)):
        rows = [Rows(r.address, s) for r, s in zip(good, strides, strict=True)]
        assert borrow_frame(type_, planes, rows, owner=None) is None


def test_a_short_run_that_comes_again() -> None:
    """It is a function that knows one address for each buffer: that must not be used here."""
    frames = [some_frame(128, 4), 255 - some_frame(128, 4)]
    made, source, out = frame_pipeline("yuv420p", frames[0].shape, [])
    for number in range(6):
        source.write(frames[number % 2])
        made.run()
        wanted = out.read()
        run_on(Planes(frames[number % 2], "yuv420p", 16, at_end=True), made, source)
        np.testing.assert_array_equal(out.read(), wanted)


def test_let_go_as_soon_as_it_is_read() -> None:
    frame = some_frame(128, 32)
    made, source, _ = frame_pipeline("yuv420p", frame.shape, CHAINS["stencils"])
    gc.disable()
    try:
        for _ in range(4):
            planes = Planes(frame, "yuv420p", 0, at_end=True)
            watched = weakref.ref(planes)
            run_on(planes, made, source)
            del planes
            assert watched() is None
    finally:
        gc.enable()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Launches wait for the event."""
    go = threading.Event()
    original = HostExecutable.launch

    def launch(executable: HostExecutable, *args: Any, **options: Any) -> None:
        assert go.wait(300)
        original(executable, *args, **options)

    monkeypatch.setattr(HostExecutable, "launch", launch)
    yield go
    go.set()
    compute.synchronize()


def test_kept_while_a_run_is_under_way(held: threading.Event) -> None:
    frame = some_frame(128, 32)
    made, source, out = frame_pipeline("yuv420p", frame.shape, [])
    planes = Planes(frame, "yuv420p", 0, at_end=True)
    watched = weakref.ref(planes)
    lent = planes.lend()
    assert lent is not None
    command = made.submit(buffers={source: Buffer(default_engine(), source.type, lent)})
    del planes, lent
    gc.collect()
    assert watched() is not None
    held.set()
    command.wait()
    del command
    assert watched() is None
    by_copy, source, wanted = frame_pipeline("yuv420p", frame.shape, [])
    source.write(frame)
    by_copy.run()
    np.testing.assert_array_equal(out.read(), wanted.read())


def test_let_go_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = some_frame(128, 32)
    made, source, _ = frame_pipeline("yuv420p", frame.shape, [])

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(HostExecutable, "launch", fail)
    planes = Planes(frame, "yuv420p", 0, at_end=True)
    watched = weakref.ref(planes)
    with pytest.raises(RuntimeError, match="no"):
        run_on(planes, made, source)
    del planes
    gc.collect()  # a traceback goes round in circles
    assert watched() is None


def test_never_written(device: str) -> None:
    if device != "cpu":
        pytest.skip("NumPy refuses by itself")
    frame = some_frame(128, 32)
    before = frame.copy()
    picture = compute.buffer_zeros((32, 128, 4), "u8")
    target = compute.buffer_zeros(frame.shape, "u8")
    spec = {"kernel": "rgba_to_yuv420p", "inputs": [picture], "output": target}
    made = compute.pipeline().add(spec)
    lent = Planes(frame, "yuv420p", 0, at_end=True).lend()
    assert lent is not None
    with pytest.raises(VerificationError, match="writes a borrowed frame"):
        made.run(buffers={target: Buffer(default_engine(), target.type, lent)})
    np.testing.assert_array_equal(frame, before)
    with pytest.raises(VerificationError, match="no plane at byte 17"):
        lent.rows_at(17)
