"""A source made ready: its first frame is decoded, because only that tells size, colours and turn."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from dala.errors import VideoError
from dala.video.clock import Clock, usual_duration
from dala.video.color import Matrix, Range, color_of
from dala.video.device import Format
from dala.video.library import as_fraction
from dala.video.pictures import Decoded, kind_of, turn_of
from dala.video.pixels import Pixels, chroma_of, pixels_of
from dala.video.places import Place, Spec, place_of
from dala.video.sound import Audio
from dala.video.source import Item, OnDamage, open_source
from dala.video.span import WHOLE, Span
from dala.video.targets import target_of

Keep = Literal["copy", "none"]
PREROLL = Fraction(1, 2)  # seconds before a cut: a decoder of sound needs some to begin with


@dataclass(frozen=True)
class Track:
    """A stream of sound that comes along: its number, and its decoder."""

    index: int
    decoder: Any


class Input:
    """A source to be written somewhere else; ``close`` it, or run ``items`` to its end."""

    def __init__(
        self,
        spec: Spec,
        *,
        audio: Audio = "copy",
        subtitles: Keep = "copy",
        on_damage: OnDamage = "error",
        matrix: Matrix | None = None,
        range: Range | None = None,
        span: Span = WHOLE,
        fps: Fraction | None = None,
    ) -> None:
        self.source = open_source(place_of(spec, fps=fps), on_damage=on_damage, timeout=10)
        self.audio: Audio = audio
        self.span = span
        streams = self.source.container.streams
        self.passed_on: list[Any] = [
            *(() if audio == "none" else streams.audio),
            *(streams.subtitles if subtitles == "copy" else ()),
        ]
        # kept apart from their streams, which FFmpeg frees when the source is closed
        self.voices = [Track(s.index, s.codec_context) for s in self.passed_on if s.type == "audio"]
        self.clock = Clock(self.source)
        self.usual_duration = usual_duration(self.source)
        self._items = self.source.items(self.passed_on)
        self._early: list[Item] = []
        try:
            sought = self._is_worth_seeking()
            first = self._seek() if sought else self._first_picture()
            self.first = first
            self.turn = turn_of(first)
            self.color = color_of(first, matrix=matrix, range=range)
            self.codec = str(self.source.context.codec.canonical_name)
            self.pixels = _pixels_of(first, self.codec)
            self.chroma = chroma_of(first.format)
            self.bits = 8  # that the passes read; more only where the output holds them
            self.format = self._format_of(first)
            self.begin: Fraction = self.source.begin if sought else self.clock.peek(first)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file or the connection. Twice does nothing."""
        self.source.close()

    @property
    def keeps_times(self) -> bool:
        """Whether the output counts on the input's own clock."""
        return self.span.is_whole and self.span.fps is None

    @property
    def is_still(self) -> bool:
        """Whether it is one picture, which has no time of its own."""
        place = self.source.place
        if place.where == "pictures":
            return len(place.files) == 1
        return self.source.format_name.endswith("_pipe")

    @property
    def name(self) -> str:
        """As the user calls it."""
        return self.source.place.name

    @property
    def fps(self) -> Fraction:
        """The average frame rate."""
        return self.source.rate or Fraction(25)

    @property
    def aspect(self) -> Fraction | None:
        """How wide an upright pixel is, where the source says so."""
        said = self.source.context.sample_aspect_ratio
        if not said:
            return None
        return 1 / as_fraction(said) if self.turn.quarters % 2 else as_fraction(said)

    def items(self) -> Iterator[Item]:
        """Everything from the first frame on; at its end the source is closed."""
        try:
            yield from self._seen_early()
            yield from self._items
        finally:
            self.close()

    def _seen_early(self) -> Iterator[Item]:
        while self._early:
            yield self._early.pop(0)

    def decoded(self, picture: Any) -> Decoded:
        """A picture that has this input's format, with what else is to be known of it."""
        if self._format_of(picture) != self.format:
            raise VideoError(
                f"{self.name}: the picture changes to {picture.width} × {picture.height} "
                f"{picture.format.name} in mid-stream; expected one size throughout"
            )
        return Decoded(picture, self.color, self.turn, self.bits)

    def keep_bits(self) -> None:
        """Read more than 8 bits, where the pictures have them."""
        if self.pixels.bits > 8:
            self.bits = 16 if self.format.kind == "rgba" else self.pixels.bits
            self.format = replace(self.format, bits=self.bits)

    def _format_of(self, picture: Any) -> Format:
        width, height = self.turn.size(picture.width, picture.height)
        return Format(kind_of(picture), width, height, self.color, self.bits)

    def _is_worth_seeking(self) -> bool:
        return self.source.place.where == "file" and self.span.start > PREROLL and not self.is_still

    def _seek(self) -> Any:
        """Go to the key frame from which the span's first frame can be decoded, and its sound."""
        wanted = self.source.begin + (self.span.start if self.span.warm is None else self.span.warm)
        back = (
            PREROLL if self.passed_on else Fraction(0)
        )  # pictures alone need none before a key frame
        self.source.seeking = True
        try:
            while True:
                self.source.seek(max(wanted - back, self.source.begin))
                self._items, self._early = self.source.items(self.passed_on), []
                try:
                    first = self._first_picture()
                except VideoError:  # after its last key frame, or its end
                    first = None
                if first is not None and self.clock.peek(first) <= wanted:
                    return first
                if wanted - back <= self.source.begin:
                    break
                back = max(2 * back, PREROLL)
        finally:
            self.source.seeking = False
        if first is None:
            raise VideoError(f"{self.name}: not a single frame could be decoded")
        return first

    def _first_picture(self) -> Any:
        for item in self._items:
            self._early.append(item)
            if item.picture is not None:
                return item.picture
        raise VideoError(f"{self.name}: not a single frame could be decoded")


def _pixels_of(first: Any, codec: str) -> Pixels:
    """What the pictures hold. Every GIF is said to have alpha; whether it does, its first frame tells."""
    held = pixels_of(first.format.name)
    if held.alpha and (codec == "gif" or first.format.has_palette):
        opaque = first.to_ndarray(format="rgba")[..., 3].min() == 255
        return replace(held, alpha=not opaque)
    return held


def check_target(dst: str | os.PathLike[str], places: Sequence[Place]) -> None:
    """Refuse to write onto what is read."""
    if target_of(dst).kind in ("stdout", "network"):
        return
    for place in places:
        path = place.url.removeprefix("file:")
        both = place.where == "file" and os.path.exists(dst) and os.path.exists(path)
        if both and os.path.samefile(path, dst):
            raise VideoError(f"{os.fspath(dst)}: this is the input itself; name another file")
