"""A source made ready: its first frame is decoded, because only that tells size, colours and turn."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

from dala.errors import VideoError
from dala.video.clock import Clock, usual_duration
from dala.video.codecs import container_for
from dala.video.color import Matrix, Range, color_of
from dala.video.device import Format
from dala.video.library import as_fraction
from dala.video.pictures import Decoded, kind_of, turn_of
from dala.video.sound import Audio
from dala.video.source import Item, OnDamage, Place, Source, Spec, place_of

Keep = Literal["copy", "none"]


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
    ) -> None:
        self.source = Source(place_of(spec), on_damage=on_damage, timeout=10)
        self.audio: Audio = audio
        streams = self.source.container.streams
        self.passed_on: list[Any] = [
            *(() if audio == "none" else streams.audio),
            *(streams.subtitles if subtitles == "copy" else ()),
        ]
        self.left_out = [
            f"{s.type} {s.index}"
            for s in streams
            if s.type not in ("audio", "subtitle") and s.index != self.source.index
        ]
        self.clock = Clock(self.source)
        self.usual_duration = usual_duration(self.source)
        self._items = self.source.items(self.passed_on)
        self._early: list[Item] = []
        try:
            first = self._first_picture()
            self.turn = turn_of(first)
            self.color = color_of(first, matrix=matrix, range=range)
            self.format = self._format_of(first)
            self.begin: Fraction = self.clock.peek(first)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file or the connection. Twice does nothing."""
        self.source.close()

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
            while self._early:
                yield self._early.pop(0)
            yield from self._items
        finally:
            self.close()

    def decoded(self, picture: Any) -> Decoded:
        """A picture that has this input's format, with what else is to be known of it."""
        if self._format_of(picture) != self.format:
            raise VideoError(
                f"{self.name}: the picture changes to {picture.width} × {picture.height} "
                f"{picture.format.name} in mid-stream; expected one size throughout"
            )
        return Decoded(picture, self.color, self.turn)

    def _format_of(self, picture: Any) -> Format:
        width, height = self.turn.size(picture.width, picture.height)
        return Format(kind_of(picture), width, height, self.color)

    def _first_picture(self) -> Any:
        for item in self._items:
            self._early.append(item)
            if item.picture is not None:
                return item.picture
        raise VideoError(f"{self.name}: not a single frame could be decoded")


def check_target(dst: str | os.PathLike[str], places: Sequence[Place]) -> None:
    """Refuse to write onto what is read."""
    container_for(os.fspath(dst))
    for place in places:
        path = place.url.removeprefix("file:")
        both = place.where == "file" and os.path.exists(dst) and os.path.exists(path)
        if both and os.path.samefile(path, dst):
            raise VideoError(f"{os.fspath(dst)}: this is the input itself; name another file")
