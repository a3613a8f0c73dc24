"""PyAV (FFmpeg), loaded on first use, and its errors as ours."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from dala import forking
from dala.errors import DalaError, UnsupportedError, VideoError, VideoFileError
from dala.once import once


@once
def load_av() -> Any:
    """The module ``av``, or an error that names the command that installs it."""
    try:
        return importlib.import_module("av")
    except ImportError as error:
        raise UnsupportedError(
            f"video needs PyAV ({error}); install it with: pip install 'dala-gpu[video]'"
        ) from error


_with_threads: dict[int, tuple[Any, ...]] = {}  # by the number of who owns them


def has_threads(owner: object, *natives: Any) -> None:
    """Coders and graphs of FFmpeg's, which wait for their threads when they are freed; see ``forking``.

    Python frees what other threads are handling in the child of a fork, and what was garbage before it.
    """
    _with_threads[id(owner)] = natives
    weakref.finalize(owner, _with_threads.pop, id(owner), None).atexit = False


forking.outlive(lambda: list(_with_threads.values()))


def as_fraction(rational: Any) -> Fraction:
    """A rate or a time base; from PyAV 19 on they have a type of their own."""
    return Fraction(rational.numerator, rational.denominator)


_SYSTEM = {
    errno.ENOENT: "there is no such file",
    errno.EISDIR: "a directory, expected a video file",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file grew beyond what the system allows",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "a part of its path is no directory",
}


FROM_A_PIPE = (
    "stdin: this is no video that can be read from a pipe; an mp4 whose index comes last must be read from "
    "a file: < clip.mp4"
)


def as_video_error(error: Exception, name: str, doing: str) -> DalaError:
    """What FFmpeg or the system says about ``name``, in one line."""
    if isinstance(error, DalaError):
        return error
    number = getattr(error, "errno", None)
    if number in _SYSTEM:
        return VideoFileError(f"{name}: {_SYSTEM[number]}", errno=number)
    if isinstance(error, load_av().error.InvalidDataError):
        if name == "stdin":
            return VideoError(FROM_A_PIPE)
        return VideoError(f"{name}: {doing}: this is no video, or it is damaged")
    if isinstance(error, load_av().error.ProtocolNotFoundError):
        scheme = name.split(":", 1)[0]
        return VideoError(
            f"{name}: the FFmpeg of this PyAV was built without {scheme}://; rtmp://, udp:// and HLS are "
            f"in every build, or install a PyAV that was built with a library for {scheme}"
        )
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, OSError):
        return VideoFileError(f"{name}: {doing}: {reason}", errno=number)
    return VideoError(f"{name}: {doing}: {reason}")


@contextmanager
def ffmpeg_errors(name: str, doing: str) -> Iterator[None]:
    """Within it, errors of FFmpeg and of the system become VideoErrors about ``name``."""
    try:
        yield
    except DalaError:
        raise
    except (load_av().error.FFmpegError, OSError, ValueError) as error:
        raise as_video_error(error, name, doing) from error


@contextmanager
def usual_scheduling() -> Iterator[None]:
    """Within it, a library that makes its caller's thread a real-time one has that undone.

    SVT-AV1 does so where it is run by root, as in most containers: every process and thread that its caller
    starts later would have it too, and whatever spins for a moment there would stop all others.
    """
    if sys.platform != "linux":  # only Linux tells
        yield
        return
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        if os.sched_getscheduler(0) != policy:
            os.sched_setscheduler(0, policy, param)
