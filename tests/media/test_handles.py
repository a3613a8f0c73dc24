"""Commands, frames and receipts: one form of work under way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dala import compute, gpu, media
from dala.compute.commands import submit_command
from dala.compute.handle import Handle
from dala.errors import CommandTimeoutError, PictureNotFoundError
from dala.gpu.receipt import Receipt

KINDS = ("command", "frame", "receipt")
BLACK = np.zeros((2, 2), np.uint8)


class Work:
    """Work of each kind that ends when it is told to, well or not."""

    def __init__(self, kind: str) -> None:
        self.gate = threading.Event()
        self.fault: Exception | None = None
        self.result: list[Any] = []
        self.handle: Handle[Any] = Receipt(7)
        if kind != "receipt":
            command = submit_command("work", self.run, [], (), (), stream=None, inline=False)
            self.handle = media.Frame(command, self.result) if kind == "frame" else command

    def run(self) -> None:
        self.gate.wait(300)
        if self.fault is not None:
            raise self.fault
        self.result.append(BLACK)

    def end(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.gate.set()
        if isinstance(self.handle, Receipt):
            self.handle.settle((), [] if fault is None else [fault])


@pytest.fixture(params=KINDS)
def work(request: pytest.FixtureRequest) -> Iterator[Work]:
    made = Work(str(request.param))
    yield made
    made.gate.set()


def test_all_kinds_are_handles() -> None:
    buffer = compute.from_array(BLACK)
    command = compute.run_kernel_async("invert", [buffer], buffer)
    with media.start_pipeline(2, 2) as frames, gpu.create_surface(2, 2) as surface:
        for handle in (command, frames.submit(BLACK, ["invert"]), surface.present()):
            assert isinstance(handle, compute.Handle)
            handle.wait(timeout=300)
            assert handle.done and handle.error is None


def test_it_is_waited_for(work: Work) -> None:
    assert not work.handle.done and work.handle.error is None
    with pytest.raises(CommandTimeoutError, match=r"is not done after 0\.01 s"):
        work.handle.wait(0.01)
    work.end()
    assert work.handle.wait(timeout=300) is (
        BLACK if isinstance(work.handle, media.Frame) else None
    )
    assert work.handle.done and work.handle.error is None


def test_it_is_awaited(work: Work) -> None:
    async def wait() -> object:
        threading.Timer(0.01, work.end).start()
        return await work.handle

    assert asyncio.run(wait()) is (BLACK if isinstance(work.handle, media.Frame) else None)
    assert asyncio.run(wait()) is work.handle.wait()  # it is done now


def test_its_error_is_raised_for_everybody(work: Work) -> None:
    async def wait() -> object:
        return await work.handle

    fault = PictureNotFoundError("no picture 5")
    work.end(fault)
    for _ in range(2):
        with pytest.raises(PictureNotFoundError, match="no picture 5"):
            work.handle.wait(300)
        with pytest.raises(PictureNotFoundError, match="no picture 5"):
            asyncio.run(wait())
    assert work.handle.done and work.handle.error is fault


def test_who_gives_up_waiting_harms_nobody(work: Work) -> None:
    async def wait() -> object:
        return await work.handle

    async def give_up() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), 0.01)

    asyncio.run(give_up())
    work.end()
    work.handle.wait(300)
    assert work.handle.done
