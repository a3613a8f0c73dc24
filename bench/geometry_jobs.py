"""Jobs that move pixels, and video frames."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image
from skimage import transform

from job import Job, Peer, Scene, Shape, point
from measure import Run

Resampling = Image.Resampling
WAYS = {
    "nearest": (cv2.INTER_NEAREST_EXACT, Resampling.NEAREST, 0),
    "bilinear": (cv2.INTER_LINEAR, Resampling.BILINEAR, 1),
    "bicubic": (cv2.INTER_CUBIC, Resampling.BICUBIC, 3),
    "area": (cv2.INTER_AREA, Resampling.BOX, None),
    "lanczos": (cv2.INTER_LANCZOS4, Resampling.LANCZOS, None),
}
TO: dict[str, Shape] = {
    "half": lambda h, w: (h // 2, w // 2, 4),
    "to 224": lambda h, w: (224, 224, 4),
    "double": lambda h, w: (h * 2, w * 2, 4),
}


def resize(way: str, size: str) -> Job:
    opencv, pillow, order = WAYS[way]
    shape = TO[size]

    def with_opencv(s: Scene) -> Run:
        rows, columns, _ = shape(s.height, s.width)
        out = np.empty((rows, columns, 4), np.uint8)
        return lambda: cv2.resize(s.rgba, (columns, rows), dst=out, interpolation=opencv)

    def with_pillow(s: Scene) -> Run:
        rows, columns, _ = shape(s.height, s.width)
        return lambda: s.picture.resize((columns, rows), pillow)

    def with_skimage(s: Scene) -> Run:
        rows, columns, _ = shape(s.height, s.width)
        return lambda: transform.resize(s.rgb, (rows, columns), order=order)

    return point(
        "resize", {"interpolation": way}, with_opencv, name=f"resize {size}, {way}",
        pillow=with_pillow, skimage=None if order is None else with_skimage, output=shape,
        strays=0.001,  # by area, a very large image is sampled
    )  # fmt: skip


def turning(s: Scene, degrees: float) -> np.ndarray:
    return cv2.getRotationMatrix2D(((s.width - 1) / 2, (s.height - 1) / 2), degrees, 1)


def rotate_opencv(s: Scene) -> Run:
    matrix = turning(s, 20)
    return lambda: cv2.warpAffine(s.rgba, matrix, (s.width, s.height), dst=s.out)


AFFINE = (0.9, 0.2, 10.0, -0.1, 0.95, 30.0)
PERSPECTIVE = (1.0, 0.05, 3.0, 0.02, 1.0, 5.0, 2e-5, 3e-5, 1.0)


def affine_opencv(s: Scene) -> Run:
    matrix = np.array(AFFINE).reshape(2, 3)
    return lambda: cv2.warpAffine(s.rgba, matrix, (s.width, s.height), dst=s.out)


def perspective_opencv(s: Scene) -> Run:
    matrix = np.array(PERSPECTIVE).reshape(3, 3)
    return lambda: cv2.warpPerspective(s.rgba, matrix, (s.width, s.height), dst=s.out)


def warp_pillow(matrix: tuple[float, ...], kind: Image.Transform) -> Peer:
    """Pillow maps from output to input."""
    whole = np.array([*matrix, 0, 0, 1][:9]).reshape(3, 3)
    back = np.linalg.inv(whole)
    data = (back / back[2, 2]).reshape(-1)[: len(matrix) - (len(matrix) == 9)].tolist()
    return lambda s: (
        lambda: s.picture.transform((s.width, s.height), kind, data, Resampling.BILINEAR)
    )


def warp_skimage(matrix: tuple[float, ...]) -> Peer:
    back = transform.ProjectiveTransform(
        np.linalg.inv(np.array([*matrix, 0, 0, 1][:9]).reshape(3, 3))
    )
    return lambda s: lambda: transform.warp(s.rgb, back)


def flip(name: str, horizontal: bool, vertical: bool, code: int, way: Image.Transpose) -> Job:
    return point(
        "flip", {"horizontal": horizontal, "vertical": vertical},
        lambda s: lambda: cv2.flip(s.rgba, code, dst=s.out), name=f"flip, {name}",
        pillow=lambda s: lambda: s.picture.transpose(way),
    )  # fmt: skip


def crop_numpy(s: Scene) -> Run:
    """OpenCV's images are NumPy's: a crop is a copy of a view."""
    rows, columns = s.height // 2, s.width // 2
    out = np.empty((rows, columns, 4), np.uint8)

    def run() -> object:
        np.copyto(out, s.rgba[5 : 5 + rows, 7 : 7 + columns])
        return out

    return run


def crop_pillow(s: Scene) -> Run:
    return lambda: s.picture.crop((7, 5, 7 + s.width // 2, 5 + s.height // 2))


def preprocess_opencv(s: Scene) -> Run:
    mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])

    def run() -> object:
        small = cv2.resize(s.rgba, (224, 224), interpolation=cv2.INTER_LINEAR)[..., :3]
        return ((small.astype(np.float32) / 255 - mean) / std).transpose(2, 0, 1)[None].copy()

    return run


def to_frame(s: Scene) -> Run:
    out = np.empty_like(s.yuv420p)
    return lambda: cv2.cvtColor(s.rgba, cv2.COLOR_RGBA2YUV_I420, dst=out)


def luma_rows(frame: np.ndarray) -> np.ndarray:
    return frame[: len(frame) * 2 // 3]


def frame_shape(height: int, width: int) -> tuple[int, ...]:
    return height * 3 // 2, width


BT601: dict[str, object] = {"matrix": "bt601"}
MIRROR, UPEND = Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM
JOBS: list[Job] = [
    *(resize(way, "half") for way in WAYS),
    *(resize(way, "to 224") for way in ("bilinear", "bicubic", "area")),
    *(resize(way, "double") for way in WAYS if way != "area"),
    point(
        "preprocess", {}, preprocess_opencv, name="preprocess to 224", dtype="f32",
        output=lambda h, w: (1, 3, 224, 224),
    ),
    point("crop", {"x": 7, "y": 5}, crop_numpy, pillow=crop_pillow, output=TO["half"]),
    flip("left and right", True, False, 1, MIRROR),
    flip("top and bottom", False, True, 0, UPEND),
    flip("both", True, True, -1, Image.Transpose.ROTATE_180),
    point(
        "rotate", {"degrees": 20}, rotate_opencv, strays=0.02, # fades alpha alone at the border
        pillow=lambda s: lambda: s.picture.rotate(20, Resampling.BILINEAR),
        skimage=lambda s: lambda: transform.rotate(s.rgb, 20),
    ),
    point(
        "warp_affine", {"matrix": AFFINE}, affine_opencv, strays=0.02,
        pillow=warp_pillow(AFFINE, Image.Transform.AFFINE), skimage=warp_skimage(AFFINE),
    ),
    point(
        "warp_perspective", {"matrix": PERSPECTIVE}, perspective_opencv, strays=0.02,
        pillow=warp_pillow(PERSPECTIVE, Image.Transform.PERSPECTIVE),
        skimage=warp_skimage(PERSPECTIVE),
    ),
    # OpenCV takes the chroma of one pixel in four: Y alone can be compared
    point("rgba_to_yuv420p", BT601, to_frame, output=frame_shape, view=luma_rows),
    point(
        "rgba_to_nv12", BT601, to_frame, output=frame_shape, view=luma_rows,
        name="rgba_to_nv12 (OpenCV: I420)",
    ),
    point(
        "yuv420p_to_rgba", BT601, inputs=("yuv420p",),
        opencv=lambda s: lambda: cv2.cvtColor(s.yuv420p, cv2.COLOR_YUV2RGBA_I420, dst=s.out),
    ),
    point(
        "nv12_to_rgba", BT601, inputs=("nv12",),
        opencv=lambda s: lambda: cv2.cvtColor(s.nv12, cv2.COLOR_YUV2RGBA_NV12, dst=s.out),
    ),
]  # fmt: skip
