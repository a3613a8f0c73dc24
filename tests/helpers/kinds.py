"""Videos of every kind that people have, a few tiny frames each, made with PyAV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

SIZE = (32, 16)
BT601 = {"colorspace": 6, "color_range": 1, "color_primaries": 6, "color_trc": 6}
BT709 = {"colorspace": 1, "color_range": 1, "color_primaries": 1, "color_trc": 1}
FULL = {**BT709, "color_range": 2}
PQ = {"colorspace": 9, "color_range": 1, "color_primaries": 9, "color_trc": 16}
HLG = {**PQ, "color_trc": 18}
MASTERED = (
    "log-level=none:hdr10=1:max-cll=1000,400:"
    "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"
)


@dataclass(frozen=True)
class Kind:
    """What a video is."""

    name: str  # of its file
    codec: str
    pixels: str
    tags: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


def make(kind: Kind, folder: Path, frames: int = 3) -> Path:
    """The video: a ramp of colours that moves, and a disc of alpha where the pixels have some."""
    path = folder / kind.name
    width, height = SIZE
    y, x = np.mgrid[:height, :width]
    disc = np.hypot(x - width / 2, y - height / 2) < height / 3
    with av.open(str(path), "w") as out:
        stream = out.add_stream(kind.codec, rate=25, options=dict(kind.options))
        stream.width, stream.height, stream.pix_fmt = width, height, kind.pixels
        for tag, value in kind.tags.items():
            setattr(stream.codec_context, tag, value)
        for number in range(frames):
            levels = [x * 60_000 // width, y * 60_000 // height, (x + 4 * number) % width * 1800]
            pixels = np.stack([*levels, np.where(disc, 65_535, 20_000)], -1).astype(np.uint16)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgba64le")
            frame = frame.reformat(format=kind.pixels)
            for tag, value in kind.tags.items():
                setattr(frame, tag, value)
            frame.pts, frame.time_base = number, Fraction(1, 25)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def with_timecode(path: Path, code: str, rate: Fraction) -> Path:
    """Three or four seconds of black, whose first frame has that timecode."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=rate)
        stream.width, stream.height = 32, 16
        out.metadata["timecode"] = code
        for _ in range(90):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((16, 32, 3), np.uint8))))
        out.mux(stream.encode(None))
    return path
