"""Many pictures at once: a thread per core, results in order, and a bound on the pixels under way.

    jobs → queue → threads: decode → filter → encode → outcomes, in the order of the jobs

Decoding, filtering and encoding run outside of Python's lock, so threads keep all cores busy. A photo lies
in memory twice, decoded and filtered; ``Room`` lets no more of them in than fit, and their memory is used
again: the system takes as long to clear a photo's pages as decoding it does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from dala import locks
from dala.backends.host import SparePool, physical_memory
from dala.locks import Condition

Job = TypeVar("Job")
Result = TypeVar("Result")
PIXELS_PER_WORKER = 32_000_000  # so that two cores do photos of 24 megapixels in 600 MB
RGBA = 4  # bytes of a pixel
BYTES_PER_PIXEL = 2 * RGBA + 4  # decoded, filtered, and what formats need besides
M_MMAP_THRESHOLD, LARGE_BLOCK = -3, 8 << 20  # glibc's number of that option; bytes
SHARE_OF_MEMORY = 4  # at most a quarter of what the machine has


def count_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Room:
    """So many pixels may be under way; a picture that is larger than that goes alone."""

    def __init__(self, pixels: int) -> None:
        self._most = self._free = pixels
        self.alone = locks.lock()  # for what uses all cores by itself
        self.spare = SparePool(pixels * RGBA)  # memory of results: that of one serves the next
        self._changed = Condition()

    @contextlib.contextmanager
    def taking(self, pixels: int) -> Iterator[None]:
        """Wait until there is room for so many, and take it."""
        wanted = min(pixels, self._most)
        with self._changed:
            self._changed.wait_for(lambda: self._free >= wanted)
            self._free -= wanted
        try:
            yield
        finally:
            with self._changed:
                self._free += wanted
                self._changed.notify_all()


def usual_room(workers: int) -> Room:
    """Room by the number of workers and the memory of this machine."""
    most = physical_memory() // SHARE_OF_MEMORY // BYTES_PER_PIXEL
    return Room(max(1, min(workers * PIXELS_PER_WORKER, most)))


def keep_memory(workers: int) -> None:
    """Have Pillow use a photo's memory again for the next one, and glibc return what else is large when it
    is freed: by itself it keeps that for the thread that had it, where nobody else can use it.
    """
    from dala.media.files.lending import keep_blocks

    keep_blocks(workers)
    if sys.platform == "linux":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if set_option is not None:
            set_option(M_MMAP_THRESHOLD, LARGE_BLOCK)


class Crew(Generic[Job, Result]):
    """Threads that do jobs; a context manager that leaves none behind.

    What is begun is finished when it ends early; what is not begun is dropped.

    >>> with Crew([3, 1, 2], lambda n: n * n, workers=2) as crew:
    ...     [crew.result(number) for number in range(3)]
    [9, 1, 4]
    """

    def __init__(self, jobs: Sequence[Job], work: Callable[[Job], Result], workers: int) -> None:
        self._work = work
        self._todo: SimpleQueue[tuple[int, Job] | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()
        self._results: dict[int, tuple[Result | None, BaseException | None]] = {}
        for numbered in enumerate(jobs):
            self._todo.put(numbered)
        count = min(workers, len(jobs))
        self._threads = [
            threading.Thread(target=self._serve, name=f"dala-photo-{n}") for n in range(count)
        ]
        for _ in self._threads:
            self._todo.put(None)

    def __enter__(self) -> Crew[Job, Result]:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.drop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def drop(self) -> None:
        """Leave undone what nobody has begun."""
        while not self._todo.empty():
            with contextlib.suppress(Empty):  # a thread was quicker
                self._todo.get_nowait()
        for _ in self._threads:
            self._todo.put(None)

    def result(self, number: int) -> Result:
        """What became of a job; waits for it. An exception of its own is raised here."""
        while number not in self._results:
            done, result, error = self._done.get()
            self._results[done] = (result, error)
        result, error = self._results.pop(number)
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def _serve(self) -> None:
        while (numbered := self._todo.get()) is not None:
            number, job = numbered
            try:
                self._done.put((number, self._work(job), None))
            except BaseException as error:  # raised again by whoever asks for the result
                self._done.put((number, None, error))
