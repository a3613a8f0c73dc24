"""Images of u16: every filter of the catalogue, on levels 0..65535, on all devices; frames of 10 bits."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from first_uses import VALUES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from searching import examples

import dala
from dala import compute, media
from dala.errors import DTypeError

Array = np.ndarray[Any, Any]
NOT_FILTERS = {
    "generate_gradient", "generate_noise", "test_pattern",
    "nv12_to_rgba", "yuv420p_to_rgba", "rgba_to_nv12", "rgba_to_yuv420p",
}  # fmt: skip
FILTERS = sorted(set(media.functions.__all__) - NOT_FILTERS)
MASKS = {"background_blur", "background_replace", "segmentation"}
COLORED = {"lut", "chroma_key"}  # make colour or alpha of greys
JUMPS = {"threshold", "posterize", "hue", "chroma_key"}  # a last place may become many levels
PARAMS = {**VALUES, "crop": {"x": 3, "y": 2, "width": 20, "height": 15}}
ROWS, COLUMNS = 23, 37


def photo(*shape: int, seed: int = 1) -> Array:
    """Slopes with noise on them, of 16 bits."""
    y, x = np.indices(shape[:2])
    slopes = x * 900 + y * 700
    if len(shape) == 3:
        slopes = slopes[..., None] + np.arange(shape[2]) * 5000
    noise = np.random.default_rng(seed).integers(0, 9000, shape)
    return ((slopes + noise) % 65536).astype(np.uint16)


def noise(*shape: int, seed: int = 2) -> Array:
    """Any level beside any other."""
    return np.random.default_rng(seed).integers(0, 65536, shape, dtype=np.uint16)


def filtered(device: str, name: str, image: Array) -> Array:
    further: list[Array] = []
    if name in MASKS:
        further.append(photo(*image.shape[:2], seed=5))
    if name in ("background_replace", "blend", "overlay"):
        further.append(photo(*image.shape, seed=9))
    if image.dtype == np.float32:
        further = [(f / 65535).astype(np.float32) for f in further]
    function = getattr(media, name)
    return np.asarray(function(image, *further, device=device, **PARAMS.get(name, {})))


def assert_near(got: Array, want: Array, name: str, levels: int) -> None:
    assert got.shape == want.shape
    off = np.abs(got.astype(int) - want.astype(int))
    if name in JUMPS:
        assert np.count_nonzero(off > levels) <= off.size / 100
    else:
        assert off.max() <= levels, f"{off.max()} levels of 65535"


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_means_the_same_on_u16_as_on_f32(name: str) -> None:
    """The reference: what f32 makes of the same values, clipped and rounded where it is stored."""
    image = photo(ROWS, COLUMNS, 4)
    got = filtered("reference", name, image)
    floats = filtered("reference", name, (image * np.float32(1 / 65535)).astype(np.float32))
    assert got.dtype == np.uint16
    assert_near(got, np.rint(np.clip(floats, 0, 1) * 65535), name, 1)


@pytest.mark.parametrize("channels", [4, 1])
@pytest.mark.parametrize("name", FILTERS)
def test_the_cpu_agrees_with_the_reference(name: str, channels: int) -> None:
    if channels == 1 and name in COLORED:
        pytest.skip("makes colour or alpha")
    shape = (ROWS, COLUMNS, *([4] if channels == 4 else []))
    for image in (photo(*shape), noise(*shape)):
        got = filtered("cpu", name, image)
        assert got.dtype == np.uint16
        assert_near(got, filtered("reference", name, image), name, 1)


def test_a_sample_adds_what_the_last_place_of_its_position_is_worth() -> None:
    """Between black and white, that of both axes: two levels each at 400 pixels."""
    image, stage = noise(300, 400, 4), ("rotate", {"degrees": 33.0})
    got, want = (media.apply_filters(image, [stage], device=d) for d in ("cpu", "reference"))
    place = float(np.spacing(np.float32(400)))
    assert_near(got, want, "rotate", 1 + math.ceil(2 * 65535 * place))


# stages that are linear but for clipping, and the same everywhere
LINEAR: dict[str, tuple[str, dict[str, float]]] = {
    "sharpen": ("sharpen", {}),
    "sharpen much": ("sharpen", {"amount": 2.5}),
    "blur": ("blur", {"radius": 2}),
    "contrast": ("contrast", {"value": 0.4}),
    "brightness": ("brightness", {"value": -0.1}),
    "saturation": ("saturation", {"value": 0.6}),
    "sepia": ("sepia", {}),
    "invert": ("invert", {}),
}


@functools.cache
def gain_of(name: str) -> float:
    """What a stage makes of a level at most: the sizes, added, of all weights of a result.

    Weights are the same everywhere, so those by which one value goes into many results are those by which
    many go into one; f32 is not clipped where it is stored. Clamped edges only add weights to each other.
    """
    rows, columns, step = 15, 15, 2.0**-4
    grey = np.full((rows, columns, 4), 0.5, np.float32)
    base = media.apply_filters(grey, [LINEAR[name]], device="reference").astype(float)
    total = np.zeros(4)
    for channel in range(4):
        struck = grey.copy()
        struck[rows // 2, columns // 2, channel] += np.float32(step)
        result = media.apply_filters(struck, [LINEAR[name]], device="reference")
        total += np.abs(result - base).sum((0, 1)) / step
    return float(total.max())


def levels_of(chain: list[str]) -> int:
    """How far a chain may be off: a level a stage, and what it makes of those before."""
    levels = 0
    for name in chain:
        levels = math.ceil(levels * gain_of(name) - 1e-3) + 1
    return levels


def test_what_a_stage_makes_of_a_level() -> None:
    assert gain_of("invert") == gain_of("brightness") == 1
    assert abs(gain_of("blur") - 1) < 1e-5 and abs(gain_of("contrast") - 1.4) < 1e-5
    assert levels_of(["sharpen"]) == 1 and levels_of(["invert"] * 3) == 3


@given(
    chain=st.lists(st.sampled_from(sorted(LINEAR)), min_size=2, max_size=4),
    seed=st.integers(0, 99),
)
@example(chain=["sharpen", "sharpen"], seed=1)
@example(chain=["blur", "sharpen", "sharpen"], seed=1)
@settings(max_examples=examples(40))
def test_what_later_stages_make_of_a_level_is_their_own(chain: list[str], seed: int) -> None:
    stages, image = [LINEAR[name] for name in chain], noise(ROWS, COLUMNS, 4, seed=seed)
    got = media.apply_filters(image, stages, device="cpu")
    want = media.apply_filters(image, stages, device="reference")
    assert_near(got, want, "chain", levels_of(chain))


@pytest.mark.parametrize("shape", [(9, 16, 4), (9, 16), (7, 5, 4), (7, 5)], ids=str)
@pytest.mark.parametrize("name", ["contrast", "blur", "rotate"])
def test_webgpu_agrees_with_the_reference(name: str, shape: tuple[int, ...]) -> None:
    """Rows on whole words and off them, point-wise, with neighbours, and at computed places."""
    image = photo(*shape)
    assert_near(filtered("webgpu", name, image), filtered("reference", name, image), name, 2)


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
@pytest.mark.parametrize("shape", [(5, 7, 4), (5, 7), (4, 8)], ids=str)
def test_all_levels_pass_through_unchanged(device: str, shape: tuple[int, ...]) -> None:
    image = photo(*shape)
    got = media.apply_filters(image, ["invert", "invert"], device=device)
    np.testing.assert_array_equal(got, image)


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_every_one_of_the_65536_levels_is_stored_as_it_was_read(device: str) -> None:
    ramp = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    np.testing.assert_array_equal(media.brightness(ramp, 0.0, device=device), ramp)


def test_what_lies_beyond_is_clipped_where_it_is_stored() -> None:
    image = photo(8, 8, 4)
    chain = [("brightness", {"value": 0.9}), ("brightness", {"value": -0.9})]
    got = media.apply_filters(image, chain, device="cpu")
    bright = np.clip(image[..., :3] / 65535 + 0.9, 0, 1)
    np.testing.assert_allclose(got[..., :3], (bright - 0.9).clip(0) * 65535, atol=1.01)
    np.testing.assert_array_equal(got[..., 3], image[..., 3])


@pytest.mark.parametrize("channels", ["rgb", "bgr", "rgba", "bgra", "grey"])
def test_channels_come_back_as_they_came(channels: Any) -> None:
    count = {"grey": ()}.get(channels, (len(channels),))
    image = photo(31, 33, *count)  # long enough for the packed loop and its rest
    inverted = media.invert(image, channels=channels, device="cpu")
    assert inverted.dtype == np.uint16
    want = image.copy()
    want[..., :3] = 65535 - image[..., :3]
    np.testing.assert_array_equal(inverted, 65535 - image if channels == "grey" else want)


def test_blue_first_is_red_first_the_other_way_around() -> None:
    image = photo(31, 33, 3)
    swapped = np.ascontiguousarray(image[..., ::-1])
    got = media.sepia(swapped, channels="bgr", device="cpu")
    np.testing.assert_array_equal(got[..., ::-1], media.sepia(image, device="cpu"))


def test_frames_of_u16_go_through_a_pipeline() -> None:
    frames = [photo(12, 20, 3, seed=s) for s in range(3)]
    with media.FramePipeline(20, 12, device="cpu") as pipeline:
        results = list(pipeline.map(frames, ["blur", ("contrast", {"value": 0.3})]))
    for frame, result in zip(frames, results, strict=True):
        want = media.apply_filters(
            frame, ["blur", ("contrast", {"value": 0.3})], device="reference"
        )
        assert result.dtype == np.uint16
        assert np.abs(result.astype(int) - want).max() <= 2


def test_bytes_and_deep_images_meet_in_one_filter() -> None:
    """A further image may have other bits than the picture."""
    image, top = photo(9, 11, 4), (photo(9, 11, 4, seed=3) >> 8).astype(np.uint8)
    got = media.blend(image, top, 0.5, device="cpu")
    want = media.blend(image, top, 0.5, device="reference")
    assert got.dtype == np.uint16
    assert np.abs(got.astype(int) - want).max() <= 1


# -- tensors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
@pytest.mark.parametrize("count", [1, 3, 5, 8, 1001])
def test_tensors_of_u16_wrap(device: str, count: int) -> None:
    a, b = photo(1, count, seed=1)[0], photo(1, count, seed=2)[0]
    with dala.use(device):
        out = compute.buffer_zeros((count,), "u16")
        compute.run_kernel("elementwise_add", [compute.from_array(a), compute.from_array(b)], out)
        np.testing.assert_array_equal(out.read(), a + b)
        total = compute.buffer_zeros((1,), "u16")
        compute.run_kernel("reduce_sum", [out], total)
        assert total.read()[0] == np.sum(a + b, dtype=np.uint16)


# -- frames of more than 8 bits -----------------------------------------------------------------------

WEIGHTS = {"bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def to_rgb(frame: Array, matrix: str, full: bool, bits: int) -> Array:
    """The colours of a yuv420p frame, 0..1, by the formulas of the standards."""
    unit, most = 2 ** (bits - 8), 2**bits - 1
    rows, columns = frame.shape[0] // 3 * 2, frame.shape[1]
    u, v = frame[rows:].reshape(2, rows // 2, columns // 2).astype(float)
    black, luma, chroma = (0, most, most) if full else (16 * unit, 219 * unit, 224 * unit)
    y = (frame[:rows] - float(black)) / luma
    u, v = ((p.repeat(2, 0).repeat(2, 1) - 128 * unit) / chroma for p in (u, v))
    kr, kb = WEIGHTS[matrix]
    r, b = y + 2 * (1 - kr) * v, y + 2 * (1 - kb) * u
    return np.dstack([r, (y - kr * r - kb * b) / (1 - kr - kb), b]).clip(0, 1)


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
@pytest.mark.parametrize("full", [False, True])
def test_ten_bits_become_colours_and_back(device: str, full: bool) -> None:
    frame = photo(12, 10) % 1024
    options: dict[str, Any] = {
        "matrix": "bt2020",
        "range": "full" if full else "limited",
        "bits": 10,
    }
    colors = media.yuv420p_to_rgba(frame, channels="rgb", device=device, **options)
    assert colors.dtype == np.uint16
    want = to_rgb(frame, "bt2020", full, 10) * 65535
    assert np.abs(colors - want).max() <= 1.5
    back = media.rgba_to_yuv420p(photo(8, 10, 3), device=device, **options)
    assert back.max() <= 1023
    again = media.yuv420p_to_rgba(back, channels="rgb", device=device, **options)
    once_more = media.rgba_to_yuv420p(again, device=device, **options)
    assert np.median(np.abs(once_more.astype(int) - back)) <= 1


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_ten_bit_frames_through_filters_are_one_pass_on_the_cpu(device: str) -> None:
    """Planes in, filters in between, planes out: fused equals stage by stage."""
    frame = photo(24, 20) % 1024
    options = {"matrix": "bt709", "range": "limited", "bits": 10}
    with dala.use(device):
        source, out = compute.from_array(frame), compute.buffer_zeros(frame.shape, "u16")
        first, second = (compute.scratch((16, 20, 4), "u16") for _ in range(2))
        p = compute.pipeline()
        p.add({"kernel": "yuv420p_to_rgba", "inputs": [source], "output": first, "params": options})
        p.add({"kernel": "contrast", "inputs": [first], "output": second, "params": {"value": 0.2}})
        p.add({"kernel": "rgba_to_yuv420p", "inputs": [second], "output": out, "params": options})
        p.run()
        fused = out.read()
    colors = media.yuv420p_to_rgba(frame, device=device, **options)
    apart = media.rgba_to_yuv420p(
        media.contrast(colors, 0.2, device=device), device=device, **options
    )
    off = np.abs(fused.astype(int) - apart)
    assert off.max() <= (0 if device == "cpu" else 1)
    assert fused.max() <= 1023


def test_bits_and_type_of_a_frame_must_agree() -> None:
    with pytest.raises(DTypeError, match="expected an input of u16 for 10 bits, got u8"):
        media.yuv420p_to_rgba(np.zeros((6, 4), np.uint8), bits=10)
    with pytest.raises(DTypeError, match="of u8 for 8 bits, got u16; bits says how many of its 16"):
        media.yuv420p_to_rgba(np.zeros((6, 4), np.uint16))
