"""What text is painted with: colours, gradients, outlines, shadows, boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dala.colors import Color, rgba
from dala.errors import ArgumentError, ParameterError
from dala.text.style import check_number

MOST_STOPS = 64
WIDEST = 256.0  # pixels of an outline, a blur, a padding


@dataclass(frozen=True)
class Gradient:
    """Colours from one end of a text to the other.

    >>> from dala import text
    >>> gold = text.Gradient(["white", "gold", "#805000"])
    """

    colors: Sequence[Color]
    angle: float = 90.0  # degrees: 0 from left to right, 90 from top to bottom

    def __post_init__(self) -> None:
        if isinstance(self.colors, str) or not 2 <= len(self.colors) <= MOST_STOPS:
            raise ParameterError(f"a gradient has 2 to {MOST_STOPS} colours, got {self.colors!r}")
        object.__setattr__(self, "colors", tuple(rgba(color) for color in self.colors))
        object.__setattr__(self, "angle", check_number(self.angle, "angle"))


@dataclass(frozen=True)
class Outline:
    """A line around every letter; ``width`` in pixels, or a share of the size if it is not given.

    >>> from dala import text
    >>> text.Outline("black", width=2).width
    2
    """

    color: Color = "black"
    width: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "color", rgba(self.color))
        if self.width is not None:
            check_number(self.width, "an outline's width", 0, WIDEST)


@dataclass(frozen=True)
class Shadow:
    """A soft copy below the text; offset and blur in pixels, or shares of the size if they are not given.

    >>> from dala import text
    >>> text.Shadow("#00000080", offset=(3, 3), blur=2).offset
    (3, 3)
    """

    color: Color = (0, 0, 0, 160)
    offset: tuple[float, float] | None = None
    blur: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "color", rgba(self.color))
        if self.offset is not None:
            if len(self.offset) != 2:
                raise ParameterError(f"a shadow's offset is (x, y), got {self.offset!r}")
            for part in self.offset:
                check_number(part, "a shadow's offset", -WIDEST, WIDEST)
            object.__setattr__(self, "offset", tuple(self.offset))
        if self.blur is not None:
            check_number(self.blur, "a shadow's blur", 0, WIDEST)


@dataclass(frozen=True)
class Box:
    """A box behind the text; ``padding`` and ``radius`` in pixels, or shares of the size.

    >>> from dala import text
    >>> text.Box("navy", padding=8, radius=6).padding
    8
    """

    color: Color = (0, 0, 0, 160)
    padding: float | None = None
    radius: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "color", rgba(self.color))
        for name in ("padding", "radius"):
            if getattr(self, name) is not None:
                check_number(getattr(self, name), f"a box's {name}", 0, WIDEST)


OutlineLike: TypeAlias = "Outline | Color | None"
ShadowLike: TypeAlias = "Shadow | Color | bool | None"
BoxLike: TypeAlias = "Box | Color | None"


@dataclass(frozen=True)
class Paint:
    """Everything that text is painted with, as values that can be compared."""

    fill: bytes | Gradient
    outline: Outline | None
    shadow: Shadow | None
    box: Box | None


def read_paint(
    color: Color | Gradient, outline: OutlineLike, shadow: ShadowLike, background: BoxLike
) -> Paint:
    """What a caller gave; a colour alone stands for the whole thing in that colour."""
    if isinstance(shadow, bool):
        shadow = Shadow() if shadow else None
    for name, value, kinds in (
        ("outline", outline, (Shadow, Box, Gradient)),
        ("shadow", shadow, (Outline, Box, Gradient)),
        ("background", background, (Outline, Shadow, Gradient)),
    ):
        if isinstance(value, kinds):
            raise ArgumentError(f"{name} is a colour or text.{_OWN[name]}, got {value!r}")
    return Paint(
        color if isinstance(color, Gradient) else rgba(color),
        outline if isinstance(outline, Outline | None) else Outline(outline),
        shadow if isinstance(shadow, Shadow | None) else Shadow(shadow),
        background if isinstance(background, Box | None) else Box(background),
    )


_OWN = {"outline": "Outline", "shadow": "Shadow", "background": "Box"}
