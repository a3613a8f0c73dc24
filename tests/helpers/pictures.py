"""Random pictures, and kernels on arrays: what most tests of kernels begin with."""

from __future__ import annotations

import numpy as np

from dala import compute


def picture(shape: tuple[int, int], dtype: str, seed: int = 3) -> np.ndarray:
    """A random image of RGBA pixels."""
    rng = np.random.default_rng(seed)
    if dtype == "u8":
        return rng.integers(0, 256, (*shape, 4), dtype=np.uint8)
    return rng.random((*shape, 4), dtype=np.float32)


def unit(image: np.ndarray) -> np.ndarray:
    """Its values in 0..1, in f64."""
    return image.astype(np.float64) / 255 if image.dtype == np.uint8 else image.astype(np.float64)


def apply(kernel: str, *images: np.ndarray, **params: object) -> np.ndarray:
    """What a kernel makes of images, in the size and type of the first one."""
    out = compute.buffer_zeros(images[0].shape, "u8" if images[0].dtype == np.uint8 else "f32")
    compute.run_kernel(kernel, [compute.from_array(i) for i in images], out, params)
    return out.read()
