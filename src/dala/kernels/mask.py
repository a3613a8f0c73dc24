"""What belongs to the picture and what does not: keys and masks."""

from __future__ import annotations

from dala.kernels.blend import composite
from dala.kernels.blur import soft_blur
from dala.kernels.color import keep_alpha
from dala.kernels.declare import builtin
from dala.language.parameter import param, static
from dala.language.values import Image, Value, Vec, intermediate
from dala.language.vocabulary import clamp, luma, max, min, mix, rgb, smoothstep, sqrt, sum

# A key need not be as strong as pure green: its chroma is scaled to half the CbCr plane, so that
# grey is ½ away from every key. One weaker than this is a grey, and all greys are near it.
_WEAKEST_CHROMA = 0.05
_CLEAR_LEAD = 0.25  # of a key's strongest channel over the next; a weaker lead is trusted less


@builtin("image", alpha="added")
def chroma_key(
    src: Image,
    color: tuple[float, float, float] = param(
        (0, 177, 64), min=0, max=255, help="The screen's colour, 0..255."
    ),
    threshold: float = param(
        0.3, min=0, max=2, help="Transparent up to this distance; the key is at 0, grey at 0.5."
    ),
    softness: float = param(0.1, min=0, max=2, help="Width of the edge beyond the threshold."),
) -> Vec:
    """Green screen: transparent where the colour is near the key's; its cast on the rest is removed.

    >>> photo = np.array([[[0, 177, 64], [200, 80, 70]]], np.uint8)
    >>> media.chroma_key(photo)[0, :, 3].tolist()
    [0, 255]
    """
    p = src[0, 0]
    key = rgb(*(c * (1 / 255) for c in color))
    key_blue, key_red = _chroma(key)
    strength = max(sqrt(key_blue * key_blue + key_red * key_red), _WEAKEST_CHROMA)
    blue, red = _chroma(p)
    off_blue, off_red = blue - key_blue, red - key_red
    distance = sqrt(off_blue * off_blue + off_red * off_red) * (0.5 / strength)
    matte = smoothstep(threshold, threshold + softness, distance)
    clean = p.rgb - (key - luma(key)) * _spill(p, key)
    assert isinstance(clean, Vec)
    return clean.with_alpha(p.a * matte)


def _chroma(color: Vec) -> tuple[Value, Value]:
    """Cb and Cr of BT.601, -½..½."""
    y = luma(color)
    return (color.b - y) * (1 / 1.772), (color.r - y) * (1 / 1.402)


def _spill(color: Vec, key: Vec) -> Value:
    """The share of the key in a colour, 0..1: how far the key's strongest channel leads in it too.

    Less this share of the key's chroma it leads no longer, and the luma is the same. (Cutting only
    that channel leaves teal edges; dividing by 1 - share, as for a true mixture, red ones.)
    """
    shares = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        lead = key[i] - max(key[j], key[k])  # above 0 for one channel at most
        trust = clamp(lead * (1 / _CLEAR_LEAD), 0.0, 1.0)
        excess = max(color[i] - max(color[j], color[k]), 0.0)
        shares.append(min(excess * (trust / max(lead, 1e-6)), trust))
    return sum(shares)


@builtin("image", alpha="written")
def background_replace(image: Image, mask: Image, background: Image | None = None) -> Vec:
    """The image where the mask is white, else the background; without a mask, by the image's alpha.

    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> mask = np.array([[0, 255], [0, 255]], np.uint8)
    >>> media.background_replace(photo, mask, np.zeros((2, 2), np.uint8))[0].tolist()
    [[0, 0, 0], [100, 100, 100]]
    """
    p = image[0, 0]
    if background is None:  # image and background: there is no mask between them
        return composite(mask[0, 0], p.rgb, p.a)
    m = mask[0, 0]
    return composite(background[0, 0], p.rgb, m.r * m.a * p.a)


@builtin("image")
def background_blur(
    image: Image,
    mask: Image,
    radius: int = static(12, min=1, max=100, pixels=True, help="Reach of the window in pixels."),
) -> Vec:
    """Blurred where the mask is black, sharp where it is white; what is in front does not smear.

    >>> photo = np.array([[[200] * 3, [100] * 3, [0] * 3]], np.uint8)
    >>> mask = np.array([[255, 0, 0]], np.uint8)
    >>> media.background_blur(photo, mask, 1)[0, :, 0].tolist()
    [200, 88, 11]
    """
    # What is in front takes no part in the blur, or its colours would glow around it: the background is
    # blurred with its own coverage, and divided by that.
    p, m = image[0, 0], mask[0, 0]
    front = clamp(m.r * m.a, 0.0, 1.0)
    behind = 1.0 - front + 1e-4  # never quite 0: a wide front has nothing behind it to take
    covered = p.rgb * behind
    assert isinstance(covered, Vec)
    around = soft_blur(intermediate(covered.with_alpha(behind)), radius)
    assert isinstance(around, Vec)
    return keep_alpha(mix(around.rgb * (1.0 / around.a), p.rgb, front), p)
