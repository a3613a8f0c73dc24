"""Ctrl-C and exceptions end a transcode at once and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from clips import real_clip
from subprocesses import environment

import dala
from dala import video

LONG = """
    import sys, time
    from dala import video

    def tell(progress):
        print(progress.frames, flush=True)

    if sys.argv[1] == "transcode":
        video.transcode(sys.argv[2], sys.argv[3], [("blur", {"radius": 8})], preset="slower", progress=tell)
    elif sys.argv[1] == "flush":  # nothing is encoded before the last frame has come, and then for long
        video.transcode(sys.argv[2], sys.argv[3], preset="veryslow", options={"rc-lookahead": "250"},
                        progress=tell)
    elif sys.argv[1] == "grid":
        video.grid([sys.argv[2]] * 4, sys.argv[3], preset="slower", progress=tell)
"""


@pytest.mark.parametrize("after_s", [0.0, 0.3])
@pytest.mark.parametrize("way", ["transcode", "grid", "flush"])
def test_ctrl_c(way: str, after_s: float, tmp_path: Path) -> None:
    """Within a second; a busy machine gets a few tries, and one that does much else more time."""
    took = [interrupt(way, after_s, tmp_path)]
    while min(took) >= 1.0 and len(took) < 3:
        took.append(interrupt(way, after_s, tmp_path))
    others = os.getloadavg()[0] > 3 * (os.cpu_count() or 1)
    assert min(took) < (10.0 if others else 1.0)


def interrupt(way: str, after_s: float, folder: Path) -> float:
    """How long it takes to end by a Ctrl-C. Nothing is left in the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LONG), way,
         str(real_clip("bigbuckbunny.mp4")), str(folder / "out.mp4")],
        env=environment(DALA_DEVICE="cpu"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()  # it is under way
    while way == "flush" and line != "132\n":
        assert line, "it has ended"
        line = process.stdout.readline()
    assert [n.startswith(".out-") for n in os.listdir(folder)] == [True]
    time.sleep(after_s)
    begin = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    took = time.perf_counter() - begin
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert os.listdir(folder) == []
    return took


def test_ctrl_c_in_the_callers_thread(tmp_path: Path) -> None:
    """In this very process, many times, at any moment: threads end, nothing is left."""
    source = real_clip("bikes.mp4")
    video.transcode(real_clip("carphone_pristine.mp4"), tmp_path / "out.mp4", ["median"])
    os.remove(tmp_path / "out.mp4")  # from here on nothing is imported any more
    for delay in (0.01, 0.03, 0.06, 0.1, 0.15, 0.2):
        timer = threading.Timer(delay, signal.raise_signal, (signal.SIGINT,))

        def run() -> None:
            video.transcode(source, tmp_path / "out.mp4", ["median"], preset="slow")

        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run()
        timer.join()
        assert os.listdir(tmp_path) == []


def test_an_exception_in_the_callback(tmp_path: Path) -> None:
    def stop(progress: video.Progress) -> None:
        if progress.frames > 10:
            raise RuntimeError("enough")

    begin = time.perf_counter()
    with pytest.raises(RuntimeError, match="enough"):
        video.transcode(real_clip("bigbuckbunny.mp4"), tmp_path / "out.mp4", progress=stop)
    assert time.perf_counter() - begin < 5
    assert os.listdir(tmp_path) == []


def test_a_filter_that_fails_opens_no_file(tmp_path: Path) -> None:
    with pytest.raises(dala.DalaError, match="filter 1"):
        video.transcode(real_clip("bikes.mp4"), tmp_path / "out.mp4", [("blur", {"raduis": 3})])
    too_large = [("crop", {"width": 900, "height": 20})]
    with pytest.raises(dala.DalaError, match="does not fit into 640 × 272"):
        video.transcode(real_clip("bikes.mp4"), tmp_path / "out.mp4", too_large)
    assert os.listdir(tmp_path) == []


MEMORY = """
    import resource, sys
    from dala import video

    def note(progress):
        print(progress.frames, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)

    path = sys.argv[1]
    with video.Reader("testsrc=size=128x96:rate=100") as reader:
        with video.Writer(path + "/in.mp4", fps=100, preset="ultrafast") as writer:
            for _ in range(2000):
                writer.write(next(reader))
    video.transcode(path + "/in.mp4", path + "/out.mp4", ["invert"], preset="ultrafast", progress=note)
"""


def test_memory_does_not_grow(tmp_path: Path) -> None:
    """Two thousand frames take as much memory as five hundred. (bench/video.py: ten thousand.)"""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), str(tmp_path)],
        env=environment(DALA_DEVICE="cpu"),
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    notes = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    peaks = [kilobytes for frames, kilobytes in notes if frames > 500]
    assert len(peaks) > 2 and notes[-1][0] == 2000
    assert peaks[-1] - peaks[0] < 8 * 1024
