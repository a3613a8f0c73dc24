"""A scene going out live: one thread paints frames at their times, one for each output encodes and sends.

    clock ─ due ─ evaluate ─ paint ─┬─ queue ─ encode ─ server
                                    └─ queue ─ encode ─ recording

A frame that begins late is counted; where the machine is a whole frame behind, frames are left out, and
counted. An output that is behind drops pictures; its sound goes on, every sample at its time. An output
whose server is gone is opened again; the others do not notice.
"""

from __future__ import annotations

import threading
import time as machine
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from dala.closing import Closing
from dala.errors import DalaError
from dala.locks import Event
from dala.scene.out.frames import FramePainter
from dala.scene.out.lateness import Lateness
from dala.scene.out.stage import Composed, count_of
from dala.scene.out.waiting import Piece, Waiting
from dala.scene.sound import RATE
from dala.scene.sound.broadcast import BroadcastSound
from dala.scene.sound.live import LiveSoundStats
from dala.scene.sound.sounds import Waves, silence
from dala.scene.sources.source import Report, Supply
from dala.video.codecs import Settings
from dala.video.color import usual_color
from dala.video.encoder import Encoder, target_format
from dala.video.library import ffmpeg_errors
from dala.video.samples import Samples
from dala.video.trimming import give_back_freed
from dala.video.writer import TICKS

PAUSES_S = (0.5, 1.0, 2.0, 5.0)  # before a server is called again
POLL_S = 0.05
LEAD_S = 0.006  # a frame is begun so long before its time: Python gives a thread its turn after 5 ms only
JOIN_S = 15.0
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BroadcastStats:
    """How a broadcast goes.

    >>> from dala import scene
    >>> scene.BroadcastStats(frames=100, late=1, left_out=0, unsent=0, worst_ms=3.5).late
    1
    """

    frames: int  # painted
    late: int  # of them, begun more than 2 ms after their time
    left_out: int  # because a whole frame was missed
    unsent: int  # because an output was behind or gone, all outputs together
    worst_ms: float  # the latest frame
    sounds: tuple[
        LiveSoundStats, ...
    ] = ()  # of live sources: how long they wait, how their clocks differ
    p99_ms: float = 0.0  # 99 of 100 frames began within so long after their time


class Broadcast(Closing):
    """A scene going out live, until ``close`` or its end; ``scene.stream(…, block=False)`` gives it.

    >>> from dala import scene
    >>> with scene.Scene(64, 48, background="navy") as stage:
    ...     live = scene.stream(stage, "live.m3u8", fps=25, end=0.2, block=False)
    ...     live.wait()
    ...     live.stats.frames + live.stats.left_out
    5
    """

    def __init__(
        self,
        scene: Composed,
        outputs: list[Settings],
        *,
        fps: Fraction,
        start: Fraction,
        end: Fraction | None,
        sound: bool,
        device: str | None,
        on_report: Callable[[Report], None] | None,
    ) -> None:
        self._scene, self._fps, self._start = scene, fps, start
        self._count = None if end is None else count_of(start, end, fps)
        self._stop = Event()
        self._supply = Supply(on_report=on_report)
        self._sound = BroadcastSound(scene, self.report) if sound else None
        self._left_out = self._frames = 0
        self._lateness = Lateness()
        self._error: BaseException | None = None
        color = usual_color(scene.width, scene.height)
        self._painter = FramePainter(scene, outputs[0], color, device)
        self._outs: list[_Out] = []
        try:
            for settings in outputs:
                self._outs.append(_Out(settings, self))
        except BaseException:
            self._stop.set()
            for out in self._outs:
                out.abandon()
            raise
        self._thread = threading.Thread(target=self._run, name="dala-out-frames", daemon=True)
        self._thread.start()

    # -- what a user asks ----------------------------------------------------------------------------

    @property
    def stats(self) -> BroadcastStats:
        """Frames, late ones, those left out or not sent."""
        unsent = sum(out.unsent for out in self._outs)
        late = self._lateness
        return BroadcastStats(
            self._frames, late.late, self._left_out, unsent, late.worst_s * 1000,
            () if self._sound is None else self._sound.stats, late.within_ms(0.99),
        )  # fmt: skip

    @property
    def reports(self) -> list[Report]:
        """What happened to sources and outputs while it went on."""
        shared = getattr(getattr(self._scene, "streams", None), "supply", None)
        return [*self._supply.reports, *(shared.reports if shared is not None else ())]

    @property
    def fps(self) -> Fraction:
        """Frames a second."""
        return self._fps

    def wait(self) -> None:
        """Until its end; raises what ended it early."""
        while self._thread.is_alive():
            self._thread.join(POLL_S)  # so that Ctrl-C is heard everywhere
        for out in self._outs:
            out.join()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def close(self) -> None:
        """Send what is painted, end all threads. Twice does nothing."""
        self._stop.set()
        self._thread.join(JOIN_S)
        for out in self._outs:
            out.join()

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return not self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether it is about to end."""
        return self._stop.is_set()

    def report(self, name: str, what: str) -> None:
        """Something happened that the broadcast survives."""
        self._supply.report(name, what)

    def pause(self, seconds: float) -> None:
        """Wait, unless it ends."""
        self._stop.wait(seconds)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self._scene.width, self._scene.height

    @property
    def has_sound(self) -> bool:
        """Whether outputs get a track of sound."""
        return self._sound is not None

    # -- frames at their times -----------------------------------------------------------------------

    def _run(self) -> None:
        shared = getattr(getattr(self._scene, "streams", None), "supply", None)
        try:
            with nullcontext() if shared is None else shared.live(self._told):
                self._paint_all()
        except BaseException as error:
            self._error = error
        finally:
            if self._sound is not None:
                self._sound.close()
            self._stop.set()
            for out in self._outs:
                out.end()

    def _told(self, report: Report) -> None:
        """Of a source."""
        if self._supply.on_report is not None:
            self._supply.on_report(report)

    def _paint_all(self) -> None:
        last = self._frame(0, None)  # what painting compiles is there before time runs
        began = machine.monotonic() + LEAD_S
        number = heard = 0
        while not self._stop.is_set() and (self._count is None or number < self._count):
            due = began + float(number / self._fps)
            self._wait_until(due - LEAD_S)
            behind = max(0.0, machine.monotonic() - due)
            missed = int(behind * float(self._fps))
            if self._count is not None:
                missed = min(missed, self._count - number - 1)
            if missed:
                self._left_out += missed
                number += missed
            self._lateness.note(behind)
            last = self._frame(number, last)
            upto = round((number + 1) / self._fps * RATE)
            piece = Piece(number, last, heard, self._heard(heard, upto))
            heard = upto
            for out in self._outs:
                out.put(piece)
            self._frames += 1
            number += 1

    def _wait_until(self, due: float) -> None:
        left = due - machine.monotonic()
        if left > 0:
            self._stop.wait(left)

    def _frame(self, number: int, last: Array | None) -> Array | None:
        """The frame's picture; where the scene fails, the last one, and a report."""
        try:
            time = self._start + number / self._fps
            return self._painter.paint(self._scene.evaluate(time))
        except DalaError as error:
            if last is None:
                raise
            self.report("scene", str(error))
            return last

    def _heard(self, begin: int, end: int) -> Waves | None:
        if self._sound is None:
            return None
        first = round(self._start * RATE)
        return self._sound.mix(first + begin, first + end)


