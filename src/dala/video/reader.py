"""Reader: frame after frame, from files, cameras and streams."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dala.closing import Closing
from dala.errors import DamagedVideoError, ParameterError, VideoError
from dala.media.program import engine_of
from dala.video.clock import Clock
from dala.video.color import Color, Matrix, Range, check_color, color_of
from dala.video.frame import Converter, Frame
from dala.video.hearing import Ear, Hearing
from dala.video.info import Info, info_of
from dala.video.latest import Latest
from dala.video.pictures import Turn, turn_of
from dala.video.places import Spec, place_of
from dala.video.source import OnDamage, Source, open_source

PAUSES_S = (0.1, 0.5, 1.0, 2.0)  # before the attempts to connect again; the last one repeats


class Reader(Closing):
    """Frames of a file, a camera or a stream, in order, each with its exact time.

    ``source`` is a path, a URL (RTSP, HTTP …), a camera's number, ``"screen"``, pictures
    (``"frames/%04d.png"``), ``"-"`` for the standard input, or ``"testsrc"``. Pictures come upright
    and in the colours that the video says it has. A live stream (RTSP, RTMP, SRT …) that breaks off is
    opened again, up to ``reconnect`` times in a row; times then go on from where they were. With
    ``latest=True`` a thread reads ahead and keeps the newest frame alone: for live pictures, where old ones
    are worth nothing.
    ``size`` and ``fps`` are what a camera or a screen is asked for; numbered pictures come at ``fps``.
    A network that is silent for ``timeout`` seconds has failed.
    Damage raises DamagedVideoError; ``on_damage="conceal"`` shows what the decoder makes of it.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("clip.mp4", fps=25) as writer:
    ...     for level in (0, 100, 200):
    ...         writer.write(np.full((48, 64, 3), level, np.uint8))
    >>> with video.Reader("clip.mp4") as reader:
    ...     [(float(frame.time), int(frame.rgba[0, 0, 0])) for frame in reader]
    [(0.0, 0), (0.04, 100), (0.08, 200)]
    """

    def __init__(
        self,
        source: Spec,
        *,
        latest: bool = False,
        reconnect: int = 5,
        on_damage: OnDamage = "error",
        matrix: Matrix | None = None,
        range: Range | None = None,
        device: str | None = None,
        options: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        size: tuple[int, int] | None = None,
        fps: float | Fraction | None = None,
    ) -> None:
        check_color(matrix, range)
        if isinstance(reconnect, bool) or not isinstance(reconnect, int) or reconnect < 0:
            raise ParameterError(f"reconnect is a number of attempts from 0 up, got {reconnect!r}")
        self.place = place_of(source, options, size=size, fps=fps)
        self._on_damage: OnDamage = on_damage
        self._chosen = (matrix, range)
        self._timeout = timeout
        self._attempts = reconnect if self.place.is_live_stream else 0
        self._converter = Converter(engine_of(device))
        self._source = self._open()
        self._ear: Ear | None = None
        self._closed = False
        self._pictures: Iterator[Any] = self._begin()
        self._first: Any | None = None  # decoded to know the colours, not yet handed out
        self._known: tuple[Turn, Color] | None = None
        self._info: Info | None = None
        self._number = 0
        self._clock = Clock(self._source)
        self._latest: Latest | None = None
        if latest:
            self._looks()  # before the thread begins: from then on it alone decodes
            self._latest = Latest(self._next_frame)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def info(self) -> Info:
        """What probe() tells, of the open source."""
        if self._info is None:
            self._require_open()
            self._info = info_of(self._source, *self._looks())
        return self._info

    @property
    def width(self) -> int:
        """Columns of the upright picture."""
        return self.info.width

    @property
    def height(self) -> int:
        """Rows of the upright picture."""
        return self.info.height

    @property
    def fps(self) -> Fraction | None:
        """The average frame rate, where the source tells it."""
        return self._source.rate

    @property
    def duration(self) -> Fraction | None:
        """Seconds, where the source tells them."""
        return self.info.duration

    @property
    def dropped(self) -> int:
        """How many frames were passed over by ``latest=True``."""
        return 0 if self._latest is None else self._latest.dropped

    def __repr__(self) -> str:
        return f"<dala reader {self.place.name}{', closed' if self._closed else ''}>"

    # -- frames --------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        frame = self.read()
        if frame is None:
            raise StopIteration
        return frame

    def read(self) -> Frame | None:
        """The next frame, or the newest one with ``latest=True``; None at the end."""
        self._require_open()
        return self._next_frame() if self._latest is None else self._latest.take()

    def seek(self, seconds: float | Fraction) -> None:
        """Go on with the frame that is shown at that time of the video's own clock.

        >>> import numpy as np
        >>> from dala import video
        >>> with video.Writer("clip.mp4", fps=25) as writer:
        ...     for level in range(0, 250, 10):
        ...         writer.write(np.full((48, 64, 3), level, np.uint8))
        >>> with video.Reader("clip.mp4") as reader:
        ...     reader.seek(0.5)
        ...     float(next(reader).time)
        0.48
        """
        if self._latest is not None or self.place.where in ("camera", "screen", "pattern", "stdin"):
            raise VideoError(f"{self.place.name}: a live source cannot be rewound")
        self._require_open()
        self._source.seeking = True
        try:
            self._go_back_for(Fraction(seconds))
        finally:
            self._source.seeking = False

    def _go_back_for(self, wanted: Fraction) -> None:
        back = Fraction(0)
        while not self._go_to(wanted, wanted - back) and wanted - back > self._source.begin:
            back = 2 * back or Fraction(1, 2)  # what leads to that frame begins earlier

    def _go_to(self, wanted: Fraction, start: Fraction) -> bool:
        """From the key frame before ``start`` on to the wanted one; whether that was not missed."""
        self._source.seek(max(start, self._source.begin))
        self._pictures, self._first, self._number = self._begin(), None, 0
        self._clock = Clock(self._source)
        for picture in self._pictures:
            if self._first is not None and self._clock.peek(picture) > wanted:
                self._pictures = _chain(picture, self._pictures)
                break
            self._first = picture
            if self._clock.peek(picture) >= wanted:
                break
        return self._first is not None and self._clock.peek(self._first) <= wanted

    def hear(self, ear: Ear) -> None:
        """Have the sound that comes with the pictures handed over; said before the first is read."""
        if self._first is not None or self._number:
            raise VideoError(
                f"{self.place.name}: its first picture was read before; hear it sooner"
            )
        self._ear = ear
        self._pictures = self._begin()

    def close(self) -> None:
        """Close the file, camera or connection, and end the thread. Twice does nothing."""
        self._closed = True
        if self._latest is not None:
            self._latest.stop()
        self._source.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    # -- one after the other -------------------------------------------------------------------

    def _require_open(self) -> None:
        if self._closed:
            raise VideoError(f"{self.place.name}: this reader has been closed")

    def _open(self) -> Source:
        return open_source(self.place, on_damage=self._on_damage, timeout=self._timeout)

    def _begin(self) -> Iterator[Any]:
        if self._ear is None:
            return (i.picture for i in self._source.items() if i.picture is not None)
        return _heard(self._source, Hearing(self._source, self._ear))

    def _looks(self) -> tuple[Turn, Color]:
        """How the first frame is to be seen; all others are as it is."""
        if self._known is None:
            matrix, range = self._chosen
            if self._first is None:
                self._first = next(self._pictures, None)
            tagged = self._first or self._source.context
            turn = Turn() if self._first is None else turn_of(self._first)
            self._known = turn, color_of(tagged, matrix=matrix, range=range)
        return self._known

    def _next_frame(self) -> Frame | None:
        turn, color = self._looks()
        picture, self._first = self._first, None
        if picture is None:
            picture = self._next_picture()
        if picture is None:
            return None
        pts, duration = self._clock.stamp(picture)
        frame = Frame(
            picture,
            number=self._number,
            pts=pts,
            time_base=self._clock.time_base,
            duration=duration,
            color=color,
            turn=turn,
            converter=self._converter,
        )
        self._number += 1
        return frame

    def _next_picture(self) -> Any | None:
        try:
            picture = next(self._pictures, None)
            if picture is not None or not self._attempts:
                return picture
            error = VideoError(f"{self.place.name}: the stream ended")
        except DamagedVideoError:
            raise
        except VideoError as lost:
            if not self._attempts:
                raise
            error = lost
        return self._connect_again(error)

    def _connect_again(self, error: VideoError) -> Any | None:
        """The next picture by another connection; after too many attempts, the error."""
        for attempt in range(self._attempts):
            time.sleep(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
            if self._closed:
                return None
            self._source.close()
            try:
                self._source = self._open()
                self._pictures = self._begin()
                self._clock.move_to(self._source)
                picture = next(self._pictures, None)
            except VideoError as again:
                error = again
                continue
            if picture is not None:
                return picture
        raise error


def _heard(source: Source, hearing: Hearing) -> Iterator[Any]:
    """Pictures; what is heard with them is handed over. It does not hold the reader, which holds it."""
    for item in source.items(hearing.streams):
        hearing.hear(item.packets)
        if item.picture is not None:
            yield item.picture


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
