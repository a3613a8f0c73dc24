"""Images from nothing: noise that is the same everywhere, and the test pattern."""

from __future__ import annotations

import numpy as np
import pytest

from dala import compute
from dala.errors import ParameterError

SHAPES = [(1, 1), (1, 9), (9, 1), (13, 17), (40, 61)]


def generate(
    kernel: str, shape: tuple[int, int], dtype: str = "u8", **params: object
) -> np.ndarray:
    out = compute.buffer_zeros((*shape, 4), dtype)
    compute.run_kernel(kernel, [], out, params)
    return out.read()


GOLDEN = [
    [165, 191, 209, 255],
    [241, 143, 15, 255],
    [2, 247, 212, 255],
    [29, 20, 34, 255],
    [255, 55, 134, 255],
    [82, 98, 156, 255],
]
GOLDEN_SEED_7 = [[170, 240, 155], [86, 78, 210]]


# --- noise ----------------------------------------------------------------------------------------


def scramble(bits: np.ndarray) -> np.ndarray:
    bits = (bits ^ (bits >> np.uint32(16))) * np.uint32(0x7FEB352D)
    bits = (bits ^ (bits >> np.uint32(15))) * np.uint32(0x846CA68B)
    return bits ^ (bits >> np.uint32(16))


def noise(shape: tuple[int, int], seed: int) -> np.ndarray:
    rows = np.arange(shape[0], dtype=np.uint32)[:, None] * np.uint32(0x9E3779B1)
    columns = np.arange(shape[1], dtype=np.uint32)[None] * np.uint32(0xC2B2AE3D)
    start = scramble(np.array([(seed + 0x85EBCA77) % 2**32], np.uint32))
    bits = scramble(columns + scramble(rows + start))
    planes = [(bits >> np.uint32(s)).astype(np.uint8) for s in (0, 8, 16)]
    return np.dstack([*planes, np.full(shape, 255, np.uint8)])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 12345, 2**31 - 1])
def test_noise_is_reproducible(device: str, shape: tuple[int, int], seed: int) -> None:
    want = noise(shape, seed)
    np.testing.assert_array_equal(generate("generate_noise", shape, seed=seed), want)
    np.testing.assert_allclose(
        generate("generate_noise", shape, "f32", seed=seed), want / 255, atol=1e-7
    )


def test_noise_stays_what_it_was(device: str) -> None:
    """Images made with a seed are kept by people: these bytes must never change."""
    got = generate("generate_noise", (2, 3))
    assert got.reshape(-1, 4).tolist() == GOLDEN
    assert generate("generate_noise", (1, 2), seed=7)[0, :, :3].tolist() == GOLDEN_SEED_7


def test_noise_is_uniform_and_unrelated(device: str) -> None:
    image = generate("generate_noise", (256, 256)).astype(int)
    assert (image[..., 3] == 255).all()
    for channel in range(3):
        counts = np.bincount(image[..., channel].ravel(), minlength=256)
        chi_square = ((counts - 256) ** 2 / 256).sum()  # 255 degrees of freedom: 255 ± 22.6
        assert 150 < chi_square < 370
    planes = [image[..., c] - 127.5 for c in range(3)]
    other = generate("generate_noise", (256, 256), seed=1)[..., 0].astype(int) - 127.5
    pairs = [(planes[0], planes[1]), (planes[1], planes[2]), (planes[0], other)]
    pairs += [(p[:, 1:], p[:, :-1]) for p in planes] + [(p[1:], p[:-1]) for p in planes]
    pairs += [(p[1:, 1:], p[:-1, :-1]) for p in planes]
    for a, b in pairs:
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.016  # 4 / √65536


def test_a_seed_is_a_whole_number() -> None:
    for seed in (-1, 0.5, 2**31):
        with pytest.raises(ParameterError, match="seed"):
            generate("generate_noise", (2, 2), seed=seed)


# --- test_pattern -----------------------------------------------------------------------------------


def test_pattern_has_bars_ramp_and_grid(device: str) -> None:
    image = generate("test_pattern", (240, 336))
    bars = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0)]
    bars += [(191, 0, 191), (191, 0, 0), (0, 0, 191)]
    black = (0, 0, 0)
    reverse = [bars[6], black, bars[4], black, bars[2], black, bars[0]]
    for k in range(7):
        for place, colors in ((slice(0, 140), bars), (slice(140, 160), reverse)):
            block = image[place, 48 * k : 48 * (k + 1)]
            assert (block == (*colors[k], 255)).all()
    ramp = image[160:180]
    assert (ramp == ramp[:1]).all()
    np.testing.assert_allclose(ramp[0, :, 0], np.arange(336) / 335 * 255, atol=0.51)
    steps = image[180:200]
    assert sorted({*steps[..., 1].ravel().tolist()}) == [
        0, 26, 51, 76, 102, 128, 153, 178, 204, 230, 255,
    ]  # fmt: skip
    rows, columns = np.mgrid[200:240, 0:336]
    lines = (rows % 16 == 0) | (columns % 16 == 0)
    np.testing.assert_array_equal(image[200:, :, 2], np.where(lines, 255, 0))
    assert (image[160:, :, 0] == image[160:, :, 2]).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pattern_of_any_size(device: str, shape: tuple[int, int]) -> None:
    image = generate("test_pattern", shape)
    assert (image[..., 3] == 255).all()
    np.testing.assert_allclose(generate("test_pattern", shape, "f32"), image / 255, atol=0.51 / 255)


@pytest.mark.parametrize("rows", [2, 6, 10, 18, 1080])
def test_pattern_begins_its_bands_on_the_same_rows_everywhere(device: str, rows: int) -> None:
    """Where a row's centre is a twelfth of the height, no device's division decides."""
    image = generate("test_pattern", (rows, 7))
    twelfths = 12 * np.arange(rows) + 6
    bars = twelfths < 8 * rows  # the last one: blue, then white
    wanted = np.where(twelfths[bars] < 7 * rows, 0, 191)
    np.testing.assert_array_equal(image[bars, 6, 0], wanted)
