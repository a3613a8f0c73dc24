"""What a subtitle is, whatever file it came from: frozen values, times in whole microseconds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, SupportsIndex, overload

Align = Literal["start", "center", "end", "left", "right"]
Vertical = Literal["", "rl", "lr"]
Karaoke = Literal["switch", "sweep", "outline"]  # \k, \kf, \ko


@dataclass(frozen=True, slots=True)
class Style:
    """How a part of a cue looks. Lengths are shares of the picture's height; None: as usual."""

    font: str | None = None
    size: float | None = None
    scale: float = 1.0  # of the size, where a file only says "larger"
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    color: bytes | None = None  # RGBA
    unsung: bytes | None = None  # RGBA of karaoke before its turn
    outline_color: bytes | None = None
    outline: float | None = None
    shadow_color: bytes | None = None
    shadow: float | None = None
    box: bytes | None = None  # RGBA of a box behind the text
    letter_spacing: float = 0.0
    language: str | None = None


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one style. Karaoke is sung from ``begin_us`` to ``end_us`` after the cue's start."""

    text: str
    style: Style = PLAIN
    begin_us: int | None = None
    end_us: int | None = None
    karaoke: Karaoke = "switch"


@dataclass(frozen=True, slots=True)
class Movement:
    """From the cue's place to another, between two times after its start."""

    x: float
    y: float
    begin_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a cue is: shares of the picture's width and height.

    ``anchor`` is the point of the text's box that lies at (x, y). Without ``y``, ``line`` counts lines of
    text from the top (0, 1, …) or from the bottom (-1, -2, …).
    """

    x: float = 0.5
    y: float | None = None
    line: int = -1
    anchor: tuple[float, float] = (0.5, 1.0)
    align: Align = "center"
    width: float = 0.9  # at which lines are wrapped
    margin: float = 0.05  # to the upper or lower edge
    vertical: Vertical = ""
    movement: Movement | None = None
    rotation: float = 0.0  # degrees, counter-clockwise


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle, shown from ``start_us`` until before ``end_us``.

    >>> from dala.scene.subtitles import parse_srt
    >>> cue = parse_srt("1\\n00:00:01,500 --> 00:00:03,000\\nHello <i>world</i>")[0]
    >>> cue.start_us, cue.end_us, cue.text, cue.runs[1].style.italic
    (1500000, 3000000, 'Hello world', True)
    """

    start_us: int
    end_us: int
    runs: tuple[Run, ...]
    placement: Placement = field(default_factory=Placement)
    id: str = ""
    voice: str = ""  # who speaks
    layer: int = 0
    fade_us: tuple[int, int] = (0, 0)  # in and out

    @property
    def text(self) -> str:
        """Without styles."""
        return "".join(run.text for run in self.runs)

    @property
    def is_karaoke(self) -> bool:
        """Whether parts of it have times of their own."""
        return any(run.begin_us is not None for run in self.runs)


class Cues(tuple[Cue, ...]):
    """Cues in the order of their starts; ``problems`` says what of the file was left out.

    >>> from dala.scene.subtitles import parse_srt
    >>> cues = parse_srt("1\\n00:00:01,000 --> 00:00:02,000\\none\\n\\n2\\n00:00:x --> 3\\ntwo")
    >>> len(cues), cues.problems
    (1, ("line 6: expected times like 00:00:01,000 --> 00:00:02,500, got '00:00:x --> 3'",))
    """

    problems: tuple[str, ...]
    starts: tuple[int, ...]
    latest_ends: tuple[int, ...]  # of all cues up to each

    def __new__(cls, cues: Iterable[Cue] = (), problems: Iterable[str] = ()) -> Cues:
        self = super().__new__(cls, sorted(cues, key=lambda cue: cue.start_us))
        self.problems = tuple(problems)
        self.starts = tuple(cue.start_us for cue in self)
        ends, last = [], 0
        for cue in self:
            last = max(last, cue.end_us)
            ends.append(last)
        self.latest_ends = tuple(ends)
        return self

    @overload
    def __getitem__(self, index: SupportsIndex) -> Cue: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cue, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Cue | tuple[Cue, ...]:
        return super().__getitem__(index)

    def starting_after(self, time_us: int) -> int | None:
        """When the next one begins; None: none comes."""
        following = bisect_right(self.starts, time_us)
        return self.starts[following] if following < len(self.starts) else None

    @property
    def end_us(self) -> int:
        """When the last one is over."""
        return self.latest_ends[-1] if self else 0
