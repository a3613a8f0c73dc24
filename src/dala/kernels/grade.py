"""What a colourist does: curves, tints, film. Alpha is kept.

What is added vanishes at black and white, so nothing is clipped that was not; values of f32 images outside
0..1 go through unchanged.
"""

from __future__ import annotations

from dala.kernels.blur import soft_blur
from dala.kernels.color import keep_alpha
from dala.kernels.declare import builtin
from dala.kernels.generate import scramble
from dala.language.parameter import param, static
from dala.language.values import Image, Operand, Value, Vec
from dala.language.vocabulary import (
    clamp,
    f32,
    floor,
    luma,
    max,
    min,
    mix,
    rgb,
    smoothstep,
    u32,
    x,
    y,
)

MIXED = 1.8  # what grains lose when they are mixed, and a reduced picture when it is averaged
_PEAK = 27 / 4  # t(1-t)² is 1 / _PEAK where it is largest, at a third


@builtin("image")
def tone(
    src: Image,
    contrast: float = param(0.0, min=-1, max=1, help="An S-curve; it never clips."),
    shadows: float = param(0.0, min=-1, max=1, help="Above 0 lightens the dark tones."),
    highlights: float = param(0.0, min=-1, max=1, help="Below 0 darkens the light tones."),
    fade: float = param(0.0, min=0, max=1, help="How far black is lifted towards white."),
) -> Vec:
    """A smooth curve through black and white, the same for each channel; it never clips.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.tone(photo, 0.5, shadows=0.2)[0, 0].tolist()
    [101, 101, 101]
    """
    # Cubics whose slopes stay above 0 for each parameter alone, over its whole range.
    p = src[0, 0]
    t = clamp(p.rgb, 0.0, 1.0)
    rest = 1.0 - t
    change = t * rest * (contrast * (t - rest) + shadows * rest + highlights * t)
    return keep_alpha((p.rgb + change) * (1.0 - fade) + fade, p)


@builtin("image")
def split_tone(
    src: Image,
    shadows: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), min=-1, max=1, help="Added to red, green and blue of dark tones."
    ),
    highlights: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), min=-1, max=1, help="Added to red, green and blue of light tones."
    ),
) -> Vec:
    """One tint for dark tones, another for light ones; black, white and alpha stay.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.split_tone(photo, (-0.1, 0, 0.1))[0, 0].tolist()
    [75, 100, 125]
    """
    p = src[0, 0]
    t = clamp(luma(p), 0.0, 1.0)
    between = t * (1.0 - t) * _PEAK
    dark, light = between * (1.0 - t), between * t
    return keep_alpha(p.rgb + rgb(*shadows) * dark + rgb(*highlights) * light, p)


@builtin("image")
def vibrance(
    src: Image, value: float = param(0.0, min=-1, max=3, help="0 changes nothing.")
) -> Vec:
    """Saturation for pale colours; the stronger a colour is already, the less it changes.

    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.vibrance(photo, 0.5)[0, 0].tolist()
    [188, 118, 48]
    """
    # By the saturation of HSV, which counts a dark red as strong: so its blue is not pushed below 0.
    p = src[0, 0]
    tone = luma(p)
    most, least = max(p.r, p.g, p.b), min(p.r, p.g, p.b)
    pale = 1.0 - clamp((most - least) / max(most, 1e-3), 0.0, 1.0)
    return keep_alpha(tone + (p.rgb - tone) * (1.0 + value * pale), p)


@builtin("image")
def grain(
    src: Image,
    amount: float = param(0.1, min=0, max=1, help="How far it goes at most; 0 changes nothing."),
    seed: int = param(0, min=0, max=2**31 - 1, help="Another seed, another grain: one per frame."),
    size: int = static(1, min=1, max=64, pixels=True, help="Width of a grain in pixels."),
) -> Vec:
    """The grain of film: grey noise, strongest in the middle tones.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> bool((media.grain(photo) != photo).any())
    True
    """
    p = src[0, 0]
    noise = _grains(x, y, seed) if size == 1 else _large_grains(size, seed)
    t = clamp(luma(p), 0.0, 1.0)
    return keep_alpha(p.rgb + noise * amount * (0.2 + 3.2 * t * (1.0 - t)), p)


def _grains(column: Value, row: Value, seed: Operand) -> Value:
    """A number in -1..1 for each place; those near 0 are more likely."""
    line = scramble(u32(row) * 0x9E3779B1 + scramble(u32(seed) + 0x85EBCA77))
    bits = scramble(u32(column) * 0xC2B2AE3D + line)
    return (f32(bits & 0xFFFF) + f32(bits >> 16)) * (1 / 0xFFFF) - 1.0  # a triangle


def _large_grains(size: int, seed: Operand) -> Value:
    """The same from grain to grain, with smooth ways between. Mixing weakens it, so it is made stronger: a
    picture that is made smaller by ``size`` has the grain it would have had at that size."""
    across, down = (x + (0.5 + 0.5 * size)) * (1 / size), (y + (0.5 + 0.5 * size)) * (1 / size)
    left, top = floor(across), floor(down)
    u, v = across - left, down - top
    rows = [
        mix(_grains(left, line, seed), _grains(left + 1.0, line, seed), u)
        for line in (top, top + 1.0)
    ]
    return mix(rows[0], rows[1], v) * MIXED


@builtin("image")
def glow(
    src: Image,
    amount: float = param(0.3, min=0, max=1, help="0 changes nothing."),
    radius: int = static(12, min=1, max=400, pixels=True, help="Reach of the light in pixels."),
) -> Vec:
    """Light that spills from bright places, as through a soft-focus lens.

    >>> photo = np.zeros((9, 9, 3), np.uint8)
    >>> photo[:, 4:] = 255
    >>> media.glow(photo, amount=1, radius=2)[4, :5, 0].tolist()
    [0, 0, 0, 3, 255]
    """
    p = src[0, 0]
    soft = soft_blur(src, radius)
    assert isinstance(soft, Vec)
    light = soft.rgb * (amount * smoothstep(0.2, 1.0, luma(soft)))
    return keep_alpha(p.rgb + _screened(light, p), p)


def _screened(light: Value, p: Vec) -> Value:
    """What light adds to a colour: nothing to white."""
    return light * (1.0 - clamp(p.rgb, 0.0, 1.0))
