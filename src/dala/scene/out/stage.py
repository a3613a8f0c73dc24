"""What is needed of whatever goes out: a scene, or a canvas of one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from dala.errors import ArgumentError, ParameterError
from dala.scene.layers import Composition
from dala.scene.times import Time, planned
from dala.video.span import rate_of


class Composed(Protocol):
    """Something that has a composition at any time."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def device(self) -> str | None: ...
    @property
    def target_fps(self) -> Fraction: ...
    @property
    def duration(self) -> Fraction | None: ...
    def evaluate(self, time: Fraction) -> Composition: ...
    def describe(self) -> Any: ...


def device_of(stage: Composed, device: str | None) -> str | None:
    """What paints a stage: its own device unless another is named."""
    return stage.device if device is None else device


def check_stage(scene: object, who: str) -> None:
    """Refuse what is no scene."""
    if not hasattr(scene, "evaluate") or not hasattr(scene, "describe"):
        raise ArgumentError(f"{who}: expected a scene or a canvas, got {type(scene).__name__}")


def fps_of(scene: Composed, fps: float | Fraction | None) -> Fraction:
    """Frames a second: those asked for, or the scene's."""
    return scene.target_fps if fps is None else rate_of(fps)


def span_of(
    scene: Composed, start: Time | None, end: Time | None, who: str
) -> tuple[Fraction, Fraction]:
    """From when until when; a scene without an end of its own needs one."""
    first = Fraction(0) if start is None else planned(start, f"{who}: start")
    last = scene.duration if end is None else planned(end, f"{who}: end")
    if last is None:
        raise ParameterError(
            f"{who}: nothing in this scene ends, so say how long: {who}(…, end=10.0)"
        )
    if first < 0 or last <= first:
        raise ParameterError(
            f"{who}: expected a start from 0 up and an end after it, got {float(first):g}..{float(last):g}"
        )
    return first, last


def count_of(start: Fraction, end: Fraction, fps: Fraction) -> int:
    """How many frames begin before the end: frame n is that of the time start + n / fps."""
    length = (end - start) * fps
    return -(-length.numerator // length.denominator)
