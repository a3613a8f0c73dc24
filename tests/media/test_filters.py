"""One function per filter: declared like its kernel, as right as its kernel, near to what peers compute."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image, ImageFilter
from skimage import data

import dala
from dala import compute, media
from dala.errors import ArgumentError, KernelNotFoundError, ParameterError, ShapeError
from dala.media import functions
from dala.media.chain import filter_names, find_filter
from dala.media.step import OWN_FILTERS

PHOTOS = {"astronaut": data.astronaut(), "coffee": data.coffee(), "chelsea": data.chelsea()}
FACE = PHOTOS["astronaut"][20:150, 150:290]
TURN = [[0.9, 0.2, 3.0], [-0.2, 0.9, 9.0]]
NEGATIVE = np.linspace([1.0, 0.9, 1], [0.0, 0.1, 0], 5)
# What shows that a parameter arrives, where the defaults change nothing or something is required.
SHOWN: dict[str, dict[str, Any]] = {
    "brightness": {"value": 0.2},
    "contrast": {"value": 0.4},
    "saturation": {"value": 0.6},
    "vibrance": {"value": 0.7},
    "hue": {"degrees": 70},
    "white_balance": {"temperature": 9000},
    "exposure": {"stops": 0.5},
    "gamma": {"value": 1.7},
    "rotate": {"degrees": 25},
    "tone": {"contrast": 0.5, "shadows": 0.3, "highlights": -0.2, "fade": 0.1},
    "split_tone": {"shadows": (-0.1, 0, 0.1), "highlights": (0.1, 0, -0.1)},
    "lut": {"lut": NEGATIVE},
    "warp_affine": {"matrix": TURN},
    "warp_perspective": {"matrix": [*TURN, [1e-4, 2e-4, 1.0]]},
    "crop": {"x": 7, "y": 5, "width": 60},
    "resize": {"width": 90, "interpolation": "area"},
    "blend": {"top": PHOTOS["coffee"], "mode": "screen"},
    "background_replace": {"mask": data.camera(), "background": PHOTOS["coffee"]},
    "background_blur": {"mask": data.camera(), "radius": 4},
    "segmentation": {"model": data.camera()},
    "chroma_key": {"color": (230, 90, 60)},
    "overlay": {"top": PHOTOS["coffee"], "at": "top", "scale": 0.4, "opacity": 0.8},
}


def levels_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(a.astype(int) - b.astype(int))


# -- declarations ------------------------------------------------------------------------------


def image_kernels() -> list[str]:
    return [n for n in compute.kernels() if compute.find_kernel(n).domain == "image"]


def test_every_image_kernel_has_a_function() -> None:
    assert set(functions.__all__) == {*image_kernels(), *OWN_FILTERS}
    assert set(functions.__all__) <= set(media.__all__)


@pytest.mark.parametrize("name", image_kernels())
def test_a_function_says_what_its_kernel_declares(name: str) -> None:
    kernel, function = compute.find_kernel(name), getattr(media, name)
    found = inspect.signature(function).parameters
    for p in kernel.params:
        assert found[p.name].default == (inspect.Parameter.empty if p.required else p.default)
        assert p.describe() in function.__doc__ and p.help in function.__doc__
    assert kernel.doc in function.__doc__
    assert f"media.{name}(" in kernel.example
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", filter_names())
def test_by_position(name: str) -> None:
    """After the picture, or after the width and the height of bytes, in the kernel's order."""
    function, params = getattr(media, name), dict(SHOWN.get(name, {}))
    declared = inspect.signature(function).parameters.values()
    words = [p for p in declared if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
    values = [params.get(p.name, p.default) for p in words]
    wanted = function(FACE, **params)
    assert np.array_equal(function(FACE, *values), wanted)
    height, width = FACE.shape[:2]
    assert function(FACE.tobytes(), width, height, *values) == wanted.tobytes()
    named = {"image_size": (width, height)} if name in ("resize", "crop") else {}
    named = named or {"width": width, "height": height}
    assert function(FACE.tobytes(), **named, **params) == wanted.tobytes()


def test_arguments_out_of_place() -> None:
    height, width = FACE.shape[:2]
    data = FACE.tobytes()
    with pytest.raises(
        ParameterError, match=r"got 140; give a width and a height with bytes alone"
    ):
        media.blur(FACE, width, height)
    with pytest.raises(
        ArgumentError, match=r"the picture is followed by value, got 3 values; give"
    ):
        media.brightness(FACE, width, height, 0.2)
    with pytest.raises(
        ArgumentError, match=r"brightness: the size is followed by value, got 2 val"
    ):
        media.brightness(data, width, height, 0.2, 0.3)
    with pytest.raises(ArgumentError, match=r"the size is followed by seed, frame, got 3 values"):
        media.generate_noise(8, 8, 1, 2, 3)
    for wrong in ((), (3,)):
        with pytest.raises(
            ArgumentError, match=r"bytes need a width and a height right after them"
        ):
            media.blur(data, *wrong)
    with pytest.raises(
        ArgumentError, match=r"blend: bytes need a width .*: blend\(data, width, height"
    ):
        media.blend(data, FACE, width, height)
    with pytest.raises(ArgumentError, match="blur: radius is given twice, by position and by name"):
        media.blur(FACE, 3, radius=4)
    with pytest.raises(ParameterError, match=r"unknown parameter 'radios'.*did you mean 'radius'"):
        media.blur(FACE, radios=4)
    with pytest.raises(ParameterError, match=r"radius must be a whole number in 1..100, got 500$"):
        media.background_blur(FACE, FACE, 500)


def test_which_filters_write_alpha() -> None:
    """An opaque picture stays opaque, but for those that say so."""
    photo = np.dstack([FACE, np.full(FACE.shape[:2], 255, np.uint8)])
    clear = np.zeros((*FACE.shape[:2], 4), np.uint8)
    writers = set()
    for name in filter_names():
        params = {**SHOWN.get(name, {})}
        if name == "background_replace":
            params["background"] = clear
        if (media.apply_filter(photo, name, **params)[..., 3] != 255).any():
            writers.add(name)
    assert writers == {n for n in filter_names() if find_filter(n).alpha != "kept"}


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", filter_names())
@pytest.mark.parametrize("on", ["cpu", "webgpu"])
def test_a_filter_matches_the_reference(name: str, on: str) -> None:
    params = SHOWN.get(name, {})
    function: Callable[..., np.ndarray] = getattr(media, name)
    wanted = function(FACE, device="reference", **params)
    result = function(FACE, device=on, **params)
    assert result.shape == wanted.shape and result.dtype == np.uint8
    assert result.shape != FACE.shape or (result != FACE).any()
    apart = levels_apart(result, wanted)
    assert apart.max() <= 1 or (apart > 1).mean() < 1e-4  # threshold-like filters flip a pixel


@pytest.mark.parametrize("name", filter_names())
def test_by_name_or_by_function(name: str) -> None:
    params = SHOWN.get(name, {})
    assert np.array_equal(
        media.apply_filter(FACE, name, **params), getattr(media, name)(FACE, **params)
    )


def test_the_seeds_call_them_like_this() -> None:
    data = FACE.shape[1] * FACE.shape[0] * bytes([10, 20, 30, 255])
    height, width = FACE.shape[:2]
    for result in (
        media.blur(data, width, height, radius=3, sigma=1.5),
        media.grayscale(data, width, height),
        media.brightness(data, width, height, 0.2),
        media.contrast(data, width, height, 0.3),
    ):
        assert isinstance(result, bytes) and len(result) == len(data)
    assert media.brightness(data, width, height, 0.2)[:4] == bytes([61, 71, 81, 255])
    with media.start_pipeline(width, height) as ctx:
        chain: list[Any] = [("blur", {"radius": 3}), ("sharpen", {"amount": 0.5}), "grayscale"]
        assert len(media.process_frame(ctx, data, chain)) == len(data)
        media.stop_pipeline(ctx)


def test_f32_beyond_0_and_1_goes_through() -> None:
    light = np.array([[[2.0, -0.5, 0.25]]], np.float32)
    assert np.allclose(media.brightness(light, value=0.5), [[[2.5, 0.0, 0.75]]])
    assert np.allclose(media.tone(light, contrast=1)[0, 0, :2], [2.0, -0.5])


def test_registered_kernels_are_filters(registry: None) -> None:
    @dala.kernel
    def dim(src, by: float = dala.param(0.5, min=0, max=1)):  # type: ignore[no-untyped-def]
        p = src[0, 0]
        return (p.rgb * by).with_alpha(p.a)

    compute.register("dim_photo", dim)
    grey = np.full((3, 3, 3), 100, np.uint8)
    assert media.apply_filter(grey, "dim_photo", by=0.1)[0, 0].tolist() == [10, 10, 10]
    assert media.apply_filters(grey, [("dim_photo", {"by": 0.1}), "invert"])[0, 0, 0] == 245
    assert media.apply_filter(grey, dim)[0, 0, 0] == 50


# -- errors ------------------------------------------------------------------------------------


def test_errors() -> None:
    with pytest.raises(
        KernelNotFoundError, match=r"no filter or look is named 'blurr'; did you mean 'blur'"
    ):
        media.apply_filter(FACE, "blurr")
    with pytest.raises(
        ParameterError, match=r"blur: radius must be a whole number in 0..100, got 101"
    ):
        media.blur(FACE, radius=101)
    with pytest.raises(ParameterError, match=r"unknown parameter 'radios'.*did you mean 'radius'"):
        media.apply_filter(FACE, "blur", radios=1)
    with pytest.raises(ArgumentError, match="matmul is no filter: it works on tensors"):
        media.apply_filter(FACE, "matmul")
    with pytest.raises(
        ArgumentError, match="yuv420p_to_rgba is no filter: it reads or writes video"
    ):
        media.apply_filter(FACE, "yuv420p_to_rgba")
    with pytest.raises(
        ShapeError, match=r"crop: 200 × 130 from \(0, 0\) does not fit into 140 × 130"
    ):
        media.crop(FACE, width=200)
    with pytest.raises(ParameterError, match="blend: the picture top is missing; give top="):
        media.apply_filter(FACE, "blend")
    with pytest.raises(
        ParameterError, match=r"unknown parameter 'tip'; it takes: alpha, mode, top; did you"
    ):
        media.apply_filter(FACE, "blend", tip=FACE)


def test_sizes_that_are_left_open() -> None:
    assert media.resize(FACE, 70).shape == (65, 70, 3)
    assert media.resize(FACE, height=65).shape == (65, 70, 3)
    assert media.resize(FACE, 1000, 1).shape == (1, 1000, 3)
    assert media.resize(FACE).shape == FACE.shape
    assert np.array_equal(media.crop(FACE, 3, 5), FACE[5:, 3:])
    assert np.array_equal(media.crop(FACE, 3, 5, 20), FACE[5:, 3:23])
    data = FACE.tobytes()
    small = media.resize(data, 70, 65, image_size=(140, 130))
    assert small == media.resize(FACE, 70, 65).tobytes()
    assert len(media.crop(data, 1, 1, 2, 2, image_size=(140, 130))) == 2 * 2 * 3


# -- beside OpenCV and Pillow, on photos -------------------------------------------------------


@pytest.fixture(params=PHOTOS)
def photo(request: pytest.FixtureRequest) -> np.ndarray:
    return PHOTOS[str(request.param)]


@pytest.mark.parametrize("radius", [1, 3, 10])
def test_blur_is_opencvs(photo: np.ndarray, radius: int) -> None:
    side = 2 * radius + 1
    wanted = cv2.GaussianBlur(photo, (side, side), radius / 2, borderType=cv2.BORDER_REPLICATE)
    assert levels_apart(media.blur(photo, radius=radius), wanted).max() <= 1


def test_grayscale_is_opencvs_and_pillows(photo: np.ndarray) -> None:
    result = media.grayscale(photo)
    assert (result == result[..., :1]).all()
    assert levels_apart(result[..., 0], cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)).max() <= 1
    pil = np.asarray(Image.fromarray(photo).convert("L"))
    assert levels_apart(result[..., 0], pil).max() <= 1


