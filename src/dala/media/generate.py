"""Pictures made of nothing: RGBA arrays, opaque."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import array_type
from dala.compute.stages import kernel_stage
from dala.media.program import engine_of, new_buffer, read_result

Pixels = npt.NDArray[np.uint8]


def generate_gradient(width: int, height: int, *, device: str | None = None) -> Pixels:
    """Red grows to the right, green downwards, blue is their mean.

    >>> from dala import media
    >>> media.generate_gradient(3, 2)[1, 2].tolist()
    [255, 255, 255, 255]
    """
    return _make("generate_gradient", width, height, device, {})


def generate_noise(width: int, height: int, *, seed: int = 0, device: str | None = None) -> Pixels:
    """Every level of every colour equally likely; the same bytes on every device.

    >>> from dala import media
    >>> media.generate_noise(640, 480, seed=1).shape
    (480, 640, 4)
    """
    return _make("generate_noise", width, height, device, {"seed": seed})


def test_pattern(width: int, height: int, *, device: str | None = None) -> Pixels:  # noqa: PT028
    """Colour bars, a grey ramp, steps and a grid.

    >>> from dala import media
    >>> media.test_pattern(640, 480)[0, 0].tolist()
    [191, 191, 191, 255]
    """
    return _make("test_pattern", width, height, device, {})


def _make(
    name: str, width: int, height: int, device: str | None, params: dict[str, object]
) -> npt.NDArray[Any]:
    engine = engine_of(device)
    output = new_buffer(engine, array_type((height, width, 4), "u8"))
    engine.run([kernel_stage(name, (), output, params, allow_scratch=False)], inline=True)
    return read_result(output)
