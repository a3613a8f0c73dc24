"""Whatever a picture is, its result is of the same kind, and the picture stays as it was."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from searching import examples
from skimage import data

from dala import compute, media
from dala.errors import (
    ArgumentError,
    BufferFreedError,
    DeviceError,
    DTypeError,
    MediaError,
    ParameterError,
    ShapeError,
)
from dala.media.packing import add_alpha

PHOTO = np.ascontiguousarray(data.astronaut()[:50, :70])
WEIGHTS = np.array([0.299, 0.587, 0.114])


def sepia(image: Any, **options: Any) -> Any:
    """A filter that tells red from blue."""
    return media.sepia(image, intensity=0.9, **options)


WANTED = sepia(PHOTO)


def near(a: np.ndarray, b: np.ndarray, levels: float = 1) -> bool:
    return a.shape == b.shape and bool(np.abs(a.astype(float) - b.astype(float)).max() <= levels)


# -- arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [None, "rgb", "bgr", "rgba", "bgra"])
def test_channel_orders(dtype: Any, channels: Any) -> None:
    scale = 1 if dtype == np.uint8 else 255
    colors = (PHOTO / scale).astype(dtype)
    order = slice(None, None, -1) if channels and channels.startswith("b") else slice(None)
    image = colors[..., order]
    if channels and channels.endswith("a"):
        image = np.dstack([image, np.full(image.shape[:2], 77 / scale, dtype)])
    before = image.copy()
    result = sepia(image, channels=channels)
    assert result.dtype == dtype and result.shape == image.shape
    assert near(np.clip(result[..., :3][..., order] * scale, 0, 255), WANTED)
    assert (image == before).all()
    if image.shape[2] == 4:
        assert (result[..., 3] == image[..., 3]).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("shape", [(50, 70), (50, 70, 1)])
def test_grey(dtype: Any, shape: tuple[int, ...]) -> None:
    """Grey stays grey: of colours, the luma."""
    scale = 1 if dtype == np.uint8 else 255
    grey = (PHOTO[..., 1] / scale).astype(dtype).reshape(shape)
    result = sepia(grey)
    assert result.dtype == dtype and result.shape == shape
    colored = sepia(np.repeat((PHOTO[..., 1:2] / 255).astype(np.float32), 3, axis=2))
    wanted = np.clip(
        colored @ WEIGHTS * 255, 0, 255
    )  # bytes clip each colour, and grey only the luma
    assert near(np.clip(result.reshape(50, 70) * scale, 0, 255), wanted)
    for channels in ("grey", "gray"):
        assert np.array_equal(sepia(grey, channels=channels), result)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_arrays_in_any_order_of_memory(dtype: Any) -> None:
    image = (PHOTO / (1 if dtype == np.uint8 else 255)).astype(dtype)
    wanted = sepia(image)
    room = np.zeros((100, 140, 5), dtype)
    room[::2, ::2, 1:4] = image
    for view in (
        room[::2, ::2, 1:4],
        np.asfortranarray(image),
        np.ascontiguousarray(image[::-1, ::-1])[::-1, ::-1],
        np.ascontiguousarray(image.transpose(1, 0, 2)).transpose(1, 0, 2),
        np.ascontiguousarray(image.transpose(2, 0, 1)).transpose(1, 2, 0),
    ):
        assert np.array_equal(sepia(view), wanted)
    image.flags.writeable = False
    result = sepia(image)
    assert np.array_equal(result, wanted) and result.flags.writeable
    grey = room[::2, ::2, 1]
    assert np.array_equal(sepia(grey), sepia(grey.copy()))


@settings(max_examples=examples(60))
@given(
    rows=st.integers(1, 33),
    columns=st.integers(1, 33),
    channels=st.sampled_from([0, 1, 3, 4]),
    is_float=st.booleans(),
    steps=st.tuples(st.sampled_from([1, 2, -1]), st.sampled_from([1, 3, -1])),
)
def test_any_array_through_a_filter_that_numpy_knows(
    rows: int, columns: int, channels: int, is_float: bool, steps: tuple[int, int]
) -> None:
    shape = (rows * 2, columns * 3) + ((channels,) if channels else ())
    image = np.random.default_rng(rows * 100 + columns).integers(0, 256, shape, dtype=np.uint8)
    if is_float:
        image = image.astype(np.float32) / 255
    image = image[:: steps[0], :: steps[1]]
    wanted = (1 if is_float else 255) - image
    if channels == 4:
        wanted[..., 3] = image[..., 3]
    assert np.allclose(media.invert(image), wanted, atol=1e-6)


# -- bytes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_bytes(kind: Any, channels: int) -> None:
    image = np.random.default_rng(0).integers(0, 256, (6, 7, channels), dtype=np.uint8)
    result = sepia(kind(image.tobytes()), width=7, height=6)
    assert type(result) is (bytearray if kind is bytearray else bytes)
    assert bytes(result) == sepia(image).tobytes()
    names = {1: ["grey"], 3: ["rgb"], 4: ["rgba", "rgb"]}[channels]
    for name in names:
        assert sepia(kind(image.tobytes()), width=7, height=6, channels=name) == result
    if channels > 1:
        swapped = image[..., [2, 1, 0, 3][:channels]]
        back = sepia(kind(swapped.tobytes()), width=7, height=6, channels="bgr")
        pixels = np.frombuffer(back, np.uint8).reshape(image.shape)
        assert pixels[..., [2, 1, 0, 3][:channels]].tobytes() == bytes(result)


def test_bytes_of_another_size_come_out() -> None:
    image = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    small = media.apply_filter(image.tobytes(), "resize", image_size=(8, 6), width=4, height=3)
    assert small == media.resize(image, 4, 3).tobytes()


# -- PIL ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "HSV", "RGBX", "F"])
def test_pil_modes_are_kept(mode: str) -> None:
    photo = Image.fromarray(PHOTO)
    image = photo.convert(mode)
    if mode == "F":
        image = Image.fromarray((np.asarray(photo.convert("L")) / 255).astype(np.float32))
    result = sepia(image)
    assert isinstance(result, Image.Image) and (result.mode, result.size) == (mode, image.size)
    seen = np.asarray(result.convert("RGB" if mode not in ("L", "LA", "F") else "L"))
    if mode in ("RGB", "RGBA", "RGBX"):
        assert near(seen, WANTED)
    elif mode in ("CMYK", "YCbCr", "HSV"):
        assert near(seen, WANTED, 12)  # as far as the mode itself goes


@pytest.mark.parametrize(("mode", "after"), [("1", "L"), ("P", "RGB"), ("PA", "RGBA")])
def test_pil_modes_that_cannot_hold_the_result(mode: str, after: str) -> None:
    image = Image.fromarray(PHOTO).convert("P").convert(mode)
    assert sepia(image).mode == after


def test_a_transparent_palette() -> None:
    image = Image.fromarray(PHOTO).convert("P")
    image.info["transparency"] = 3
    result = sepia(image)
    assert result.mode == "RGBA" and "transparency" not in result.info


@pytest.mark.parametrize("mode", ["I", "LAB"])
def test_pil_modes_that_are_refused(mode: str) -> None:
    with pytest.raises(
        DTypeError,
        match=f"sepia: a PIL image of mode '{mode}' has no pixels of 8 or 16 bits; convert",
    ):
        sepia(Image.new(mode, (4, 4)))


@pytest.mark.parametrize("mode", ["I;16", "I;16B"])
def test_pil_images_of_16_bits_keep_them(mode: str) -> None:
    levels = np.array([[0, 300], [40000, 65535]], np.uint16)
    image = Image.frombytes(mode, (2, 2), levels.astype(">u2" if mode.endswith("B") else "<u2"))
    result = media.invert(image)
    assert result.mode == "I;16"
    np.testing.assert_array_equal(np.asarray(result), 65535 - levels)


def test_a_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    Image.fromarray(data.astronaut()).save(path)
    path.write_bytes(path.read_bytes()[:20_000])
    with (
        Image.open(path) as image,
        pytest.raises(MediaError, match="sepia: the picture cannot be read: "),
    ):
        sepia(image)
    with pytest.raises(MediaError, match=r"blend: top: cannot read the picture .*photo.jpg"):
        media.blend(PHOTO, path)
    path.write_text("no picture")
    with pytest.raises(MediaError, match=r"blend: top: cannot read the picture .*photo.jpg"):
        media.blend(PHOTO, path)


def test_pil_is_never_bgr() -> None:
    with pytest.raises(ParameterError, match="sepia: a PIL image is never BGR; leave channels out"):
        sepia(Image.fromarray(PHOTO), channels="bgr")


def test_pil_keeps_its_profile() -> None:
    image = Image.fromarray(PHOTO)
    image.info["icc_profile"] = b"profile"
    before = image.tobytes()
    assert sepia(image).info == {"icc_profile": b"profile"}
    assert image.tobytes() == before


# -- buffers and DLPack ------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
def test_buffers_stay_on_their_device() -> None:
    rgba = np.dstack([PHOTO, np.full(PHOTO.shape[:2], 9, np.uint8)])
    buffer = compute.from_array(rgba)
    result = sepia(buffer)
    assert isinstance(result, compute.Buffer) and result is not buffer
    assert result.device == buffer.device
    assert near(result.read()[..., :3], WANTED)
    assert np.array_equal(buffer.read(), rgba)
    swapped = sepia(compute.from_array(rgba[..., [2, 1, 0, 3]].copy()), channels="bgra").read()
    assert near(swapped[..., 2::-1], WANTED)
    for shape in ((50, 70), (50, 70, 1)):
        grey = compute.from_array(PHOTO[..., 0].reshape(shape).copy())
        assert sepia(grey).shape == shape
    assert media.resize(buffer, 35).shape == (25, 35, 4)
    if buffer.device != "cpu":
        with pytest.raises(
            DeviceError, match=f"sepia: the picture is on {buffer.device}, not on cpu"
        ):
            sepia(buffer, device="cpu")


def test_buffers_that_are_refused() -> None:
    with pytest.raises(ShapeError, match="and 1 or 4 of a buffer"):
        sepia(compute.from_array(PHOTO))
    with pytest.raises(DTypeError, match="sepia: expected a buffer of u8, u16 or f32, got s32"):
        sepia(compute.buffer_zeros((4, 4, 4), "s32"))
    freed = compute.buffer_zeros((4, 4, 4), "u8")
    freed.free()
    with pytest.raises(BufferFreedError):
        sepia(freed)


class Foreign:
    """An array of a library that speaks DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack_goes_back_through_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("foreign_arrays")
    library.from_dlpack = Foreign  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "foreign_arrays", library)
    monkeypatch.setattr(Foreign, "__module__", "foreign_arrays.core")
    result = sepia(Foreign(PHOTO.copy()))
    assert isinstance(result, Foreign) and np.array_equal(result.array, WANTED)


