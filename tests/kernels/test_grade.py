"""Curves, tints and film against independent definitions in float64."""

from __future__ import annotations

import numpy as np
import pytest

from dala import compute
from dala.errors import ParameterError

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [(1, 1), (1, 9), (13, 17), (40, 61)]
LUMA = np.array([0.299, 0.587, 0.114])


def picture(shape: tuple[int, int], dtype: str, reach: float = 1.0) -> np.ndarray:
    image = np.random.default_rng(2).random((*shape, 4))
    if dtype == "u8":
        return np.rint(image * 255).astype(np.uint8)
    return (image * reach - (reach - 1) / 2).astype(np.float32)


def apply(kernel: str, *images: np.ndarray, **params: object) -> np.ndarray:
    out = compute.buffer_zeros(images[0].shape, "u8" if images[0].dtype == np.uint8 else "f32")
    compute.run_kernel(kernel, [compute.from_array(i) for i in images], out, params)
    return out.read()


def check(
    kernel: str, meaning: object, shape: tuple[int, int], dtype: str, **params: object
) -> None:
    source = picture(shape, dtype, reach=1.4)
    values = source.astype(np.float64) / (255 if dtype == "u8" else 1)
    want = values.copy()
    want[..., :3] = meaning(values[..., :3])  # type: ignore[operator]
    got = apply(kernel, source, **params)
    if dtype == "f32":
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    else:
        assert np.abs(got - np.clip(want * 255, 0, 255)).max() <= 0.5 + 5e-3
    assert (got[..., 3] == source[..., 3]).all()


@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
class TestPixels:
    def test_tone(self, shape: tuple[int, int], dtype: str) -> None:
        def meaning(c: np.ndarray) -> np.ndarray:
            t = np.clip(c, 0, 1)
            s_curve = t * t * (3 - 2 * t) - t
            change = 0.6 * s_curve + 0.3 * t * (1 - t) ** 2 - 0.4 * t * t * (1 - t)
            return (c + change) * 0.9 + 0.1

        params = {"contrast": 0.6, "shadows": 0.3, "highlights": -0.4, "fade": 0.1}
        check("tone", meaning, shape, dtype, **params)

    def test_split_tone(self, shape: tuple[int, int], dtype: str) -> None:
        def meaning(c: np.ndarray) -> np.ndarray:
            t = np.clip(c @ LUMA, 0, 1)[..., None]
            dark, light = 6.75 * t * (1 - t) ** 2, 6.75 * t * t * (1 - t)
            return c + dark * [-0.2, 0, 0.3] + light * [0.3, 0.1, -0.1]

        params = {"shadows": (-0.2, 0, 0.3), "highlights": (0.3, 0.1, -0.1)}
        check("split_tone", meaning, shape, dtype, **params)

    def test_vibrance(self, shape: tuple[int, int], dtype: str) -> None:
        def meaning(c: np.ndarray) -> np.ndarray:
            tone, most, least = (c @ LUMA)[..., None], c.max(-1)[..., None], c.min(-1)[..., None]
            strong = np.clip((most - least) / np.maximum(most, 1e-3), 0, 1)
            return tone + (c - tone) * (1 + 0.7 * (1 - strong))

        check("vibrance", meaning, shape, dtype, value=0.7)

    def test_glow(self, shape: tuple[int, int], dtype: str) -> None:
        def meaning(c: np.ndarray) -> np.ndarray:
            bell = np.exp(-0.5 * (np.arange(-4, 5) / 2) ** 2)
            bell /= bell.sum()
            padded = np.pad(c, ((4, 4), (4, 4), (0, 0)), mode="edge")
            down = sum(w * padded[d : d + c.shape[0]] for d, w in enumerate(bell))
            soft = sum(w * down[:, d : d + c.shape[1]] for d, w in enumerate(bell))
            t = np.clip((soft @ LUMA - 0.2) / 0.8, 0, 1)[..., None]
            light = soft * 0.8 * t * t * (3 - 2 * t)
            return c + light * (1 - np.clip(c, 0, 1))

        check("glow", meaning, shape, dtype, amount=0.8, radius=4)

    @pytest.mark.parametrize("kernel", ["tone", "split_tone", "vibrance"])
    def test_the_defaults_change_nothing(
        self, shape: tuple[int, int], dtype: str, kernel: str
    ) -> None:
        source = picture(shape, dtype)
        np.testing.assert_allclose(apply(kernel, source), source, atol=1e-6)


@pytest.mark.parametrize("radius", [6, 12, 40])
def test_a_wide_glow_is_near_the_definition(radius: int) -> None:
    """From radius 6 on it is computed on a smaller image."""
    across = np.linspace(0, 6, 120)
    wave = 0.5 + 0.45 * np.sin(across[:90, None] * 1.3) * np.cos(across[None, :])
    source = np.repeat(wave[..., None], 4, axis=2).astype(np.float32)
    bell = np.exp(-0.5 * (np.arange(-radius, radius + 1) / (radius / 2)) ** 2)
    bell /= bell.sum()
    padded = np.pad(wave, radius, mode="edge")
    down = sum(w * padded[d : d + 90] for d, w in enumerate(bell))
    soft = sum(w * down[:, d : d + 120] for d, w in enumerate(bell))
    t = np.clip((soft - 0.2) / 0.8, 0, 1)
    want = wave + soft * 0.8 * t * t * (3 - 2 * t) * (1 - wave)
    got = apply("glow", source, amount=0.8, radius=radius)[..., 0]
    assert np.abs(got - want).max() < 1 / 255


def test_no_curve_clips_or_folds() -> None:
    """Each parameter over its whole range leaves the ends where they are and the tones in order."""
    ramp = np.repeat(np.linspace(0, 1, 256, dtype=np.float32)[None, :, None], 4, axis=2)
    for name in ("contrast", "shadows", "highlights"):
        for value in (-1.0, -0.5, 0.5, 1.0):
            tones = apply("tone", ramp, **{name: value})[0, :, 0]
            assert tones[0] == 0 and tones[-1] == pytest.approx(1)
            assert (np.diff(tones) > -1e-6).all()


def test_grain() -> None:
    grey = np.full((200, 300, 4), 128, np.uint8)
    first = apply("grain", grey, amount=0.1)
    assert (first[..., :3] == first[..., :1]).all() and (first[..., 3] == 128).all()
    change = first[..., 0].astype(float) - 128
    assert abs(change.mean()) < 0.2 and 9 < change.std() < 12 and np.abs(change).max() <= 26
    assert abs(np.corrcoef(change[:, :-1].ravel(), change[:, 1:].ravel())[0, 1]) < 0.02
    assert np.array_equal(apply("grain", grey, amount=0.1), first)
    assert not np.array_equal(apply("grain", grey, amount=0.1, seed=1), first)
    black = apply("grain", np.zeros_like(grey), amount=0.1)
    assert black.max() <= 6  # little in the dark
    assert np.array_equal(apply("grain", grey, amount=0), grey)


def test_refused() -> None:
    pixel = np.zeros((1, 1, 4), np.uint8)
    with pytest.raises(ParameterError, match=r"tone: contrast must be a number in -1..1, got 2"):
        apply("tone", pixel, contrast=2)
    with pytest.raises(ParameterError, match=r"split_tone: shadows must be 3 numbers"):
        apply("split_tone", pixel, shadows=(1, 2))
