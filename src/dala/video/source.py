"""Where frames come from: files, cameras, network streams, a test pattern.

"clip.mp4", Path             a file
0, "camera:1", "/dev/video2" a camera
"rtsp://…", "http://…", …    a stream
"testsrc", "testsrc=size=…"  FFmpeg's test pattern; plain "testsrc" comes at 30 frames per second
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from dala.errors import (
    ArgumentError,
    DamagedVideoError,
    ParameterError,
    VideoError,
    VideoFileError,
)
from dala.video import allowed
from dala.video.library import as_fraction, ffmpeg_errors, load_av

Spec: TypeAlias = "str | os.PathLike[str] | int"
OnDamage = Literal["error", "conceal"]
Where = Literal["file", "camera", "stream", "pattern"]
HELD_PACKETS = 64  # of sound and subtitles, until a frame takes them along
_CAMERAS = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}"),
            "win32": ("dshow", "{}")}  # fmt: skip
_PATTERN = "testsrc=size=640x480:rate=30,realtime"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class Place:
    """What to open, and how to call it in messages."""

    where: Where
    name: str
    url: str
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_live_stream(self) -> bool:
        """Whether it has no end of its own: what comes over HTTP ends like a file."""
        return self.where == "stream" and not self.url.startswith("http")


def place_of(spec: Spec, options: Mapping[str, str] | None = None) -> Place:
    """What a user names as a source."""
    given = dict(options or {})
    if isinstance(spec, bool) or not isinstance(spec, str | os.PathLike | int):
        raise ArgumentError(
            f"a video is named by a path, a URL or a camera's number, got {type(spec).__name__}"
        )
    if isinstance(spec, int):
        return _camera(str(spec), given)
    text = os.fspath(spec)
    if isinstance(spec, str):
        if text.startswith("camera:"):
            return _camera(text.removeprefix("camera:"), given)
        if text.startswith("/dev/video"):
            return Place("camera", text, text, "v4l2", given)
        if text == "testsrc" or text.startswith(("testsrc=", "testsrc2=")):
            allowed.check_pattern(text)
            return Place("pattern", text, _PATTERN if text == "testsrc" else text, "lavfi", given)
        if _URL.match(text) and not text.startswith("file://"):
            return Place("stream", text, text, None, _patient(text, given))
    return Place("file", text, f"file:{text.removeprefix('file://')}", None, given)


def _camera(number: str, options: dict[str, str]) -> Place:
    format_, form = _CAMERAS.get(sys.platform, _CAMERAS["linux"])
    name = form.format(number)
    if format_ == "dshow" and number.isdigit():
        name = _dshow_name(int(number))
    if format_ == "avfoundation":  # its own default of 29.97 is refused by most cameras
        options = {"framerate": "30", **options}
    return Place("camera", f"camera {number}", name, format_, options)


def _dshow_name(number: int) -> str:
    """Windows has names for cameras, no numbers."""
    found = [
        d for d in load_av().device.enumerate_input_devices("dshow") if "video" in d.media_types
    ]
    if number >= len(found):
        raise VideoError(f"camera {number}: there are {len(found)} cameras")
    return f"video={found[number].description}"


def _patient(url: str, given: dict[str, str]) -> dict[str, str]:
    """Cameras on a network: TCP loses nothing. Files over HTTP: FFmpeg itself asks again."""
    if url.startswith("rtsp"):
        return {"rtsp_transport": "tcp", **given}
    if url.startswith("http"):
        return {"reconnect": "1", "reconnect_delay_max": "2", **given}
    return given


class Item(NamedTuple):
    """What comes next: a picture, if it is one, and the packets of other streams until then."""

    picture: Any | None
    packets: list[Any]


class Source:
    """An open container and its first video stream; ``items`` yields what is in it, decoded."""

    def __init__(self, place: Place, *, on_damage: OnDamage = "error", timeout: float) -> None:
        if on_damage not in ("error", "conceal"):
            raise ParameterError(f"on_damage is 'error' or 'conceal', got {on_damage!r}")
        self.place = place
        self.on_damage = on_damage
        self.frames = 0
        self.damaged = 0  # errors that were concealed
        self.seeking = False  # then frames may refer to some that are not read: no damage
        self._lock = threading.Lock()  # held while FFmpeg is inside the container
        self._closing = False
        self.container = _open(place, timeout)
        try:
            self.stream = self._pick_stream()
        except BaseException:
            self.container.close()
            raise
        stream = self.stream  # its facts are kept: FFmpeg frees it with the container
        self.index: int = stream.index
        self.time_base = as_fraction(stream.time_base)
        rate = stream.average_rate or stream.guessed_rate
        self.rate = as_fraction(rate) if rate else None
        self.begin = Fraction(stream.start_time or 0) * self.time_base
        self.context = context = stream.codec_context
        context.thread_type = "AUTO"
        if on_damage == "error":  # without it a decoder patches what is broken and says nothing
            context.options = {"err_detect": "explode"}
        self._packets = 0
        self._end: Fraction = Fraction(0)  # of what came so far, in seconds

    def close(self) -> None:
        """Close the file, the camera or the connection. Twice does nothing.

        While another thread waits for data, it is that thread that closes it, as soon as it is back.
        """
        self._closing = True
        if self._lock.acquire(blocking=False):
            try:
                self.container.close()
            finally:
                self._lock.release()

    def _pick_stream(self) -> Any:
        streams = [s for s in self.container.streams.video if "attached_pic" not in _flags(s)]
        if not streams:
            has = ", ".join(sorted({s.type for s in self.container.streams})) or "nothing"
            raise VideoError(f"{self.place.name}: no video in it; it holds {has}")
        if streams[0].codec_context is None:
            raise VideoError(f"{self.place.name}: this build of FFmpeg cannot decode its video")
        return streams[0]

    def items(self, others: Sequence[Any] = ()) -> Iterator[Item]:
        """Pictures in the order they are shown; ``others`` are streams to pass on undecoded."""
        try:
            yield from self._undamaged(others)
        except DamagedVideoError as error:
            for picture in self._whole_ones():
                self.frames += 1
                yield Item(picture, [])
            error.frames = self.frames
            raise

    def _undamaged(self, others: Sequence[Any]) -> Iterator[Item]:
        wanted = {s.index for s in others}
        held: list[Any] = []
        for packet in self._demux():
            if packet.stream_index != self.index:
                if packet.stream_index in wanted and packet.size and _is_timed(packet):
                    held.append(packet)
                    if len(held) >= HELD_PACKETS:
                        yield Item(None, held)
                        held = []
                continue
            for picture in self._decode(packet):
                self.frames += 1
                yield Item(picture, held)
                held = []
        if not self._closing:
            self._check_end()
        if held:
            yield Item(None, held)

    def _whole_ones(self) -> Iterator[Any]:
        """The pictures before the damage that a decoder still has: one for each of its threads.

        How many frames came before an error must not depend on how many cores there are.
        """
        if not self.context.is_open:  # it was refused with the first packet
            return
        try:
            yield from self.context.decode(None)
        except (load_av().error.FFmpegError, EOFError):
            return  # the damage itself, which is being reported already

    def _demux(self) -> Iterator[Any]:
        packets = self.container.demux()
        while True:
            try:
                with self._lock, ffmpeg_errors(self.place.name, "reading"):
                    packet = None if self._closing else next(packets, None)
            except VideoFileError:
                raise
            except VideoError as error:
                self._damage(str(error), error)
                return
            if self._closing:
                self.close()
            if packet is None or self._closing:
                return
            if packet.is_corrupt:
                self._damage(f"{self.place.name}: a packet is cut off or broken", None)
            self._note(packet)
            yield packet

    def _note(self, packet: Any) -> None:
        if packet.stream_index == self.index and packet.size:
            self._packets += 1
        if packet.pts is not None:
            end = (packet.pts + (packet.duration or 0)) * as_fraction(packet.time_base)
            self._end = max(self._end, end)

    def _decode(self, packet: Any) -> Iterator[Any]:
        """The pictures that a packet completes. Those left at the end may come after an error, too."""
        av = load_av()
        for _ in range(64 if packet.size == 0 else 1):
            try:
                pictures = self.context.decode(packet if packet.size else None)
            except (av.error.EOFError, EOFError):
                return
            except av.error.FFmpegError as error:
                what = f"{self.place.name}: damaged after frame {self.frames}: {error.strerror}"
                self._damage(what, error)
            else:
                yield from pictures
                return

    def _damage(self, message: str, cause: Exception | None) -> None:
        if self.seeking:
            return
        self.damaged += 1
        if self.on_damage == "error":
            hint = "on_damage='conceal' takes what can be shown"
            raise DamagedVideoError(f"{message}; {hint}", frames=self.frames) from cause

    def _check_end(self) -> None:
        """A file that is cut off between two packets ends like any other, but for what its head says."""
        name, stream = self.container.format.name, self.stream
        slack = max(2 / (self.rate or Fraction(25)), Fraction(1, 10))
        if "mov" in name and stream.frames:
            promised = (stream.duration or 0) * self.time_base + self.begin
            short = self._packets < stream.frames and self._end < promised - slack
            what = f"{self._packets} of {stream.frames} frames"
        elif "matroska" in name and self.container.duration:
            promised = Fraction(self.container.duration, load_av().time_base)
            short = self._end < promised - max(slack, Fraction(1, 4))  # of sound blocks, too
            what = f"{float(self._end):.2f} of {float(promised):.2f} s"
        else:
            return
        if short:
            self._damage(f"{self.place.name}: ends early: {what} are there", None)

    def seek(self, seconds: Fraction) -> None:
        """Go to the key frame at or before a time of the file's own clock."""
        with ffmpeg_errors(self.place.name, "seeking"):
            self.container.seek(int(seconds / self.time_base), stream=self.stream)


