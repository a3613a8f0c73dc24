"""Jobs on single pixels: colour, light, keys, blends, generators."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image, ImageChops, ImageEnhance, ImageFilter, ImageOps
from skimage import color as skcolor

from job import Job, Peer, Scene, point
from measure import Run

LEVELS = np.arange(256) / 255
SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])


def as_table(values: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def through_table(values: np.ndarray) -> Peer:
    """OpenCV's fastest for any curve."""
    table = as_table(values)
    return lambda s: lambda: cv2.LUT(s.rgba, table, dst=s.out)


def scaled(alpha: float, beta: float) -> Peer:
    """alpha · c + beta, where that is never below 0 (OpenCV takes the absolute value)."""
    return lambda s: lambda: cv2.convertScaleAbs(s.rgba, dst=s.out, alpha=alpha, beta=beta)


def transformed(matrix: np.ndarray) -> Peer:
    square = np.eye(4, dtype=np.float32)
    square[:3, :3] = matrix
    return lambda s: lambda: cv2.transform(s.rgba, square, dst=s.out)


def hue_matrix(degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    aside, turn = (1 - np.cos(angle)) / 3, np.sin(angle) / 3**0.5
    keep, back, on = 1 - 2 * aside, aside - turn, aside + turn
    return np.array([[keep, back, on], [on, keep, back], [back, on, keep]])


def saturation_matrix(value: float) -> np.ndarray:
    grey = np.tile([0.299, 0.587, 0.114], (3, 1))
    return grey + (np.eye(3) - grey) * (1 + value)


def by_hsv(s: Scene) -> Run:
    """What one does for hue or saturation with OpenCV: to HSV, a channel changed, and back."""
    table = np.stack([np.arange(256) % 180, as_table(LEVELS * 1.3), np.arange(256)], -1)
    table = table.astype(np.uint8)[None]
    hsv, changed = np.empty_like(s.rgb), np.empty_like(s.rgb)

    def run() -> object:
        cv2.cvtColor(s.rgba, cv2.COLOR_RGB2HSV, dst=hsv)
        cv2.LUT(hsv, table, dst=changed)
        return cv2.cvtColor(changed, cv2.COLOR_HSV2RGB, dstCn=4, dst=s.out)

    return run


def by_hsv_skimage(s: Scene) -> Run:
    def run() -> object:
        hsv = skcolor.rgb2hsv(s.rgb)
        hsv[..., 1] *= 1.3
        return skcolor.hsv2rgb(hsv)

    return run


def grey_opencv(s: Scene) -> Run:
    grey = np.empty((s.height, s.width), np.uint8)

    def run() -> object:
        cv2.cvtColor(s.rgba, cv2.COLOR_RGBA2GRAY, dst=grey)
        return cv2.cvtColor(grey, cv2.COLOR_GRAY2RGBA, dst=s.out)

    return run


def threshold_opencv(s: Scene) -> Run:
    grey, cut = np.empty((s.height, s.width), np.uint8), np.empty((s.height, s.width), np.uint8)

    def run() -> object:
        cv2.cvtColor(s.rgba, cv2.COLOR_RGBA2GRAY, dst=grey)
        cv2.threshold(grey, 127, 255, cv2.THRESH_BINARY, dst=cut)
        return cv2.cvtColor(cut, cv2.COLOR_GRAY2RGBA, dst=s.out)

    return run


def vignette_opencv(s: Scene) -> Run:
    across, down = (((np.arange(n) + 0.5) * 2 / n - 1) ** 2 / 2 for n in (s.width, s.height))
    light = (1 - 0.5 * (across + down[:, None])).astype(np.float32)
    gains = np.dstack([light, light, light, np.ones_like(light)])
    return lambda: cv2.multiply(s.rgba, gains, dst=s.out, dtype=cv2.CV_8U)


def replace_opencv(s: Scene) -> Run:
    shown = s.mask.astype(np.float32) / 255
    hidden = 1 - shown
    return lambda: cv2.blendLinear(s.rgba, s.top, shown, hidden, dst=s.out)


def replace_pillow(s: Scene) -> Run:
    mask = Image.fromarray(s.mask)
    return lambda: Image.composite(s.picture, s.top_picture, mask)


def curve() -> np.ndarray:
    """An S for each channel, 256 nodes."""
    s = LEVELS * LEVELS * (3 - 2 * LEVELS)
    return np.stack([s, LEVELS, np.sqrt(LEVELS)], -1).astype(np.float32)


def cube(nodes: int = 17) -> np.ndarray:
    """A look with teal shadows and warm lights, indexed [red, green, blue]."""
    axis = np.linspace(0, 1, nodes)
    color = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    luma = color @ [0.299, 0.587, 0.114]
    tone = np.stack([luma * 0.12, luma * 0.03, (1 - luma) * 0.08], -1)
    return np.clip(color * 0.9 + tone, 0, 1).astype(np.float32)


def curve_opencv(s: Scene) -> Run:
    table = np.dstack([as_table(curve())[None], np.arange(256, dtype=np.uint8)[None, :, None]])
    return lambda: cv2.LUT(s.rgba, table, dst=s.out)


def cube_pillow(s: Scene) -> Run:
    table = cube().transpose(2, 1, 0, 3).reshape(-1)  # red runs fastest there
    look = ImageFilter.Color3DLUT(17, table.tolist())
    return lambda: s.picture.filter(look)


def hdr_table() -> np.ndarray:
    light = LEVELS**2
    film = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14)
    return np.sqrt(np.minimum(film, 1))


