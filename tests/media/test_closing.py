"""Everything that holds something ends the same way: ``close``, or the end of a ``with``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dala import compute, gpu, media
from dala.closing import Closing

HOLDERS: dict[str, Callable[[], Any]] = {
    "free": lambda: compute.buffer_zeros((2,)),
    "free a pipeline": compute.pipeline,
    "destroy": lambda: gpu.create_surface(2, 2),
    "stop": lambda: media.start_pipeline(2, 2),
}


@pytest.mark.parametrize("ending", HOLDERS)
def test_holders_of_devices(ending: str) -> None:
    with HOLDERS[ending]() as holder:
        assert isinstance(holder, Closing) and not holder.closed
    assert holder.closed
    holder.close()
    getattr(holder, ending.split()[0])()
    other = HOLDERS[ending]()
    getattr(other, ending.split()[0])()  # as it is called elsewhere
    assert other.closed


def test_an_exception_closes_too() -> None:
    with pytest.raises(ZeroDivisionError), compute.buffer_zeros((2,)) as buffer:
        _ = 1 / 0
    assert buffer.closed and buffer.freed


def test_scratch_holds_nothing() -> None:
    with compute.scratch((2,)) as scratch:
        scratch.close()
    assert not scratch.closed


def test_files(tmp_path: Path) -> None:
    pytest.importorskip("av")
    from dala import video

    with video.Writer(tmp_path / "a.mp4") as writer:
        writer.write(np.zeros((16, 16, 3), np.uint8))
        assert not writer.closed
    with video.Reader(tmp_path / "a.mp4", timeout=300) as reader:
        assert not reader.closed
    for holder in (writer, reader):
        assert isinstance(holder, Closing) and holder.closed
        holder.close()
