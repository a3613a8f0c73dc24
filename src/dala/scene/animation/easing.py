"""Easings: how far a change is when a part of its time is over. Names as CSS and animators write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from dala.errors import ArgumentError, ParameterError, suggest

Curve: TypeAlias = Callable[[float], float]
_CALL = re.compile(r"\s*([a-z_]+)\s*\(([^()]{0,120})\)\s*")
MOST_STEPS = 10_000


@dataclass(frozen=True)
class Easing:
    """A curve with a name that can be written down and read again.

    >>> from dala.scene import cubic_bezier
    >>> round(cubic_bezier(0.42, 0, 1, 1)(0.5), 4)
    0.3154
    """

    name: str
    curve: Curve = field(compare=False, repr=False)

    def __call__(self, part: float) -> float:
        """How far it is when ``part`` of the time is over; exactly 0 and 1 at the ends."""
        if part <= 0.0:
            return 0.0
        return 1.0 if part >= 1.0 else self.curve(part)


def cubic_bezier(x1: float, y1: float, x2: float, y2: float) -> Easing:
    """CSS's curve from (0, 0) to (1, 1) with two control points; the x of both are 0 to 1.

    >>> from dala import scene
    >>> scene.cubic_bezier(0.25, 0.1, 0.25, 1).name
    'cubic_bezier(0.25, 0.1, 0.25, 1)'
    """
    numbers = [_number(v, "cubic_bezier") for v in (x1, y1, x2, y2)]
    x1, y1, x2, y2 = numbers
    if not (0 <= x1 <= 1 and 0 <= x2 <= 1):
        raise ParameterError(f"cubic_bezier: x1 and x2 are 0 to 1, got {x1:g} and {x2:g}")
    if max(abs(y1), abs(y2)) > 100:
        raise ParameterError(f"cubic_bezier: y1 and y2 are -100 to 100, got {y1:g} and {y2:g}")

    def curve(part: float) -> float:
        low, high, u = 0.0, 1.0, part
        for _ in range(
            64
        ):  # Newton's steps, and halving where they lead out: the same bits everywhere
            v = 1 - u
            off = 3 * v * v * u * x1 + 3 * v * u * u * x2 + u * u * u - part
            if off < 0:
                low = u
            else:
                high = u
            slope = 3 * v * v * x1 + 6 * v * u * (x2 - x1) + 3 * u * u * (1 - x2)
            step = off / slope if slope > 1e-9 else 2.0
            if not low <= u - step <= high:
                step = u - (low + high) / 2
            u -= step
            if -1e-15 < step < 1e-15:
                break
        v = 1 - u
        return 3 * v * v * u * y1 + 3 * v * u * u * y2 + u * u * u

    return Easing(f"cubic_bezier({', '.join(f'{n:g}' for n in numbers)})", curve)


def steps(count: int) -> Easing:
    """As many equal steps; the first is taken at the end of its part of the time.

    >>> from dala import scene
    >>> [scene.steps(2)(part) for part in (0.4, 0.6, 1.0)]
    [0.0, 0.5, 1.0]
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_STEPS:
        raise ParameterError(f"steps: expected 1 to {MOST_STEPS}, got {count!r}")
    return Easing(f"steps({count})", lambda part: math.floor(part * count) / count)


def spring(stiffness: float = 100.0, damping: float = 10.0, mass: float = 1.0) -> Easing:
    """A weight on a spring, which comes to rest at the end of the time.

    >>> from dala import scene
    >>> max(scene.spring()(part / 100) for part in range(100)) > 1.1
    True
    """
    stiffness, damping, mass = (_number(v, "spring") for v in (stiffness, damping, mass))
    if not (0 < stiffness <= 1e6 and 0 < damping <= 1e6 and 0 < mass <= 1e6):
        raise ParameterError("spring: stiffness, damping and mass are above 0, up to 1,000,000")
    natural = math.sqrt(stiffness / mass)
    ratio = damping / (2 * math.sqrt(stiffness * mass))
    decay = ratio * natural
    if ratio > 1:
        decay = natural * (ratio - math.sqrt(ratio * ratio - 1))  # the slower of the two
    rest = math.log(1000) / decay  # a thousandth of the way is left

    def left(t: float) -> float:
        """How much of the way is left after t seconds."""
        if ratio < 1:
            turn = natural * math.sqrt(1 - ratio * ratio)
            return math.exp(-decay * t) * (math.cos(turn * t) + decay / turn * math.sin(turn * t))
        if ratio == 1:
            return math.exp(-natural * t) * (1 + natural * t)
        root = math.sqrt(ratio * ratio - 1)
        slow, fast = natural * (ratio - root), natural * (ratio + root)
        return (fast * math.exp(-slow * t) - slow * math.exp(-fast * t)) / (fast - slow)

    end = left(rest)
    name = "spring" if (stiffness, damping, mass) == (100, 10, 1) else None
    return Easing(
        name or f"spring({stiffness:g}, {damping:g}, {mass:g})",
        lambda part: 1 - left(part * rest) + end * part,
    )


