"""``--text``: a caption on pictures and videos, behind the filters.

``{frame}``, ``{time}`` and ``{name}`` stand for the number of the frame from 0, its time, and the file.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.cli.mistakes import UsageMistake
from dala.errors import DalaError

if TYPE_CHECKING:
    from dala.video.over import Instant

Pixels = npt.NDArray[Any]
FIELDS = ("frame", "time", "name")
SHARE = 20  # of a picture's height: the size of letters, if none is given
LEAST = 12.0


@dataclass(frozen=True)
class Caption:
    """A text with fields, and how it looks."""

    text: str
    at: str = "bottom"
    size: float | None = None
    color: str = "white"
    font: str | None = None
    name: str = ""

    def check(self) -> None:
        """Refuse what makes no sense, before any file is looked at."""
        try:
            fields = [field for _, field, _, _ in string.Formatter().parse(self.text)]
        except ValueError as error:
            raise UsageMistake(f"--text: {error}; a brace is written twice: {{{{") from error
        for field in fields:
            if field is not None and field not in FIELDS:
                known = ", ".join(f"{{{name}}}" for name in FIELDS)
                raise UsageMistake(
                    f"--text knows {known}, not {{{field}}}; a brace is written twice"
                )
        try:
            self.draw(np.zeros((64, 64, 3), np.uint8), 0, Fraction(0))
        except DalaError as error:
            raise UsageMistake(f"--text: {error}") from error

    def of(self, name: str) -> Caption:
        """The caption of one file."""
        return replace(self, name=name)

    def words(self, frame: int, time: Fraction) -> str:
        """What is shown on a frame."""
        told = {"frame": str(frame), "time": tell_time(time), "name": self.name}
        parts = string.Formatter().parse(self.text.replace("\\n", "\n"))
        return "".join(before + (told[field] if field else "") for before, field, _, _ in parts)

    def draw(self, pixels: Pixels, frame: int, time: Fraction) -> None:
        """Draw it on pixels, in place; the outline keeps it readable on any of them."""
        from dala import text

        size = self.size or max(LEAST, pixels.shape[0] / SHARE)
        text.draw(
            pixels, self.words(frame, time), self._place, color=self.color, outline="black",
            size=size, font=self.font, in_place=True,
        )  # fmt: skip

    def over(self, instant: Instant) -> Pixels:
        """The picture over a frame of a video."""
        words = self.words(instant.number, instant.time)
        if words not in self._drawn:
            layer = np.zeros((instant.height, instant.width, 4), np.uint8)
            self.draw(layer, instant.number, instant.time)
            self._drawn.clear()
            self._drawn[words] = layer
        return self._drawn[words]

    @cached_property
    def _drawn(self) -> dict[str, Pixels]:
        return {}  # the last one: most captions stay as they are

    @property
    def _place(self) -> Any:
        parts = self.at.split(",")
        if len(parts) != 2:
            return self.at
        try:
            return float(parts[0]), float(parts[1])
        except ValueError:
            raise UsageMistake(f"--text-at is a place or x,y, got {self.at!r}") from None


def tell_time(time: Fraction) -> str:
    """``0:01:02.500``."""
    thousandths = round(time * 1000)
    seconds, rest = divmod(thousandths, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}.{rest:03}"
