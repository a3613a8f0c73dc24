"""Ducking: while one voice is heard, the others are turned down.

Whether it is heard is decided every ten milliseconds by its peak; the gain then goes down and up along
straight lines. It looks ahead, so that the others are down when the first word comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dala.scene.sound.voice import BLOCK, Voice

STEP = 480  # samples between two decisions
HEARD = 0.01  # -40 dB
AHEAD = 10  # steps before it is heard
HOLD = 30  # steps after it was heard, so that pauses between words do not pump
RAMP = 20  # steps of the way down, and of the way up
_STEPS = BLOCK // STEP
_MARGIN = AHEAD + HOLD + RAMP  # steps on both sides that a block's gain depends on
Levels = npt.NDArray[np.float64]


def ducked(duckers: Sequence[Voice], number: int) -> Levels | None:
    """The gain of all other voices for each sample of a block; None: they are not turned down."""
    total: Levels | None = None
    for voice in duckers:
        gain = _gain(voice.block, voice.duck, number)
        if gain is not None:
            total = gain if total is None else total * gain
    return total


def _gain(block: Callable[[int], object], duck: float, number: int) -> Levels | None:
    blocks = -(-_MARGIN // _STEPS) + 1
    heard = np.concatenate([_heard(block(n)) for n in range(number - blocks, number + blocks + 1)])
    if not heard.any():
        return None
    held = heard.copy()
    for shift in range(1, HOLD + 1):
        held[shift:] |= heard[:-shift]
    for shift in range(1, AHEAD + 1):
        held[:-shift] |= heard[shift:]
    # a mean over RAMP steps is a straight line from one to the other
    sums = np.cumsum(np.concatenate([[0], held.astype(np.int64)]))
    half = RAMP // 2
    share = (sums[RAMP:] - sums[:-RAMP]) / RAMP
    first = blocks * _STEPS - half
    knots = share[first : first + _STEPS + 1]
    if not knots.any():
        return None
    lines = np.interp(np.arange(BLOCK), np.arange(_STEPS + 1) * STEP, knots)
    return np.asarray(1 - duck * lines, np.float64)


def _heard(waves: object) -> npt.NDArray[np.bool_]:
    if waves is None:
        return np.zeros(_STEPS, np.bool_)
    assert isinstance(waves, np.ndarray)
    peaks = np.abs(waves).reshape(_STEPS, STEP * 2).max(axis=1)
    return np.asarray(peaks > HEARD)
