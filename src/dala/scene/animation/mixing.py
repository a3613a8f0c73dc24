"""Values between two values: numbers and tuples of numbers move, colours mix, everything else switches."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Way: TypeAlias = Literal["number", "whole", "numbers", "color", "switch"]


def mix(way: Way, first: Any, second: Any, part: float) -> Any:
    """What is ``part`` of the way from the first to the second; springs go beyond 1."""
    if first == second:
        return second
    if way == "number":
        return first + (second - first) * part
    if way == "whole":
        return round(first + (second - first) * part)
    if way == "numbers" and first is not None and second is not None:
        if len(first) == len(second) == 2:
            a, b = first  # positions, mostly: a generator takes three times as long
            c, d = second
            return a + (c - a) * part, b + (d - b) * part
        if len(first) == len(second):
            return tuple(a + (b - a) * part for a, b in zip(first, second, strict=True))
    elif way == "color" and _is_color(first) and _is_color(second):
        return mix_colors(first, second, part)
    return first if part < 0.5 else second


def _is_color(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 4


def mix_colors(
    first: tuple[int, ...], second: tuple[int, ...], part: float
) -> tuple[int, int, int, int]:
    """Colours weighed by how much is seen of them: from transparent to red nothing is dark red.

    >>> mix_colors((0, 0, 0, 0), (255, 0, 0, 255), 0.5)
    (255, 0, 0, 128)
    """
    part = min(max(part, 0.0), 1.0)
    a, b = first[3] * (1 - part), second[3] * part
    alpha = a + b
    if alpha <= 0:
        return (0, 0, 0, 0)
    levels = [
        int((x * a + y * b) / alpha + 0.5) for x, y in zip(first[:3], second[:3], strict=True)
    ]
    return (levels[0], levels[1], levels[2], int(alpha + 0.5))
