"""Pictures made smaller by the means of blocks, so that small layers do not alias."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dala.scene.layers import Bytes


def reduce_plane(plane: Bytes, level_x: int, level_y: int) -> Bytes:
    """Each block of 2^level_x × 2^level_y values as its rounded mean; behind the edge lies its last value.

    >>> import numpy as np
    >>> reduce_plane(np.array([[0, 3, 7]], np.uint8), 1, 0).tolist()
    [[2, 7]]
    """
    rows, columns = plane.shape[:2]
    more = [(0, -rows % (1 << level_y)), (0, -columns % (1 << level_x)), (0, 0)][: plane.ndim]
    values: npt.NDArray[np.int64] = np.pad(plane, more, mode="edge").astype(np.int64)
    blocks = values.reshape(
        values.shape[0] >> level_y, 1 << level_y, values.shape[1] >> level_x, 1 << level_x,
        *plane.shape[2:],
    )  # fmt: skip
    bits = level_x + level_y
    means: npt.NDArray[np.int64] = (blocks.sum(axis=(1, 3)) + (1 << bits >> 1)) >> bits
    return means.astype(np.uint8)


def premultiply(pixels: Bytes) -> Bytes:
    """Colours multiplied by their alpha, rounded."""
    wide = pixels.astype(np.uint32)
    result = (wide * wide[..., 3:] + 127) // 255
    result[..., 3] = wide[..., 3]
    return result.astype(np.uint8)
