"""A cue at one time, as something to lay over a picture: text in runs, a place, and pixels if wanted.

Karaoke: what was sung has its colour, what comes has the other one. A syllable that fills (``\\kf``) is cut
at a whole letter of the text, never within one.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala import text as dala_text
from dala.colors import Color, rgba
from dala.errors import ArgumentError, FontNotFoundError, ParameterError
from dala.scene.subtitles.cue import Cue, Run, Style
from dala.text.paint import BoxLike, OutlineLike, ShadowLike, read_paint

SIZE = 0.0533  # of the picture's height, as WebVTT has it
LINE = 1.2
WHITE = b"\xff\xff\xff\xff"
UNSUNG = b"\xb0\xb0\xb0\xff"  # where a file says nothing
Runs = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class Overlay:
    """What a cue shows at one time: ``runs`` as ``dala.text`` takes them, and where they are in pixels.

    ``position`` is where the point ``anchor`` of the text's box lies.

    >>> from dala.scene.subtitles import parse_srt, to_overlay
    >>> cue = parse_srt("1\\n00:00:01,000 --> 00:00:02,000\\nHello")[0]
    >>> overlay = to_overlay(cue, 640, 360)
    >>> overlay.text, overlay.position, overlay.anchor
    ('Hello', (320.0, 342.0), (0.5, 1.0))
    """

    runs: Runs
    position: tuple[float, float]
    anchor: tuple[float, float]
    size: float
    align: str
    max_width: float
    opacity: float
    start_us: int
    end_us: int
    rotation: float = 0.0
    outline: dala_text.Outline | None = None
    shadow: dala_text.Shadow | None = None
    background: dala_text.Box | None = None
    bounds: tuple[int, int] = field(default=(0, 0), repr=False)  # the picture's width and height
    moves: bool = field(default=False, repr=False)  # it is on its way: at parts of pixels, too

    @property
    def text(self) -> str:
        """Without styles."""
        return "".join(words for words, _ in self.runs)

    @property
    def properties(self) -> dict[str, Any]:
        """As a scene's text node takes them."""
        edge, shade, box = self.outline, self.shadow, self.background
        return {
            "text": self.runs,
            "position": self.position,
            "anchor": self.anchor,
            "size": (self.max_width, 0.0),
            "font_size": self.size,
            "align": self.align,
            "opacity": self.opacity,
            "outline": edge and {"color": edge.color, "width": edge.width},
            "shadow": shade and {"color": shade.color, "offset": shade.offset, "blur": shade.blur},
            "background": box and {"color": box.color, "padding": box.padding},
            "rotation": -self.rotation,
        }

    def layout(self) -> dala_text.Layout:
        """The text, shaped and wrapped."""
        return dala_text.layout(
            list(self.runs),
            size=self.size,
            max_width=self.max_width,
            align=self.align,  # type: ignore[arg-type]  # it was checked
            line_height=LINE,
        )

    def corner(self, block: Block) -> tuple[float, float]:
        """Where the layout's corner lies; what fits is seen whole, and what stands is at whole pixels."""
        x = self.position[0] - self.anchor[0] * block.width
        y = self.position[1] - self.anchor[1] * block.height
        x = min(max(x, 0.0), max(self.bounds[0] - block.width, 0.0)) - block.begins
        y = min(max(y, 0.0), max(self.bounds[1] - block.height, 0.0))
        return (x, y) if self.moves else (float(round(x)), float(round(y)))

    def picture(self) -> npt.NDArray[np.uint8]:
        """RGBA of the picture's size, transparent but for the text; a turned text is drawn unturned."""
        width, height = self.bounds
        pixels = np.zeros((height, width, 4), np.uint8)
        if not self.text.strip() or self.opacity <= 0:
            return pixels
        made = self.layout()
        dala_text.paint(pixels, made, self.corner(Block.of(made)), **self.paint)
        if self.opacity < 1:
            pixels[..., 3] = np.rint(pixels[..., 3] * self.opacity).astype(np.uint8)
        return pixels

    @property
    def paint(self) -> dict[str, Any]:
        """What lies around and behind its letters, as ``dala.text`` takes it."""
        return {"outline": self.outline, "shadow": self.shadow, "background": self.background}


class Block(NamedTuple):
    """The part of a layout that its lines take."""

    begins: float  # from the layout's left edge
    width: float
    height: float

    @classmethod
    def of(cls, made: dala_text.Layout) -> Block:
        """That of a layout."""
        begins = min((line.x for line in made.lines), default=0.0)
        ends = max((line.x + line.width for line in made.lines), default=0.0)
        return cls(begins, ends - begins, made.height)


