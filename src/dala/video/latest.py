"""The newest of what comes: a thread reads on and keeps one frame."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from dala.locks import Condition

if TYPE_CHECKING:
    from dala.video.frame import Frame

JOIN_S = 0.8  # a thread that waits for a network ends by its own time-out


class Latest:
    """Reads frames on a thread; ``take`` gives the newest one that was not taken yet."""

    def __init__(self, read: Callable[[], Frame | None]) -> None:
        self.dropped = 0
        self._read = read
        self._changed = Condition()
        self._frame: Frame | None = None
        self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="dala-latest", daemon=True)
        self._thread.start()

    def take(self) -> Frame | None:
        """Wait for a new frame; None once the source has ended. An error is raised after the last frame."""
        with self._changed:
            self._wait_for_frame()
            frame, self._frame = self._frame, None
        if frame is None and self._error is not None:
            raise self._error
        return frame

    def _wait_for_frame(self) -> None:
        while self._frame is None and not self._ended:
            self._changed.wait(0.1)  # so that Ctrl-C is heard everywhere

    def stop(self) -> None:
        """End the thread."""
        self._ended = True
        self._thread.join(JOIN_S)

    def _run(self) -> None:
        try:
            while not self._ended:
                frame = self._read()
                if frame is None:
                    break
                with self._changed:
                    self.dropped += self._frame is not None
                    self._frame = frame
                    self._changed.notify()
        except BaseException as error:
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify()
