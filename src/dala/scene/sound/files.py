"""The sound of a file at its own rate, any part of it, decoded in pieces of ten seconds.

A piece is always decoded the same way, from a little before its beginning on, so that it does not matter in
which order pieces are asked for. Containers whose times are guesses are decoded from their beginning.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dala import locks
from dala.errors import DamagedVideoError, VideoError
from dala.scene.sound.resampling import Resampled
from dala.scene.sound.sounds import RATE, Waves, silence, stereo
from dala.video.library import as_fraction, ffmpeg_errors, load_av
from dala.video.opening import open_container
from dala.video.places import place_of
from dala.video.source import OnDamage

PIECE_S = 10
PREROLL = Fraction(1, 2)  # seconds before a piece: decoders need some to begin with
KEPT = 4  # pieces
GAP = Fraction(1, 50)  # seconds: a smaller difference of times is rounding
TIMEOUT_S = 10.0
_ENTERED = ("mov", "mp4", "matroska", "webm", "wav", "flac")
_SCALES = {"u8": 128.0, "s16": 32768.0, "s32": 2147483648.0, "flt": 1.0, "dbl": 1.0}


class SoundFile:
    """The sound of a file at 48 kHz; sample 0 is heard with its first picture, or is the first one.

    >>> import numpy as np
    >>> from dala import video
    >>> from dala.scene.sound import SoundFile
    >>> with video.Writer("tone.mkv", fps=25, audio=True, audio_codec="flac") as writer:
    ...     writer.write(np.zeros((16, 16, 3), np.uint8))
    ...     writer.write_audio(np.full((48_000, 2), 0.5, np.float32), 48_000)
    >>> sound = SoundFile("tone.mkv")
    >>> sound.length, sound.samples(100, 102).tolist()
    (48000, [[0.5, 0.5], [0.5, 0.5]])
    >>> sound.close()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        zero: Fraction | None = None,
        on_damage: OnDamage = "error",
    ) -> None:
        self._native = _Pieces(path, zero, on_damage)
        rate = self._native.rate
        self._sound: Resampled | _Pieces = (
            self._native if rate == RATE else Resampled(self._native, rate)
        )

    @property
    def length(self) -> int | None:
        """Samples at 48 kHz, as the file's head says."""
        return self._sound.length

    @property
    def path(self) -> str:
        """The file's."""
        return self._native.name

    @property
    def begins_at_zero(self) -> bool:
        """Whether its first sample is heard with the first picture."""
        return self._native.begin == 0

    @property
    def rate(self) -> int:
        """The file's own."""
        return self._native.rate

    def samples(self, begin: int, end: int) -> Waves:
        """At 48 kHz."""
        return self._sound.samples(begin, end)

    def close(self) -> None:
        """Close the file. Twice does nothing."""
        self._native.close()


def has_sound(path: str | os.PathLike[str]) -> bool:
    """Whether a file has a track of sound that can be decoded."""
    with open_container(place_of(Path(path)), TIMEOUT_S) as container:
        decoders = [stream.codec_context for stream in container.streams.audio]
    return any(decoder is not None for decoder in decoders)


