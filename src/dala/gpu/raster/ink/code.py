"""Ink as machine code, in two parts: each is compiled once per process, when it is first drawn."""

from __future__ import annotations

from types import FunctionType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dala.backends.cpu.llvm.jit import Module
from dala.gpu.raster.ink import checks, paints, walk
from dala.gpu.raster.ink.simple import FINEST, TURN
from dala.gpu.raster.language import compile_functions
from dala.once import once


def _compile(*functions: Any) -> Module:
    return Module(compile_functions([cast("FunctionType", f) for f in functions]), optimise=True)


@once
def shapes_code() -> Module:
    """Paths, strokes, ellipses, lines, polygons in colours; transforms."""
    return _compile(walk.foresee_ink, walk.draw_ink, walk.survey_ink)


@once
def paints_code() -> Module:
    """Gradients, pictures, layers, blend modes."""
    return _compile(paints.paint_ink, paints.paint_layer)


@once
def checks_code() -> Module:
    """Foreign commands."""
    return _compile(checks.check_ink)


@once
def circle_table() -> npt.NDArray[np.float64]:
    """Cosines and sines of a whole turn; then, for each fineness, how far out corners lie so that the
    polygon's area is the circle's; then its own cosines, and its own sines, where vectors find them."""
    angles = np.arange(TURN) * (2 * np.pi / TURN)
    corners = np.stack([np.cos(angles), np.sin(angles)])
    steps = 2 * np.pi / (16 << np.arange(FINEST + 1))
    rings = [corners[:, :: TURN >> (j + 4)].ravel() for j in range(FINEST + 1)]
    return np.concatenate([corners.T.ravel(), np.sqrt(steps / np.sin(steps)), *rings])
