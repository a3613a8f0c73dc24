"""Pictures made of nothing: RGBA arrays, opaque."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from dala.compute.buffers import array_type
from dala.compute.stages import kernel_stage
from dala.language.kernel import Kernel
from dala.media.program import engine_of, new_buffer, read_result


def run_generator(
    kernel: Kernel, width: int, height: int, device: str | None, params: Mapping[str, object]
) -> npt.NDArray[Any]:
    """A picture of that size."""
    engine = engine_of(device)
    output = new_buffer(engine, array_type((height, width, 4), "u8"))
    engine.run([kernel_stage(kernel, (), output, params, allow_scratch=False)], inline=True)
    return read_result(output)