class _Pieces:
    """Samples at the file's own rate."""

    def __init__(
        self, path: str | os.PathLike[str], zero: Fraction | None, on_damage: OnDamage
    ) -> None:
        self._place = place_of(Path(path))
        self.name = self._place.name
        self._on_damage = on_damage
        self._lock = locks.lock()
        self._kept: OrderedDict[int, Waves] = OrderedDict()
        self._closed = False
        self._container: Any
        self._open()
        try:
            first = next(self._frames(), None)
            if first is None:
                raise VideoError(f"{self.name}: its sound cannot be decoded, or is empty")
            own = self._time(first)
            self._zero = zero if zero is not None else self._first_picture(own)
            self.begin = round((own - self._zero) * self.rate)  # the number of its first sample
        except BaseException:
            self._container.close()
            raise
        self.length = self._length()
        self._sequence: Iterator[tuple[int, Waves]] | None = None
        self._rest: tuple[int, Waves] | None = None
        self._reached = 0  # the piece that the sequence gives next

    def samples(self, begin: int, end: int) -> Waves:
        """From one sample until before another."""
        out = silence(end - begin)
        size = PIECE_S * self.rate
        place = max(begin, 0)
        while place < end:
            number, within = divmod(place, size)
            stop = min(end, (number + 1) * size)
            out[place - begin : stop - begin] = self._piece(number)[within : within + stop - place]
            place = stop
        return out

    def close(self) -> None:
        """Twice does nothing."""
        with self._lock:
            self._closed = True
            self._sequence = None
            self._kept.clear()
            self._container.close()

    # -- pieces --------------------------------------------------------------------------------------

    def _piece(self, number: int) -> Waves:
        with self._lock:
            if self._closed:
                raise VideoError(f"{self.name}: this sound has been closed")
            found = self._kept.get(number)
            if found is None:
                found = self._kept[number] = self._decode(number)
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(number)
            return found

    def _decode(self, number: int) -> Waves:
        size = PIECE_S * self.rate
        first, last = number * size, (number + 1) * size
        out = silence(size)
        if self.length is not None and first > self.length + size:
            return out
        for at, waves in self._from(number):
            begin, end = max(at, first), min(at + len(waves), last)
            if begin < end:
                out[begin - first : end - first] = waves[begin - at : end - at]
            if at + len(waves) > last:
                self._rest = at, waves
                break
        return out

    def _from(self, number: int) -> Iterator[tuple[int, Waves]]:
        """Decoded samples with their numbers, from before the piece on."""
        if number and self._is_entered:
            start = self._zero + number * PIECE_S - PREROLL
            self._container.close()
            self._open()  # a decoder that has decoded remembers some of it, even after a seek
            stream = self._stream
            with ffmpeg_errors(self.name, "seeking"):
                self._container.seek(int(start / as_fraction(stream.time_base)), stream=stream)
            return self._numbered(anew=False)
        if self._sequence is None or number != self._reached or self._is_entered:
            self._container.close()
            self._open()
            self._sequence, self._rest, self._reached = self._numbered(anew=True), None, 0
        for _ in range(self._reached, number):  # what lies between is passed over
            self._pass(self._reached)
            self._reached += 1
        self._reached += 1
        return self._sequel()

    def _sequel(self) -> Iterator[tuple[int, Waves]]:
        rest, self._rest = self._rest, None
        if rest is not None:
            yield rest
        assert self._sequence is not None
        yield from self._sequence

    def _pass(self, number: int) -> None:
        last = (number + 1) * PIECE_S * self.rate
        for at, waves in self._sequel():
            if at + len(waves) > last:
                self._rest = at, waves
                return

    def _numbered(self, *, anew: bool) -> Iterator[tuple[int, Waves]]:
        expected: int | None = None
        for frame in self._frames():
            said = None if frame.pts is None else (self._time(frame) - self._zero) * self.rate
            if expected is None:
                at = self.begin if anew or said is None else self._on_grid(said, frame)
            else:
                gap = said is not None and abs(said - expected) > GAP * self.rate
                at = round(said) if gap and said is not None else expected
            waves = _waves_of(frame)
            expected = at + len(waves)
            yield at, waves

    def _on_grid(self, said: Fraction, frame: Any) -> int:
        """Where times are rounded (to milliseconds in Matroska), whole packets say it exactly."""
        size = self._stream.codec_context.frame_size or 0
        if (as_fraction(self._stream.time_base) * self.rate).numerator == 1 or size < 2:
            return round(said)
        return self.begin + round((said - self.begin) / size) * size

    # -- the file ------------------------------------------------------------------------------------

    def _open(self) -> None:
        self._container = open_container(self._place, TIMEOUT_S)
        streams = [s for s in self._container.streams.audio if s.codec_context is not None]
        if not streams:
            self._container.close()
            raise VideoError(f"{self.name}: there is no sound in it")
        self._stream = streams[0]
        self.rate = int(self._stream.codec_context.sample_rate)
        names = self._container.format.name.split(",")
        self._is_entered = any(name in _ENTERED for name in names)

    def _frames(self) -> Iterator[Any]:
        av = load_av()
        with ffmpeg_errors(self.name, "reading"):
            for packet in self._container.demux(self._stream):
                try:
                    frames = self._stream.codec_context.decode(packet if packet.size else None)
                except (av.error.EOFError, EOFError):
                    return
                except av.error.FFmpegError as error:
                    if self._on_damage == "conceal":
                        continue  # silence takes its place
                    message = f"{self.name}: damaged sound: {error.strerror}"
                    raise DamagedVideoError(message, frames=0) from error
                yield from frames

    def _time(self, frame: Any) -> Fraction:
        return Fraction(frame.pts or 0) * as_fraction(frame.time_base)

    def _first_picture(self, own: Fraction) -> Fraction:
        """The first picture's time, which is the source's zero; without pictures the sound's own."""
        videos = [
            s for s in self._container.streams.video if "attached_pic" not in str(s.disposition)
        ]
        if not videos or videos[0].start_time is None:
            return own
        return Fraction(videos[0].start_time) * as_fraction(videos[0].time_base)

    def _length(self) -> int | None:
        stream, container = self._stream, self._container
        if stream.duration:
            start = Fraction(stream.start_time or 0)
            end = (start + stream.duration) * as_fraction(stream.time_base)
        elif container.duration:
            unit = load_av().time_base
            end = Fraction((container.start_time or 0) + container.duration, unit)
        else:
            return None
        samples: int = round((end - self._zero) * self.rate)
        return max(samples, 0)


def _waves_of(frame: Any) -> Waves:
    """(count, 2) f32 of any format that FFmpeg decodes to."""
    kind = frame.format.name
    count = frame.layout.nb_channels
    data = frame.to_ndarray()
    waves = data.T if frame.format.is_planar else data.reshape(-1, count)
    scale = _SCALES.get(kind.removesuffix("p"), 1.0)
    if kind.startswith("u8"):
        waves = waves.astype(np.float32) - 128
    return stereo(np.asarray(waves / np.float64(scale), np.float32))
