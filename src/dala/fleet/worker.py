"""A worker of the local pool: ``python -m dala.fleet.worker``.

One JSON line on stdin is a task, JSON lines on stdout tell what becomes of it. Told to end (SIGTERM), it
hands its task back and leaves nothing half-written; when whoever started it is gone, it ends too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from queue import SimpleQueue
from types import FrameType
from typing import Any, TextIO

from dala.fleet.starting import TOLD
from dala.video.parts.journal import Record

PATIENCE_S = 10.0  # for what is under way, once nobody waits for it any more
TELL_S = 0.2  # between two words on how far a task is


class _Told(SystemExit):
    """Raised on the main thread when the worker is told to end."""

    ever = False  # also where it was raised in vain: within a finalizer, or where C has called


def main() -> None:
    """Serve until stdin ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not come between the replies
    signal.signal(signal.SIGTERM, _stop)
    lines: SimpleQueue[str] = SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_listen, args=(lines, busy), name="dala-listen", daemon=True).start()
    key = None
    try:
        while line := lines.get():
            task = json.loads(line)
            key = task["key"]
            busy.set()
            _reply(replies, _answer(task, replies))
            busy.clear()
            key = None
            if _Told.ever:
                break
        # nothing is open between two tasks: why wait while an interpreter is taken down?
        os._exit(TOLD if _Told.ever else 0)
    except _Told:
        if key is not None:
            _reply(replies, {"returned": key})
        raise


def _listen(lines: SimpleQueue[str], busy: threading.Event) -> None:
    """Lines as they come; an empty one is the end."""
    for line in sys.stdin:
        lines.put(line)
    lines.put("")
    if busy.is_set():  # nobody is left to answer to
        if hasattr(os, "kill") and os.name != "nt":
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(PATIENCE_S)
        os._exit(1)


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; what is open is being closed
    _Told.ever = True
    raise _Told(TOLD)


def _answer(task: Record, replies: TextIO) -> Record:
    from dala.fleet.tasks import reason_of, run_task

    key, told = task["key"], [0.0]

    def tell(frames: int) -> None:
        now = time.monotonic()
        if now - told[0] >= TELL_S:
            told[0] = now
            _reply(replies, {"advanced": key, "frames": frames})

    try:
        return {"finished": key, "record": run_task(task["action"], task["facts"], tell)}
    except Exception as error:  # the job says so, other tasks go on
        return {"failed": key, "reason": reason_of(error)}


def _reply(replies: TextIO, what: dict[str, Any]) -> None:
    try:
        replies.write(json.dumps(what) + "\n")
        replies.flush()
    except BrokenPipeError:  # nobody listens; stdin's end is about to say so
        return


if __name__ == "__main__":
    main()
