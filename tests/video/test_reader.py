"""Reading: order, seeking, live sources, connections that break."""

from __future__ import annotations

import contextlib
import io
import itertools
import socket
import socketserver
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from clips import frame_times, real_clip, write_clip
from in_threads import wait_until
from PIL import Image
from processes import environment

from dala import video
from dala.errors import ArgumentError, ParameterError, VideoError


def test_frames_come_in_order_with_their_times() -> None:
    path = real_clip("bikes.mp4")
    with video.Reader(path) as reader:
        frames = [(f.number, f.time, f.duration * f.time_base) for f in reader]
        assert reader.read() is None
    assert [t for _, t, _ in frames] == frame_times(path)
    assert [n for n, _, _ in frames] == list(range(250))
    assert {d for _, _, d in frames} == {Fraction(1, 25)}


def test_a_frame_in_a_notebook() -> None:
    with video.Reader("testsrc=size=64x48:rate=25") as reader:
        frame = next(reader)
    with Image.open(io.BytesIO(frame._repr_png_())) as shown:
        assert np.array_equal(np.asarray(shown), frame.rgba)


def test_what_a_reader_tells() -> None:
    with video.Reader(real_clip("bigbuckbunny.mp4")) as reader:
        assert (reader.width, reader.height, reader.fps) == (1280, 720, 25)
        assert reader.duration == Fraction(132, 25)
        assert next(reader).number == 0  # asking has taken nothing away
        assert reader.info == video.probe(real_clip("bigbuckbunny.mp4"))
    assert "closed" in repr(reader)
    assert reader.width == 1280  # known before, known still


@pytest.mark.parametrize(
    ("at", "first"), [(0, 0), (0.039, 0), (0.04, 1), (2.5, 62), (5.2, 130), (99, 131), (-3, 0)]
)
def test_seeking(at: float, first: int) -> None:
    with video.Reader(real_clip("bigbuckbunny.mp4")) as reader:
        wanted = [f.planar for f in reader][first]
        reader.seek(at)
        rest = [f.time for f in reader]
        assert rest == [Fraction(n, 25) for n in range(first, 132)]
        reader.seek(at)
        assert np.array_equal(next(reader).planar, wanted)


def test_seeking_where_frames_refer_to_what_is_not_read(tmp_path: Path) -> None:
    """Groups of pictures may be open: the first frames after a seek cannot be decoded."""
    options = {"x264-params": "open-gop=1:keyint=10:min-keyint=10:bframes=3:b-adapt=0:scenecut=0"}
    path = write_clip(tmp_path / "open.mp4", frames=60, options=options)
    with video.Reader(path) as reader:
        planes = [f.planar for f in reader]
        assert len(planes) == 60
        for wanted in (3, 10, 12, 27, 37, 38, 39, 40, 41, 55, 9, 20, 0, 59):
            reader.seek(Fraction(wanted, 25))
            frame = next(reader)
            assert frame.time == Fraction(wanted, 25)
            assert np.array_equal(frame.planar, planes[wanted])
            assert [f.time for f in reader] == [Fraction(n, 25) for n in range(wanted + 1, 60)]


def test_a_closed_reader_refuses() -> None:
    reader = video.Reader(real_clip("bikes.mp4"))
    reader.close()
    reader.close()
    for use in (reader.read, lambda: reader.seek(1), lambda: reader.info):
        with pytest.raises(VideoError, match="closed"):
            use()


def test_frames_outlive_their_reader() -> None:
    with video.Reader(real_clip("bikes.mp4")) as reader:
        frame = next(reader)
        before = frame.rgba
    assert np.array_equal(frame.rgba, before)


def test_only_the_newest(tmp_path: Path) -> None:
    """Whoever looks seldom gets what is new, and in order; without being asked nothing is dropped."""
    with video.Reader("testsrc=size=64x48:rate=200,realtime", latest=True) as reader:
        first = next(reader)
        passed_over = reader.dropped  # before the first one was asked for
        wait_until(lambda: reader.dropped >= passed_over + 20)  # nobody looks
        second, third = next(reader), next(reader)
        assert second.number > first.number + 20
        assert third.number > second.number
        with pytest.raises(VideoError, match="cannot be rewound"):
            reader.seek(0)
    path = write_clip(tmp_path / "short.mp4", frames=5)
    with video.Reader(path, latest=True) as reader:
        numbers = [f.number for f in reader]
        assert numbers[-1] == 4
        assert len(numbers) + reader.dropped == 5


