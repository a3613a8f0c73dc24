"""Chains of kernels on an engine of the test's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from dala import compute
from dala.compute import Buffer, Pipeline
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8

Stages = list[tuple[str, dict[str, Any]]]


def run_stages(engine: Engine, stages: Stages, data: np.ndarray) -> np.ndarray:
    """What one pipeline makes of an image."""
    type_ = ArrayType(data.shape, U8 if data.dtype == np.uint8 else F32)
    a, out = (Buffer(engine, type_, engine.device.allocate(type_)) for _ in range(2))
    a.write(data)
    p, last = Pipeline(engine), a
    for number, (kernel, params) in enumerate(stages):
        end = number == len(stages) - 1
        target = out if end else compute.scratch(data.shape, type_.dtype)  # type: ignore[arg-type]
        p.add({"kernel": kernel, "inputs": [last], "output": target, "params": params})
        last = target  # type: ignore[assignment]
    p.run()
    return out.read().copy()
