"""Colour and light kernels against independent definitions, written here in plain NumPy (float64)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from names import named
from pictures import apply, picture, unit

from dala.errors import ParameterError

SHAPES = [(1, 1), (1, 7), (13, 17), (40, 61)]
LUMA = np.array([0.299, 0.587, 0.114])
SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
COLOURS = tuple[float, float, float]
Meaning = Callable[[np.ndarray], np.ndarray]
# weights of 12 binary places, three to a channel: see dot.py
OFF_BY_WEIGHTS = dict.fromkeys(("saturation", "hue", "sepia"), 3 * 255 / 2**13)


def assert_close(got: np.ndarray, want: np.ndarray, off: float = 0.0) -> None:
    if got.dtype == np.float32:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)
    else:  # a value on the edge between two levels may fall to either side
        assert np.abs(got - np.clip(want * 255, 0, 255)).max() <= 0.5 + 1e-3 + off


# --- what they compute ----------------------------------------------------------------------------


def saturated(value: float) -> Meaning:
    def apply(c: np.ndarray) -> np.ndarray:
        y = (c @ LUMA)[..., None]
        return y + (c - y) * (1 + value)

    return apply


def turned(degrees: float) -> Meaning:
    """Rodrigues' rotation about (1, 1, 1) / √3."""
    angle, axis = np.radians(degrees), np.full(3, 3**-0.5)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    matrix = (
        np.cos(angle) * np.eye(3)
        + np.sin(angle) * cross
        + (1 - np.cos(angle)) * np.outer(axis, axis)
    )
    return lambda c: c @ matrix.T


def balanced(temperature: float, tint: float) -> Meaning:
    mired = 1e6 / temperature - 1e6 / 6500
    gains = np.exp([-0.0017 * mired, -0.3 * tint, 0.0028 * mired])
    return lambda c: c * gains / (gains @ LUMA)


def filmic(exposure: float) -> Meaning:
    def apply(c: np.ndarray) -> np.ndarray:
        light = np.maximum(c, 0) ** 2 * exposure
        film = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14)
        return np.sqrt(np.minimum(film, 1))

    return apply


def vignetted(intensity: float) -> Meaning:
    def apply(c: np.ndarray) -> np.ndarray:
        rows, columns = c.shape[:2]
        v = (np.arange(rows) - (rows - 1) / 2) / (rows / 2)
        u = (np.arange(columns) - (columns - 1) / 2) / (columns / 2)
        return c * (1 - intensity * (u[None, :] ** 2 + v[:, None] ** 2) / 2)[..., None]

    return apply


CASES: list[tuple[str, dict[str, float], Meaning]] = [
    ("saturation", {"value": -1}, saturated(-1)),
    ("saturation", {"value": -0.3}, saturated(-0.3)),
    ("saturation", {"value": 3}, saturated(3)),
    ("hue", {"degrees": 30}, turned(30)),
    ("hue", {"degrees": -200}, turned(-200)),
    ("white_balance", {"temperature": 3200}, balanced(3200, 0)),
    ("white_balance", {"temperature": 40_000, "tint": -0.5}, balanced(40_000, -0.5)),
    ("white_balance", {"temperature": 1000, "tint": 1}, balanced(1000, 1)),
    ("sepia", {}, lambda c: c + 0.8 * (c @ SEPIA.T - c)),
    ("sepia", {"intensity": 1}, lambda c: c @ SEPIA.T),
    ("exposure", {"stops": 1}, lambda c: c * 2),
    ("exposure", {"stops": -2.5}, lambda c: c * 2**-2.5),
    ("exposure", {"stops": 10}, lambda c: c * 1024),
    ("gamma", {"value": 2.2}, lambda c: c ** (1 / 2.2)),
    ("gamma", {"value": 0.4}, lambda c: c**2.5),
    ("hdr", {}, filmic(1)),
    ("hdr", {"exposure": 4}, filmic(4)),
    ("hdr", {"exposure": 0}, lambda c: c * 0),
    ("vignette", {}, vignetted(0.5)),
    ("vignette", {"intensity": 1}, vignetted(1)),
]


