"""A process that has loaded what workers need, and is forked for each of them. Linux only.

To load it takes half a second of processor time, which many workers that begin at once would all spend.
The nursery has one thread and has opened nothing. It ends with its socket; its workers do not end with it.

    driver ── socket: ends of pipes, a file ──→ nursery ──fork──→ worker
       ├─ its stdin, its stdout ──────────────────────────────────┘
       └─ its number, a handle; how it has ended ←──┘  (who has forked it may wait for it)

A number may mean another process as soon as somebody has waited for this one, so signals go by the handle
(a pidfd, from Linux 5.3 on), which the nursery opens before it waits for anybody.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import IO, Any

from dala import locks
from dala.errors import FleetError
from dala.fleet.starting import Process, Starter, how_it_ended, patiently

assert sys.platform == "linux"

PATIENCE_S = 5.0  # for a nursery that was told to end, before it is killed
ALWAYS = ("dala.fleet.worker", "dala.fleet.tasks")
# where they are installed; who needs them says that they are not
USEFUL = ("llvmlite.binding", "av", "av.subtitles.stream", "uharfbuzz")
_NUMBER = struct.Struct("=q")
_GONE = (errno.EPIPE, errno.ECONNRESET, errno.EBADF)  # EBADF: somebody else has noticed it before


# -- the driver's side -------------------------------------------------------------------------------


class Forker(Starter):
    """Workers are forked; a nursery that somebody has ended is replaced."""

    def __init__(self, variables: Mapping[str, str], needed: Sequence[str] = ()) -> None:
        super().__init__(variables)
        self._needed = needed
        self._lock = locks.lock()
        self._nursery: Nursery | None = None

    def __enter__(self) -> Forker:
        self._nursery = patiently(lambda: Nursery(self.environment, self._needed))
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._nursery is not None:
            self._nursery.close()
            self._nursery.errors.close()

    def _start(self, errors: IO[bytes]) -> Process:
        nursery = self._nursery
        assert nursery is not None
        try:
            return nursery.start(errors)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            return self._instead_of(nursery).start(errors)

    def _instead_of(self, ended: Nursery) -> Nursery:
        """A new one, the same for all who find that this one has ended."""
        with self._lock:
            if self._nursery is ended:
                code = ended.close()
                if code > 0:  # it was not killed: another one would end alike
                    why = how_it_ended(code, ended.errors)
                    raise FleetError(f"no worker can be started; who forks them ended by {why}")
                ended.errors.close()
                self._nursery = Nursery(self.environment, self._needed)
            assert self._nursery is not None
            return self._nursery


class Nursery:
    """The process, seen from who has workers started; to be closed."""

    def __init__(self, environment: Mapping[str, str], needed: Sequence[str]) -> None:
        self.errors: Any = tempfile.TemporaryFile()  # noqa: SIM115  # closed by ``close``
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dala.fleet.nursery", str(theirs.fileno()), *needed],
                env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors,
                pass_fds=[theirs.fileno()], start_new_session=True,  # a Ctrl-C is for the driver
            )  # fmt: skip

    def start(self, errors: IO[bytes]) -> Forked:
        """A new worker; an OSError of ``_GONE`` if the nursery has ended, else another one."""
        with ExitStack() as ours, ExitStack() as theirs:
            stdin, to_stdin = _pipe(theirs, ours)
            from_stdout, stdout = _pipe(ours, theirs)
            hears, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.callback(hears.close)
            theirs.callback(told.close)
            given = [stdin, stdout, errors.fileno(), told.fileno()]
            socket.send_fds(self._socket, [b"w"], given)
            theirs.close()
            number, handle = _hear_of_worker(hears)
            ours.pop_all()
        return Forked(number, handle, to_stdin, from_stdout, hears)

    def close(self) -> int:
        """It ends, and is accounted for: its exit code."""
        self._socket.close()
        try:
            return self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class Forked:
    """A worker's process, which is the nursery's child and not this one's; see ``starting.Process``."""

    def __init__(
        self, number: int, handle: int | None, stdin: int, stdout: int, hears: socket.socket
    ) -> None:
        self.stdin: IO[str] | None = os.fdopen(stdin, "w", encoding="utf-8")
        self.stdout: IO[str] | None = os.fdopen(stdout, encoding="utf-8")
        self._number = number
        self._handle = handle
        self._hears = hears
        self._code: int | None = None
        self._lock = locks.lock()  # so that no signal goes by a handle that is closed

    def wait(self, timeout: float | None = None) -> int:
        """How it has ended; the nursery has waited for it."""
        if self._code is None:
            poll = select.poll()
            poll.register(self._hears, select.POLLIN)
            if not poll.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired("dala.fleet.worker", timeout or 0)
            said = self._hears.recv(_NUMBER.size)
            if not said:  # the nursery was ended, and nobody knows any more
                self.kill()
            self._settle(_number_in(said) if said else -signal.SIGKILL)
        assert self._code is not None
        return self._code

    def terminate(self) -> None:
        """Tell it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def _signal(self, which: signal.Signals) -> None:
        with self._lock, suppress(ProcessLookupError):
            if self._code is None:
                self._send(which)

    def _send(self, which: signal.Signals) -> None:
        if self._handle is None:
            os.kill(self._number, which)
        else:
            signal.pidfd_send_signal(self._handle, which)

    def _settle(self, code: int) -> None:
        with self._lock:
            self._code = code
            if self._handle is not None:
                os.close(self._handle)
        self._hears.close()


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Its two ends, of two owners."""
    ends = os.pipe()
    for owner, end in zip((reader, writer), ends, strict=True):
        owner.callback(os.close, end)
    return ends