def _is_timed(packet: Any) -> bool:
    """Whether it has a time to be written with; where only one of two is known it stands for both."""
    if packet.dts is None:
        packet.dts = packet.pts
    return packet.dts is not None


def _flags(stream: Any) -> str:
    return str(getattr(stream.disposition, "name", "") or "")


def _open(place: Place, timeout: float) -> Any:
    av = load_av()
    if place.where == "file":
        _check_file(place.name, _path_of(place))
    elif place.format is not None and place.format not in av.formats_available:
        raise VideoError(f"{place.name}: this build of FFmpeg has no {place.format}")
    limit = timeout if place.where == "stream" else None
    options = {**allowed.OPTIONS.get(place.where, {}), **place.options}
    with ffmpeg_errors(place.name, "opening"):
        try:
            return av.open(place.url, format=place.format, options=options, timeout=limit)
        except (av.error.ArgumentError, av.error.InvalidDataError) as error:
            raise _why_refused(place, error) from error


def _why_refused(place: Place, error: Exception) -> Exception:
    """The error to raise: what FFmpeg may not open, it calls an invalid argument."""
    av = load_av()
    if place.where == "file":
        found = allowed.refusal(_path_of(place), place.name)
        if found is not None:
            return found
    if not isinstance(error, av.error.ArgumentError):
        return error
    reasons = {"file": allowed.unknown_format, "stream": allowed.forbidden_protocol}
    return reasons[place.where](place.name) if place.where in reasons else error


def _path_of(place: Place) -> Path:
    return Path(place.url.removeprefix("file:"))


def _check_file(name: str, path: Path) -> None:
    """What FFmpeg would call invalid data, or would wait for."""
    with ffmpeg_errors(name, "opening"):
        size = path.stat().st_size
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if path.is_file() and size == 0:
            raise VideoError(f"{name}: the file is empty")
        with path.open("rb"):
            pass
