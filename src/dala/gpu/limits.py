"""Why numbers are refused that a command cannot carry."""

from __future__ import annotations

from dala.errors import ArgumentError, ParameterError
from dala.gpu.opcodes import MAX_PIXELS, MAX_SIDE


def check_size(width: object, height: object, who: str) -> None:
    """Refuse sizes that no surface, image or region can have."""
    for side in (width, height):
        if isinstance(side, bool) or not hasattr(side, "__index__"):
            raise ArgumentError(f"{who}: width and height are whole numbers, got {side!r}")
    w, h = int(width), int(height)  # type: ignore[call-overload]
    if not (1 <= w <= MAX_SIDE and 1 <= h <= MAX_SIDE and w * h <= MAX_PIXELS):
        raise ParameterError(
            f"{who}: {w} × {h} pixels; expected 1..{MAX_SIDE} each, and {MAX_PIXELS} in all at most"
        )


def refusal(name: str, error: Exception, *values: object) -> Exception:
    """Why numbers could not be packed."""
    for value in values:
        if not hasattr(value, "__index__"):
            return ArgumentError(f"{name}: expected whole numbers, got {value!r}; round it first")
    return ParameterError(f"{name}: a number is out of range in {values}: {error}")