@pytest.mark.parametrize("radius", [1, 2])
def test_median_is_opencvs_and_pillows(photo: np.ndarray, radius: int) -> None:
    result = media.median(photo, radius=radius)
    assert np.array_equal(result, cv2.medianBlur(photo, 2 * radius + 1))
    pil = np.asarray(Image.fromarray(photo).filter(ImageFilter.MedianFilter(2 * radius + 1)))
    inside = slice(radius, -radius)
    assert np.array_equal(result[inside, inside], pil[inside, inside])


WAYS = {
    "nearest": cv2.INTER_NEAREST_EXACT,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
    "lanczos": cv2.INTER_LANCZOS4,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", [0.5, 0.37, 1.6])
def test_resize_is_opencvs(photo: np.ndarray, way: Any, by: float) -> None:
    size = round(photo.shape[1] * by), round(photo.shape[0] * by)
    wanted = cv2.resize(photo, size, interpolation=WAYS[way])
    result = media.resize(photo, *size, interpolation=way)
    apart = levels_apart(result, wanted)
    if way == "nearest":
        # OpenCV's positions are in fixed point: in some ties it takes the next pixel
        columns, rows = (
            np.floor((np.arange(n) + 0.5) * m / n).astype(int)
            for n, m in zip(size, photo.shape[1::-1], strict=True)
        )
        assert np.array_equal(result, photo[rows][:, columns])
        assert (apart > 0).any(axis=2).mean() < 0.02
    elif way == "area" and by > 1:
        assert levels_apart(result, media.resize(photo, *size)).max() <= 1  # bilinear, not OpenCV's
    else:
        assert apart.max() <= 2 and apart.mean() < 0.4


def test_yuv_is_opencvs(photo: np.ndarray) -> None:
    even = np.ascontiguousarray(photo[: photo.shape[0] // 2 * 2, : photo.shape[1] // 2 * 2])
    rows, columns = even.shape[:2]
    frame = media.rgba_to_yuv420p(even, matrix="bt601")
    wanted = cv2.cvtColor(even, cv2.COLOR_RGB2YUV_I420)
    assert (
        levels_apart(frame[:rows], wanted[:rows]).max() <= 1
    )  # OpenCV drops chroma, dala averages
    back = media.yuv420p_to_rgba(wanted, matrix="bt601", channels="rgb")
    assert levels_apart(back, cv2.cvtColor(wanted, cv2.COLOR_YUV2RGB_I420)).max() <= 2
    nv12 = np.random.default_rng(0).integers(16, 236, (rows * 3 // 2, columns), dtype=np.uint8)
    back = media.nv12_to_rgba(nv12, matrix="bt601", channels="bgr")
    assert levels_apart(back, cv2.cvtColor(nv12, cv2.COLOR_YUV2BGR_NV12)).max() <= 2
    again = media.yuv420p_to_rgba(frame.tobytes(), columns, rows, matrix="bt601", channels="rgb")
    assert again == media.yuv420p_to_rgba(frame, matrix="bt601", channels="rgb").tobytes()
    bgr = media.rgba_to_nv12(even[..., ::-1], channels="bgr")
    assert np.array_equal(bgr, media.rgba_to_nv12(even))


def test_frames_of_odd_size_are_refused() -> None:
    with pytest.raises(
        ShapeError, match="rgba_to_nv12: expected an even width and height, got 3 × 2"
    ):
        media.rgba_to_nv12(np.zeros((2, 3), np.uint8))
    with pytest.raises(ShapeError, match=r"yuv420p_to_rgba: a frame is \(H \* 3 // 2, W\)"):
        media.yuv420p_to_rgba(np.zeros((4, 2), np.uint8))
    with pytest.raises(
        ParameterError, match="channels must be 'rgb', 'bgr', 'rgba' or 'bgra', got 'grey'"
    ):
        media.nv12_to_rgba(np.zeros((3, 2), np.uint8), channels="grey")  # type: ignore[arg-type]
