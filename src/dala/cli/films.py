"""Sources and targets that are no single file: numbered pictures, many pictures as one video, pipes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from dala.cli.names import Job, expand

PIPE = "-"


def is_pipe(path: Path) -> bool:
    """``-`` (also ``-.webm``): the standard input or output."""
    return str(path) == PIPE or (path.stem == PIPE and path.parent == Path())


def is_numbered(path: Path) -> bool:
    """``frames/%04d.png``: numbered pictures, if there is no file of that very name."""
    return bool(re.search(r"%(0\d)?d", path.name)) and not path.exists()


def is_piped_or_numbered(path: Path) -> bool:
    """Whether a source is no single file."""
    return is_pipe(path) or is_numbered(path)


def is_film_of_pictures(path: Path) -> bool:
    """Whether a picture of that name may be a film that FFmpeg reads and writes, too."""
    return path.suffix.lower() in (".gif", ".apng")


def plan_film(
    inputs: Sequence[str], output: str, kind_of_name: Callable[[Path], str]
) -> list[Job] | None:
    """Several pictures that are to become one video; None if it is anything else."""
    target = Path(output)
    one = "{" not in output and not output.endswith("/") and not target.is_dir()
    filmed = kind_of_name(target) == "video" or is_film_of_pictures(target)
    if not one or not filmed or any(is_piped_or_numbered(Path(i)) for i in inputs):
        return None
    sources = expand(inputs)
    if len(sources) < 2 or any(kind_of_name(s) != "picture" for s in sources):
        return None
    return [Job(sources[0], target, film=tuple(sources))]
