"""Transitions that mix the colours of both pictures."""

from __future__ import annotations

from dala.language.parameter import param
from dala.language.values import Image, Value
from dala.language.vocabulary import mix


def fade(a: Image, b: Image, progress: float = param(0.0, min=0, max=1)) -> Value:
    """From one to the other, everywhere at once."""
    return mix(a[0, 0], b[0, 0], progress)
