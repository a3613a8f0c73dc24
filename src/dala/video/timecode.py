"""Timecode: what the clock of a recording said at its first frame, and says at the first one of a part.

``10:00:00:00`` counts frames; ``10:00:00;00`` leaves numbers out so that 29.97 frames a second stay with
the clock: two at each minute but every tenth (four at 59.94).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from dala.video.inputs import Input
from dala.video.source import Source

_CODE = re.compile(r"(\d\d):(\d\d):(\d\d)([:;.])(\d\d)")
KEPT_IN = ("mov", "mp4", "matroska", "mxf")  # containers with a place for it
NAME = "its timecode"


def timecode_of(source: Input) -> str | None:
    """At the first frame that is taken; None if it has none, or if frames are no longer the recording's."""
    code = first_timecode(source.source)
    if code is None or source.span.speed != 1 or source.span.fps is not None:
        return None
    return later(code, source.span.start, source.fps)


def has_timecode(source: Input) -> bool:
    """Whether the recording has one."""
    return first_timecode(source.source) is not None


def is_timecode(key: str) -> bool:
    """Whether a key of metadata is its name; Matroska has it in capitals."""
    return key.lower() == "timecode"


def without_timecode(metadata: Mapping[str, str]) -> dict[str, str]:
    """All else that is said."""
    return {key: value for key, value in metadata.items() if not is_timecode(key)}


def first_timecode(source: Source) -> str | None:
    """What the clock said at a recording's first frame."""
    said = (source.container.metadata, source.stream.metadata)
    return next((str(v) for words in said for k, v in words.items() if is_timecode(k)), None)


def later(code: str, seconds: Fraction, fps: Fraction) -> str | None:
    """The code so many seconds on; none where a frame lasts longer than the seconds that it counts.

    >>> later("10:00:59:20", Fraction(1, 5), Fraction(25))
    '10:01:00:00'
    >>> later("00:00:59;28", Fraction(1, 10), Fraction(30000, 1001))
    '00:01:00;02'
    """
    found = _CODE.fullmatch(code)
    if found is None or fps < 1:
        return None
    hours, minutes, whole, frames = (int(found[n]) for n in (1, 2, 3, 5))
    rate = round(fps)
    left_out = rate // 15 if found[4] != ":" else 0  # numbers, at each minute but every tenth
    total_minutes = 60 * hours + minutes
    count = (
        (total_minutes * 60 + whole) * rate
        + frames
        - left_out * (total_minutes - total_minutes // 10)
    )
    count += int(seconds * fps)
    tens, rest = divmod(count, 600 * rate - 9 * left_out)
    if rest >= left_out:
        rest += left_out * ((rest - left_out) // (60 * rate - left_out))
    number = tens * 600 * rate + rest
    clock, frame = divmod(number, rate)
    hour, minute, second = clock // 3600 % 24, clock // 60 % 60, clock % 60
    return f"{hour:02}:{minute:02}:{second:02}{found[4]}{frame:02}"
