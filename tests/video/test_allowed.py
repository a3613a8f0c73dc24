"""A source opens what the user named, and nothing that a stranger wrote into it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from clips import write_clip
from PIL import Image

from dala import video
from dala.errors import VideoError
from dala.video import allowed
from dala.video.library import load_av

HLS = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n{}\n#EXT-X-ENDLIST\n"
SDP = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nm=video 5004 RTP/AVP 96\r\n"
TEXTS = {
    "concat": ("clip.mp4", "ffconcat version 1.0\nfile private.ts\n", "an ffconcat playlist"),
    "hls": ("clip.mp4", HLS.format("private.ts"), "an HLS playlist"),
    "hls by name": ("clip.m3u8", HLS.format("private.ts"), "an HLS playlist"),
    "hls, absolute": ("clip.m3u8", HLS.format("{folder}/private.ts"), "an HLS playlist"),
    "dash": ("clip.mpd", '<?xml version="1.0"?>\n<MPD></MPD>', "a DASH manifest"),
    "sdp": ("clip.sdp", SDP, "an SDP description"),
    "vobsub": ("clip.idx", "# VobSub index file, v7\n", "a VobSub index"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stranger's file lies beside one that is none of their business."""
    write_clip(tmp_path / "private.ts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_names_others_is_refused(folder: Path, name: str) -> None:
    file, text, what = TEXTS[name]
    (folder / file).write_text(text.replace("{folder}", str(folder)))
    for attempt in (video.Reader, video.probe, lambda f: video.transcode(f, "out.mp4")):
        with pytest.raises(VideoError) as caught:
            attempt(folder / file)
        message = str(caught.value)
        assert f"{file}: {what} names other files, and a file is read alone; open those" in message
    assert not (folder / "out.mp4").exists()


def test_a_trusted_playlist_is_read(folder: Path) -> None:
    (folder / "list.txt").write_text("ffconcat version 1.0\nfile private.ts\nfile private.ts\n")
    with video.Reader("list.txt", options={"format_whitelist": "concat,mpegts"}) as reader:
        assert len(list(reader)) == 50


def test_a_name_is_no_pattern_of_names(folder: Path) -> None:
    for name in ("a0.png", "a1.png", "a%d.png"):
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(folder / name)
    with pytest.raises(VideoError, match=r"takes a picture's name with %, .* rename the file"):
        video.Reader("a%d.png")
    with video.Reader("a0.png") as reader:
        assert len(list(reader)) == 1


@pytest.mark.parametrize(
    "name",
    ["concat:private.ts|private.ts", "subfile,,start,0,end,0,,:private.ts", "async:file:private.ts",
     "data:text/plain,x", "pipe:0", "fd:", "unix:x", "movie=private.ts"],
)  # fmt: skip
def test_a_name_like_a_protocol_is_a_file(folder: Path, name: str) -> None:
    with pytest.raises(VideoError) as caught:
        video.Reader(name)
    assert str(caught.value) == f"{name}: there is no such file"


@pytest.mark.parametrize(
    "url", ["concat://private.ts", "pipe://0", "fd://", "crypto+file://private.ts", "cache://x"]
)
def test_a_url_is_of_the_network(folder: Path, url: str) -> None:
    with pytest.raises(VideoError, match="refers to nothing but the network"):
        video.Reader(url)


def test_a_format_that_is_not_in_the_list(folder: Path) -> None:
    (folder / "titles.mp4").write_text("1\n00:00:01,000 --> 00:00:02,000\nHello\n")
    with pytest.raises(VideoError, match="expected a file that holds its video itself"):
        video.Reader("titles.mp4")


@pytest.mark.parametrize(
    "pattern", ["testsrc=size=8x8[a];movie=private.ts", "testsrc=size=8x8,movie=x", "testsrc=a='b'"]
)
def test_a_pattern_is_no_graph(pattern: str) -> None:
    with pytest.raises(VideoError, match="expected a test pattern like"):
        video.Reader(pattern)


def test_formats_that_read_other_files_are_not_in_the_list() -> None:
    listed = set(allowed.FILE_FORMATS.split(","))
    naming = {"concat", "hls", "dash", "imf", "image2", "image2pipe", "mlv", "vobsub", "sdp", "rtsp", "rtp",
              "sap", "lavfi", "webm_dash_manifest", "avisynth", "vapoursynth", "dvdvideo"}  # fmt: skip
    assert not listed & naming
    protocols = set(allowed.NETWORK_PROTOCOLS.split(","))
    local = {"file", "concat", "concatf", "subfile", "pipe", "fd", "unix", "cache", "async", "tee"}
    assert not protocols & local


def test_the_list_has_the_names_of_ffmpeg() -> None:
    known = set(load_av().formats_available)
    missing = set(allowed.FILE_FORMATS.split(",")) - known
    assert len(missing) <= 3, missing  # some are not in every build


# -- over the network --------------------------------------------------------------------------


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    handler = functools.partial(Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_playlist_on_a_network_names_what_is_there(folder: Path, url: str) -> None:
    (folder / "list.m3u8").write_text(HLS.format("private.ts"))
    with video.Reader(f"{url}/list.m3u8", timeout=300) as reader:
        assert len(list(reader)) == 25


@pytest.mark.parametrize(
    "form", ["{}", "file:{}", "file://{}", "concat:{}", "subfile,,start,0,end,0,,:{}"]
)
def test_a_playlist_on_a_network_names_no_file(folder: Path, url: str, form: str) -> None:
    private = folder / "elsewhere" / "private.ts"
    private.parent.mkdir()
    (folder / "private.ts").rename(private)
    (folder / "list.m3u8").write_text(HLS.format(form.format(private)))
    with pytest.raises(VideoError):
        video.Reader(f"{url}/list.m3u8", timeout=300)


def test_what_a_stream_may_open_does_not_hang_on_ffmpegs_defaults(folder: Path, url: str) -> None:
    (folder / "list.ffconcat").write_text("ffconcat version 1.0\nfile private.ts\n")
    options = {"safe": "0"}
    with video.Reader(f"{url}/list.ffconcat", timeout=300, options=options) as reader:
        assert len(list(reader)) == 25
    text = f"ffconcat version 1.0\nfile 'file:{folder}/private.ts'\n"
    (folder / "list.ffconcat").write_text(text)
    with pytest.raises(VideoError, match="refers to nothing but the network"):
        video.Reader(f"{url}/list.ffconcat", timeout=300, options=options)


# -- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tee:a.mp4", "concat:a.mp4", "crypto:a.mkv", "a%d.mp4"])
def test_one_name_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with video.Writer(name, fps=25) as writer:
        for _ in range(3):
            writer.write(np.zeros((16, 16, 3), np.uint8))
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_what_would_write_several_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="expected a name that ends in"):
        video.Writer(tmp_path / "list.mpd", fps=25)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["a.mp4|b.m3u8", "[f=hls]list.m3u8", "crypto:list.m3u8", "tee:l.m3u8"]
)
def test_hls_is_a_list_and_its_pieces_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with video.Writer(name, fps=25) as writer:
        for _ in range(3):
            writer.write(np.zeros((16, 16, 3), np.uint8))
    stem = name.removesuffix(".m3u8")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, f"{stem}0.ts"])