def _number(value: object, who: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ParameterError(f"{who}: expected finite numbers, got {value!r}")
    return float(value)


# -- by name -----------------------------------------------------------------------------------------------


def _bounce(part: float) -> float:
    """A ball that falls onto the end and jumps three times."""
    for start, middle, height in ((8, 0.0, 0.0), (16, 1.5, 0.75), (20, 2.25, 0.9375)):
        if part * 2.75 < start / 8:
            return 7.5625 * (part - middle / 2.75) ** 2 + height
    return 7.5625 * (part - 2.625 / 2.75) ** 2 + 0.984375


def _elastic(part: float) -> float:
    return float(2 ** (10 * part - 10) * -math.sin((part * 10 - 10.75) * 2 * math.pi / 3))


_IN: dict[str, Curve] = {
    "sine": lambda part: 1 - math.cos(part * math.pi / 2),
    "quad": lambda part: part**2,
    "cubic": lambda part: part**3,
    "quart": lambda part: part**4,
    "expo": lambda part: float(2 ** (10 * part - 10)),
    "circ": lambda part: 1 - math.sqrt(1 - part * part),
    "back": lambda part: 2.70158 * part**3 - 1.70158 * part**2,
    "elastic": _elastic,
    "bounce": lambda part: 1 - _bounce(1 - part),
}


def _out(curve: Curve) -> Curve:
    return lambda part: 1 - curve(1 - part)


def _in_out(curve: Curve) -> Curve:
    return lambda part: curve(2 * part) / 2 if part < 0.5 else 1 - curve(2 - 2 * part) / 2


def _table() -> dict[str, Easing]:
    found = {"linear": Easing("linear", lambda part: part)}
    for name, points in (
        ("ease", (0.25, 0.1, 0.25, 1.0)),
        ("ease_in", (0.42, 0.0, 1.0, 1.0)),
        ("ease_out", (0.0, 0.0, 0.58, 1.0)),
        ("ease_in_out", (0.42, 0.0, 0.58, 1.0)),
    ):
        found[name] = Easing(name, cubic_bezier(*points).curve)
    found["spring"] = spring()
    found["bounce"] = Easing("bounce", _bounce)
    for name, curve in _IN.items():
        for prefix, made in (("in", curve), ("out", _out(curve)), ("in_out", _in_out(curve))):
            found[f"ease_{prefix}_{name}"] = Easing(f"ease_{prefix}_{name}", made)
    return found


EASINGS = _table()
_MADE: dict[str, Callable[..., Easing]] = {
    "cubic_bezier": cubic_bezier,
    "steps": lambda count: steps(int(count) if count == int(count) else count),
    "spring": spring,
}


def read_easing(value: object) -> Easing:
    """An easing, its name, or a call as text: ``"steps(4)"``."""
    if isinstance(value, Easing):
        return value
    if not isinstance(value, str):
        raise ArgumentError(f"easing: expected a name like 'ease_out', got {value!r}")
    if value in EASINGS:
        return EASINGS[value]
    call = _CALL.fullmatch(value)
    if call and call[1] in _MADE:
        try:
            return _MADE[call[1]](*(float(part) for part in call[2].split(",") if part.strip()))
        except (ValueError, TypeError, OverflowError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"easing: {value!r} has other numbers than {call[1]} takes"
            ) from None
    known = [*EASINGS, *(f"{name}(…)" for name in _MADE)]
    raise ParameterError(
        f"easing: there is no {value!r}{suggest(value, known)}; e.g. linear, ease_in, ease_out, "
        "ease_in_out, spring, bounce, steps(4), cubic_bezier(0.25, 0.1, 0.25, 1)"
    )