def test_a_slow_reader_of_a_pattern_misses_nothing() -> None:
    with video.Reader("testsrc=size=64x48:rate=200,realtime") as reader:
        first = next(reader)
        time.sleep(0.1)  # twenty frames of this source: it is this reader that is slow
        assert next(reader).number == first.number + 1
        assert reader.dropped == 0


def test_sources_that_are_none() -> None:
    with pytest.raises(ArgumentError, match="a path, a URL or a camera's number, got list"):
        video.Reader([])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="on_damage is 'error' or 'conceal'"):
        video.Reader(real_clip("bikes.mp4"), on_damage="skip")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="reconnect is a number of attempts"):
        video.Reader(real_clip("bikes.mp4"), reconnect=-1)
    with pytest.raises(VideoError, match="camera 63"):
        video.Reader(63)


# -- streams -----------------------------------------------------------------------------------


class Server(socketserver.BaseRequestHandler):
    """Sends what ``answers`` has for one connection after the other; the last one again and again."""

    answers: ClassVar[list[bytes]] = []
    connections: ClassVar[int] = 0

    def handle(self) -> None:
        number = min(Server.connections, len(Server.answers) - 1)
        Server.connections += 1
        if Server.answers[number].startswith(b"HTTP"):
            self.request.recv(65_536)
        with contextlib.suppress(OSError):
            self.request.sendall(Server.answers[number])


@pytest.fixture
def port() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        Server.connections = 0
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_file_over_http(port: int, tmp_path: Path) -> None:
    content = write_clip(tmp_path / "clip.mkv", frames=20).read_bytes()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    Server.answers = [head + content]
    with video.Reader(f"http://127.0.0.1:{port}/clip.mkv", timeout=300) as reader:
        assert len(list(reader)) == 20


def test_a_broken_connection_is_opened_again(port: int, tmp_path: Path) -> None:
    """A live stream breaks off and begins anew: its frames go on in time."""
    content = write_clip(
        tmp_path / "clip.ts", frames=50, options={"g": "10", "bf": "0"}
    ).read_bytes()
    Server.answers = [content[: len(content) // 2 // 188 * 188], b"", content]
    address = f"tcp://127.0.0.1:{port}"
    with video.Reader(address, reconnect=2, on_damage="conceal", timeout=300) as reader:
        times = [next(reader).time for _ in range(60)]
    assert Server.connections >= 3
    assert all(b > a for a, b in itertools.pairwise(times))
    assert times[-1] - times[0] < 60 / 25 + 1


def test_too_many_attempts_are_an_error(port: int, tmp_path: Path) -> None:
    content = write_clip(tmp_path / "clip.ts", frames=10, options={"bf": "0"}).read_bytes()
    Server.answers = [content, b""]
    reader = video.Reader(f"tcp://127.0.0.1:{port}", reconnect=2, timeout=300)
    with pytest.raises(VideoError, match=r"tcp://127"):
        list(reader)
    reader.close()
    assert Server.connections == 3


def test_nobody_there_is_an_error() -> None:
    with pytest.raises(VideoError, match="Connection refused"):
        video.Reader("http://127.0.0.1:9/x.ts", timeout=300)


def test_a_silent_server_times_out() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(VideoError):  # it would never end
            video.Reader(f"http://127.0.0.1:{silent.getsockname()[1]}/x.ts", timeout=0.5)


WITHOUT_AV = """
    import sys
    sys.modules["av"] = None
    from dala import video
    try:
        video.probe("clip.mp4")
    except video.reader.VideoError:
        raise
    except video.library.UnsupportedError as error:
        print(error)
"""


def test_without_pyav_the_command_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT_AV)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stdout.strip().endswith("install it with: pip install 'dala-gpu[video]'")
