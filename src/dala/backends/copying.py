"""Copies of large arrays on several threads."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.threads import COPIERS, share

Array = npt.NDArray[Any]
PART = 2 << 20  # bytes of a copy that are worth a thread


def copy_bytes(target: Array, source: Array) -> None:
    """Copy bytes; each thread holds its parts of both arrays until it is done."""
    parts = min(COPIERS, source.nbytes // PART)
    if parts < 2:
        np.copyto(target, source)
        return
    step = -(-source.nbytes // parts)
    runs = [slice(start, start + step) for start in range(0, source.nbytes, step)]
    share([functools.partial(np.copyto, target[run], source[run]) for run in runs])


def copy_array(target: Array, source: Array) -> None:
    """Copy an array into one of the same shape and type."""
    if target.flags.c_contiguous and source.flags.c_contiguous and target.dtype == source.dtype:
        copy_bytes(target.reshape(-1).view(np.uint8), source.reshape(-1).view(np.uint8))
    else:
        np.copyto(target, source)
