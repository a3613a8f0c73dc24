"""Images from nothing: kernels without inputs."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language.values import Vec
from dala.language.vocabulary import height, max, rgba, width, x, y


@builtin("image")
def generate_gradient() -> Vec:
    """Red grows to the right, green downwards, blue is their mean; opaque."""
    across = x / max(width - 1, 1)
    down = y / max(height - 1, 1)
    return rgba(across, down, (across + down) * 0.5, 1.0)