def test_dlpack_without_a_way_back() -> None:
    assert np.array_equal(sepia(Foreign(PHOTO.copy())), WANTED)


def test_dlpack_that_cannot_be_read() -> None:
    class Elsewhere(Foreign):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("it is on another device")

    with pytest.raises(ArgumentError, match=r"Elsewhere cannot be read from here .*x\.cpu\(\)"):
        sepia(Elsewhere(PHOTO))


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    result = sepia(torch.from_numpy(PHOTO))
    assert isinstance(result, torch.Tensor) and np.array_equal(result.numpy(), WANTED)


# -- what is refused ---------------------------------------------------------------------------

ZERO = np.zeros((4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("image", "options", "error", "message"),
    [
        (
            ZERO.astype(">u2"),
            {},
            DTypeError,
            r"sepia: expected uint8, uint16 or float32, got >u2; its bytes are in the other order",
        ),
        (
            ZERO.astype(float),
            {},
            DTypeError,
            r"got float64; use x.astype\('float32'\), with values of 0..1",
        ),
        (ZERO.astype(np.float16), {}, DTypeError, r"got float16; use x.astype\('float32'\)"),
        (ZERO.astype(bool), {}, DTypeError, r"got bool; use x.astype\('uint8'\) \* 255"),
        (ZERO.astype(np.int32), {}, DTypeError, "got int32; convert it: uint8 is 0..255"),
        (ZERO.astype(">f4"), {}, DTypeError, "got >f4"),
        (ZERO[:0], {}, ShapeError, r"a picture has at least one pixel, got \(0, 5, 3\)"),
        (ZERO[:, :0], {}, ShapeError, r"at least one pixel, got \(4, 0, 3\)"),
        (ZERO[..., :0], {}, ShapeError, r"expected \(height, width\) or .*got \(4, 5, 0\)"),
        (ZERO[..., :2], {}, ShapeError, r"got \(4, 5, 2\)$"),
        (ZERO[0, 0], {}, ShapeError, r"got \(3,\)$"),
        (ZERO[None], {}, ShapeError, r"got \(1, 4, 5, 3\)$"),
        (
            np.zeros((3, 40, 50), np.uint8),
            {},
            ShapeError,
            r"channels come last: np.moveaxis\(x, 0, -1\), or x.permute",
        ),
        (ZERO, {"width": 4}, ShapeError, "width is 4, but the picture is 5 × 4"),
        (ZERO, {"channels": "grey"}, ShapeError, "'grey' does not have 3 channels"),
        (ZERO, {"channels": "rgba"}, ShapeError, "'rgba' does not have 3 channels"),
        (
            ZERO,
            {"channels": "brg"},
            ParameterError,
            "channels must be one of 'rgb', .*got 'brg'; did you mean 'rgb' or 'bgr'",
        ),
        (b"123", {}, ArgumentError, "sepia: bytes need a width and a height"),
        (b"123", {"width": 1}, ArgumentError, "bytes need a width and a height"),
        (
            b"12345",
            {"width": 1, "height": 1},
            ShapeError,
            r"1 × 1 pixels are 4 or 3 or 1 bytes .*got 5",
        ),
        (
            b"123",
            {"width": 1, "height": 1, "channels": "rgba"},
            ShapeError,
            r"are 4 bytes \(rgba\), got 3",
        ),
        (
            b"",
            {"width": 0, "height": 1},
            ShapeError,
            "width must be a whole number from 1 up, got 0",
        ),
        (
            b"1",
            {"width": 1, "height": True},
            ShapeError,
            "height must be a whole number from 1 up, got True",
        ),
        (
            [[1, 2], [3, 4]],
            {},
            ArgumentError,
            r"expected a picture \(path, NumPy array, .*got list",
        ),
        (None, {}, ArgumentError, "got NoneType"),
        (
            "nowhere.jpg",
            {},
            MediaError,
            "cannot read the picture .nowhere.jpg.: there is no such file",
        ),
    ],
)
def test_refused(image: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sepia(image, **options)


def test_what_becomes_transparent_is_black_without_alpha() -> None:
    turned = media.rotate(PHOTO, degrees=45)
    with_alpha = media.rotate(add_alpha(PHOTO), degrees=45).astype(float)
    assert (turned[0, 0] == 0).all()
    assert near(turned, with_alpha[..., :3] * with_alpha[..., 3:] / 255)


def test_chroma_key_gives_alpha_to_whoever_has_none() -> None:
    green = np.array([[[0, 177, 64], [200, 80, 70]]], np.uint8)
    assert media.chroma_key(green)[0, :, 3].tolist() == [0, 255]
    blue_first = media.chroma_key(green[..., ::-1], channels="bgr")
    assert np.array_equal(blue_first[..., [2, 1, 0, 3]], media.chroma_key(green))
    assert media.chroma_key(Image.fromarray(green)).mode == "RGBA"
    assert len(media.chroma_key(green.tobytes(), 2, 1)) == 8
    assert media.chroma_key(green[..., 0]).shape == (1, 2, 4)
