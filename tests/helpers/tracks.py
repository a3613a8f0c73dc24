"""Clips whose frames and samples tell their own number, so that a cut can be checked to the one."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

from dala import video

RATE = 48_000
STEP = 7  # between the levels of two frames
LOSSLESS = video.Encoding("ffv1", audio_codec="flac")


def write_counted(
    path: Path,
    frames: int = 50,
    fps: int = 25,
    size: tuple[int, int] = (32, 16),
    sound: bool = True,
) -> Path:
    """Frame n is grey of level n · STEP mod 256; sample k has the value k mod 30000."""
    with video.Writer(path, fps=fps, encoding=LOSSLESS, range="full", audio=sound) as writer:
        for number in range(frames):
            level = number * STEP % 256
            writer.write(np.full((size[1], size[0], 3), level, np.uint8))
        if sound:
            count = np.arange(frames * RATE // fps) % 30_000
            writer.write_audio(np.stack([count, count], -1).astype(np.int16), RATE)
    return path


def levels(path: Path) -> list[int]:
    """Of every frame."""
    with video.Reader(path) as reader:
        return [int(f.rgba[0, 0, 0]) for f in reader]


def samples(path: Path) -> npt.NDArray[np.int64]:
    """The left channel of the first track, as the decoder gives it; 16 bits."""
    with av.open(str(path)) as container:
        resampler = av.AudioResampler("s16", "stereo", RATE)
        pieces = []
        for frame in [*container.decode(audio=0), None]:
            pieces += [f.to_ndarray()[0, ::2] for f in resampler.resample(frame)]
    return np.concatenate(pieces).astype(np.int64)