class _Out:
    """One output: its thread, its queue, its connection."""

    def __init__(self, settings: Settings, owner: Broadcast) -> None:
        self.name = settings.target.name
        self._dropped = 0  # pictures that found no room: counted by the thread that paints
        self._lost = 0  # on their way to the server: counted by the one that sends
        self._settings, self._owner = settings, owner
        self._waiting = Waiting()
        fps = owner.fps
        self._base = Fraction(1, fps.numerator * -(-TICKS // fps.numerator))
        self._ticks = int(1 / fps / self._base)
        self._encoder: Encoder | None = None
        self._samples: Samples | None = None
        self._first = 0  # frame of this connection
        self._upto = 0  # the sample that its track of sound goes on with
        self._abandoned = False
        self._connect(0)  # what cannot be opened at all is an error at once
        self._thread = threading.Thread(target=self._run, name="dala-out-send", daemon=True)
        self._thread.start()

    @property
    def unsent(self) -> int:
        """Pictures that did not go out."""
        return self._dropped + self._lost

    def put(self, piece: Piece) -> None:
        """The next frame and its sound; where the output is behind, the picture is left out."""
        self._dropped += not self._waiting.put(piece)

    def end(self) -> None:
        """No frame comes any more."""
        self._waiting.end()

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._abandoned = True
        self.end()
        self.join()

    def join(self) -> None:
        """Wait until its thread has ended."""
        self._thread.join(JOIN_S)

    def _connect(self, number: int) -> None:
        settings = self._settings
        width, height = self._owner.size
        format_ = target_format(settings, width, height, usual_color(width, height))
        encoder = Encoder(
            settings,
            width=width,
            height=height,
            color=format_.color,
            time_base=self._base,
            fps=self._owner.fps,
        )
        try:
            samples = None
            if self._owner.has_sound and settings.target.holds_sound:
                samples = Samples(True, settings)
                samples.begin(encoder)
            with ffmpeg_errors(self.name, "opening"):
                encoder.sink.container.start_encoding()  # PyAV calls a server only now
        except BaseException:
            encoder.discard()
            raise
        self._encoder, self._samples, self._first = encoder, samples, number
        self._upto = round(number / self._owner.fps * RATE)

    def _run(self) -> None:
        try:
            self._send_all()
            if self._encoder is not None and not self._abandoned:
                if self._samples is not None:
                    self._samples.finish()
                self._encoder.finish()
        except DalaError as error:
            self._owner.report(self.name, str(error))
        finally:
            if self._encoder is not None:
                self._encoder.discard()

    def _send_all(self) -> None:
        while (piece := self._waiting.get()) is not None:
            try:
                self._send(piece)
            except DalaError as error:
                self._lost += piece.picture is not None
                self._owner.report(self.name, str(error))
                self._connect_again()

    def _send(self, piece: Piece) -> None:
        if self._encoder is None:
            self._lost += piece.picture is not None
            return
        if self._samples is not None and piece.waves is not None:
            self._sound(self._samples, piece.first, piece.waves)
        if piece.picture is not None:
            pts = (piece.number - self._first) * self._ticks
            self._encoder.encode(piece.picture, pts, self._ticks)

    def _sound(self, track: Samples, first: int, waves: Waves) -> None:
        """Samples at their own time: silence stands for those that were given up before them."""
        for begin in range(self._upto, first, RATE):  # a second at a time
            track.write(silence(min(RATE, first - begin)), RATE)
        track.write(waves, RATE)
        self._upto = first + len(waves)

    def _connect_again(self) -> None:
        """A server that is gone is called again; a file that cannot be written is given up."""
        if self._encoder is not None:
            self._encoder.discard()
        self._encoder = self._samples = None
        give_back_freed()
        if self._settings.target.kind != "network":
            return
        for attempt in range(1 << 30):
            self._owner.pause(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
            if self._owner.stopping:
                return
            last, lost = self._waiting.clear()  # what waited while nobody listened is over
            self._lost += lost
            try:
                self._connect(last + 1)
            except DalaError:
                continue
            self._owner.report(self.name, "it is there again")
            return
