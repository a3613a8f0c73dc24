"""A file's frames in order, from any time on: the same frames whatever was asked for before.

A decoder that begins at a key frame gives right pictures from that frame on; those before it in order of
showing may lean on frames that were never read (open GOPs), and are left out. Where such a start lies after
the wanted time, the next one is looked for earlier. Files whose frames have no times, or times that go
back, are read from their beginning, always: slow, but right.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from dala.errors import VideoError
from dala.scene.sources.contents import content_of
from dala.scene.sources.source import Content
from dala.video.clock import Clock
from dala.video.color import color_of
from dala.video.library import load_av
from dala.video.pictures import Turn, turn_of
from dala.video.places import Place
from dala.video.source import OnDamage, open_source
from dala.video.source import Source as Container

TIMEOUT_S = 10.0
WOVEN = 2  # interlaced frames after a start that lean on the ones before
_FROM_THE_START = ("gif", "apng", "webp")  # whose frames lean on all that came before
# containers in which every frame has its own time, so that one can begin in the middle; MPEG-PS has none
# for many, and FFmpeg's guesses after a seek are others than in sequence
_ENTERED = ("mov", "mp4", "matroska", "webm", "mpegts", "avi", "flv", "asf", "nut", "mxf")


class Shown(NamedTuple):
    """A frame, and since when it is shown; seconds after the first one."""

    begin: Fraction
    content: Content


class _NoTimes(Exception):
    """A frame has no time, or one that is not after the one before."""


class Decoding:
    """An open file. Not for two threads at once, but for ``close``."""

    def __init__(self, place: Place, key: Hashable, on_damage: OnDamage = "error") -> None:
        self._place = place
        self._key = key
        self._on_damage: OnDamage = on_damage
        self._source = self._open()
        try:
            self._pictures = self._items()
            first = next(self._pictures, None)
            if first is None:
                raise VideoError(f"{place.name}: not a single frame could be decoded")
        except BaseException:
            self._source.close()
            raise
        self._clock = Clock(self._source)
        self._early: Any | None = first
        self.zero = self._clock.peek(first)
        self.turn = turn_of(first)
        self._rotation = first.rotation
        self.color = color_of(first)
        self.size = self.turn.size(first.width, first.height)
        self.rate = self._source.rate
        self.in_order_only = self._must_be_in_order()
        self.duration = self._length()

    def frames_from(self, time: Fraction) -> Iterator[Shown]:
        """Frames in order; the first is shown at ``time``, or before it."""
        if self.in_order_only or time <= 0:
            yield from self._from_the_start()
            return
        last = Fraction(-1)
        try:
            for shown in self._from_key_frame(time):
                last = shown.begin
                yield shown
        except _NoTimes:
            self.in_order_only = True
            for shown in self._from_the_start():
                if shown.begin > last:
                    yield shown

    def close(self) -> None:
        """Close the file. Twice does nothing."""
        self._source.close()

    # -- from the start ------------------------------------------------------------------------------

    def _from_the_start(self) -> Iterator[Shown]:
        first, self._early = self._early, None
        if first is None:
            self._source.close()
            self._source = self._open()
            self._pictures = self._items()
            first = next(self._pictures, None)
        self._clock = clock = Clock(self._source)
        tick, last = clock.time_base, None
        picture = first
        while picture is not None:
            pts, _ = clock.stamp(picture)
            begin = pts * tick - self.zero
            if last is not None and begin <= last:
                begin = last + tick  # times go forward
                self.in_order_only = True
            self.in_order_only |= picture.pts is None
            last = begin
            yield self._shown(picture, begin)
            picture = next(self._pictures, None)

    # -- from a key frame ----------------------------------------------------------------------------

    def _from_key_frame(self, time: Fraction) -> Iterator[Shown]:
        wanted, back = self.zero + time, Fraction(0)
        self._early = None
        self._source.seeking = True
        try:
            while True:
                if wanted - back <= self.zero:
                    first = None
                    break
                self._source.seek(wanted - back)
                self._pictures = self._items()
                first = self._first_right_one()
                if first is not None and self._time(first) <= time:
                    break
                back = 2 * back or Fraction(1, 2)
        finally:
            self._source.seeking = False
        if first is None:
            yield from self._from_the_start()
            return
        last: Fraction | None = None
        picture: Any | None = first
        while picture is not None:
            begin = self._time(picture)
            if last is not None and begin <= last:
                raise _NoTimes
            last = begin
            yield self._shown(picture, begin)
            picture = next(self._pictures, None)

    def _first_right_one(self) -> Any | None:
        """The first key frame, or of interlaced video the first that is woven of read ones."""
        passed = 0
        found = False
        for picture in self._pictures:
            found = found or bool(picture.key_frame)
            if not found:
                continue
            if not self._source.was_interlaced or passed >= WOVEN:
                return picture
            passed += 1
        return None

    def _time(self, picture: Any) -> Fraction:
        if picture.pts is None:
            raise _NoTimes
        return Fraction(picture.pts * self._source.time_base - self.zero)

    # -- what both need ------------------------------------------------------------------------------

    def _open(self) -> Container:
        return open_source(self._place, on_damage=self._on_damage, timeout=TIMEOUT_S)

    def _items(self) -> Iterator[Any]:
        return (item.picture for item in self._source.items() if item.picture is not None)

    def _shown(self, picture: Any, begin: Fraction) -> Shown:
        version = (self._key, begin)
        return Shown(begin, content_of(picture, self.color, self._turn_of(picture), version))

    def _turn_of(self, picture: Any) -> Turn:
        """As the first picture unless it says otherwise.

        A picture whose ``side_data`` was asked for refers to itself: its memory is only free again when the
        collector comes, and the decoder takes fresh memory for every other picture until then.
        """
        if picture.rotation == self._rotation or "DISPLAYMATRIX" not in picture.side_data:
            return self.turn
        return turn_of(picture)

    def _must_be_in_order(self) -> bool:
        names = self._source.format_name.split(",")
        codec = self._source.context.codec.canonical_name
        entered = any(name in _ENTERED for name in names) and self._place.where == "file"
        return not entered or codec in _FROM_THE_START

    def _length(self) -> Fraction | None:
        """The stream's length as its head says it; a still picture has none."""
        source = self._source
        stream, container = source.stream, source.container
        if source.format_name.endswith("_pipe"):
            return None
        if stream.duration:
            end = source.begin + stream.duration * source.time_base
        elif container.duration:
            begin = Fraction(container.start_time or 0, load_av().time_base)
            end = begin + Fraction(container.duration, load_av().time_base)
        else:
            return None
        return max(end - self.zero, Fraction(0)) or None
