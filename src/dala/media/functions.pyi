"""One function for each image kernel of the catalogue. Written by docs/stubs.py; do not edit."""

import os
from typing import Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from dala.media.pictures import Channels

Image = TypeVar("Image")
Raw = TypeVar("Raw", bytes, bytearray, memoryview)

__all__ = [
    "auto_levels", "auto_white_balance", "background_blur", "background_replace", "beauty", "blend",
    "blur", "brightness", "chroma_key", "contrast", "crop", "denoise", "edge_detect", "exposure",
    "flip", "gamma", "generate_gradient", "generate_noise", "glow", "grain", "grayscale", "hdr",
    "hue", "invert", "lut", "median", "nv12_to_rgba", "overlay", "pixelate", "posterize", "resize",
    "rgba_to_nv12", "rgba_to_yuv420p", "rotate", "saturation", "sepia", "sharpen", "split_tone",
    "test_pattern", "threshold", "tone", "vibrance", "vignette", "warp_affine", "warp_perspective",
    "white_balance", "yuv420p_to_rgba",
]

@overload
def auto_levels(
    image: Image, strength: float = 1.0, clip: float = 0.002, black: npt.ArrayLike | None = None,
    white: npt.ArrayLike | None = None, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The whole range of tones: the darkest becomes black, the lightest white; colours keep their hue.

        strength: a number in 0..1. 0 changes nothing.
        clip: a number in 0..0.2. The part of all pixels that may become black, and white.
        black: 3 numbers, each a number in -1..2. What becomes black; measured if not given.
        white: 3 numbers, each a number in -1..3. What becomes white; measured if not given.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.linspace(50, 150, 64, dtype=np.uint8).reshape(8, 8)
    >>> stretched = media.auto_levels(photo)
    >>> int(stretched.min()), int(stretched.max())
    (0, 255)
    """
@overload
def auto_levels(
    data: Raw, image_width: int, image_height: int, /, strength: float = 1.0, clip: float = 0.002,
    black: npt.ArrayLike | None = None, white: npt.ArrayLike | None = None, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def auto_white_balance(
    image: Image, strength: float = 1.0, clip: float = 0.01, black: npt.ArrayLike | None = None,
    white: npt.ArrayLike | None = None, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Without a cast: what ought to be grey becomes grey; the brightness stays.

        strength: a number in 0..1. 0 changes nothing.
        clip: a number in 0..0.2. The part of all pixels that is too light to be looked at.
        black: 3 numbers, each a number in -1..2. What becomes black; 0,0,0 if not given.
        white: 3 numbers, each a number in -1..3. What becomes white; measured if not given.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((4, 4, 3), (120, 100, 80), np.uint8)
    >>> photo[0, 0] = (60, 50, 40)
    >>> media.auto_white_balance(photo)[0].tolist()
    [[51, 51, 51], [102, 102, 102], [102, 102, 102], [102, 102, 102]]
    """
@overload
def auto_white_balance(
    data: Raw, image_width: int, image_height: int, /, strength: float = 1.0, clip: float = 0.01,
    black: npt.ArrayLike | None = None, white: npt.ArrayLike | None = None, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def background_blur(
    image: Image, mask: object, radius: int = 12, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Blurred where the mask is black, sharp where it is white; what is in front does not smear.

        radius: a whole number in 1..100. Reach of the window in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.array([[[200] * 3, [100] * 3, [0] * 3]], np.uint8)
    >>> mask = np.array([[255, 0, 0]], np.uint8)
    >>> media.background_blur(photo, mask, 1)[0, :, 0].tolist()
    [200, 88, 11]
    """
@overload
def background_blur(
    data: Raw, image_width: int, image_height: int, /, mask: object, radius: int = 12, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def background_replace(
    image: Image, mask: object, background: object | None = None, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """The image where the mask is white, else the background; without a mask, by the image's alpha.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> mask = np.array([[0, 255], [0, 255]], np.uint8)
    >>> media.background_replace(photo, mask, np.zeros((2, 2), np.uint8))[0].tolist()
    [[0, 0, 0], [100, 100, 100]]
    """
@overload
def background_replace(
    data: Raw, image_width: int, image_height: int, /, mask: object,
    background: object | None = None, *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

@overload
def beauty(
    image: Image, strength: float = 0.3, radius: int = 5, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Even skin; edges, eyes, hair and all other colours stay: a guided filter where it looks like skin.

        strength: a number in 0..1. 0 changes nothing.
        radius: a whole number in 1..100. Size of what is smoothed away, in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> leaf = np.full((2, 2, 3), (40, 160, 50), np.uint8)
    >>> bool((media.beauty(leaf, 1) == leaf).all())
    True
    """
@overload
def beauty(
    data: Raw, image_width: int, image_height: int, /, strength: float = 0.3, radius: int = 5, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def blend(
    image: Image, top: object, alpha: float = 0.5,
    mode: Literal["over", "add", "subtract", "multiply", "screen", "overlay", "darken", "lighten", "difference", "soft_light", "hard_light"] = "over",
    *, width: int | None = None, height: int | None = None, channels: Channels | None = None,
    device: str | None = None
) -> Image:
    """The top image on the base; where the base is transparent the top shows as it is.

        alpha: a number in 0..1. Opacity of the top: its alpha is multiplied by it.
        mode: one of 'over', 'add', 'subtract', 'multiply', 'screen', 'overlay', 'darken', 'lighten', 'difference', 'soft_light', 'hard_light'. How two opaque colours meet.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.blend(photo, np.full((2, 2), 200, np.uint8), 0.5)[0, 0].tolist()
    [150, 150, 150]
    """
@overload
def blend(
    data: Raw, image_width: int, image_height: int, /, top: object, alpha: float = 0.5,
    mode: Literal["over", "add", "subtract", "multiply", "screen", "overlay", "darken", "lighten", "difference", "soft_light", "hard_light"] = "over",
    *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def blur(
    image: Image, radius: int = 3, sigma: float | None = None, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Soft, out of focus: a Gaussian over a window of ±radius, all channels, weights normalised.

        radius: a whole number in 0..100. Reach of the window in pixels.
        sigma: a number in 0.01..1000. Width of the bell; radius / 2 if not given.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.zeros((5, 5), np.uint8)
    >>> photo[2, 2] = 255
    >>> media.blur(photo, 1, sigma=1.0)[2].tolist()
    [0, 32, 52, 32, 0]
    """
@overload
def blur(
    data: Raw, image_width: int, image_height: int, /, radius: int = 3, sigma: float | None = None,
    *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def brightness(
    image: Image, value: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Lighter or darker all over: c + value.

        value: a number in -1..1. Added to every colour.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.brightness(photo, 0.2)[0, 0].tolist()
    [151, 151, 151]
    """
@overload
def brightness(
    data: Raw, image_width: int, image_height: int, /, value: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def chroma_key(
    image: Image, color: npt.ArrayLike = (0, 177, 64), threshold: float = 0.3,
    softness: float = 0.1, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Green screen: transparent where the colour is near the key's; its cast on the rest is removed.

        color: 3 numbers, each a number in 0..255. The screen's colour, 0..255.
        threshold: a number in 0..2. Transparent up to this distance; the key is at 0, grey at 0.5.
        softness: a number in 0..2. Width of the edge beyond the threshold.

    The result has an alpha channel even if the picture came without.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.array([[[0, 177, 64], [200, 80, 70]]], np.uint8)
    >>> media.chroma_key(photo)[0, :, 3].tolist()
    [0, 255]
    """
@overload
def chroma_key(
    data: Raw, image_width: int, image_height: int, /, color: npt.ArrayLike = (0, 177, 64),
    threshold: float = 0.3, softness: float = 0.1, *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

@overload
def contrast(
    image: Image, value: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Dark tones darker, light ones lighter: (c - ½)(1 + value) + ½; ``tone`` does it without clipping.

        value: a number in -1..3. 0 changes nothing, -1 gives grey.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.contrast(photo, 0.5)[0, 0].tolist()
    [86, 86, 86]
    """
@overload
def contrast(
    data: Raw, image_width: int, image_height: int, /, value: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def crop(
    image: Image, x: int = 0, y: int = 0, width: int | None = None, height: int | None = None,
    ratio: float | None = None,
    at: Literal["top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"] | None = None,
    *, image_size: tuple[int, int] | None = None, channels: Channels | None = None,
    device: str | None = None
) -> Image:
    """A part of the picture: the rectangle at (x, y), or as much as a ratio allows.

    In ``run_kernel`` a part that lies beyond the border repeats the edge.

        x: a whole number in 0..65535. The first column.
        y: a whole number in 0..65535. The first row.
        width: a whole number in 1..65536. Columns; the output's if not given.
        height: a whole number in 1..65536. Rows; the output's if not given.
        ratio: a number in 0.001..1000. Width by height (1.778 is 16:9): as much as there is of it.
        at: one of 'top-left', 'top', 'top-right', 'left', 'center', 'right', 'bottom-left', 'bottom', 'bottom-right'. From where x and y count; of a ratio, the center.

    Raw bytes are followed by their width and height, or have them in image_size.

    >>> import numpy as np
    >>> from dala import media
    >>> media.crop(np.array([[1, 2, 3, 4]], np.uint8), 1, width=2)
    array([[2, 3]], dtype=uint8)
    """
@overload
def crop(
    data: Raw, image_width: int, image_height: int, /, x: int = 0, y: int = 0,
    width: int | None = None, height: int | None = None, ratio: float | None = None,
    at: Literal["top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"] | None = None,
    *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def denoise(
    image: Image, strength: float = 0.5, spacing: int = 1, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Less noise, edges stay: a bilateral filter over 5 x 5 pixels.

        strength: a number in 0..1. 0 changes nothing.
        spacing: a whole number in 1..16. From pixel to pixel of the 5 x 5; more for coarse noise.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> noisy = np.random.default_rng(0).normal(100, 5, (32, 32)).astype(np.uint8)
    >>> bool(media.denoise(noisy).std() < 0.5 * noisy.std())
    True
    """
@overload
def denoise(
    data: Raw, image_width: int, image_height: int, /, strength: float = 0.5, spacing: int = 1, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def edge_detect(
    image: Image, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """White outlines on black: the Sobel magnitude of the luma, at most 1.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.array([[0, 0, 60, 60]] * 3, np.uint8)
    >>> media.edge_detect(photo)[1].tolist()
    [0, 240, 240, 0]
    """
@overload
def edge_detect(
    data: Raw, image_width: int, image_height: int, /, *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

@overload
def exposure(
    image: Image, stops: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """More or less light, in stops as on a camera: c · 2^stops.

        stops: a number in -10..10. One stop up is twice the light.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.exposure(photo, 1)[0, 0].tolist()
    [200, 200, 200]
    """
@overload
def exposure(
    data: Raw, image_width: int, image_height: int, /, stops: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def flip(
    image: Image, horizontal: bool = True, vertical: bool = False, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """The image mirrored.

        horizontal: True or False. Left becomes right.
        vertical: True or False. Top becomes bottom.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> media.flip(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """
@overload
def flip(
    data: Raw, image_width: int, image_height: int, /, horizontal: bool = True,
    vertical: bool = False, *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def gamma(
    image: Image, value: float = 1.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Lighter or darker middle tones, black and white stay: c^(1 / value); below 0 counts as 0.

        value: a number in 0.01..100. Above 1 lightens the mid-tones.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.gamma(photo, 2)[0, 0].tolist()
    [160, 160, 160]
    """
@overload
def gamma(
    data: Raw, image_width: int, image_height: int, /, value: float = 1.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

def generate_gradient(
    width: int, height: int, *, device: str | None = None
) -> npt.NDArray[np.uint8]:
    """Red grows to the right, green downwards, blue is their mean; opaque.

    >>> import numpy as np
    >>> from dala import media
    >>> media.generate_gradient(3, 2)[1, 2].tolist()
    [255, 255, 255, 255]
    """

def generate_noise(
    width: int, height: int, seed: int = 0, *, device: str | None = None
) -> npt.NDArray[np.uint8]:
    """Every level of every colour equally likely; opaque. The same bytes on every device.

        seed: a whole number in 0..2.14748e+09. Another seed, another image.

    >>> import numpy as np
    >>> from dala import media
    >>> media.generate_noise(640, 480, seed=1).shape
    (480, 640, 4)
    """

@overload
def glow(
    image: Image, amount: float = 0.3, radius: int = 12, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Light that spills from bright places, as through a soft-focus lens.

        amount: a number in 0..1. 0 changes nothing.
        radius: a whole number in 1..400. Reach of the light in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.zeros((9, 9, 3), np.uint8)
    >>> photo[:, 4:] = 255
    >>> media.glow(photo, amount=1, radius=2)[4, :5, 0].tolist()
    [0, 0, 0, 3, 255]
    """
@overload
def glow(
    data: Raw, image_width: int, image_height: int, /, amount: float = 0.3, radius: int = 12, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def grain(
    image: Image, amount: float = 0.1, seed: int = 0, size: int = 1, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """The grain of film: grey noise, strongest in the middle tones.

        amount: a number in 0..1. How far it goes at most; 0 changes nothing.
        seed: a whole number in 0..2.14748e+09. Another seed, another grain: one per frame.
        size: a whole number in 1..64. Width of a grain in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> bool((media.grain(photo) != photo).any())
    True
    """
@overload
def grain(
    data: Raw, image_width: int, image_height: int, /, amount: float = 0.1, seed: int = 0,
    size: int = 1, *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def grayscale(
    image: Image, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Black and white, as bright as colours look: 0.299 r + 0.587 g + 0.114 b.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.grayscale(photo)[0, 0].tolist()
    [131, 131, 131]
    """
@overload
def grayscale(
    data: Raw, image_width: int, image_height: int, /, *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

@overload
def hdr(
    image: Image, exposure: float = 1.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Filmic tone map: deep shadows, a soft end to the highlights, what is above white within 0..1.

        exposure: a number in 0..100. Light before the curve, as a factor.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.hdr(photo)[0, 0].tolist()
    [120, 120, 120]
    """
@overload
def hdr(
    data: Raw, image_width: int, image_height: int, /, exposure: float = 1.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def hue(
    image: Image, degrees: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Other colours, red to green to blue: a turn about the grey axis; greys stay.

        degrees: a number in -360..360. 120 turns red into green.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (200, 0, 0), np.uint8)
    >>> media.hue(photo, 120)[0, 0].tolist()
    [0, 200, 0]
    """
@overload
def hue(
    data: Raw, image_width: int, image_height: int, /, degrees: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def invert(
    image: Image, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The negative: 1 - c.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.invert(photo)[0, 0].tolist()
    [155, 155, 155]
    """
@overload
def invert(
    data: Raw, image_width: int, image_height: int, /, *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

@overload
def lut(
    image: Image, lut: npt.ArrayLike | str | os.PathLike[str], *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Colours by a grading table (.cube), 1-D (linear) or 3-D (tetrahedral); alpha is kept.

        lut: an array or a path. An array (n, n, n, 3) indexed [red, green, blue], or (n, 3); a .cube or .png file.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> negative = np.linspace([1.0, 1, 1], [0.0, 0, 0], 2)
    >>> media.lut(photo, negative)[0, 0].tolist()
    [155, 155, 155]
    """
@overload
def lut(
    data: Raw, image_width: int, image_height: int, /, lut: npt.ArrayLike | str | os.PathLike[str],
    *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def median(
    image: Image, radius: int = 1, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Without specks and dust, edges stay: the middle value of each colour in a window of ±radius.

        radius: a whole number in 1..3. Reach of the window in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((5, 5), 100, np.uint8)
    >>> photo[2, 2] = 255
    >>> int(media.median(photo).max())
    100
    """
@overload
def median(
    data: Raw, image_width: int, image_height: int, /, radius: int = 1, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def nv12_to_rgba(
    image: Image, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """An nv12 frame as an opaque picture; ``channels`` says which.

        matrix: one of 'bt601', 'bt709', 'bt2020'. Which red, green and blue make up Y.
        range: one of 'limited', 'full'. Y in 16..235, or in 0..255.
        bits: a whole number in 8..16. Of a value: 8 in u8 frames, 9 to 16 in the low bits of u16.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> frame = bytes([16, 16, 16, 16, 128, 128])
    >>> list(media.nv12_to_rgba(frame, 2, 2)[:4])
    [0, 0, 0, 255]
    """
@overload
def nv12_to_rgba(
    data: Raw, image_width: int, image_height: int, /,
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def overlay(
    image: Image, top: object,
    at: Literal["top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"] = "bottom-right",
    scale: float = 0.2, opacity: float = 1.0, margin: float = 0.03, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """A logo or watermark in a corner of the picture, in proportion to it.

        at: one of 'top-left', 'top', 'top-right', 'left', 'center', 'right', 'bottom-left', 'bottom', 'bottom-right'. Which corner or side.
        scale: a number in 0.001..1. Its width, as a part of the picture's width.
        opacity: a number in 0..1. 0 is invisible.
        margin: a number in 0..0.5. Room to the border, as a part of the picture's shorter side.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((10, 20, 3), 100, np.uint8)
    >>> marked = media.overlay(photo, np.full((2, 4), 200, np.uint8), "top-left", 0.1, margin=0)
    >>> marked[0, :3, 0].tolist()
    [200, 200, 100]
    """
@overload
def overlay(
    data: Raw, image_width: int, image_height: int, /, top: object,
    at: Literal["top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"] = "bottom-right",
    scale: float = 0.2, opacity: float = 1.0, margin: float = 0.03, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def pixelate(
    image: Image, size: int = 8, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Blocks of one colour: the mean of four pixels spread over the block.

        size: a whole number in 1..1024. Edge of a block in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.arange(16, dtype=np.uint8).reshape(4, 4) * 10
    >>> media.pixelate(photo, 4).tolist()[0]
    [75, 75, 75, 75]
    """
@overload
def pixelate(
    data: Raw, image_width: int, image_height: int, /, size: int = 8, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def posterize(
    image: Image, levels: int = 4, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Few tones, as on a poster: each channel in ``levels`` steps of equal width; NaN is black.

        levels: a whole number in 2..256. Tones left in each channel.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.posterize(photo, 2)[0, 0].tolist()
    [0, 0, 0]
    """
@overload
def posterize(
    data: Raw, image_width: int, image_height: int, /, levels: int = 4, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def resize(
    image: Image, width: int | None = None, height: int | None = None,
    interpolation: Literal["nearest", "bilinear", "bicubic", "area", "lanczos"] = "bilinear",
    fit: Literal["stretch", "contain", "cover"] = "stretch", scale: float | None = None,
    long_edge: int | None = None, *, image_size: tuple[int, int] | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The image in another size; pixel centres keep their place.

        width: a whole number in 1..65536. Columns of the output.
        height: a whole number in 1..65536. Rows of the output.
        interpolation: one of 'nearest', 'bilinear', 'bicubic', 'area', 'lanczos'. How to mix pixels; area is best for shrinking.
        fit: one of 'stretch', 'contain', 'cover'. Other proportions: stretch them, fit inside (contain), or fill and cut (cover).
        scale: a number in 0.0001..100. The size by a factor: 0.5 is half of each side.
        long_edge: a whole number in 1..65536. Pixels of the longer side; the other follows.

    Raw bytes are followed by their width and height, or have them in image_size.

    >>> import numpy as np
    >>> from dala import media
    >>> media.resize(np.zeros((480, 640, 3), np.uint8), 320, interpolation="area").shape
    (240, 320, 3)
    """
@overload
def resize(
    data: Raw, image_width: int, image_height: int, /, width: int | None = None,
    height: int | None = None,
    interpolation: Literal["nearest", "bilinear", "bicubic", "area", "lanczos"] = "bilinear",
    fit: Literal["stretch", "contain", "cover"] = "stretch", scale: float | None = None,
    long_edge: int | None = None, *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def rgba_to_nv12(
    image: Image, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """A picture of even size as an nv12 frame: Y, then U and V in turn; alpha is dropped.

        matrix: one of 'bt601', 'bt709', 'bt2020'. Which red, green and blue make up Y.
        range: one of 'limited', 'full'. Y in 16..235, or in 0..255.
        bits: a whole number in 8..16. Of a value: 8 in u8 frames, 9 to 16 in the low bits of u16.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> media.rgba_to_nv12(np.full((4, 2, 3), 0, np.uint8), range="full").shape
    (6, 2)
    """
@overload
def rgba_to_nv12(
    data: Raw, image_width: int, image_height: int, /,
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def rgba_to_yuv420p(
    image: Image, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """A picture of even size as a yuv420p frame: Y, then a quarter of U, then of V; alpha is dropped.

        matrix: one of 'bt601', 'bt709', 'bt2020'. Which red, green and blue make up Y.
        range: one of 'limited', 'full'. Y in 16..235, or in 0..255.
        bits: a whole number in 8..16. Of a value: 8 in u8 frames, 9 to 16 in the low bits of u16.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> media.rgba_to_yuv420p(np.full((2, 2, 3), 255, np.uint8)).tolist()
    [[235, 235], [235, 235], [128, 128]]
    """
@overload
def rgba_to_yuv420p(
    data: Raw, image_width: int, image_height: int, /,
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def rotate(
    image: Image, degrees: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The image turned about its centre; by 90°, 180° or 270° without any loss, and in full.

    A photo that is turned by a right angle swaps its sides. By any other angle it keeps its size, and
    the corners are cut; bilinear.

        degrees: a number in -36000..36000. Counter-clockwise.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    >>> media.rotate(photo, 90).tolist()
    [[3, 6], [2, 5], [1, 4]]
    """
@overload
def rotate(
    data: Raw, image_width: int, image_height: int, /, degrees: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def saturation(
    image: Image, value: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Stronger or paler colours: luma + (c - luma)(1 + value).

        value: a number in -1..3. 0 changes nothing, -1 gives grey.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.saturation(photo, -1)[0, 0].tolist()
    [131, 131, 131]
    """
@overload
def saturation(
    data: Raw, image_width: int, image_height: int, /, value: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def sepia(
    image: Image, intensity: float = 0.8, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The brown of old prints, mixed with the colour by ``intensity``.

        intensity: a number in 0..1. 0 changes nothing.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.sepia(photo)[0, 0].tolist()
    [128, 116, 95]
    """
@overload
def sepia(
    data: Raw, image_width: int, image_height: int, /, intensity: float = 0.8, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def sharpen(
    image: Image, amount: float = 0.5, radius: int = 1, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Crisper details: c + amount · (4c - left - right - up - down).

        amount: a number in 0..10. 0 changes nothing.
        radius: a whole number in 1..64. Size of the details, in pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((3, 3), 100, np.uint8)
    >>> photo[1, 1] = 110
    >>> int(media.sharpen(photo)[1, 1])
    130
    """
@overload
def sharpen(
    data: Raw, image_width: int, image_height: int, /, amount: float = 0.5, radius: int = 1, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def split_tone(
    image: Image, shadows: npt.ArrayLike = (0.0, 0.0, 0.0),
    highlights: npt.ArrayLike = (0.0, 0.0, 0.0), *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """One tint for dark tones, another for light ones; black, white and alpha stay.

        shadows: 3 numbers, each a number in -1..1. Added to red, green and blue of dark tones.
        highlights: 3 numbers, each a number in -1..1. Added to red, green and blue of light tones.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.split_tone(photo, (-0.1, 0, 0.1))[0, 0].tolist()
    [75, 100, 125]
    """
@overload
def split_tone(
    data: Raw, image_width: int, image_height: int, /, shadows: npt.ArrayLike = (0.0, 0.0, 0.0),
    highlights: npt.ArrayLike = (0.0, 0.0, 0.0), *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

def test_pattern(
    width: int, height: int, *, device: str | None = None
) -> npt.NDArray[np.uint8]:
    """Colour bars (75 %) over the same in reverse, a grey ramp over grey steps, a grid; opaque.

    >>> import numpy as np
    >>> from dala import media
    >>> media.test_pattern(640, 480)[0, 0].tolist()
    [191, 191, 191, 255]
    """

@overload
def threshold(
    image: Image, value: float = 0.5, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Only black and white: white where the luma is at least ``value`` (NaN is black).

        value: a number in 0..1. White from this luma on.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.threshold(photo, 0.3)[0, 0].tolist()
    [255, 255, 255]
    """
@overload
def threshold(
    data: Raw, image_width: int, image_height: int, /, value: float = 0.5, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def tone(
    image: Image, contrast: float = 0.0, shadows: float = 0.0, highlights: float = 0.0,
    fade: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """A smooth curve through black and white, the same for each channel; it never clips.

        contrast: a number in -1..1. An S-curve; it never clips.
        shadows: a number in -1..1. Above 0 lightens the dark tones.
        highlights: a number in -1..1. Below 0 darkens the light tones.
        fade: a number in 0..1. How far black is lifted towards white.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.tone(photo, 0.5, shadows=0.2)[0, 0].tolist()
    [101, 101, 101]
    """
@overload
def tone(
    data: Raw, image_width: int, image_height: int, /, contrast: float = 0.0, shadows: float = 0.0,
    highlights: float = 0.0, fade: float = 0.0, *, channels: Channels | None = None,
    device: str | None = None
) -> Raw: ...

@overload
def vibrance(
    image: Image, value: float = 0.0, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Saturation for pale colours; the stronger a colour is already, the less it changes.

        value: a number in -1..3. 0 changes nothing.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), (180, 120, 60), np.uint8)
    >>> media.vibrance(photo, 0.5)[0, 0].tolist()
    [188, 118, 48]
    """
@overload
def vibrance(
    data: Raw, image_width: int, image_height: int, /, value: float = 0.0, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def vignette(
    image: Image, intensity: float = 0.5, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """Darker towards the corners, along ellipses that follow the picture's shape.

        intensity: a number in 0..1. How dark the corners become; 1 is black.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> dark = media.vignette(np.full((9, 9, 3), 100, np.uint8))
    >>> dark[4, 4].tolist(), dark[0, 0].tolist()
    ([100, 100, 100], [60, 60, 60])
    """
@overload
def vignette(
    data: Raw, image_width: int, image_height: int, /, intensity: float = 0.5, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def warp_affine(
    image: Image, matrix: npt.ArrayLike, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The image moved by an affine map, as OpenCV's warpAffine does it; bilinear.

        matrix: 6 numbers, each a finite number. 2 rows of 3: from input to output pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> media.warp_affine(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0]])
    array([[0, 1, 2]], dtype=uint8)
    """
@overload
def warp_affine(
    data: Raw, image_width: int, image_height: int, /, matrix: npt.ArrayLike, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def warp_perspective(
    image: Image, matrix: npt.ArrayLike, *, width: int | None = None, height: int | None = None,
    channels: Channels | None = None, device: str | None = None
) -> Image:
    """The image moved by a perspective map, as OpenCV's warpPerspective does it; bilinear.

        matrix: 9 numbers, each a finite number. 3 rows of 3: from input to output pixels.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> media.warp_perspective(np.array([[1, 2, 3]], np.uint8), np.eye(3))
    array([[1, 2, 3]], dtype=uint8)
    """
@overload
def warp_perspective(
    data: Raw, image_width: int, image_height: int, /, matrix: npt.ArrayLike, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def white_balance(
    image: Image, temperature: float = 6500.0, tint: float = 0.0, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """Warmer or cooler: what was grey in light of this temperature becomes grey; higher is warmer.

        temperature: a number in 1000..40000. The light the picture was taken in, in kelvin.
        tint: a number in -1..1. Above 0 towards magenta, below towards green.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.white_balance(photo, 9000)[0, 0].tolist()
    [107, 99, 88]
    """
@overload
def white_balance(
    data: Raw, image_width: int, image_height: int, /, temperature: float = 6500.0,
    tint: float = 0.0, *, channels: Channels | None = None, device: str | None = None
) -> Raw: ...

@overload
def yuv420p_to_rgba(
    image: Image, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *, width: int | None = None,
    height: int | None = None, channels: Channels | None = None, device: str | None = None
) -> Image:
    """A yuv420p frame as an opaque picture; ``channels`` says which.

        matrix: one of 'bt601', 'bt709', 'bt2020'. Which red, green and blue make up Y.
        range: one of 'limited', 'full'. Y in 16..235, or in 0..255.
        bits: a whole number in 8..16. Of a value: 8 in u8 frames, 9 to 16 in the low bits of u16.

    Raw bytes are followed by their width and height, or have them in width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> frame = np.array([[235, 235], [235, 235], [128, 128]], np.uint8)
    >>> media.yuv420p_to_rgba(frame, channels="rgb")[0, 0].tolist()
    [255, 255, 255]
    """
@overload
def yuv420p_to_rgba(
    data: Raw, image_width: int, image_height: int, /,
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", bits: int = 8, *,
    channels: Channels | None = None, device: str | None = None
) -> Raw: ...
