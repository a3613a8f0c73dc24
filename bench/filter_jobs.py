"""Jobs that look at neighbours, and chains."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import cv2
import numpy as np
from PIL import Image, ImageFilter
from skimage import filters as skfilters
from skimage import restoration

import color_jobs as point_wise
from job import Job, Peer, Scene, point
from measure import Run

EDGE = cv2.BORDER_REPLICATE
Step = Callable[[np.ndarray, np.ndarray], object]  # from an image into another


def gaussian(radius: int) -> Peer:
    size = (2 * radius + 1, 2 * radius + 1)
    return lambda s: lambda: cv2.GaussianBlur(s.rgba, size, radius / 2, dst=s.out, borderType=EDGE)


def blur(radius: int) -> Job:
    sigma = radius / 2
    return point(
        "blur", {"radius": radius, "sigma": sigma}, gaussian(radius), name=f"blur r{radius}",
        pillow=lambda s: lambda: s.picture.filter(ImageFilter.GaussianBlur(sigma)),
        skimage=lambda s: lambda: skfilters.gaussian(s.rgb, sigma, truncate=2, channel_axis=2),
    )  # fmt: skip


def cross(amount: float) -> np.ndarray:
    kernel = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]], np.float32) * amount
    kernel[1, 1] += 1
    return kernel


def sharpen_opencv(s: Scene) -> Run:
    kernel = cross(0.5)
    return lambda: cv2.filter2D(s.rgba, -1, kernel, dst=s.out, borderType=EDGE)


def sharpen_pillow(s: Scene) -> Run:
    kernel = ImageFilter.Kernel((3, 3), cross(0.5).reshape(-1).tolist(), scale=1)
    return lambda: s.picture.filter(kernel)


def sobel_magnitude(s: Scene) -> Run:
    """√(gx² + gy²) in r, g and b: what edge_detect gives."""
    grey, edges = (np.empty((s.height, s.width), np.uint8) for _ in range(2))
    across, down, length = (np.empty((s.height, s.width), np.float32) for _ in range(3))

    def run() -> object:
        cv2.cvtColor(s.rgba, cv2.COLOR_RGBA2GRAY, dst=grey)
        cv2.Sobel(grey, cv2.CV_32F, 1, 0, dst=across, borderType=EDGE)
        cv2.Sobel(grey, cv2.CV_32F, 0, 1, dst=down, borderType=EDGE)
        cv2.magnitude(across, down, length)
        cv2.convertScaleAbs(length, dst=edges)
        return cv2.cvtColor(edges, cv2.COLOR_GRAY2RGBA, dst=s.out)

    return run


def sobel_cheap(s: Scene) -> Run:
    """(|gx| + |gy|) / 2 as one grey plane: the common short cut, less than edge_detect does."""

    def run() -> object:
        grey = cv2.cvtColor(s.rgba, cv2.COLOR_RGBA2GRAY)
        across = cv2.Sobel(grey, cv2.CV_16S, 1, 0, borderType=EDGE)
        down = cv2.Sobel(grey, cv2.CV_16S, 0, 1, borderType=EDGE)
        return cv2.addWeighted(cv2.convertScaleAbs(across), 0.5, cv2.convertScaleAbs(down), 0.5, 0)

    return run


def median(radius: int) -> Job:
    size = 2 * radius + 1
    square = np.ones((size, size, 1))
    return point(
        "median", {"radius": radius}, lambda s: lambda: cv2.medianBlur(s.rgba, size, dst=s.out),
        name=f"median r{radius}",
        pillow=lambda s: lambda: s.picture.filter(ImageFilter.MedianFilter(size)),
        skimage=lambda s: lambda: skfilters.median(s.rgb, square),
    )  # fmt: skip


def bilateral_opencv(s: Scene) -> Run:
    out = np.empty_like(s.rgb)  # OpenCV's bilateral filter takes no alpha
    return lambda: cv2.bilateralFilter(s.rgb, 5, 30, 2, dst=out)


def bilateral_skimage(s: Scene) -> Run:
    return lambda: restoration.denoise_bilateral(
        s.rgb, win_size=5, sigma_color=0.12, sigma_spatial=2, channel_axis=2
    )


def pixelate_opencv(s: Scene) -> Run:
    small = (max(s.width // 8, 1), max(s.height // 8, 1))

    def run() -> object:
        means = cv2.resize(s.rgba, small, interpolation=cv2.INTER_AREA)
        size = (s.width, s.height)
        return cv2.resize(means, size, dst=s.out, interpolation=cv2.INTER_NEAREST)

    return run


def pixelate_pillow(s: Scene) -> Run:
    return lambda: s.picture.reduce(8).resize((s.width, s.height), Image.Resampling.NEAREST)


# -- chains ------------------------------------------------------------------------------------

CROSS = cross(0.5)
CONTRAST = point_wise.as_table((point_wise.LEVELS - 0.5) * 1.2 + 0.5)
STEPS: list[Step] = [
    lambda a, out: cv2.GaussianBlur(a, (7, 7), 1.5, dst=out, borderType=EDGE),
    lambda a, out: cv2.filter2D(a, -1, CROSS, dst=out, borderType=EDGE),
    lambda a, out: cv2.LUT(a, CONTRAST, dst=out),
    lambda a, out: cv2.convertScaleAbs(a, dst=out, alpha=1, beta=12.75),
]


def five_opencv(s: Scene) -> Run:
    images = [s.rgba, *(np.empty_like(s.rgba) for _ in STEPS)]
    grey = np.empty((s.height, s.width), np.uint8)

    def run() -> object:
        for step, (a, out) in zip(STEPS, itertools.pairwise(images), strict=True):
            step(a, out)
        cv2.cvtColor(images[-1], cv2.COLOR_RGBA2GRAY, dst=grey)
        return cv2.cvtColor(grey, cv2.COLOR_GRAY2RGBA, dst=s.out)

    return run


def five_plain(s: Scene) -> Run:
    def run() -> object:
        image = cv2.GaussianBlur(s.rgba, (7, 7), 1.5, borderType=EDGE)
        image = cv2.filter2D(image, -1, CROSS, borderType=EDGE)
        image = cv2.addWeighted(image, 1.2, image, 0, -25.5)
        image = cv2.addWeighted(image, 1.0, image, 0, 12.75)
        return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGBA2GRAY), cv2.COLOR_GRAY2RGBA)

    return run


def tones_opencv(s: Scene) -> Run:
    gamma = point_wise.as_table(point_wise.LEVELS ** (1 / 1.4))
    one, two = np.empty_like(s.rgba), np.empty_like(s.rgba)

    def run() -> object:
        cv2.convertScaleAbs(s.rgba, dst=one, alpha=2**0.5)
        cv2.LUT(one, gamma, dst=two)
        cv2.LUT(two, CONTRAST, dst=one)
        return cv2.bitwise_not(one, dst=s.out)

    return run


def video_opencv(s: Scene) -> Run:
    """A frame of video, its colours strengthened; OpenCV writes I420, no NV12."""
    matrix = np.eye(4, dtype=np.float32)
    matrix[:3, :3] = point_wise.saturation_matrix(0.3)
    rgba, strong = np.empty_like(s.rgba), np.empty_like(s.rgba)
    frame = np.empty_like(s.yuv420p)

    def run() -> object:
        cv2.cvtColor(s.yuv420p, cv2.COLOR_YUV2RGBA_I420, dst=rgba)
        cv2.transform(rgba, matrix, dst=strong)
        return cv2.cvtColor(strong, cv2.COLOR_RGBA2YUV_I420, dst=frame)

    return run


def thumbnail_opencv(s: Scene) -> Run:
    size = (s.width // 2, s.height // 2)

    def run() -> object:
        half = cv2.resize(s.rgba, size, interpolation=cv2.INTER_LINEAR)
        soft = cv2.GaussianBlur(half, (5, 5), 1, borderType=EDGE)
        return cv2.filter2D(soft, -1, CROSS, borderType=EDGE)

    return run


BT601: dict[str, object] = {"matrix": "bt601"}
JOBS: list[Job] = [
    *(blur(radius) for radius in (1, 3, 10, 25, 50)),
    point(
        "sharpen", {"amount": 0.5}, sharpen_opencv, pillow=sharpen_pillow,
    ),
    point(
        "edge_detect", {}, sobel_magnitude, strays=0.02,  # OpenCV's luma is rounded first
        skimage=lambda s: lambda: skfilters.sobel(s.grey),
    ),
    point(
        "edge_detect", {}, sobel_cheap, name="edge_detect, short cut",
        apart="mean of across and down, one plane",
    ),
    *(median(radius) for radius in (1, 2, 3)),
    point(
        "denoise", {"strength": 0.5}, bilateral_opencv, apart="other weights",
        skimage=bilateral_skimage,
    ),
    point("beauty", {"strength": 0.5}),
    point("glow", {}),
    point("background_blur", {}, inputs=("rgba", "mask")),
    point(
        "pixelate", {"size": 8}, pixelate_opencv, apart="means of whole blocks",
        pillow=pixelate_pillow,
    ),
]  # fmt: skip
# Where a blur differs by one level, sharpen makes up to five of it.
CHAINS = [
    Job(
        "chain of five",
        [
            ("blur", {"radius": 3, "sigma": 1.5}), ("sharpen", {"amount": 0.5}),
            ("contrast", {"value": 0.2}), ("brightness", {"value": 0.05}), ("grayscale", {}),
        ],
        five_opencv, five_plain, strays=0.01,
    ),
    Job(
        "exposure, gamma, contrast, invert",
        [
            ("exposure", {"stops": 0.5}), ("gamma", {"value": 1.4}),
            ("contrast", {"value": 0.2}), ("invert", {}),
        ],
        tones_opencv,
    ),
    Job(
        "resize half, blur, sharpen",
        [("resize", {}), ("blur", {"radius": 2, "sigma": 1.0}), ("sharpen", {"amount": 0.5})],
        thumbnail_opencv, strays=0.05, output=lambda h, w: (h // 2, w // 2, 4),
        between=lambda h, w: (h // 2, w // 2, 4),
    ),
    Job(
        "i420, saturation, i420",
        [("yuv420p_to_rgba", BT601), ("saturation", {"value": 0.3}), ("rgba_to_yuv420p", BT601)],
        video_opencv, inputs=("yuv420p",), output=lambda h, w: (h * 3 // 2, w),
        view=lambda frame: frame[: len(frame) * 2 // 3], strays=0.01,
    ),
]  # fmt: skip
