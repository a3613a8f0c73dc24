"""Where packets go: files under a temporary name, moved into place once they are complete; or a pipe.

FFmpeg writes through ``_File``, which never raises: FFmpeg calls it several times on the way out of an
error, and PyAV prints what it cannot raise. The first error is kept, and raised by whoever asks.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dala import locks
from dala.errors import VideoError, VideoFileError
from dala.video.library import as_video_error, ffmpeg_errors, load_av
from dala.video.targets import Target, numbered

BLOCK = 1 << 20  # bytes that FFmpeg hands over at a time
TIMEOUT_S = 10.0  # for a server to answer


class Sink(ABC):
    """An output being written. ``finish`` puts it in place, ``discard`` leaves nothing behind.

    Its kinds differ in how FFmpeg's container is opened (``_open_container``), in how what was written
    gets its name (``_put_in_place``), and in how it is removed (``_remove``).
    """

    def __init__(
        self, target: Target, options: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> None:
        self.target = target
        self._folder_until_complete = folder
        self.name = target.name
        self.format = target.format
        self._options = {**target.muxer_options, **(options or {})}
        self._open = False
        self._abandoned = False
        self._gate = locks.lock()  # so that it is either moved into place or abandoned
        self.writing = locks.rlock()  # held by a thread that may be inside FFmpeg for long
        self._prepare()
        try:
            with ffmpeg_errors(self.name, "writing"):
                self.container = self._open_container()
        except BaseException:
            self._remove()
            raise
        self._open = True

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
            self._close()
            self._check()
            with self._gate, ffmpeg_errors(self.name, "moving it into place"):
                if not self._abandoned:
                    self._put_in_place()
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
                    self._unlink()
            return
        try:
            if self._open:
                self._open = False
                self._remove()  # first: without a file, FFmpeg writes no end
                with contextlib.suppress(load_av().error.FFmpegError, OSError, ValueError):
                    self.container.close()
        finally:
            self.writing.release()

    def _prepare(self) -> None:
        """Make what the container is written to."""

    @abstractmethod
    def _open_container(self) -> Any:
        """FFmpeg's container, which writes to it."""

    def _check(self) -> None:
        """Raise what went wrong while FFmpeg was writing."""

    def _close(self) -> None:
        """Everything is written."""

    def _put_in_place(self) -> None:
        """Give it its name."""

    def _unlink(self) -> None:
        """Take the temporary name away."""

    def _remove(self) -> None:
        """Leave nothing."""


class FileSink(Sink):
    """One file, beside its place or in a folder that was named until it is complete."""

    def _prepare(self) -> None:
        self.path = Path(self.name)
        if self.path.is_dir():
            raise VideoFileError(f"{self.name}: a directory, expected a file to write", errno=21)
        self._file = _create(self.path, self.name, self._folder_until_complete)

    def _open_container(self) -> Any:
        return _open_on(self._file, self.format, self._options)

    def _check(self) -> None:
        if self._file.error is not None:
            raise as_video_error(self._file.error, self.name, "writing") from self._file.error

    def _close(self) -> None:
        self._file.close()

    def _put_in_place(self) -> None:
        assert self._file.path is not None
        os.replace(self._file.path, self.path)

    def _unlink(self) -> None:
        self._file.unlink()

    def _remove(self) -> None:
        self._file.remove()


class StdoutSink(Sink):
    """The standard output: what was written is gone."""

    def _prepare(self) -> None:
        if sys.stdout.isatty():
            raise VideoFileError(
                "stdout is a terminal; send it on: > file.mkv, or | another program"
            )
        sys.stdout.flush()
        self._file = _File(None, os.dup(sys.stdout.fileno()))

    def _open_container(self) -> Any:
        return _open_on(_Stream(self._file), self.format, self._options)

    def _check(self) -> None:
        if self._file.error is not None:
            raise as_video_error(self._file.error, self.name, "writing") from self._file.error

    def _close(self) -> None:
        self._file.close()

    def _remove(self) -> None:
        self._file.close()


