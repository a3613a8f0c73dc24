"""Cameras, screens, streams: a thread reads on and keeps the newest frame; what breaks off is opened again.

A live source never fails a scene: before its first frame it is a placeholder, after its last one it shows
that, and what happens to it is reported.
"""

from __future__ import annotations

import threading
import time as clock
import weakref
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dala import locks
from dala.locks import Event
from dala.scene.layers import Rgba
from dala.scene.sound.live import LiveSound
from dala.scene.sources.contents import content_of
from dala.scene.sources.source import Content, Supply, new_key
from dala.video.frame import Frame
from dala.video.reader import Reader
from dala.video.trimming import give_back_freed

PAUSES_S = (0.1, 0.5, 1.0, 2.0)  # before it is opened again; the last one repeats
STALLED_S = 2.0  # without a frame: it is reported, and the last one stays
PLACEHOLDER = (640, 360), (32, 32, 36, 255)
JOIN_S = 5.0

OpenReader = Callable[[], Reader]


class LiveSource:
    """The newest frame of a camera, a screen or a stream, whatever time is asked for."""

    def __init__(
        self,
        open_: OpenReader,
        name: str,
        supply: Supply | None = None,
        *,
        pauses_s: tuple[float, ...] = PAUSES_S,
        stalled_s: float = STALLED_S,
    ) -> None:
        self.name = name
        self._state = _State(open_, name, supply or Supply(), pauses_s, stalled_s)
        self._end = weakref.finalize(self, _State.stop, self._state, wait=False)
        self._end.atexit = False

    @property
    def size(self) -> tuple[int, int]:
        """Of the newest frame; it may change."""
        content = self._state.content
        return content.width, content.height

    @property
    def duration(self) -> None:
        """It has no end."""
        return

    @property
    def state(self) -> str:
        """``"waiting"`` for its first frame, ``"live"``, ``"stalled"``, ``"lost"`` or ``"ended"``."""
        self._state.watch()
        return self._state.condition

    @property
    def sound(self) -> LiveSound:
        """What is heard with its pictures."""
        return self._state.sound

    @property
    def frames(self) -> int:
        """How many have come."""
        return self._state.count

    def frame_at(self, time: Fraction) -> Content:
        """The newest frame, the last one, or the placeholder."""
        self._state.watch()
        return self._state.content

    def close(self) -> None:
        """End the thread, close the device or connection. Twice does nothing."""
        self._end.detach()
        self._state.stop()

    def __repr__(self) -> str:
        return f"<live {self.name}, {self.state}>"


class _State:
    """What the thread and the source share; the thread does not keep the source alive."""

    def __init__(
        self,
        open_: OpenReader,
        name: str,
        supply: Supply,
        pauses_s: tuple[float, ...],
        stalled_s: float,
    ) -> None:
        (width, height), color = PLACEHOLDER
        pixels = np.empty((height, width, 4), np.uint8)
        pixels[...] = color
        self.key = new_key()
        self.content: Content = Rgba(pixels, True, (self.key, "placeholder"))
        self.condition = "waiting"
        self._what = self._said = ""
        self.count = 0
        self.sound = LiveSound(name, self._tell)
        self._open = open_
        self._name = name
        self._supply = supply
        self._pauses_s = pauses_s
        self._stalled_s = stalled_s
        self._last = clock.monotonic()
        self._lock = locks.lock()
        self._stopping = Event()
        self._reader: Reader | None = None
        self._thread = threading.Thread(target=self._work, name="dala-live", daemon=True)
        self._thread.start()

    def watch(self) -> None:
        """Notice that nothing comes any more."""
        with self._lock:
            silent = clock.monotonic() - self._last > self._stalled_s
            if silent and self.condition == "live":
                self._become("stalled", f"no frame for {self._stalled_s:g} s")

    def stop(self, *, wait: bool = True) -> None:
        self._stopping.set()
        reader = self._reader
        if reader is not None:
            reader.close()
        if wait and threading.current_thread() is not self._thread:
            self._thread.join(JOIN_S)

    def _tell(self, what: str) -> None:
        """Of the sound; the same is told once."""
        if what != self._said:
            self._said = what
            self._supply.report(self._name, what)

    def _become(self, condition: str, what: str) -> None:
        if (self.condition, self._what) != (condition, what):
            self.condition, self._what = condition, what
            self._supply.report(self._name, what)

    def _work(self) -> None:
        attempt = 0
        while not self._stopping.is_set():
            try:
                before = self.count
                self._read_all()
                if self.condition == "ended":
                    return
                what = "it ended"
            except Exception as error:  # whatever a driver, a network or a decoder makes of it
                what = str(error)
            if self._stopping.is_set():
                return
            attempt = 0 if self.count > before else attempt + 1
            with self._lock:
                self._become("lost", what)
            self._stopping.wait(self._pauses_s[min(attempt, len(self._pauses_s) - 1)])

    def _read_all(self) -> None:
        reader = self._open()
        with self._lock:
            self._reader = reader
        try:
            reader.hear(self.sound)
            self.sound.begin_anew()
            while not self._stopping.is_set():
                frame = reader.read()
                if frame is None:
                    self._finish(reader)
                    return
                self._show(frame)
        finally:
            self._reader = None
            reader.close()
            del reader
            give_back_freed()

    def _show(self, frame: Frame) -> None:
        version = (self.key, self.count + 1)
        content = content_of(frame.picture, frame.color, frame.turn, version)
        with self._lock:
            changed = self.count > 0 and (content.width, content.height) != (
                self.content.width,
                self.content.height,
            )
            self.content, self._last = content, clock.monotonic()
            self.count += 1
            if changed:
                self._supply.report(self._name, f"it is {content.width} × {content.height} now")
            self._become("live", "frames come")

    def _finish(self, reader: Reader) -> None:
        """What comes over HTTP ends like a file; a camera that ends is lost."""
        if reader.place.where in ("stream", "stdin") and not reader.place.is_live_stream:
            with self._lock:
                self._become("ended", "it has ended; its last frame stays")