NEUTRAL: list[tuple[str, dict[str, float]]] = [
    ("saturation", {}),
    ("hue", {}),
    ("hue", {"degrees": 360}),
    ("white_balance", {}),
    ("sepia", {"intensity": 0}),
    ("exposure", {}),
    ("gamma", {}),
    ("vignette", {"intensity": 0}),
]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize(("kernel", "params", "meaning"), CASES, ids=named)
def test_it_computes_its_definition(
    kernel: str, params: dict[str, float], meaning: Meaning, dtype: str, shape: tuple[int, int]
) -> None:
    source = picture(shape, dtype)
    got = apply(kernel, source, **params)
    assert_close(got[..., :3], meaning(unit(source)[..., :3]), OFF_BY_WEIGHTS.get(kernel, 0.0))
    np.testing.assert_array_equal(got[..., 3], source[..., 3])  # alpha is kept


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("kernel", "params"), NEUTRAL, ids=str)
def test_neutral_parameters_change_nothing(kernel: str, params: dict[str, float]) -> None:
    levels = np.arange(256, dtype=np.uint8)
    every_level = np.stack([levels, levels[::-1], np.roll(levels, 77), levels], -1)[None]
    np.testing.assert_array_equal(apply(kernel, every_level, **params), every_level)
    source = picture((9, 31), "f32")
    np.testing.assert_allclose(apply(kernel, source, **params), source, rtol=1e-6, atol=3e-7)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("kernel", ["white_balance", "exposure"])
def test_a_neutral_gain_is_exactly_one(kernel: str) -> None:
    source = picture((9, 31), "f32") * 100 - 50
    np.testing.assert_array_equal(apply(kernel, source), source)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    "kernel", ["saturation", "hue", "exposure", "gamma", "hdr", "vignette"], ids=str
)
def test_grey_images_stay_grey(kernel: str) -> None:
    grey = picture((11, 19), "u8")[..., 0].copy()
    colour = np.dstack([grey] * 3 + [np.full_like(grey, 255)])
    np.testing.assert_array_equal(apply(kernel, grey), apply(kernel, colour)[..., 0])


# --- hue ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
def test_a_third_of_a_turn_swaps_the_channels() -> None:
    source = picture((9, 31), "u8")
    np.testing.assert_array_equal(apply("hue", source, degrees=120), source[..., [2, 0, 1, 3]])
    np.testing.assert_array_equal(apply("hue", source, degrees=-120), source[..., [1, 2, 0, 3]])


@pytest.mark.usefixtures("device")
def test_turning_keeps_greys_and_the_sum() -> None:
    grey = np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (1, 1, 4))
    np.testing.assert_array_equal(apply("hue", grey, degrees=77), grey)
    source = picture((9, 31), "f32")
    turned_there = apply("hue", source, degrees=77)
    np.testing.assert_allclose(
        turned_there[..., :3].sum(-1), source[..., :3].sum(-1), rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(apply("hue", turned_there, degrees=-77), source, atol=1e-6)


# --- white balance --------------------------------------------------------------------------------

# sRGB of black bodies as published by M. Charity (vendian.org/mncharity/dir3/blackbody)
BLACK_BODIES = {
    3000: (255, 180, 107),
    4000: (255, 209, 163),
    5000: (255, 228, 206),
    10_000: (207, 218, 255),
}


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("kelvin", "light"), BLACK_BODIES.items())
def test_a_card_lit_by_a_black_body_becomes_grey(kelvin: int, light: COLOURS) -> None:
    card = np.array([[[*light, 255]]], np.float32) * np.float32(0.6 / 255)
    before, after = card[0, 0, :3], apply("white_balance", card, temperature=kelvin)[0, 0, :3]
    assert np.ptp(after) / after.mean() < 0.07
    assert np.ptp(after) < np.ptp(before) / 3


@pytest.mark.usefixtures("device")
def test_a_higher_temperature_is_warmer_and_tint_goes_to_magenta() -> None:
    source = picture((9, 31), "f32")
    warmth = []
    for kelvin in (1000, 2000, 3000, 5000, 6500, 8000, 15_000, 40_000):
        r, _, b = apply("white_balance", source, temperature=kelvin)[..., :3].mean((0, 1))
        warmth.append(r / b)
    assert warmth == sorted(warmth)
    assert warmth[0] < 0.3 * warmth[4]
    assert warmth[-1] > 1.5 * warmth[4]
    green = [
        apply("white_balance", source, tint=t)[..., 1].mean() / source[..., 1].mean()
        for t in (-1, 0, 1)
    ]
    assert green[0] > 1.05 > 1 > 0.95 > green[2]
    grey = np.full((1, 1, 4), 0.5, np.float32)
    for params in ({"temperature": 2500}, {"temperature": 20_000, "tint": 1}, {"tint": -1}):
        assert apply("white_balance", grey, **params)[0, 0, :3] @ LUMA == pytest.approx(0.5)


