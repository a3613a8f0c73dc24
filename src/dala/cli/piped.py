"""Pictures through pipes: ``cat a.jpg | dala filter - -.png``. They are files of a folder meanwhile,
so that they keep what files keep; videos, which may never end, are read and written as they come.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from dala.cli.films import PIPE, is_numbered, is_pipe, is_piped_or_numbered
from dala.cli.mistakes import Failed
from dala.cli.names import HEAD, Job, what_begins
from dala.errors import DalaError


@contextlib.contextmanager
def as_files(job: Job, kind_of: Callable[[Path], str]) -> Iterator[Job]:
    """The job with files where a picture comes from stdin or goes to stdout; any other as it is."""
    target = _named(job, kind_of)
    single = kind_of(target) == "picture" and not is_numbered(target)
    if not (is_pipe(job.source) or is_pipe(target)) or not single:
        yield job
        return
    head = cast("io.BufferedReader", sys.stdin.buffer).peek(HEAD) if is_pipe(job.source) else b""
    spools = is_pipe(job.source) and (not head or is_picture(head))
    with tempfile.TemporaryDirectory(prefix="dala-") as name:
        files = replace(job)
        if spools:
            files = replace(files, source=Path(name) / "stdin")
            with files.source.open("wb") as spooled:
                shutil.copyfileobj(sys.stdin.buffer, spooled)
        if is_pipe(target):
            if sys.stdout.isatty():
                raise Failed("stdout is a terminal; send it on: > photo.png, or | another program")
            files = replace(files, target=Path(name) / f"stdout{target.suffix}")
        try:
            yield files
        except (DalaError, Failed) as error:
            from dala.video.library import FROM_A_PIPE

            if str(error) == FROM_A_PIPE and (what := what_begins(head)):
                raise Failed(f"stdin is {what}, neither a picture nor a video") from error
            said = str(error).replace(f"{name}/stdin", "stdin").replace(f"{name}/stdout", "stdout")
            raise Failed(said) from error
        if is_pipe(target):
            with files.target.open("rb") as made:
                shutil.copyfileobj(made, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def is_picture(head: bytes) -> bool:
    """Whether a file that begins so is a picture, as far as Pillow knows."""
    from dala.media.files.formats import READ, pillow

    image = pillow("filter")
    for name in (f for f in READ if f in image.OPEN):
        accept = image.OPEN[name][1]
        if accept is None:  # TGA has no mark: its header has to make sense
            odd = (OSError, image.DecompressionBombError)
            with contextlib.suppress(*odd), image.open(io.BytesIO(head), formats=[name]):
                return True
        elif (told := accept(head[:16].ljust(16, b"\0"))) and not isinstance(told, str):
            return True  # a text says why Pillow cannot read it
    return False


def _named(job: Job, kind_of: Callable[[Path], str]) -> Path:
    """The target; a picture that goes to ``-`` stays of its format. Several pictures are a video."""
    several = bool(job.film) or is_piped_or_numbered(job.source)
    stays = str(job.target) == PIPE and not several and kind_of(job.source) == "picture"
    return Path(PIPE + job.source.suffix.lower()) if stays else job.target