def _hear_of_worker(hears: socket.socket) -> tuple[int, int | None]:
    """Its number and its handle; OSError if there is none."""
    said, handles, _, _ = socket.recv_fds(hears, _NUMBER.size, 1)
    for handle in handles:  # what the driver starts besides shall not have it
        os.set_inheritable(handle, False)
    if not said:
        raise ConnectionResetError(errno.ECONNRESET, "who forks workers has ended")
    number = _number_in(said)
    if number < 0:
        raise OSError(-number, os.strerror(-number))
    return number, handles[0] if handles else None


def _number_in(said: bytes) -> int:
    return int(_NUMBER.unpack(said)[0])


# -- the nursery itself ------------------------------------------------------------------------------


class _Forks:
    """Workers are forked as long as somebody can ask for them."""

    def __init__(self, driver: socket.socket) -> None:
        self._driver = driver
        # by a worker's number: where to tell how it has ended
        self._told: dict[int, socket.socket] = {}
        self._awake, wake = os.pipe()  # when one has ended
        self._own = [self._awake, wake, driver.fileno()]
        os.set_blocking(wake, False)
        os.set_blocking(self._awake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def serve(self) -> bool:
        """Whether this process is a worker now; else it is the nursery, which is not needed any more."""
        poll = select.poll()  # the driver's end has any number that was free there
        for end in (self._driver.fileno(), self._awake):
            poll.register(end, select.POLLIN)
        while True:
            ready = {end for end, _ in poll.poll()}
            if self._awake in ready:
                self._tell()
            if self._driver.fileno() in ready:
                said, given, _, _ = socket.recv_fds(self._driver, 1, 4)
                if not said:
                    return False
                if self._fork(given):
                    return True

    def _fork(self, given: Sequence[int]) -> bool:
        *standard, last = given
        told = socket.socket(fileno=last)
        try:
            number = _fork()
        except OSError as error:  # whoever asked may try again
            number = -(error.errno or errno.EAGAIN)
        if number == 0:
            self._become(standard, told)
            return True
        for end in standard:
            os.close(end)
        if number > 0:
            self._told[number] = told
        _tell_of_worker(told, number)
        if number < 0:
            told.close()
        return False

    def _become(self, standard: Sequence[int], told: socket.socket) -> None:
        """A worker, that holds nothing of the nursery's or of other workers."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for own, end in enumerate(standard):
            os.dup2(end, own)
        self._driver.detach()
        for end in (*standard, *self._own):
            os.close(end)
        for other in (told, *self._told.values()):
            other.close()

    def _tell(self) -> None:
        """Of all that have ended."""
        with suppress(BlockingIOError):
            os.read(self._awake, 4096)
        while ended := _who_has_ended():
            with self._told.pop(ended[0]) as told, suppress(ConnectionError):
                told.send(_NUMBER.pack(ended[1]))


def _who_has_ended() -> tuple[int, int] | None:
    """A worker's number, and how."""
    try:
        number, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:  # there is none
        return None
    return (number, os.waitstatus_to_exitcode(status)) if number else None


def _fork() -> int:
    with warnings.catch_warnings():
        # of threads; those of NumPy's library of matrices, which knows of forks, are the only ones
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _tell_of_worker(told: socket.socket, number: int) -> None:
    """That there is one, or, by a negative number, why there is none."""
    handle = _open_handle(number) if number > 0 else None
    with suppress(ConnectionError):  # nobody wants to know any more
        socket.send_fds(told, [_NUMBER.pack(number)], [] if handle is None else [handle])
    if handle is not None:
        os.close(handle)


def _open_handle(number: int) -> int | None:
    """Of a child that nobody has waited for; None where the system has no handles."""
    if not hasattr(signal, "pidfd_send_signal"):
        return None
    handle = None
    with suppress(OSError):  # an older Linux, or a container that does not allow both
        handle = os.pidfd_open(number)
        signal.pidfd_send_signal(handle, 0)
        return handle
    if handle is not None:
        os.close(handle)
    return None


def load(needed: Sequence[str]) -> None:
    """What is needed, and what is of use."""
    for name in (*ALWAYS, *needed):
        importlib.import_module(name)
    for name in USEFUL:
        with suppress(ImportError):
            importlib.import_module(name)


def main(number: int, needed: Sequence[str]) -> None:
    """Load, and fork for whoever asks."""
    driver = socket.socket(fileno=number)
    load(needed)
    gc.freeze()  # what is there already stays shared
    if not _Forks(driver).serve():
        os._exit(0)
    importlib.import_module("dala.fleet.worker").main()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
