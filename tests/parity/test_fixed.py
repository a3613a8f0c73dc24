"""Fixed-point averages where they could go wrong: white, spiky weights, chains, mixed sources."""

from __future__ import annotations

import numpy as np
import pytest

import dala
from dala import compute
from dala.language.kernel import Kernel, make_kernel

GLOW = """
def glow(src):
    v = intermediate(average((src[0, -1], src[0, 0], src[0, 1]), (1.0, 2.0, 1.0)))
    return average((v[0, 0], src[0, 0]), (1.0, 1.0))
"""
SWAPPED = """
def glow(src):
    v = intermediate(average((src[0, -1], src[0, 0], src[0, 1]), (1.0, 2.0, 1.0)))
    return average((src[0, 0], v[0, 0]), (1.0, 1.0))
"""
FOUR_PASSES = """
def passes(src):
    a = intermediate(average((src[-1, 0], src[0, 0], src[1, 0]), (1.0, 2.0, 1.0)))
    b = intermediate(average((a[0, -1], a[0, 0], a[0, 1]), (1.0, 2.0, 1.0)))
    c = intermediate(average((b[-2, 0], b[0, 0], b[2, 0]), (1.0, 2.0, 1.0)))
    return average((c[0, -2], c[0, 0], c[0, 2]), (1.0, 2.0, 1.0))
"""
SLANTED = """
def slanted(src, w: float = 0.3):
    return average((src[-3, -1], src[0, 0], src[2, 1], src[1, -2], src[5, 3]), (w, 1.0, w, 0.1, w * w))
"""


def spiky(taps: int) -> Kernel:
    """A separable average in which nearly all weight is on one of many distinct weights."""

    def spike(src):  # type: ignore[no-untyped-def]
        weights = [1.0 if d == 0 else 1e-7 * (d + 60) for d in range(-taps, taps + 1)]
        down = intermediate(average([src[0, d] for d in range(-taps, taps + 1)], weights))  # type: ignore[name-defined]  # noqa: F821
        return average([down[d, 0] for d in range(-taps, taps + 1)], weights)  # type: ignore[name-defined]  # noqa: F821

    return make_kernel(spike, domain="image")


def crowd() -> Kernel:
    """Many taps of two sources at slanted offsets, some alone and some in pairs: loops of every kind."""

    def crowded(src):  # type: ignore[no-untyped-def]
        reach = range(-20, 21)
        down = intermediate(average([src[d % 3, d] for d in reach], [1.0 + abs(d) for d in reach]))  # type: ignore[name-defined]  # noqa: F821
        taps = [down[d, d % 5 - 2] for d in reach] + [src[d, d % 2] for d in reach]
        return average(taps, [2.0 + abs(d) for d in reach] + [0.5 + d * d for d in reach])  # type: ignore[name-defined]  # noqa: F821

    return make_kernel(crowded, domain="image")


def on_both(kernel: Kernel, image: np.ndarray, params: dict | None = None) -> list[np.ndarray]:
    results = []
    for device in ("cpu", "reference"):
        with dala.use(device):
            out = compute.buffer_zeros(image.shape, "u8")
            compute.run_kernel(kernel, [compute.from_array(image)], out, params)
            results.append(out.read().astype(int))
    return results


KERNELS = {
    "glow": make_kernel(GLOW),
    "glow swapped": make_kernel(SWAPPED),
    "four passes": make_kernel(FOUR_PASSES),
    "slanted": make_kernel(SLANTED),
    "spike 25": spiky(25),
    "spike 12": spiky(12),
    "spike 50": spiky(50),
    "crowd": crowd(),
}
IMAGES = {
    "white": np.full((21, 37, 4), 255, np.uint8),
    "black": np.zeros((21, 37, 4), np.uint8),
    "noise": np.random.default_rng(2).integers(0, 256, (21, 37, 4), dtype=np.uint8),
    "stripes": np.tile(np.array([0, 255], np.uint8)[None, :, None], (21, 18, 4)),
    "grey": np.random.default_rng(3).integers(0, 256, (21, 37), dtype=np.uint8),
    "grey white": np.full((9, 70), 255, np.uint8),
}


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_within_one_level_of_the_meaning(kernel: str, image: str) -> None:
    cpu, reference = on_both(KERNELS[kernel], IMAGES[image])
    assert np.abs(cpu - reference).max() <= 1
    if "white" in image or image == "black":
        np.testing.assert_array_equal(cpu, reference)


@pytest.mark.parametrize("weight", [0.0, -1.0, 1e-30, 1e30, float("nan"), float("inf")])
def test_any_weight(weight: float) -> None:
    slanted = make_kernel(SLANTED, params=[dala.Param("w", "float", 0.3, finite=False)])
    cpu, reference = on_both(slanted, IMAGES["noise"], {"w": weight})
    assert np.abs(cpu - reference).max() <= 1


def test_one_channel_of_colour_passes() -> None:
    """The last stage takes one channel of what the passes before it computed for four."""
    kernel = make_kernel("""
def three(src):
    v = intermediate(average((src[0, -1], src[0, 0], src[0, 1]), (1.0, 2.0, 1.0)))
    w = intermediate(average((v[0, -1], v[0, 0], v[0, 1]), (1.0, 2.0, 1.0)))
    return average((w[0, -1].r, w[0, 0].r, w[0, 1].r), (1.0, 2.0, 1.0))
""")
    results = []
    for device in ("cpu", "reference"):
        with dala.use(device):
            out = compute.buffer_zeros((21, 37), "u8")
            compute.run_kernel(kernel, [compute.from_array(IMAGES["noise"])], out)
            results.append(out.read().astype(int))
    assert np.abs(results[0] - results[1]).max() <= 1
