"""Pictures through pipes: ``cat a.jpg | dala filter - -.png``. They are files of a folder meanwhile,
so that they keep what files keep; videos are read and written as they come, which is not done here.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from dala.cli.films import PIPE, is_pipe, is_piped_or_numbered
from dala.cli.mistakes import Failed
from dala.cli.names import Job
from dala.errors import DalaError


@contextlib.contextmanager
def as_files(job: Job, kind_of: Callable[[Path], str]) -> Iterator[Job]:
    """The job with files where a picture comes from stdin or goes to stdout; any other as it is."""
    target = _named(job, kind_of)
    if not (is_pipe(job.source) or is_pipe(target)) or kind_of(target) != "picture":
        yield job
        return
    with tempfile.TemporaryDirectory(prefix="dala-") as name:
        files = replace(job)
        if is_pipe(job.source):
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
            said = str(error).replace(f"{name}/stdin", "stdin").replace(f"{name}/stdout", "stdout")
            raise Failed(said) from error
        if is_pipe(target):
            with files.target.open("rb") as made:
                shutil.copyfileobj(made, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _named(job: Job, kind_of: Callable[[Path], str]) -> Path:
    """The target; a picture that goes to ``-`` stays of its format. Several pictures are a video."""
    several = bool(job.film) or is_piped_or_numbered(job.source)
    stays = str(job.target) == PIPE and not several and kind_of(job.source) == "picture"
    return Path(PIPE + job.source.suffix.lower()) if stays else job.target
