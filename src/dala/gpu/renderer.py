"""The queue of a surface and the thread that empties it.

    caller                                              render thread
    record(bytes): a list, and now and then ─┐
    submit(bytes) → Receipt ─────────────────┼→ queue → Canvas.apply → Receipt.settle
    adopt(frame)  → Receipt ─────────────────┘

Single commands are gathered (waking a thread for each would cost more than drawing it): nobody can see
the difference, as whatever looks at the surface is queued behind them. The queue is bounded, and the
caller waits for room; that is decided by what is in the queue alone, so that an interrupt (Ctrl-C) at any
moment leaves nothing to be put right.
Nothing here refers to the Surface, so a forgotten one is collected, and ends its thread.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dala import leaving, locks
from dala.backends.base import Storage
from dala.backends.webgpu.faults import mapped
from dala.compute.failures import detached
from dala.errors import DeviceLostError, SurfaceDestroyedError, SurfaceError
from dala.gpu.canvas import KEPT_ERRORS, Canvas, Outcome
from dala.gpu.receipt import Receipt
from dala.gpu.report import Reporter
from dala.leaving import native

if TYPE_CHECKING:
    from dala.backends.webgpu.waiting import Submitted

GATHERED = 1024  # single commands that are put into the queue together
GATHERED_BYTES = 4096  # and one that is longer is not kept waiting
LARGE = 1 << 19  # bytes of commands or pixels
QUEUED = 32  # items in the queue before another is put in: some 20 MiB
QUEUED_LARGE = 2  # the same for a large one
FRAMES = 4  # presents under way: more would only be shown late
TOGETHER = 1 << 20  # bytes that the render thread applies in one go
LONGEST_PAUSE_S = 0.5e-3  # between looks at what the GPU does
IN_FLIGHT = 2  # frames that a GPU has yet to paint while the next one is gathered

_live: weakref.WeakSet[Renderer] = weakref.WeakSet()


@dataclass(slots=True)
class Work:
    """Commands, or a new content; and who wants to know."""

    data: bytes = b""
    frame: Storage | None = None
    receipt: Receipt | None = None
    presents: bool = False  # its receipt also tells what failed before


@dataclass(slots=True)
class Painted:
    """Work that is done once a GPU has painted it, and what to say then."""

    receipt: Receipt
    reads: Sequence[npt.NDArray[np.uint8]]
    errors: list[Exception]
    submitted: Submitted | None  # none if it waits for those before it alone


class Refusing(list[bytes]):
    """What takes single commands once their surface is lost."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def append(self, data: bytes) -> None:
        """Refuse."""
        raise lost_surface(self.name)


def lost_surface(name: str) -> DeviceLostError:
    """What whoever uses a surface is told whose GPU was lost."""
    return DeviceLostError(
        f"{name}: the GPU was lost, and with it all that was drawn and loaded; make the surface again with "
        "create_surface, and load its pictures and shaders again"
    )


