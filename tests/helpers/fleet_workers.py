"""The processes of a job's pool, and what its videos hold."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from processes import environment

SLOWLY = """
import random, time
from dala.fleet import tasks
plain = tasks.encode_segment
def encode_segment(facts, tell):
    time.sleep(random.random() / 4)
    record = plain(facts, tell)
    time.sleep(random.random() / 4)
    return record
tasks.ACTIONS["encode_segment"] = encode_segment
"""


def worker_pids(driver: int | None = None) -> list[int]:
    """The workers that a process (this one) has started and that are alive."""
    driver = driver or os.getpid()
    nurseries = _children({driver}, b"dala.fleet.nursery")
    return [*_children({driver}, b"dala.fleet.worker"), *_children(set(nurseries), b"dala.fleet")]


def nursery_pids() -> list[int]:
    """The processes that fork workers for this one."""
    return _children({os.getpid()}, b"dala.fleet.nursery")


def _children(parents: set[int], called: bytes) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            command = (folder / "cmdline").read_bytes()
        except (OSError, IndexError, ValueError):  # it has ended meanwhile
            continue
        if int(parent) in parents and state != "Z" and called in command:
            found.append(int(folder.name))
    return found


def hooked(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every Python that is started from now on run this first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(text)
    paths = environment()["PYTHONPATH"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), paths]))


@contextlib.contextmanager
def signalled(which: signal.Signals, count: int, seed: int) -> Iterator[list[int]]:
    """Workers get a signal at random moments, so many of them; their numbers, once they have it."""
    over, done, chance = threading.Event(), list[int](), random.Random(seed)

    def send() -> None:
        while len(done) < count and not over.wait(chance.random() / 8):
            with contextlib.suppress(ProcessLookupError, IndexError):
                worker = chance.choice(worker_pids())
                os.kill(worker, which)
                done.append(worker)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield done
    finally:
        over.set()
        sender.join()


def frames_of(path: Path) -> tuple[list[Fraction], list[npt.NDArray[np.uint8]]]:
    """Times and pictures of a video, as FFmpeg decodes them."""
    import av  # only tests of jobs need it

    times, pictures = [], []
    with av.open(path) as container:
        for frame in container.decode(video=0):
            times.append(frame.pts * Fraction(frame.time_base))
            pictures.append(frame.to_ndarray())
    return times, pictures


def sound_of(path: Path) -> list[tuple[int | None, bytes]]:
    """The packets of the sound, if there is any."""
    import av

    with av.open(path) as container:
        heard = container.streams.audio[:1]
        return [(p.pts, bytes(p)) for p in (container.demux(heard) if heard else ()) if p.size]


def assert_same_video(made: Path, wanted: Path) -> None:
    """Times, pictures and packets of sound."""
    (times, pictures), (wanted_times, wanted_pictures) = frames_of(made), frames_of(wanted)
    assert times == wanted_times
    for number, (picture, wanted_picture) in enumerate(zip(pictures, wanted_pictures, strict=True)):
        assert np.array_equal(picture, wanted_picture), number
    assert sound_of(made) == sound_of(wanted)
