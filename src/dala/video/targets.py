"""What a user names as an output: a file, numbered pictures, one picture, stdout, a network.

"out.mp4", Path              a file; its suffix chooses the container
"frames/%04d.png"            numbered pictures, from 1 on
"still.png"                  one picture: the first frame
"-", "-.webm"                stdout; Matroska, unless a suffix says otherwise
"rtmp://…", "srt://…", …     a network; "whip://…" is WHIP over HTTP, "whips://…" over HTTPS
"folder/live.m3u8"           HLS: a list and pieces that appear while it is written, of all of it
"/dev/video9"                a v4l2 device that takes frames
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal

from dala.errors import VideoError, suggest

Kind = Literal["file", "pictures", "picture", "stdout", "network"]
LISTED = 8  # pieces of HLS that a list names, if older ones are deleted
# suffix → FFmpeg's name of the container, and the codec that players of such files expect
CONTAINERS = {
    ".mp4": ("mp4", "h264"), ".m4v": ("mp4", "h264"), ".mov": ("mov", "h264"),
    ".mkv": ("matroska", "h264"), ".webm": ("webm", "vp9"), ".ts": ("mpegts", "h264"),
    ".gif": ("gif", "gif"), ".apng": ("apng", "apng"),
}  # fmt: skip
PICTURES = {
    ".png": "png", ".jpg": "mjpeg", ".jpeg": "mjpeg", ".tif": "tiff", ".tiff": "tiff",
    ".bmp": "bmp", ".webp": "libwebp",
}  # fmt: skip
NETWORKS = {
    "rtmp": "flv", "rtmps": "flv", "srt": "mpegts", "udp": "mpegts", "tcp": "mpegts",
    "rtp": "rtp_mpegts", "rtsp": "rtsp", "whip": "whip", "whips": "whip",
}  # fmt: skip
# mp4 begins with its index, so that it plays while it is loaded; where nothing can be moved, in pieces
_MUXER = {"mp4": {"movflags": "+faststart"}, "mov": {"movflags": "+faststart"}}
_PIECES = {"movflags": "+frag_keyframe+empty_moov+default_base_moof"}
_HLS = {"hls_time": "2", "hls_flags": "independent_segments"}
_KEPT = {**_HLS, "hls_playlist_type": "event"}
# a piece stays as long again as it was in the list: somebody may be fetching it
_ROLLING = {
    "hls_time": "2", "hls_flags": "independent_segments+delete_segments",
    "hls_list_size": str(LISTED), "hls_delete_threshold": str(LISTED),
}  # fmt: skip
_NUMBERED = re.compile(r"%(0\d)?d")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


@dataclass(frozen=True)
class Target:
    """Where an output goes, in which container, and the codec that is usual there."""

    kind: Kind
    name: str
    format: str
    codec: str
    rolling: bool = False  # of HLS: what is older than the list is deleted

    @property
    def muxer_options(self) -> dict[str, str]:
        """What the container gets."""
        if self.format in _MUXER and self.kind in ("stdout", "network"):
            return dict(_PIECES)
        if self.format == "hls":
            return dict(_ROLLING if self.rolling else _KEPT)
        if self.format == "rtsp":
            return {"rtsp_transport": "tcp"}
        return dict(_MUXER.get(self.format, {}))

    @property
    def holds_sound(self) -> bool:
        """Whether there is a place for sound at all."""
        return self.kind not in ("pictures", "picture") and self.format not in (
            "gif",
            "apng",
            "v4l2",
        )

    @property
    def url(self) -> str:
        """What FFmpeg opens."""
        if self.format == "whip":
            return "http" + self.name.removeprefix("whip")
        if self.format == "hls":  # a file, whatever its name looks like; with file: none is deleted
            return os.path.abspath(self.name)
        return self.name


def target_of(path: str | os.PathLike[str]) -> Target:
    """What a user names as an output."""
    name = os.fspath(path)
    folder, last = os.path.split(name)
    stem, suffix = os.path.splitext(last.lower())
    if isinstance(path, str):
        if name == "-":
            return Target("stdout", "stdout", "matroska", "h264")
        if found := _URL.match(name):
            return _network(name, found[1].lower())
        if not folder and stem == "-" and suffix in CONTAINERS:
            return Target("stdout", "stdout", *CONTAINERS[suffix])
        if name.startswith("/dev/video"):
            return Target("network", name, "v4l2", "rawvideo")
    if suffix == ".m3u8":
        return Target("network", name, "hls", "h264")
    if suffix in PICTURES:
        kind: Kind = "pictures" if _NUMBERED.search(last) else "picture"
        return Target(kind, name, "image2", PICTURES[suffix])
    if suffix not in CONTAINERS:
        known = ", ".join(CONTAINERS)
        raise VideoError(
            f"{name}: expected a name that ends in {known}{suggest(suffix, CONTAINERS)}; or pictures: "
            "frames/%04d.png"
        )
    return Target("file", name, *CONTAINERS[suffix])


def _network(url: str, scheme: str) -> Target:
    if scheme not in NETWORKS:
        known = ", ".join(f"{s}://" for s in NETWORKS)
        raise VideoError(f"{url}: expected a stream to send to ({known})")
    return Target("network", url, NETWORKS[scheme], "h264")


def numbered(name: str, number: int) -> str:
    """``frames/%04d.png`` with its number."""
    folder, last = os.path.split(name)
    return os.path.join(folder, _NUMBERED.sub(lambda m: m[0] % number, last, count=1))
