"""Two images into one. Alpha is straight, as everywhere: colours are not multiplied by it."""

from __future__ import annotations

from collections.abc import Callable

from dala.kernels.declare import builtin
from dala.language.parameter import param, static
from dala.language.values import Image, Operand, Value, Vec
from dala.language.vocabulary import abs, max, min, mix, sqrt, where


def _screen(a: Value, b: Value) -> Value:
    return a + b - a * b


def _hard_light(a: Value, b: Value) -> Value:
    return where(b <= 0.5, a * (2.0 * b), _screen(a, 2.0 * b - 1.0))


def _soft_light(a: Value, b: Value) -> Value:
    curve = where(a <= 0.25, ((16.0 * a - 12.0) * a + 4.0) * a, sqrt(a))
    return a + (2.0 * b - 1.0) * where(b <= 0.5, a - a * a, curve - a)


# The colour where both are opaque; a is the base, b the top. As in W3C's "Compositing and Blending".
MODES: dict[str, Callable[[Value, Value], Value]] = {
    "over": lambda a, b: b,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: max(a - b, 0.0),
    "multiply": lambda a, b: a * b,
    "screen": _screen,
    "overlay": lambda a, b: _hard_light(b, a),
    "darken": min,
    "lighten": max,
    "difference": lambda a, b: abs(a - b),
    "soft_light": _soft_light,
    "hard_light": _hard_light,
}


@builtin("image")
def blend(
    base: Image,
    top: Image,
    alpha: float = param(
        0.5, min=0, max=1, help="Opacity of the top: its alpha is multiplied by it."
    ),
    mode: str = static("over", choices=tuple(MODES), help="How two opaque colours meet."),
) -> Vec:
    """The top image on the base; where the base is transparent the top shows as it is.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.blend(photo, np.full((2, 2), 200, np.uint8), 0.5)[0, 0].tolist()
    [150, 150, 150]
    """
    under, above = base[0, 0], top[0, 0]
    color: Value = above.rgb
    if mode != "over":  # it is the same over anything
        color = mix(color, MODES[mode](under.rgb, color), under.a)
    return composite(under, color, above.a * alpha)


def composite(base: Vec, color: Value, coverage: Operand) -> Vec:
    """``color`` covering this much of ``base``: source-over, with straight alpha."""
    alpha = coverage + base.a * (1.0 - coverage)
    share = coverage / max(alpha, 1e-20)  # of the colour in what is seen; nothing seen: the base's
    mixed = mix(base.rgb, color, share)
    assert isinstance(mixed, Vec)
    return mixed.with_alpha(alpha)