# --- curves ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        ("gamma", {"value": 0.3}),
        ("gamma", {"value": 2.2}),
        ("gamma", {"value": 10}),
        ("hdr", {}),
        ("hdr", {"exposure": 16}),
        ("hdr", {"exposure": 0.1}),
    ],
    ids=str,
)
def test_curves_never_fall(kernel: str, params: dict[str, float]) -> None:
    levels = np.tile(np.arange(256, dtype=np.uint8)[None, :, None], (1, 1, 4))
    got = apply(kernel, levels, **params)[0, :, 0].astype(int)
    assert got[0] == 0
    assert (np.diff(got) >= 0).all()
    ramp = np.tile(np.linspace(0, 20, 4001, dtype=np.float32)[None, :, None], (1, 1, 4))
    curve = apply(kernel, ramp, **params)[0, :, 0]
    assert curve[0] == 0
    assert (np.diff(curve) >= -2e-6 * curve[1:]).all()
    assert kernel != "hdr" or (curve <= 1).all()


@pytest.mark.usefixtures("device")
def test_hdr_shows_what_is_above_white() -> None:
    above = np.array([[[0.5, 1.0, 2.0, 1.0], [4.0, 100.0, np.inf, 1.0]]], np.float32)
    got = apply("hdr", above)
    assert 0.5 < got[0, 0, 0] < got[0, 0, 1] < got[0, 0, 2] < 1
    assert got[0, 1, :3].tolist() == [1, 1, 1]


# --- the ends -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
def test_not_a_number() -> None:
    """Factors and sums pass it on; curves, which are not defined below 0 either, give black."""
    source = np.full((3, 20, 4), 0.25, np.float32)
    source[1, 7, :3] = [np.nan, -0.5, 0.25]
    for kernel in ("saturation", "hue", "white_balance", "sepia", "exposure", "vignette"):
        got = apply(kernel, source)
        assert np.isnan(got[1, 7, 0]), kernel
        assert np.isfinite(np.delete(got, 7, axis=1)).all(), kernel
    for kernel in ("gamma", "hdr"):
        got = apply(kernel, source)
        assert got[1, 7, :2].tolist() == [0, 0], kernel
        assert np.isfinite(got).all(), kernel


@pytest.mark.usefixtures("device")
def test_vignette_leaves_the_centre_and_is_symmetric() -> None:
    white = np.full((21, 33, 4), 255, np.uint8)
    got = apply("vignette", white, intensity=1)
    assert got[10, 16].tolist() == [255, 255, 255, 255]
    assert got[0, 0, 0] < 25
    np.testing.assert_array_equal(got, got[::-1])
    np.testing.assert_array_equal(got, got[:, ::-1])


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        ("saturation", {"value": 5}, "saturation: value must be a number in -1..3, got 5"),
        ("white_balance", {"temperature": 500}, "temperature must be a number in 1000..40000"),
        ("gamma", {"value": 0}, "gamma: value must be a number in 0.01..100, got 0"),
        ("hdr", {"exposure": -1}, "exposure must be a number in 0..100, got -1"),
        ("exposure", {"stops": float("nan")}, "stops must be a number in -10..10, got nan"),
    ],
)
def test_parameters_out_of_range(kernel: str, params: dict[str, float], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        apply(kernel, picture((2, 2), "u8"), **params)


# --- against OpenCV -------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
def test_sepia_and_gamma_as_opencv_does_them() -> None:
    cv2 = pytest.importorskip("cv2")
    source = picture((40, 61), "u8")
    brown = cv2.transform(np.ascontiguousarray(source[..., :3]), SEPIA)
    got = apply("sepia", source, intensity=1)[..., :3]
    assert np.abs(got.astype(int) - brown).max() <= 1
    table = np.rint(255 * (np.arange(256) / 255) ** (1 / 2.2)).astype(np.uint8)
    got = apply("gamma", source, value=2.2)[..., :3]
    assert np.abs(got.astype(int) - cv2.LUT(source, table)[..., :3]).max() <= 1
