"""A thread that decodes before it is asked: a run of frames around the time that was asked for last.

    asked for t ── in the run? ── yes: at once
                       └── no: near its end: wait for it; elsewhere: begin a new run there

The thread knows this object and not the source, so that a forgotten source ends it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from fractions import Fraction

from dala.errors import VideoError
from dala.locks import Condition
from dala.scene.sources.contents import bytes_of
from dala.scene.sources.decoding import Decoding, Shown
from dala.scene.sources.source import Content, Supply

AHEAD = 8  # frames that are decoded before they are asked for, if there is memory
LEAST = (
    3  # frames that are held whatever the memory says: this one, the next, the one being decoded
)
BEHIND = 2  # frames that are kept for whoever steps back a little
FAR = Fraction(3)  # seconds: to a later time it is quicker to seek
POLL_S = 0.1  # so that Ctrl-C is heard everywhere
PATIENCE_S = 5.0


class Ahead:
    """The run of frames around the last time, and the thread that makes it longer."""

    def __init__(self, open_: Callable[[], Decoding], supply: Supply) -> None:
        self._open = open_
        self._supply = supply
        self._changed = Condition()
        self._run: deque[Shown] = deque()
        self._wanted = Fraction(0)
        self._start = Fraction(0)  # where the run was begun
        self._pass = 0  # counts the runs
        self._ended = False  # the run's last frame is the file's
        self._error: BaseException | None = None
        self._stopped = False
        self._decoding: Decoding | None = None
        self._thread = threading.Thread(target=self._work, name="dala-ahead", daemon=True)
        self._thread.start()

    def frame_at(self, time: Fraction) -> Content:
        """The frame that is shown then, as soon as it is there."""
        with self._changed:
            self._wanted = time
            return self._wait_for(time)

    def stop(self, *, wait: bool = True) -> None:
        """End the thread and close the file. Twice does nothing."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            decoding = self._decoding
        if decoding is not None and not wait:
            decoding.close()
        if wait and threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE_S)

    # -- the run, under the lock ---------------------------------------------------------------------

    def _wait_for(self, time: Fraction) -> Content:
        while True:
            self._drop_old(time)
            found = self._find(time)
            if found is not None:
                self._changed.notify_all()
                return found
            if not self._is_near(time):
                self._begin_anew(time)
            elif self._error is not None:
                error, self._error = self._error, None
                self._begin_anew(time)
                raise error
            self._changed.notify_all()
            self._changed.wait(POLL_S)
            if self._stopped:
                raise VideoError("this source has been closed")

    def _find(self, time: Fraction) -> Content | None:
        run = self._run
        for number, shown in enumerate(run):
            following = run[number + 1].begin if number + 1 < len(run) else None
            if following is not None and following <= time:
                continue
            is_it = shown.begin <= time and (following is not None or self._ended)
            return shown.content if is_it else None
        return None

    def _is_near(self, time: Fraction) -> bool:
        """Whether the frame comes if one waits for it."""
        begin = self._run[0].begin if self._run else self._start
        reached = max(self._run[-1].begin, self._start) if self._run else self._start
        return begin <= time <= reached + FAR

    def _drop_old(self, time: Fraction) -> None:
        run = self._run
        while len(run) > BEHIND + 1 and run[BEHIND + 1].begin <= time:
            self._supply.give_back(bytes_of(run.popleft().content))

    def _begin_anew(self, time: Fraction) -> None:
        self._clear()
        self._start = time
        self._pass += 1
        self._ended = False
        self._error = None

    def _clear(self) -> None:
        while self._run:
            self._supply.give_back(bytes_of(self._run.popleft().content))

    def _has_room(self) -> bool:
        return sum(shown.begin > self._wanted for shown in self._run) < AHEAD

    # -- the thread ----------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._serve()
        except BaseException as error:  # opening failed; whoever asks gets it
            self._fail(error, self._pass)
        finally:
            with self._changed:
                self._clear()
                decoding, self._decoding = self._decoding, None
            if decoding is not None:
                decoding.close()

    def _serve(self) -> None:
        while not self._stopped:
            number = self._pass
            try:
                if self._decoding is None:
                    self._decoding = self._open()
                for shown in self._decoding.frames_from(self._start):
                    if not self._put(shown, number):
                        break
                else:
                    with self._changed:
                        self._ended = number == self._pass
                        self._changed.notify_all()
            except BaseException as error:
                self._fail(error, number)
            with self._changed:
                self._wait_for_another(number)

    def _wait_for_another(self, number: int) -> None:
        while self._pass == number and not self._stopped:
            self._changed.wait()

    def _put(self, shown: Shown, number: int) -> bool:
        """Add a frame to its run, once there is room; whether the run goes on."""
        with self._changed:
            return self._add(shown, number)

    def _add(self, shown: Shown, number: int) -> bool:
        count = bytes_of(shown.content)
        while not self._stopped and self._pass == number:
            few = len(self._run) < LEAST + BEHIND or shown.begin <= self._wanted
            if few or (self._has_room() and self._supply.used + count <= self._supply.memory):
                self._supply.take(count, anyway=True)
                self._run.append(shown)
                self._drop_before_start(number)
                self._changed.notify_all()
                return True
            self._changed.wait(POLL_S if self._has_room() else None)
        return False

    def _drop_before_start(self, number: int) -> None:
        """What leads from a key frame to the wanted frame is not kept."""
        if number == self._pass:
            self._drop_old(self._wanted)

    def _fail(self, error: BaseException, number: int) -> None:
        with self._changed:
            if number == self._pass:
                self._error = error
            self._changed.notify_all()
