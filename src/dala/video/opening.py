"""FFmpeg's container for a place, and the decoder for its video."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dala.backends.cpu.run.cores import thread_count
from dala.errors import VideoError, VideoFileError
from dala.video import allowed
from dala.video.library import FROM_A_PIPE, ffmpeg_errors, load_av
from dala.video.places import Place

MOST_THREADS = 16  # of a decoder; each holds a frame
_WITH_ALPHA = {"vp8": "libvpx", "vp9": "libvpx-vp9"}  # FFmpeg's own decoders leave alpha out


def open_container(place: Place, timeout: float) -> Any:
    """Open it, with nothing allowed that the user did not name."""
    av = load_av()
    if place.where in ("file", "pictures"):
        _check_file(place.name, _path_of(place))
    elif place.format is not None and not has_format(place.format):
        raise VideoError(f"{place.name}: this build of FFmpeg has no {place.format}")
    if place.where == "camera" and place.url.startswith("/dev/") and not os.path.exists(place.url):
        raise VideoFileError(
            f"{place.name}: there is no camera at {place.url}; dala doctor lists those that are there",
            errno=errno.ENOENT,
        )
    limit = timeout if place.where == "stream" else None
    options = {**allowed.OPTIONS.get(place.where, {}), **place.options}
    what = _Stdin() if place.where == "stdin" else place.url
    with ffmpeg_errors(place.name, "opening"):
        try:
            return av.open(what, format=_format_of(place), options=options, timeout=limit)
        except (av.error.ArgumentError, av.error.InvalidDataError) as error:
            raise _why_refused(place, error) from error


def _format_of(place: Place) -> str | None:
    """The format to open it as. FFmpeg takes many a JPEG, by its name, for a pattern of names."""
    if place.where in ("file", "pictures") and _path_of(place).suffix.lower() in (".jpg", ".jpeg"):
        with _path_of(place).open("rb") as file:
            if file.read(3) == b"\xff\xd8\xff":
                return "jpeg_pipe"
    return place.format


def has_format(name: str) -> bool:
    """Whether this build of FFmpeg has a format; some have several names (``video4linux2,v4l2``)."""
    return any(name in names.split(",") for names in load_av().formats_available)


def decoder_of(stream: Any, *, strict: bool) -> Any:
    """The decoder for a stream of video; a ``strict`` one refuses what is broken."""
    av = load_av()
    decoder = stream.codec_context
    own = _WITH_ALPHA.get(decoder.codec.canonical_name)
    if own and stream.metadata.get("alpha_mode") == "1" and own in av.codec.codecs_available:
        decoder = av.CodecContext.create(own, "r")
        told = stream.codec_context
        decoder.extradata = told.extradata
        for tag in ("colorspace", "color_range", "color_primaries", "color_trc"):
            setattr(decoder, tag, getattr(told, tag))
    decoder.thread_type = "AUTO"
    decoder.thread_count = min(thread_count(), MOST_THREADS)
    if strict:  # without it a decoder patches what is broken and says nothing
        decoder.options = {"err_detect": "explode"}
    return decoder


def _why_refused(place: Place, error: Exception) -> Exception:
    """The error to raise: what FFmpeg may not open, it calls an invalid argument."""
    av = load_av()
    if place.where in ("file", "pictures"):
        found = allowed.refusal(_path_of(place), place.name)
        if found is not None:
            return found
    if place.where == "stdin" and not sys.stdin.buffer.seekable():
        return VideoError(FROM_A_PIPE)
    if not isinstance(error, av.error.ArgumentError):
        return error
    reasons: dict[str, Callable[[str], Exception]] = {
        "file": allowed.unknown_format,
        "pictures": allowed.unknown_format,
        "stream": allowed.forbidden_protocol,
    }
    return reasons[place.where](place.name) if place.where in reasons else error


def _path_of(place: Place) -> Path:
    return Path(place.url.removeprefix("file:"))


def _check_file(name: str, path: Path) -> None:
    """What FFmpeg would call invalid data, or would wait for."""
    with ffmpeg_errors(name, "opening"):
        size = path.stat().st_size
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if path.is_file() and size == 0:
            raise VideoError(f"{name}: the file is empty")
        with path.open("rb") as file:
            if path.is_file() and _is_animated_webp(file.read(21)):
                raise VideoError(
                    f"{name}: an animated WebP, which FFmpeg does not read; make an .apng of it first, as "
                    "a picture: dala filter, media.open"
                )


def _is_animated_webp(head: bytes) -> bool:
    kinds = head[:4], head[8:16]
    return kinds == (b"RIFF", b"WEBPVP8X") and len(head) > 20 and bool(head[20] & 2)


class _Stdin:
    """The standard input as FFmpeg reads it: a file that can be wound back, or a pipe that cannot."""

    name = "stdin"

    def __init__(self) -> None:
        stream = sys.stdin.buffer
        self.read = stream.read1 if hasattr(stream, "read1") else stream.read
        if stream.seekable():
            self.seek = stream.seek
            self.tell = stream.tell
