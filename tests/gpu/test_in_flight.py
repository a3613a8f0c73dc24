"""Frames that a GPU has yet to paint: the next ones are drawn meanwhile, and receipts wait for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from in_threads import wait_until

from dala import gpu
from dala.errors import DeviceLostError
from dala.gpu import Surface
from dala.gpu.renderer import IN_FLIGHT, Renderer

pytestmark = pytest.mark.webgpu


class Held:
    """A GPU's work that is done when the test says so."""

    def __init__(self, gpu: HeldGpu) -> None:
        self.gpu = gpu
        self.done = threading.Event()
        self.failure: Exception | None = None

    def is_done(self) -> bool:
        return self.done.is_set()

    def finish(self, what: str) -> None:
        self.gpu.waited_at.append(self.gpu.canvas.frames)
        self.gpu.waiting.set()
        self.done.wait()
        if self.failure is not None:
            raise self.failure


class HeldGpu:
    """What the render thread is given instead of the GPU's own."""

    def __init__(self, canvas: Any) -> None:
        self.canvas = canvas
        self.frames: list[Held] = []
        self.began = threading.Semaphore(0)
        self.waiting = threading.Event()
        self.waited_at: list[int] = []  # how many frames there were when one was waited for

    def submitted(self) -> Held:
        self.frames.append(Held(self))
        self.began.release()
        return self.frames[-1]


@pytest.fixture
def surface() -> Iterator[Surface]:
    with gpu.create_surface(20, 10, device="webgpu") as made:
        yield made


@pytest.fixture
def held(surface: Surface, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldGpu]:
    made = HeldGpu(surface._renderer.canvas)
    monkeypatch.setattr(surface.device, "submitted", made.submitted)
    yield made
    for frame in made.frames:
        frame.done.set()
    monkeypatch.undo()


def test_a_receipt_is_done_when_the_gpu_is(surface: Surface, held: HeldGpu) -> None:
    surface.clear("red")
    first = surface.present()
    surface.clear("blue")
    second = surface.present()
    for _ in range(2):  # the second is drawn while the first is under way
        held.began.acquire()
    assert not first.done and not second.done
    held.frames[0].done.set()
    first.wait()
    assert not second.done
    held.frames[1].done.set()
    second.wait()
    assert surface.read_pixels(0, 0, 1, 1).tolist() == [[[0, 0, 255, 255]]]


def test_no_more_than_a_few_are_under_way(surface: Surface, held: HeldGpu) -> None:
    receipts = []
    for _ in range(IN_FLIGHT + 1):
        surface.clear("red")
        receipts.append(surface.present())
    held.waiting.wait()
    surface.clear("blue")
    receipts.append(surface.present())
    assert held.waited_at == [IN_FLIGHT + 1]
    for number in range(IN_FLIGHT + 2):
        held.began.acquire()
        held.frames[number].done.set()
    for receipt in receipts:
        receipt.wait()
    assert [receipt.frame for receipt in receipts] == list(range(1, IN_FLIGHT + 3))


def test_who_reads_behind_a_frame_is_told_after_it(surface: Surface, held: HeldGpu) -> None:
    surface.clear("red")
    shown = surface.present()
    read = surface.submit(gpu.command.encode_read_pixels(0, 0, 1, 1))
    held.began.acquire()
    held.frames[0].done.set()
    read.wait()
    assert shown.done and read.reads[0].tolist() == [[[255, 0, 0, 255]]]


def test_what_went_wrong_on_the_gpu_is_on_the_receipt(surface: Surface, held: HeldGpu) -> None:
    surface.clear("red")
    shown = surface.present()
    held.began.acquire()
    held.frames[0].failure = DeviceLostError("the GPU was lost")
    lost = type(surface.device).lost
    try:
        type(surface.device).lost = property(lambda self: False, lambda *_: None)  # type: ignore[method-assign,assignment]
        held.frames[0].done.set()
        with pytest.raises(DeviceLostError, match="the GPU was lost"):
            shown.wait()
    finally:
        type(surface.device).lost = lost  # type: ignore[method-assign]
    assert shown.frame == 1


def test_closing_waits_for_what_is_under_way(surface: Surface, held: HeldGpu) -> None:
    surface.clear("red")
    shown = surface.present()
    held.began.acquire()
    closing = threading.Thread(target=surface.close, daemon=True)
    closing.start()
    wait_until(lambda: not closing.is_alive() or (held.waiting.is_set() and awaits_end(closing)))
    assert closing.is_alive() and not shown.done
    held.frames[0].done.set()
    closing.join()
    assert shown.done and surface.get_pixels()[:4] == b"\xff\0\0\xff"


def awaits_end(closing: threading.Thread) -> bool:
    """Whether it waits for the render thread."""
    frame = sys._current_frames().get(closing.ident or 0)
    while frame is not None and frame.f_code is not Renderer._await_end.__code__:
        frame = frame.f_back
    return frame is not None
