"""One picture file through filters; ``dala.media.files`` knows how to keep what it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from dala.backends.host import HostArray
from dala.cli.batch import Room, usual_room
from dala.cli.captions import Caption
from dala.ir.arrays import ArrayType
from dala.media import Chain
from dala.media.apply import filter_frames
from dala.media.files import Photo, format_of, open_photo, save_photo
from dala.media.files.writing import check_frames


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
    room: Room | None = None,
) -> tuple[int, int]:
    """Read ``source``, filter it, and write it to ``write`` in the format of ``target``; the new size."""
    format_of(target)
    photo = open_photo(source, lent=True)
    check_frames(photo, target)
    with ExitStack() as until_written:
        made = _filtered(photo, chain, room or usual_room(1), until_written)
        del photo  # of which nothing is needed any more: the next one is decoded there
        if caption is not None:
            made = _captioned(made, caption)
        save_photo(made, target, quality=quality, strict=strict, write_to=write, tell=tell)
        return made.width, made.height


def _filtered(photo: Photo, chain: Chain, room: Room, until_written: ExitStack) -> Photo:
    """The photo behind the chain; its memory is used again afterwards."""

    def take(type_: ArrayType) -> HostArray:
        array = room.spare.take(type_)
        until_written.callback(room.spare.give, array)
        return array

    frames = list(photo.frames)
    photo = replace(photo, frames=(), opaque=photo.opaque and not chain.writes_alpha)
    with room.alone:  # filters use all cores
        pages = photo.format == "TIFF"
        return photo.with_frames(filter_frames(frames, chain, room=take, pages=pages))


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