class NetworkSink(Sink):
    """A stream to a server or a player."""

    def _open_container(self) -> Any:
        return load_av().open(
            self.target.url,
            "w",
            format=self.format,
            container_options=self._options,
            timeout=TIMEOUT_S,
        )


class PictureSink(Sink):
    """Pictures in files of their own: made in a new folder beside their place, moved there at the end."""

    def _prepare(self) -> None:
        folder = Path(self.name).parent
        if not folder.is_dir():
            raise VideoFileError(
                f"{self.name}: there is no folder {str(folder)!r} to write into", errno=2
            )
        with ffmpeg_errors(self.name, "writing"):
            self._folder = Path(tempfile.mkdtemp(prefix=".dala-", suffix=".part", dir=folder))

    def _open_container(self) -> Any:
        inside = str(self._folder).replace("%", "%%") + f"/%09d{Path(self.name).suffix}"
        return load_av().open(
            f"file:{inside}", "w", format="image2", container_options=self._options
        )

    def _put_in_place(self) -> None:
        mode = 0o666 & ~_umask()
        for number, made in enumerate(sorted(self._folder.iterdir()), 1):
            made.chmod(mode)
            os.replace(made, numbered(self.name, number))
        self._folder.rmdir()

    def _unlink(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


_KINDS: dict[str, type[Sink]] = {
    "file": FileSink,
    "stdout": StdoutSink,
    "network": NetworkSink,
    "pictures": PictureSink,
    "picture": PictureSink,
}


def open_sink(
    target: Target, options: Mapping[str, str] | None = None, folder: Path | None = None
) -> Sink:
    """The sink for an output; a file is in ``folder``, of the same disk, until it is complete."""
    return _KINDS[target.kind](target, options, folder)


def _open_on(file: Any, format_: str, options: Mapping[str, str]) -> Any:
    return load_av().open(
        file, "w", format=format_, container_options=dict(options), buffer_size=BLOCK
    )


def _create(path: Path, name: str, folder: Path | None) -> _File:
    """A new file in the folder, or in that of ``path``, with the permissions that ``path`` has or would
    get."""
    if not path.parent.is_dir():
        raise VideoFileError(
            f"{name}: there is no folder {str(path.parent)!r} to write into", errno=2
        )
    with ffmpeg_errors(name, "writing"):
        temporary = (
            folder or path.parent
        ) / f".{path.stem}-{secrets.token_hex(8)}.part{path.suffix}"
        made = _File(temporary)
        try:
            made.create()
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
            os.chmod(temporary, mode)
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(13, "not permitted")
        except BaseException:
            made.remove()
            raise
    return made


def _umask() -> int:
    """The process's umask.

    Where the system does not tell, it can only be asked for by setting it, for all threads in that moment.
    """
    with contextlib.suppress(OSError, StopIteration), open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


class _File:
    """What FFmpeg writes into: a file that keeps its first error instead of raising it."""

    def __init__(self, path: Path | None, number: int = -1) -> None:
        """Its name is known before it is there: a Ctrl-C may come between, and both must go.

        One without a name is an open file of the system's, by its number.
        """
        self.path = path
        self.name = f"file:{path}"  # FFmpeg opens it again to move an mp4's index to the front
        self.error: OSError | VideoError | None = None
        self._number = number
        self.closed = False
        self._process = os.getpid()
        if path is not None:  # at the end of the process, too
            weakref.finalize(self, _unlink_own, path, self._process)

    def create(self) -> None:
        """Have the file; nobody else has one of this name."""
        assert self.path is not None
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
        if self.path is not None:
            _unlink_own(self.path, self._process)


def _unlink_own(path: Path, process: int) -> None:
    """Not in a forked process: the file is its parent's."""
    if os.getpid() == process:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            path.unlink()


class _Stream:
    """A pipe: it is written from beginning to end, and FFmpeg must not try to go back."""

    def __init__(self, file: _File) -> None:
        self.name = "stdout"
        self.write = file.write
        self.close = file.close