def balance_gains(temperature: float) -> np.ndarray:
    mired = 1 / temperature - 1 / 6500
    gains = np.exp([mired * -1700, 0, mired * 2800])
    return np.diag(gains / (gains @ [0.299, 0.587, 0.114]))


HSV = "HSV is another colour space"
JOBS: list[Job] = [
    point(
        "grayscale", {}, grey_opencv,
        pillow=lambda s: lambda: ImageOps.grayscale(s.picture).convert("RGB"),
        skimage=lambda s: lambda: skcolor.rgb2gray(s.rgb),
    ),
    point(
        "brightness", {"value": 0.05}, scaled(1, 12.75),
        pillow=lambda s: lambda: ImageEnhance.Brightness(s.picture).enhance(1.05),
    ),
    point(
        "contrast", {"value": 0.2}, through_table((LEVELS - 0.5) * 1.2 + 0.5),
        pillow=lambda s: lambda: ImageEnhance.Contrast(s.picture).enhance(1.2),
    ),
    point("exposure", {"stops": 0.5}, scaled(2**0.5, 0)),
    point("gamma", {"value": 2.2}, through_table(LEVELS ** (1 / 2.2))),
    point("hdr", {}, through_table(hdr_table())),
    point(
        "invert", {}, lambda s: lambda: cv2.bitwise_not(s.rgba, dst=s.out),
        pillow=lambda s: lambda: ImageOps.invert(s.picture),
    ),
    point(
        "posterize", {"levels": 4}, through_table(np.minimum(np.floor(LEVELS * 4), 3) / 3),
        pillow=lambda s: lambda: ImageOps.posterize(s.picture, 2),
    ),
    point(
        "threshold", {}, threshold_opencv, strays=0.005, # its luma is rounded first
        pillow=lambda s: lambda: s.picture.convert("L").point(lambda v: 255 * (v > 127)),
    ),
    point("sepia", {"intensity": 1.0}, transformed(SEPIA)),
    point("white_balance", {"temperature": 5000}, transformed(balance_gains(5000))),
    point(
        "saturation", {"value": 0.3}, transformed(saturation_matrix(0.3)),
        pillow=lambda s: lambda: ImageEnhance.Color(s.picture).enhance(1.3),
    ),
    point(
        "saturation", {"value": 0.3}, by_hsv, name="saturation, by HSV", apart=HSV,
        skimage=by_hsv_skimage,
    ),
    point("hue", {"degrees": 30}, transformed(hue_matrix(30))),
    point("hue", {"degrees": 30}, by_hsv, name="hue, by HSV", apart=HSV, skimage=by_hsv_skimage),
    point("vignette", {}, vignette_opencv),
    point(
        "tone", {"contrast": 0.5},
        through_table(LEVELS + 0.5 * LEVELS * (1 - LEVELS) * (2 * LEVELS - 1)),
    ),
    point("split_tone", {"shadows": (-0.05, 0, 0.05)}),
    point("vibrance", {"value": 0.5}),
    point("grain", {}),
    point("lut", {"lut": curve()}, curve_opencv, name="lut, curve"),
    point("lut", {"lut": cube()}, name="lut, 17³", pillow=cube_pillow),
    point("chroma_key", {}),
    point(
        "blend", {"alpha": 0.3}, lambda s: lambda: cv2.addWeighted(s.rgba, 0.7, s.top, 0.3, 0, s.out),
        inputs=("rgba", "top"),
        pillow=lambda s: lambda: Image.blend(s.picture, s.top_picture, 0.3),
    ),
    point(
        "blend", {"alpha": 1.0, "mode": "multiply"},
        lambda s: lambda: cv2.multiply(s.rgba, s.top, dst=s.out, scale=1 / 255),
        inputs=("rgba", "top"), name="blend, multiply",
        pillow=lambda s: lambda: ImageChops.multiply(s.picture, s.top_picture),
    ),
    point(
        "blend", {"alpha": 0.7, "mode": "soft_light"}, inputs=("rgba", "top"),
        name="blend, soft light",
        pillow=lambda s: lambda: ImageChops.soft_light(s.picture, s.top_picture),
    ),
    point(
        "background_replace", {}, replace_opencv, inputs=("rgba", "mask", "top"),
        pillow=replace_pillow,
    ),
    point("segmentation", {}, inputs=("rgba", "mask")),
    point("generate_gradient", {}, inputs=()),
    point("generate_noise", {}, inputs=()),
    point("test_pattern", {}, inputs=()),
]  # fmt: skip
