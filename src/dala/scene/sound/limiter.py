"""A limiter that looks ahead: no sample is above full scale, and what is below it all is not touched.

The gain that a peak needs holds from LOOK samples before it until HOLD after it, and is then averaged over
LOOK samples: a smooth way down that is there when the peak comes. The average is of whole numbers, so that
it does not depend on where a block begins.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dala.scene.sound.sounds import Waves

CEILING = 1.0
LOOK = 240  # samples: 5 ms
HOLD = 2_400  # samples: 50 ms, so that a low tone is not bent
MARGIN = LOOK * 2 + HOLD
_UNIT = 1 << 30


def limit(waves: Waves, begin: int, end: int) -> Waves:
    """Samples ``begin`` to ``end`` of waves, which hold MARGIN more on both sides."""
    assert begin >= MARGIN and end + MARGIN <= len(waves)
    given = waves[begin - MARGIN : end + MARGIN]
    peaks = np.abs(given).max(axis=1)
    if peaks.max(initial=0.0) <= CEILING:
        return waves[begin:end]
    needed = np.minimum(CEILING / np.maximum(peaks, 1e-9), 1.0)
    whole = np.floor(needed * _UNIT).astype(np.int64)
    lowest = _lowest(whole, HOLD + LOOK + 1)  # of [n, n + HOLD + LOOK]
    sums = np.cumsum(np.concatenate([[0], lowest]))
    means = (sums[LOOK:] - sums[:-LOOK]) // LOOK  # of windows [n, n + LOOK)
    # sample n gets the mean of the windows from n - HOLD - LOOK + 1 to n - HOLD: all hold its own need
    shift = MARGIN - HOLD - LOOK + 1
    gain = means[shift : shift + end - begin] / _UNIT
    limited = given[MARGIN : MARGIN + end - begin] * gain[:, None]
    return np.asarray(np.clip(limited, -CEILING, CEILING), np.float32)


def _lowest(values: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """The lowest of each ``width`` values; in as many steps as the width has bits."""
    found, reach = values, 1
    while reach < width:
        step = min(reach, width - reach)
        found = np.minimum(found[:-step], found[step:])
        reach += step
    return found
