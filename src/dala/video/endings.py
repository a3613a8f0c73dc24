"""Which files are videos, by their names alone."""

from __future__ import annotations

import os
from pathlib import PurePath

VIDEO_ENDINGS = frozenset(
    (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".m2ts", ".mts", ".wmv",
     ".flv", ".ogv", ".3gp", ".mxf", ".y4m", ".vob")
)  # fmt: skip


def is_video_name(path: str | os.PathLike[str]) -> bool:
    """Whether a file of that name is a video."""
    return PurePath(path).suffix.lower() in VIDEO_ENDINGS
