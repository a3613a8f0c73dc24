"""How large the pictures of many files are, which says how much memory a worker takes."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dala.errors import DalaError
from dala.fleet.placement import FULL_HD, Pixels
from dala.media.files.reading import count_pixels
from dala.video.endings import is_video_name
from dala.video.parts.journal import is_url

LOOKED_AT = 4  # files, the heaviest ones: opening ten thousand would take longer than it saves


def largest_pixels(sources: Iterable[str]) -> Pixels:
    """Of the heaviest videos and the heaviest pictures, as far as their heads can be read."""
    here = [source for source in sources if not is_url(source)]
    found = [FULL_HD]
    for is_video, pixels in ((True, _of_video), (False, count_pixels)):
        alike = [source for source in here if is_video_name(source) is is_video]
        heaviest = sorted(alike, key=_bytes_of, reverse=True)[:LOOKED_AT]
        found += [pixels(source) for source in heaviest]
    return max(found)


def _bytes_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _of_video(path: str) -> Pixels:
    from dala import video

    try:
        info = video.probe(path)
    except DalaError:  # whoever does the task says so
        return 0
    return info.width * info.height
