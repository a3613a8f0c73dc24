"""What ink paints with: a colour, a gradient, an image."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dala.colors import Color, rgba
from dala.errors import ArgumentError, ParameterError, suggest
from dala.gpu.ink_fields import EXTENDS, FILTERS, KINDS, PAINT, SPREADS
from dala.gpu.opcodes import MAX_STOPS

Stops: TypeAlias = "Sequence[Color | tuple[float, Color]]"
Spread: TypeAlias = Literal["pad", "repeat", "reflect"]


def one_of(value: object, names: Sequence[str], what: str) -> int:
    """The number of a word; ParameterError names the others."""
    if value in names:
        return names.index(str(value))
    close = suggest(str(value), names)
    raise ParameterError(f"{what} is one of {', '.join(names)}; got {value!r}{close}")


def finite_numbers(values: Sequence[object], who: str) -> None:
    """Refuse what is no finite number."""
    for value in values:
        try:
            fine = math.isfinite(value) and abs(value) < 3e38  # type: ignore[arg-type]
        except TypeError:
            raise ArgumentError(f"{who}: expected numbers, got {value!r}") from None
        if not fine:
            raise ParameterError(f"{who}: expected finite numbers, got {value!r}")


def _stop_bytes(stops: Stops, who: str) -> tuple[int, bytes]:
    """Stops as bytes: pairs of an offset and a colour, or colours, which are spread evenly."""
    if not 1 <= len(stops) <= MAX_STOPS:
        raise ParameterError(f"{who}: expected 1..{MAX_STOPS} stops, got {len(stops)}")
    pairs = []
    for i, stop in enumerate(stops):
        if isinstance(stop, tuple) and len(stop) == 2:
            pairs.append((float(stop[0]), rgba(stop[1])))
        else:
            pairs.append((i / max(len(stops) - 1, 1), rgba(stop)))
    offsets = [offset for offset, _ in pairs]
    if any(not 0 <= o <= 1 for o in offsets) or offsets != sorted(offsets):
        raise ParameterError(f"{who}: offsets go from 0 to 1, none before the last; got {offsets}")
    return len(pairs), b"".join(struct.pack("<f4s", *pair) for pair in pairs)


def _gradient(kind: str, numbers: tuple[float, ...], stops: Stops, spread: str) -> bytes:
    who = f"{kind} gradient"
    finite_numbers(numbers, who)
    count, table = _stop_bytes(stops, who)
    padded = (*numbers, *(0.0,) * (6 - len(numbers)))
    number = one_of(spread, SPREADS, "spread")
    return PAINT.pack(KINDS.index(kind), number, count, bytes(4), *padded, 0) + table


@dataclass(frozen=True)
class LinearGradient:
    """Colours along a line from (x0, y0) to (x1, y1): colours, or pairs of an offset and a colour.

    >>> from dala import gpu
    >>> with gpu.create_surface(3, 1) as surface:
    ...     surface.fill_path("M0 0 H3 V1 H0 Z", gpu.LinearGradient(0, 0, 3, 0, ["black", "white"]))
    ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
    [43, 128, 212]
    """

    x0: float
    y0: float
    x1: float
    y1: float
    stops: Stops
    spread: Spread = "pad"

    def __bytes__(self) -> bytes:
        return _gradient("linear", (self.x0, self.y0, self.x1, self.y1), self.stops, self.spread)


@dataclass(frozen=True)
class RadialGradient:
    """Colours from a circle about (cx, cy) of radius ``inner`` out to one of ``radius``.

    >>> from dala import gpu
    >>> glow = gpu.RadialGradient(50, 50, 40, [(0, "white"), (1, "transparent")])
    """

    cx: float
    cy: float
    radius: float
    stops: Stops
    inner: float = 0.0
    spread: Spread = "pad"

    def __bytes__(self) -> bytes:
        numbers = (self.cx, self.cy, self.inner, self.radius)
        return _gradient("radial", numbers, self.stops, self.spread)


@dataclass(frozen=True)
class ConicGradient:
    """Colours round (cx, cy), clockwise from ``start`` degrees; 0 is to the right.

    >>> from dala import gpu
    >>> wheel = gpu.ConicGradient(50, 50, ["red", "lime", "blue", "red"])
    """

    cx: float
    cy: float
    stops: Stops
    start: float = 0.0

    def __bytes__(self) -> bytes:
        return _gradient("conic", (self.cx, self.cy, self.start / 360), self.stops, "pad")


@dataclass(frozen=True)
class Pattern:
    """A loaded image as a paint: repeated, mirrored, or its border going on. ``transform`` is a matrix from
    its pixels (a, b, c, d, e, f); ``tint`` multiplies its colours.

    >>> from dala import gpu
    >>> tiles = gpu.Pattern(7, extend="repeat", transform=(2, 0, 0, 2, 0, 0))
    """

    image_id: int
    extend: Literal["pad", "repeat", "reflect", "none"] = "repeat"
    transform: tuple[float, float, float, float, float, float] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    tint: Color = "white"
    filter: Literal["bilinear", "nearest"] = "bilinear"

    def __bytes__(self) -> bytes:
        finite_numbers(self.transform, "Pattern")
        if len(self.transform) != 6:
            raise ParameterError(f"Pattern: a transform is six numbers, got {self.transform!r}")
        how = one_of(self.extend, EXTENDS, "extend") | one_of(self.filter, FILTERS, "filter") << 2
        tint = rgba(self.tint)
        kind = KINDS.index("pattern")
        try:
            return PAINT.pack(kind, how, 0, tint, *self.transform, self.image_id)
        except struct.error as error:
            raise ParameterError(f"Pattern: {error}") from error


Paint: TypeAlias = "Color | LinearGradient | RadialGradient | ConicGradient | Pattern"
_PAINTS = (LinearGradient, RadialGradient, ConicGradient, Pattern)


def is_color(paint: object) -> bool:
    """Whether a paint is a colour (or nothing that is known)."""
    return not isinstance(paint, _PAINTS)


def paint_bytes(paint: Paint) -> bytes:
    """A paint on the wire."""
    if isinstance(paint, _PAINTS):
        return bytes(paint)
    return PAINT.pack(0, 0, 0, rgba(paint), *(0.0,) * 6, 0)
