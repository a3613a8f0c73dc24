"""Filters that look at the picture first: levels and white balance by what is in it.

    measure(pixels)  →  black and white points, one per colour  →  a straight curve between them

What was measured are plain numbers, so the filter is fused like any other; in a video they are those of the
first frame, and a scene does not flicker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dala.errors import KernelError
from dala.kernels.color import keep_alpha
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import ParamValue, param
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import mix, rgb

Array = npt.NDArray[Any]
Points = tuple[float, float, float]
MOST_SAMPLES = 1 << 18  # pixels looked at; more do not change the third digit
LEAST_RANGE = 1 / 16  # a fog of one grey is not torn into noise
ROUNDS, NEARLY_GREY = (
    5,
    6,
)  # of looking for what is grey; how much its colour counts against a pixel
STRONGEST = 2.0  # no colour is changed by more than this factor


def auto_levels(
    src: Image,
    strength: float = param(1.0, min=0, max=1, help="0 changes nothing."),
    clip: float = param(
        0.002, min=0, max=0.2, help="The part of all pixels that may become black, and white."
    ),
    black: tuple[float, float, float] | None = param(
        None, length=3, min=-1, max=2, help="What becomes black; measured if not given."
    ),
    white: tuple[float, float, float] | None = param(
        None, length=3, min=-1, max=3, help="What becomes white; measured if not given."
    ),
) -> Vec:
    """The whole range of tones: the darkest becomes black, the lightest white; colours keep their hue.

    >>> photo = np.linspace(50, 150, 64, dtype=np.uint8).reshape(8, 8)
    >>> stretched = media.auto_levels(photo)
    >>> int(stretched.min()), int(stretched.max())
    (0, 255)
    """
    return _between(src, black, white, strength, clip)


def auto_white_balance(
    src: Image,
    strength: float = param(1.0, min=0, max=1, help="0 changes nothing."),
    clip: float = param(
        0.01, min=0, max=0.2, help="The part of all pixels that is too light to be looked at."
    ),
    black: tuple[float, float, float] | None = param(
        None, length=3, min=-1, max=2, help="What becomes black; 0,0,0 if not given."
    ),
    white: tuple[float, float, float] | None = param(
        None, length=3, min=-1, max=3, help="What becomes white; measured if not given."
    ),
) -> Vec:
    """Without a cast: what ought to be grey becomes grey; the brightness stays.

    >>> photo = np.full((4, 4, 3), (120, 100, 80), np.uint8)
    >>> photo[0, 0] = (60, 50, 40)
    >>> media.auto_white_balance(photo)[0].tolist()
    [[51, 51, 51], [102, 102, 102], [102, 102, 102], [102, 102, 102]]
    """
    return _between(src, black, white, strength, clip)


def _between(
    src: Image, black: Points | None, white: Points | None, strength: float, clip: float
) -> Vec:
    """A straight line through two points for each colour. ``clip`` was used when they were measured."""
    if black is None or white is None:
        raise KernelError("its values are measured in a picture: use it through dala.media")
    p = src[0, 0]
    low, high = rgb(*black), rgb(*white)
    spread: Value = (p.rgb - low) / (high - low)
    return keep_alpha(mix(p.rgb, spread, strength), p)


AUTO_LEVELS = make_kernel(auto_levels, domain="image", alpha="kept")
AUTO_WHITE_BALANCE = make_kernel(auto_white_balance, domain="image", alpha="kept")


def needs_measuring(kernel: Kernel, values: Mapping[str, ParamValue]) -> bool:
    """Whether it is a filter of this file whose points are not known yet."""
    return kernel in _MEASURES and (values["black"] is None or values["white"] is None)


def measure(
    kernel: Kernel, values: Mapping[str, ParamValue], pixels: Array
) -> dict[str, ParamValue]:
    """The values with the points of this picture: (H, W, 3) or (H, W), RGB, 0..1 or 0..255."""
    clip = cast("float", values["clip"])
    black, white = _MEASURES[kernel](_sample(pixels), clip)
    return {
        **values,
        "black": black if values["black"] is None else values["black"],
        "white": white if values["white"] is None else values["white"],
    }


def _sample(pixels: Array) -> npt.NDArray[np.float32]:
    """Some of the pixels as rows of red, green and blue, 0..1; transparent ones are not seen."""
    step = max(1, int(np.ceil((pixels.shape[0] * pixels.shape[1] / MOST_SAMPLES) ** 0.5)))
    some = pixels[::step, ::step]
    whole = float(np.iinfo(some.dtype).max) if some.dtype.kind == "u" else 1.0
    rows = some.reshape(-1, some.shape[2] if some.ndim == 3 else 1).astype(np.float32) / whole
    if rows.shape[1] == 4:
        seen = rows[:, 3] > 0
        rows = rows[seen, :3] if seen.any() else rows[:, :3]
    return np.repeat(rows, 3, axis=1) if rows.shape[1] == 1 else rows[:, :3]


def _measure_levels(rows: npt.NDArray[np.float32], clip: float) -> tuple[Points, Points]:
    """The same points for all colours: those of the darkest and the lightest of them."""
    low = float(np.quantile(rows.min(axis=1), clip))
    high = float(np.quantile(rows.max(axis=1), 1 - clip))
    if high - low < LEAST_RANGE:
        middle = (low + high) / 2
        low, high = middle - LEAST_RANGE / 2, middle + LEAST_RANGE / 2
    return (low, low, low), (high, high, high)


def _measure_cast(rows: npt.NDArray[np.float32], clip: float) -> tuple[Points, Points]:
    """Shades of grey (Finlayson and Trezzi: the Minkowski mean of order 6) of what is not blown out; then
    again with more weight for what that makes nearly grey, so that a brown table is not taken for light."""
    lightest = rows.max(axis=1)
    kept = rows[lightest <= max(float(np.quantile(lightest, 1 - clip)), 1e-3)].astype(np.float64)
    weights = np.ones(len(kept))
    means = np.ones(3)
    for _ in range(ROUNDS):
        means = np.maximum(np.average(kept**6, axis=0, weights=weights) ** (1 / 6), 1e-4)
        balanced = kept / means
        most = np.maximum(balanced.max(axis=1), 1e-6)
        weights = (balanced.min(axis=1) / most) ** NEARLY_GREY + 1e-6
    grey = float(means @ (0.299, 0.587, 0.114))
    white = np.clip(means / grey, 1 / STRONGEST, STRONGEST)
    return (0.0, 0.0, 0.0), (float(white[0]), float(white[1]), float(white[2]))


_MEASURES: dict[Kernel, Callable[[npt.NDArray[np.float32], float], tuple[Points, Points]]] = {
    AUTO_LEVELS: _measure_levels,
    AUTO_WHITE_BALANCE: _measure_cast,
}
