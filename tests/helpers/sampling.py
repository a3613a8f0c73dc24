"""Kernels that read an image of one size and write one of another."""

from __future__ import annotations

import numpy as np

import dala
from dala import compute
from dala.language.kernel import Kernel


def run_here(
    kernel: str | Kernel, image: np.ndarray, shape: tuple[int, int], **params: object
) -> np.ndarray:
    target = compute.buffer_zeros((*shape, *image.shape[2:]), "u8")
    compute.run_kernel(kernel, [compute.from_array(image)], target, params)
    return target.read().astype(int)


def run(
    device: str, kernel: str | Kernel, image: np.ndarray, shape: tuple[int, int], **params: object
) -> np.ndarray:
    with dala.use(device):
        return run_here(kernel, image, shape, **params)


def pixels(shape: tuple[int, int], seed: int = 3) -> np.ndarray:
    """The harshest there are: mostly 0 and 255."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 256, (*shape, 4), dtype=np.uint8)
    return np.where(rng.random(noise.shape) < 0.7, np.where(noise < 128, 0, 255), noise).astype(
        np.uint8
    )
