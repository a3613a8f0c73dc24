"""Ctrl-C and exceptions end a transcode at once and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from clips import real_clip
from growth import PAGES, STATM, typical_growth
from processes import end_by, environment

import dala
from dala import video

ENDLESS = "testsrc=size=640x360:rate=25"
LONG = """
    import atexit, signal, sys, threading
    from dala import video
    from dala.video.encoder import Encoder

    way, source, target = sys.argv[1:]
    muxed, mux = [], Encoder._mux
    interrupted = threading.Event()

    def interrupt(*where):
        interrupted.set()
        signal.default_int_handler(*where)

    def counted(encoder, packets):
        muxed.extend(packets)
        mux(encoder, packets)
        if way == "flush" and muxed:  # or it would be over before anybody can interrupt it
            print("flushing", flush=True)
            assert interrupted.wait(300)

    signal.signal(signal.SIGINT, interrupt)

    def tell(progress):
        print(progress.frames, flush=True)

    Encoder._mux = counted
    atexit.register(lambda: print("muxed", len(muxed), flush=True))
    if way == "transcode":
        video.transcode(source, target, [("blur", {"radius": 8})], preset="slower", progress=tell)
    elif way == "grid":
        video.grid([source] * 4, target, preset="slower", progress=tell)
    elif way == "flush":  # nothing is encoded before the last frame has come, and then for long
        video.transcode(source, target, preset="veryslow", options={"rc-lookahead": "250"},
                        progress=tell)
"""
FLUSHED = 132  # frames, all of which the encoder holds back


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize(
    ("way", "lines"), [("transcode", 1), ("transcode", 5), ("grid", 1), ("grid", 5), ("flush", 1)]
)
def test_ctrl_c(way: str, lines: int, tmp_path: Path) -> None:
    """It ends though there would be more to do, for ever or for long. Nothing is left in the folder."""
    source = real_clip("bigbuckbunny.mp4") if way == "flush" else ENDLESS
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LONG), way, str(source), str(tmp_path / "out.mp4")],
        env=environment(DALA_DEVICE="cpu"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    seen = 0
    while seen < lines or way == "flush":  # it is under way, or it has come to the end
        line = process.stdout.readline()
        assert line, "it has ended"
        seen += 1
        if line == "flushing\n":
            break
    assert [n.startswith(".out-") for n in os.listdir(tmp_path)] == [True]
    said, errors = end_by(process, signal.SIGINT)
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert os.listdir(tmp_path) == []
    if way == "flush":
        assert int(said.split()[-1]) < FLUSHED  # it left what was still to be encoded


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_in_the_callers_thread(tmp_path: Path) -> None:
    """In this very process, many times, at any moment: threads end, nothing is left."""
    video.transcode(real_clip("carphone_pristine.mp4"), tmp_path / "out.mp4", ["median"])
    os.remove(tmp_path / "out.mp4")  # from here on nothing is imported any more
    for delay in (0.01, 0.03, 0.06, 0.1, 0.15, 0.2):
        over = threading.Event()

        def interrupt(delay: float = delay, over: threading.Event = over) -> None:
            while not over.wait(delay):
                signal.raise_signal(signal.SIGINT)
                delay = 30  # again, should it have been lost in a finalizer

        thread = threading.Thread(target=interrupt)

        def run(thread: threading.Thread = thread) -> None:
            thread.start()
            video.transcode(ENDLESS, tmp_path / "out.mp4", ["median"], preset="slow")

        with pytest.raises(KeyboardInterrupt):
            run()
        over.set()
        thread.join()
        assert os.listdir(tmp_path) == []


def test_ctrl_c_while_the_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just when there is a file, and nobody has heard of it yet."""
    opened: list[str] = []
    system = os.open

    def interrupted(path: str, *rest: int, **options: int) -> int:
        number = system(path, *rest, **options)
        if ".part" in str(path):
            os.close(number)
            opened.append(str(path))
            raise KeyboardInterrupt
        return number

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        video.transcode(real_clip("bikes.mp4"), tmp_path / "out.mp4")
    assert len(opened) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_leaves_the_file_alone(tmp_path: Path) -> None:
    writer = video.Writer(tmp_path / "out.mp4", fps=25)
    writer.write(np.zeros((48, 64, 3), np.uint8))
    child = os.fork()
    if child == 0:
        sink = writer._encoder.sink  # type: ignore[union-attr]
        sink._file.remove()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    writer.close()
    assert os.listdir(tmp_path) == ["out.mp4"]


def test_an_exception_in_the_callback(tmp_path: Path) -> None:
    def stop(progress: video.Progress) -> None:
        if progress.frames > 10:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        video.transcode(ENDLESS, tmp_path / "out.mp4", progress=stop)
    assert os.listdir(tmp_path) == []


def test_a_filter_that_fails_opens_no_file(tmp_path: Path) -> None:
    with pytest.raises(dala.DalaError, match="filter 1"):
        video.transcode(real_clip("bikes.mp4"), tmp_path / "out.mp4", [("blur", {"raduis": 3})])
    too_large = [("crop", {"width": 900, "height": 20})]
    with pytest.raises(dala.DalaError, match="does not fit into 640 × 272"):
        video.transcode(real_clip("bikes.mp4"), tmp_path / "out.mp4", too_large)
    assert os.listdir(tmp_path) == []


MEMORY = """
    import sys
    from growth import resident
    from dala import video
    from dala.video.encoder import Encoder

    class Enough(Exception):
        pass

    sizes, encode = [], Encoder.encode

    def noted(encoder, *args):
        encode(encoder, *args)
        if encoder.frames % 200 == 0:
            sizes.append(resident())

    def stop(progress):
        if progress.frames >= 3000:
            raise Enough

    Encoder.encode = noted
    try:
        video.transcode("testsrc=size=128x96:rate=100", sys.argv[1] + "/out.mp4", ["invert"],
                        preset="ultrafast", progress=stop)
    except Enough:
        print(*sizes[2:14])
"""


@pytest.mark.skipif(not STATM.exists(), reason="resident memory is read from /proc")
def test_memory_does_not_grow(tmp_path: Path) -> None:
    """Thousands of frames take as much memory as hundreds. (bench/video.py: ten thousand.)"""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), str(tmp_path)],
        env=environment(DALA_DEVICE="cpu"),
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    sizes = [int(size) for size in done.stdout.split()]
    assert len(sizes) == 12
    # a frame of these is 18 KiB, and there are 200 between two sizes
    assert typical_growth(sizes) <= 8 * PAGES, sizes
