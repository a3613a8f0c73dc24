"""Where packets go: a file under a temporary name, moved into place once it is complete.

FFmpeg writes through ``_File``, which never raises: FFmpeg calls it several times on the way out of an
error, and PyAV prints what it cannot raise. The first error is kept, and raised by whoever asks.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dala.errors import VideoError, VideoFileError
from dala.video.codecs import container_for, muxer_options
from dala.video.library import as_video_error, ffmpeg_errors, load_av

BLOCK = 1 << 20  # bytes that FFmpeg hands over at a time


class Sink:
    """A file being written. ``finish`` puts it in place, ``discard`` leaves nothing behind."""

    def __init__(
        self, path: str | os.PathLike[str], options: Mapping[str, str] | None = None
    ) -> None:
        self.path = Path(path)
        self.name = str(path)
        self.format = container_for(self.name)
        if self.path.is_dir():
            raise VideoFileError(f"{self.name}: a directory, expected a file to write", errno=21)
        self._file = _create_beside(self.path, self.name)
        try:
            with ffmpeg_errors(self.name, "writing"):
                self.container = load_av().open(
                    self._file,
                    "w",
                    format=self.format,
                    container_options={**muxer_options(self.format), **(options or {})},
                    buffer_size=BLOCK,
                )
        except BaseException:
            self._file.remove()
            raise
        self._open = True
        self._abandoned = False
        self._gate = threading.Lock()  # so that it is either moved into place or abandoned
        self.writing = threading.RLock()  # held by a thread that may be inside FFmpeg for long

    def mux(self, packets: Any) -> None:
        """Write packets; FFmpeg puts those of several streams in order."""
        with ffmpeg_errors(self.name, "writing"):
            self.container.mux(packets)
        self._check()

    def finish(self) -> None:
        """Write what is left and move the file to its name, in one step."""
        try:
            with ffmpeg_errors(self.name, "writing"):
                self.container.start_encoding()  # a file without frames has a head at least
                self.container.close()
            self._check()
            self._file.close()
            self._check()
            with self._gate, ffmpeg_errors(self.name, "moving it into place"):
                if not self._abandoned:
                    os.replace(self._file.path, self.path)
                    self._open = False
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove the temporary file, unless it is in place already. Twice does nothing.

        While another thread is writing, only the file's name goes; that thread does the rest.
        """
        if not self.writing.acquire(blocking=False):
            with self._gate:
                self._abandoned = True
                if self._open:
                    self._file.unlink()
            return
        try:
            if self._open:
                self._open = False
                self._file.remove()  # first: without a file, FFmpeg writes no end
                with contextlib.suppress(load_av().error.FFmpegError, OSError, ValueError):
                    self.container.close()
        finally:
            self.writing.release()

    def _check(self) -> None:
        if self._file.error is not None:
            raise as_video_error(self._file.error, self.name, "writing") from self._file.error


def _create_beside(path: Path, name: str) -> _File:
    """A new file in the folder of ``path``, with the permissions that ``path`` has or would get."""
    folder = path.parent
    if not folder.is_dir():
        raise VideoFileError(f"{name}: there is no folder {str(folder)!r} to write into", errno=2)
    with ffmpeg_errors(name, "writing"):
        made = _File(folder / f".{path.stem}-{secrets.token_hex(8)}.part{path.suffix}")
        try:
            made.create()
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
            os.chmod(made.path, mode)
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(13, "not permitted")
        except BaseException:
            made.remove()
            raise
    return made


def _umask() -> int:
    """The process's umask; it can only be asked for by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


class _File:
    """What FFmpeg writes into: a file that keeps its first error instead of raising it."""

    def __init__(self, path: Path) -> None:
        """Its name is known before it is there: a Ctrl-C may come between, and both must go."""
        self.path = path
        self.name = f"file:{path}"  # FFmpeg opens it again to move an mp4's index to the front
        self.error: OSError | VideoError | None = None
        self._number = -1
        self.closed = False
        self._process = os.getpid()
        weakref.finalize(self, _unlink_own, path, self._process)  # at the end of the process, too

    def create(self) -> None:
        """Have the file; nobody else has one of this name."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._number = os.open(self.path, flags, 0o600)

    def write(self, data: bytes) -> int:
        """All of it, or none and an error to be asked for."""
        rest = memoryview(data)
        try:
            while rest and self.error is None and not self.closed:
                rest = rest[os.write(self._number, rest) :]
        except OSError as error:
            self.error = error
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Where the next bytes go."""
        if self.closed:
            return offset
        try:
            return os.lseek(self._number, offset, whence)
        except OSError as error:
            self.error = self.error or error
            return offset

    def tell(self) -> int:
        """Where the next bytes go."""
        return self.seek(0, 1)

    def close(self) -> None:
        """Twice does nothing."""
        if not self.closed:
            self.closed = True
            if self._number < 0:
                return
            try:
                os.close(self._number)
            except OSError as error:  # a full disk may show only now
                self.error = self.error or error

    def __del__(self) -> None:
        """For a Ctrl-C between two lines that nobody guards."""
        if not self.closed:
            self.remove()

    def remove(self) -> None:
        """Close and delete it."""
        self.close()
        self.unlink()

    def unlink(self) -> None:
        """Delete it; an open one is gone with its last user, or (on Windows) when that one removes it."""
        _unlink_own(self.path, self._process)


def _unlink_own(path: Path, process: int) -> None:
    """Not in a forked process: the file is its parent's."""
    if os.getpid() == process:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            path.unlink()
