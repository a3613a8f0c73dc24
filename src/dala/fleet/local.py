"""A pool of processes on this machine: each does one task after another; one that dies is replaced.

Processes rather than threads: a driver or a codec that crashes takes one task along, not the job; and
Python's own part of the work runs side by side.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from dala.fleet.placement import Placement, task_environment
from dala.fleet.running import ATTEMPTS, Event, Task
from dala.fleet.starting import TOLD, NoWorkerError, Process, Starter, how_it_ended, patiently
from dala.fleet.tasks import NEEDED, remove_unfinished
from dala.locks import Condition
from dala.video.parts.journal import Record

TOLD_TO_END = "the worker was told to end"  # which is no failure of a task
PATIENCE_S = 5.0  # for a worker that was told to end, before it is killed


class LocalPool:
    """See Engine."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement

    def run(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """What happens to the tasks; closing it ends the workers."""
        if not tasks:
            return
        needed = sorted({name for task in tasks for name in NEEDED[task.action]})
        with starter_of(task_environment(self.placement.threads), needed) as starter:
            yield from self._run(tasks, starter)

    def _run(self, tasks: Sequence[Task], starter: Starter) -> Iterator[Event]:
        count = min(self.placement.workers, len(tasks))
        desk = _Desk(tasks, count)
        threads = [
            threading.Thread(
                target=_serve,
                args=(desk, starter, self.placement.device_of(n)),
                name=f"dala-fleet-{n}",
                daemon=True,
            )
            for n in range(count)
        ]
        try:
            for thread in threads:
                desk.begin(thread)
            yield from desk.events_of(len(tasks))
        finally:
            desk.close()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            self.placement = replace(self.placement, workers=desk.serving)


def starter_of(variables: Mapping[str, str], needed: Sequence[str] = ()) -> Starter:
    """The way to start workers on this system; ``needed`` are modules that all of them load."""
    if sys.platform == "linux":
        from dala.fleet.nursery import Forker

        return Forker(variables, needed)
    return Starter(variables)


class _Desk:
    """Where workers get their tasks and leave what happened; tasks that were lost are handed out again."""

    def __init__(self, tasks: Sequence[Task], serving: int) -> None:
        self.events: SimpleQueue[Event | BaseException] = SimpleQueue()
        self.serving = serving  # workers that there are, or may be in a moment
        self._waiting = deque((task, 1) for task in tasks)
        self._unsettled = len(tasks)
        self._closed = False
        self._changed = Condition()
        self._workers: set[Process] = set()

    def events_of(self, tasks: int) -> Iterator[Event]:
        """What happens, until so many have ended."""
        while tasks:
            event = self.events.get()
            if isinstance(event, BaseException):
                raise event
            tasks -= event.kind in ("finished", "failed")
            yield event

    def take(self) -> tuple[Task, int] | None:
        """The next task and which attempt it is; None when there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting or not self._unsettled)
            if self._closed or not self._waiting:
                return None
            return self._waiting.popleft()

    def settle(self, event: Event) -> None:
        """A task has ended."""
        with self._changed:
            self._unsettled -= 1
            self._changed.notify_all()
        self.events.put(event)

    def give_back(self, task: Task, attempt: int, reason: str) -> None:
        """Its worker is gone; somebody else shall do it."""
        if attempt > ATTEMPTS:
            tried = f"its worker was lost {ATTEMPTS} times; the last: {reason}"
            self.settle(Event("failed", task.key, reason=tried))
            return
        with self._changed:
            self._waiting.appendleft((task, attempt))
            self._changed.notify()
        self.events.put(Event("lost", task.key, reason=reason))

    def begin(self, thread: threading.Thread) -> None:
        """That of a worker; a machine without room for one has none for its worker either."""
        try:
            thread.start()
        except RuntimeError as error:
            self._have_one_less(NoWorkerError(str(error)))

    def do_without(self, task: Task, attempt: int, error: NoWorkerError) -> None:
        """One worker less, of whom this task was to be done; an error only if it was the last."""
        self._have_one_less(error)
        self.give_back(task, attempt, str(error))

    def _have_one_less(self, error: NoWorkerError) -> None:
        with self._changed:
            left = self.serving > 1
            self.serving -= left
        if not left:
            raise error

    def hire(self, worker: Process) -> bool:
        """Whether it may begin; after ``close`` none may."""
        with self._changed:
            if not self._closed:
                self._workers.add(worker)
            return not self._closed

    def dismiss(self, worker: Process) -> None:
        with self._changed:
            self._workers.discard(worker)

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        with self._changed:
            self._closed = True
            workers = list(self._workers)
            self._changed.notify_all()
        for worker in workers:
            worker.terminate()


def _serve(desk: _Desk, starter: Starter, device: str | None) -> None:
    """One worker after another, until there are no more tasks; all of them use the same device."""
    worker: _Worker | None = None
    try:
        while taken := desk.take():
            task, attempt = taken
            if worker is None:
                try:
                    worker = _Worker(starter)
                except NoWorkerError as error:
                    desk.do_without(task, attempt, error)
                    return
                if not desk.hire(worker.process):
                    return
            reason = worker.do(task.on(device), desk)
            if reason is not None:
                desk.dismiss(worker.process)
                worker.end()
                worker = None
                remove_unfinished(task.facts)
                desk.give_back(task, attempt + (reason != TOLD_TO_END), reason)
    except BaseException as error:  # no process to be had: the caller is told
        desk.events.put(error)
    finally:
        if worker is not None:
            desk.dismiss(worker.process)
            worker.end()


class _Worker:
    """A process that does tasks."""

    def __init__(self, starter: Starter) -> None:
        self._errors: Any = patiently(tempfile.TemporaryFile)  # closed by ``end``
        try:
            self.process = starter.start(self._errors)
        except BaseException:
            self._errors.close()
            raise

    def do(self, task: Task, desk: _Desk) -> str | None:
        """Do a task; why it could not be, if the worker is gone before."""
        assert self.process.stdin is not None and self.process.stdout is not None
        line = json.dumps({"key": task.key, "action": task.action, "facts": task.facts})
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError:
            return self._why_gone()
        for reply in self.process.stdout:
            said = _reply_in(reply)
            if "advanced" in said:
                desk.events.put(Event("advanced", task.key, frames=int(said["frames"])))
            elif "finished" in said:
                desk.settle(Event("finished", task.key, record=said["record"]))
                return None
            elif "failed" in said:
                desk.settle(Event("failed", task.key, reason=said["reason"]))
                return None
            elif "returned" in said:
                return TOLD_TO_END
        return self._why_gone()

    def end(self) -> None:
        """The process has ended, and is accounted for."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was in it goes nowhere
                    pipe.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._errors.close()

    def _why_gone(self) -> str:
        code = self.process.wait()
        if code in (TOLD, -signal.SIGTERM):  # before it could hand it back
            return TOLD_TO_END
        return f"the worker ended by {how_it_ended(code, self._errors)}"


def _reply_in(line: str) -> Record:
    """What a worker says; nothing, if it was cut off, or is what a module printed when Python began."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
