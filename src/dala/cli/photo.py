"""One picture file through filters; ``dala.media.files`` knows how to keep what it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from pathlib import Path

import numpy as np

from dala.cli.captions import Caption
from dala.cli.mistakes import Failed
from dala.media import Chain
from dala.media.apply import filter_frames
from dala.media.files import Photo, format_of, open_photo, save_photo
from dala.media.files.formats import ANIMATED


def filter_photo(
    source: Path,
    write: Path,
    target: Path,
    chain: Chain,
    quality: int,
    caption: Caption | None = None,
    *,
    strict: bool = False,
    tell: Callable[[str], None] | None = None,
    alone: AbstractContextManager[object] | None = None,
) -> tuple[int, int]:
    """Read ``source``, filter it, and write it to ``write`` in the format of ``target``; the new size."""
    form = format_of(target)
    photo = open_photo(source)
    if len(photo.frames) > 1 and form not in ANIMATED:
        raise Failed(
            f"{source} has {len(photo.frames)} frames; {target.suffix} files have only one"
        )
    frames, photo = list(photo.frames), photo.with_frames(())
    with alone or nullcontext():  # filters use all cores, and two copies of the picture
        made = photo.with_frames(filter_frames(frames, chain))
    if caption is not None:
        made = _captioned(made, caption)
    save_photo(made, target, quality=quality, strict=strict, write_to=write, tell=tell)
    return made.width, made.height


def _captioned(photo: Photo, caption: Caption) -> Photo:
    """A text on every frame; of an animation each at its time."""
    durations = photo.metadata.durations or (0,) * len(photo.frames)
    drawn, time = [], Fraction(0)
    for number, (frame, duration) in enumerate(zip(photo.frames, durations, strict=True)):
        pixels = np.array(frame)
        caption.draw(pixels, number, time)
        drawn.append(pixels)
        time += Fraction(duration) / 1000
    return photo.with_frames(drawn)