class Renderer:
    """One surface's canvas, its queue and its thread."""

    def __init__(self, canvas: Canvas, name: str) -> None:
        self.canvas = canvas
        self.name = name
        self.pending: list[bytes] = []  # append is atomic; taken from the front under the lock
        self.closed = False
        self._lock = locks.lock()
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._bell = threading.Lock()  # released when something was taken out of the queue
        self._bell.acquire()
        self._presents = 0  # asked for so far
        self._presenting: deque[Receipt] = deque(maxlen=FRAMES)
        self._thread: threading.Thread | None = None
        self._serving = threading.Lock()  # taken by the thread that serves, for good
        self._ended = threading.Lock()  # released when it has ended
        self._ended.acquire()
        self._process = os.getpid()
        self._reporter = Reporter(name)
        self._failed: list[Exception] = []  # since the last present
        self._painting: deque[Painted] = deque()  # of the render thread: receipts, in order
        _live.add(self)

    # -- the caller's side -------------------------------------------------------------------------

    def record(self, data: bytes) -> None:
        """Queue one command of our own encoders."""
        pending = self.pending
        pending.append(data)
        if len(pending) >= GATHERED or len(data) > GATHERED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand over what was gathered."""
        self._check_open()
        with self._lock:
            self._hand_over_pending()

    def submit(self, data: bytes, *, presents: int = 0) -> Receipt:
        """Queue checked commands behind everything recorded so far."""
        self._check_open()
        with self._lock:
            self._hand_over_pending()
            self._presents += presents
            receipt = Receipt(self._presents)
            if presents and len(self._presenting) == FRAMES:
                self._presenting[0].await_done()
            self._hand_over(Work(data, receipt=receipt, presents=presents > 0))
            if presents:
                self._presenting.append(receipt)
        return receipt

    def adopt(self, frame: Storage) -> Receipt:
        """Queue a whole new content."""
        self._check_open()
        with self._lock:
            self._hand_over_pending()
            receipt = Receipt(self._presents)
            self._hand_over(Work(frame=frame, receipt=receipt))
        return receipt

    def _check_open(self) -> None:
        leaving.check()
        if self.closed:
            raise SurfaceDestroyedError(f"{self.name} has been destroyed")
        self.check_lost()
        if os.getpid() != self._process:
            raise SurfaceError(
                f"{self.name}: its thread stayed in the process this one was forked from"
            )

    def check_lost(self) -> None:
        """Raise if the surface was on a GPU that is lost: nothing of it can be had any more."""
        if isinstance(self.pending, Refusing):
            raise lost_surface(self.name)

    def _hand_over_pending(self) -> None:
        count = len(self.pending)
        if count:
            self._hand_over(Work(b"".join(self.pending[:count])))
            del self.pending[:count]

    def _hand_over(self, work: Work) -> None:
        """Wait for room, under the lock: who comes first is first."""
        if self.closed:
            raise SurfaceDestroyedError(f"{self.name} has been destroyed")
        self._ensure_thread()
        size = len(work.data) if work.frame is None else work.frame.type.nbytes
        limit = QUEUED if size < LARGE else QUEUED_LARGE
        while self._queue.qsize() >= limit:
            self._bell.acquire()
        self._queue.put(work)

    def _ensure_thread(self) -> None:
        """Have a thread that serves. If an interrupt (Ctrl-C) leaves it open whether one was started, there
        may be two; the second finds the other, and ends."""
        if self._thread is None or self._thread.ident is None:
            self._thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
            self._thread.start()

    def close(self, *, wait: bool) -> None:
        """Do what is queued, then end; repeated, it does nothing."""
        if os.getpid() != self._process:
            self.closed = True
            return
        if wait:
            with self._lock:
                if not self.closed:
                    self._hand_over_pending()
                    self.closed = True
                if self._thread is not None:
                    self._ensure_thread()
                    self._queue.put(None)  # more than one does no harm
            if self._thread is not threading.current_thread():  # as in a handler of its log
                self._await_end()
                self.canvas.release()
        elif not self.closed:  # from the garbage collector: no lock, nobody else holds the surface
            self.closed = True
            self._queue.put(None)

    def _await_end(self) -> None:
        if self._thread is not None:
            self._ended.acquire()
            self._ended.release()
            self._thread.join()

    # -- the render thread -------------------------------------------------------------------------

    def _serve(self) -> None:
        if self._serving.acquire(blocking=False):
            try:
                self._empty_queue()
            finally:
                self._ended.release()

    def _empty_queue(self) -> None:
        queue = self._queue
        while True:
            work = self._next()
            if work is None:
                self._settle_painted(0)
                return
            last = work
            parts, size = [work.data], len(work.data)
            # commands that nobody waits for join those behind them: fewer native calls
            while last.receipt is None and size < TOGETHER:
                try:
                    after = queue.get_nowait()
                except Empty:
                    break
                if after is None:
                    queue.put(None)  # the last item there is
                    break
                parts.append(after.data)
                size, last = size + len(after.data), after
            if self._bell.locked():  # nobody else releases it
                self._bell.release()
            self._do(parts, last)
            del work, last, parts

    def _next(self) -> Work | None:
        """What is in the queue; while there is nothing, receipts of painted frames are settled.

        Never get(timeout=…): in CPython 3.11 it waits for good if its time is over just when it has
        found the queue's lock free."""
        begun = time.monotonic()
        while self._painting:
            try:
                return self._queue.get_nowait()
            except Empty:
                self._settle_done()
            if self._painting:
                time.sleep(min((time.monotonic() - begun) / 8, LONGEST_PAUSE_S))
        return self._queue.get()

    def _settle_done(self) -> None:
        """Receipts of all that the GPU has done by now."""
        while self._painting and self._is_painted(self._painting[0]):
            self._settle_painted(len(self._painting) - 1)

    def _is_painted(self, oldest: Painted) -> bool:
        try:
            return oldest.submitted is None or oldest.submitted.is_done()
        except SystemExit:  # the interpreter is leaving
            return True

    def _settle_painted(self, most: int) -> None:
        """Wait until no more than so many are left."""
        while len(self._painting) > most:
            oldest = self._painting.popleft()
            try:
                if oldest.submitted is not None:
                    with mapped("present", device=self.canvas.device), native:
                        oldest.submitted.finish(f"{self.name}, frame {oldest.receipt.frame}")
            except SystemExit:
                self._drop(oldest.receipt)
                continue
            except Exception as error:
                self._tell([error], 0)
                oldest.errors.append(error)
            oldest.receipt.settle(oldest.reads, oldest.errors)

    def _do(self, parts: list[bytes], work: Work) -> None:
        """Apply commands; those of ``work`` come last and may have a receipt."""
        before, own = Outcome(), Outcome()
        if isinstance(self.pending, Refusing):
            if work.receipt is not None:  # no call more goes to a GPU that is gone
                work.receipt.settle((), [lost_surface(self.name)])
            return
        if leaving.has_begun():  # nobody will see it
            self._drop(work.receipt)
            return
        try:
            if work.receipt is None:
                self.canvas.apply(b"".join(parts), before)
            else:
                self.canvas.apply(b"".join(parts[:-1]), before)
                self.canvas.apply(work.data, own)
            if work.frame is not None:
                self.canvas.adopt(work.frame)
        except SystemExit:  # by now
            self._drop(work.receipt)
            return
        except Exception as error:
            own.note(error)
        self._settle(before, own, work)

    def _drop(self, receipt: Receipt | None) -> None:
        """Somebody may be waiting in a lock for it, which the surface is closed with."""
        if receipt is not None:
            gone = SurfaceDestroyedError(f"{self.name}: the interpreter is leaving")
            receipt.settle((), [gone])

    def _settle(self, before: Outcome, own: Outcome, work: Work) -> None:
        self._tell([*before.errors, *own.errors], before.unnoted + own.unnoted)
        self._failed += before.errors[: KEPT_ERRORS - len(self._failed)]
        if work.receipt is None:
            self._failed += own.errors[: KEPT_ERRORS - len(self._failed)]
            return
        errors = own.errors[:KEPT_ERRORS]
        if work.presents:
            errors, self._failed = [*self._failed, *errors], []
        submitted, self.canvas.submitted = self.canvas.submitted, None
        if submitted is None and not self._painting:
            work.receipt.settle(own.reads, errors)
            return
        self._painting.append(Painted(work.receipt, own.reads, errors, submitted))
        self._settle_painted(IN_FLIGHT)

    def _tell(self, errors: Iterable[Exception], more: int) -> None:
        if self.canvas.lost and not isinstance(self.pending, Refusing):
            self.pending = Refusing(self.name)  # from now on every call is told
        for error in errors:
            detached(error, None)
            self._reporter.tell(error)
        self._reporter.tell_more(more)


def _close_all() -> None:
    """Daemon threads may be cut off within native code, so they are told to end and waited for."""
    for renderer in list(_live):
        renderer.close(wait=True)


leaving.at_leave(_close_all)
