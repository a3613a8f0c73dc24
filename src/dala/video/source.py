"""An open source: its packets, decoded, in order; what is damaged in it.

What can be opened and how is said in ``places.py`` and ``opening.py``.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from dala.errors import DamagedVideoError, ParameterError, VideoError, VideoFileError
from dala.video.library import as_fraction, ffmpeg_errors, has_threads, load_av
from dala.video.opening import decoder_of, open_container
from dala.video.places import Place
from dala.video.places import Spec as Spec
from dala.video.places import place_of as place_of
from dala.video.weave import Deinterlacer

OnDamage = Literal["error", "conceal"]
HELD_PACKETS = 64  # of sound and subtitles, until a frame takes them along


class Item(NamedTuple):
    """What comes next: a picture, if it is one, and the packets of other streams until then."""

    picture: Any | None
    packets: list[Any]


def open_source(place: Place, *, on_damage: OnDamage = "error", timeout: float) -> Source:
    """A place's source."""
    kind = PictureList if place.where == "pictures" else Source
    return kind(place, on_damage=on_damage, timeout=timeout)


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
        # Held while FFmpeg is inside the container. Not of dala.locks: ``close`` must not come in a second
        # time, from a finalizer or a handler on the thread that is inside.
        self._lock = threading.Lock()
        self._closing = False
        self.read_until: dict[int, Fraction] = {}  # of each stream, in seconds
        self.container = open_container(place, timeout)
        try:
            self.stream = self._pick_stream()
        except BaseException:
            self.container.close()
            raise
        self.format_name = str(self.container.format.name)
        stream = self.stream  # its facts are kept: FFmpeg frees it with the container
        self.index: int = stream.index
        self.time_base = as_fraction(stream.time_base)
        rate = stream.average_rate or stream.guessed_rate
        self.rate = as_fraction(rate) if rate else None
        self.begin = Fraction(stream.start_time or 0) * self.time_base
        self.context = stream.codec_context
        self._decoder = decoder_of(stream, strict=on_damage == "error")
        has_threads(self, self.context, self._decoder)
        # PyAV's containers and streams refer to one another: not closed, they would wait for the collector.
        weakref.finalize(self, self.container.close).atexit = False
        self._weaver: Deinterlacer | None = None
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
            for picture in self._progressive(self._decode(packet)):
                self.frames += 1
                yield Item(picture, held)
                held = []
        for picture in self._progressive(None):
            self.frames += 1
            yield Item(picture, held)
            held = []
        if not self._closing:
            self._check_end()
        if held:
            yield Item(None, held)

    @property
    def pixel_format(self) -> str:
        """FFmpeg's name of the format that is decoded."""
        return self._decoder.pix_fmt or self.context.pix_fmt or ""

    @property
    def was_interlaced(self) -> bool:
        """Whether its frames were two half pictures each, which were made whole."""
        return self._weaver is not None

    def _progressive(self, pictures: Iterable[Any] | None) -> Iterator[Any]:
        """Whole pictures of what was decoded; None at the end, for those that were held back."""
        for picture in pictures or ():
            if self._weaver is None and not picture.interlaced_frame:
                yield picture
                continue
            if self._weaver is None:
                self._weaver = Deinterlacer(picture, self.rate)
            yield from self._weaver.take(picture)
        if pictures is None and self._weaver is not None:
            yield from self._weaver.finish()

    def _whole_ones(self) -> Iterator[Any]:
        """The pictures before the damage that a decoder still has: one for each of its threads.

        How many frames came before an error must not depend on how many cores there are.
        """
        if not self._decoder.is_open:  # it was refused with the first packet
            return
        try:
            yield from self._decoder.decode(None)
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
                if self.place.where == "stdin" and not self._packets:
                    raise  # what cannot be read from a pipe is not damaged
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
            index = packet.stream_index
            self.read_until[index] = max(self.read_until.get(index, end), end)

    def _decode(self, packet: Any) -> Iterator[Any]:
        """The pictures that a packet completes. Those left at the end may come after an error, too."""
        av = load_av()
        for _ in range(64 if packet.size == 0 else 1):
            try:
                pictures = self._decoder.decode(packet if packet.size else None)
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
        self._weaver = None
        with ffmpeg_errors(self.place.name, "seeking"):
            self.container.seek(int(seconds / self.time_base), stream=self.stream)
            if self._decoder is not self.context and self._decoder.is_open:
                self._decoder.flush_buffers()  # the container only knows its own decoder


def _is_timed(packet: Any) -> bool:
    """Whether it has a time to be written with; where only one of two is known it stands for both."""
    if packet.dts is None:
        packet.dts = packet.pts
    return packet.dts is not None


def _flags(stream: Any) -> str:
    return str(getattr(stream.disposition, "name", "") or "")


def first_picture(source: Source) -> Any:
    """Whatever comes with it is dropped."""
    for item in source.items():
        if item.picture is not None:
            return item.picture
    raise VideoError(f"{source.place.name}: not a single frame could be decoded")


class PictureList(Source):
    """Pictures, each in a file of its own, one after the other at a steady rate."""

    def __init__(self, place: Place, *, on_damage: OnDamage = "error", timeout: float) -> None:
        super().__init__(place, on_damage=on_damage, timeout=timeout)
        self.rate = place.fps
        self.time_base = 1 / place.fps
        self.begin = Fraction(0)
        self.length = len(place.files)

    def items(self, others: Sequence[Any] = ()) -> Iterator[Item]:
        """Every picture; sound there is none."""
        for number, path in enumerate(self.place.files):
            if self._closing:
                return
            picture = self._load(path)
            picture.pts, picture.time_base, picture.duration = number, self.time_base, 1
            self.frames += 1
            yield Item(picture, [])

    def _load(self, path: str) -> Any:
        place = Place("file", path, f"file:{path}")
        one = Source(place, on_damage=self.on_damage, timeout=1)
        try:
            return first_picture(one)
        finally:
            one.close()

    def seek(self, seconds: Fraction) -> None:
        """Pictures are read from the first one on."""