def to_overlay(
    cue: Cue,
    width: int,
    height: int,
    *,
    time_us: int | None = None,
    size: float | None = None,
    color: Color = "white",
    font: str | None = None,
    outline: OutlineLike = "black",
    shadow: ShadowLike = None,
    background: BoxLike = None,
) -> Overlay:
    """What a cue shows on a picture of that size, at a time of the film (its start, if none is given).

    ``size`` (pixels), ``color``, ``font``, ``outline``, ``shadow`` and ``background`` are for what the cue
    leaves open; the last three are colours, or what ``dala.text`` has for them.

    >>> from dala.scene.subtitles import parse_vtt, to_overlay
    >>> cue = parse_vtt("WEBVTT\\n\\n00:01.000 --> 00:02.000\\n<00:01.000>one <00:01.500>two")[0]
    >>> overlay = to_overlay(cue, 640, 360, time_us=1_200_000)
    >>> [(words, style["color"][:3] == b"\\xff\\xff\\xff") for words, style in overlay.runs]
    [('one ', True), ('two', False)]
    """
    if not isinstance(cue, Cue):
        raise ArgumentError(f"to_overlay: expected a cue, as parse_srt gives them, got {cue!r}")
    for name, length in (("width", width), ("height", height)):
        if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= 65_535:
            raise ParameterError(f"to_overlay: {name} is 1..65535 pixels, got {length!r}")
    at = 0 if time_us is None else time_us - cue.start_us
    usual = height * SIZE if size is None else size
    runs = _runs(cue, at, height, usual, rgba(color), font)
    largest = max((style["size"] for _, style in runs), default=usual)
    look = cue.runs[0].style if cue.runs else Style()
    open_ = read_paint(color, outline, shadow, background)
    return Overlay(
        runs=runs,
        position=_position(cue, at, width, height, largest),
        anchor=cue.placement.anchor,
        size=min(max(usual, 1.0), 2048.0),
        align=cue.placement.align,
        max_width=cue.placement.width * width,
        opacity=_opacity(cue, at),
        start_us=cue.start_us,
        end_us=cue.end_us,
        rotation=cue.placement.rotation,
        outline=_outline(look, height, open_.outline),
        shadow=_shadow(look, height, open_.shadow),
        background=_box(look, open_.box),
        bounds=(width, height),
        moves=cue.placement.movement is not None,
    )


def _runs(cue: Cue, at: int, height: int, usual: float, color: bytes, font: str | None) -> Runs:
    made: list[tuple[str, dict[str, Any]]] = []
    for run in cue.runs:
        style = run.style
        size = (style.size * height if style.size else usual) * style.scale
        said: dict[str, Any] = {"size": min(max(size, 1.0), 2048.0), "color": style.color or color}
        family = style.font if style.font and _has_font(style.font) else font
        if family is not None:
            said["font"] = family
        if style.bold or style.italic:
            said |= {"weight": 700 if style.bold else 400, "italic": style.italic}
        if style.letter_spacing:
            said["letter_spacing"] = style.letter_spacing * height
        if style.language:
            said["language"] = style.language
        made += _sung(run, at, said)
    return tuple(made)


def _sung(run: Run, at: int, said: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """A run, or the part of it that was sung and the part that comes."""
    if run.begin_us is None:
        return [(run.text, said)]
    comes = said | {"color": run.style.unsung or UNSUNG}
    end = run.begin_us if run.end_us is None else run.end_us
    if at < run.begin_us:
        return [(run.text, comes)]
    if run.karaoke != "sweep" or at >= end:
        return [(run.text, said)]
    share = (at - run.begin_us) / (end - run.begin_us)
    cut = round(share * len(run.text))
    parts = [(run.text[:cut], said), (run.text[cut:], comes)]
    return [part for part in parts if part[0]]


@functools.lru_cache(256)
def _has_font(family: str) -> bool:
    """Whether this machine has a font that a file names; a path never comes from a file."""
    if "/" in family or "\\" in family or "." in family:
        return False
    try:
        dala_text.Font.load(family)
    except FontNotFoundError:
        return False
    return True


def _position(cue: Cue, at: int, width: int, height: int, size: float) -> tuple[float, float]:
    placement = cue.placement
    x, y = placement.x * width, placement.y
    if y is None:
        lines = placement.line if placement.line >= 0 else placement.line + 1
        margin = placement.margin * height
        edge = margin if placement.line >= 0 else height - margin
        return x, edge + lines * size * LINE
    y *= height
    if placement.movement is not None:
        movement = placement.movement
        length = max(movement.end_us - movement.begin_us, 1)
        share = min(max((at - movement.begin_us) / length, 0.0), 1.0)
        x += (movement.x * width - x) * share
        y += (movement.y * height - y) * share
    return x, y


def _opacity(cue: Cue, at: int) -> float:
    fade_in, fade_out = cue.fade_us
    left = cue.end_us - cue.start_us - at
    begins = min(at / fade_in, 1.0) if fade_in else 1.0
    ends = min(left / fade_out, 1.0) if fade_out else 1.0
    return max(min(begins, ends), 0.0)


def _outline(
    style: Style, height: int, usual: dala_text.Outline | None
) -> dala_text.Outline | None:
    if style.outline is None:
        return None if style.box is not None else usual
    width = min(style.outline * height, 256.0)
    return dala_text.Outline(style.outline_color or b"\0\0\0\xff", width) if width > 0 else None


def _shadow(style: Style, height: int, usual: dala_text.Shadow | None) -> dala_text.Shadow | None:
    if style.shadow is None:
        return usual
    far = min(style.shadow * height, 256.0)
    return dala_text.Shadow(style.shadow_color or b"\0\0\0\xa0", (far, far), 0) if far else None


def _box(style: Style, usual: dala_text.Box | None) -> dala_text.Box | None:
    return usual if style.box is None else dala_text.Box(style.box)
