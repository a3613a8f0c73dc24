"""Whatever sizes a pass is cut into, the picture is the same: what bench/gpu.py may choose from."""

from __future__ import annotations

import numpy as np
import pytest
from engines import Stages, run_stages

import dala
from dala.backends.auto import open_device
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.tiles import Tuning
from dala.compute.engine import Engine

pytestmark = pytest.mark.webgpu
TUNINGS = {
    "wide points": Tuning(point_columns=8, point_rows=2),
    "wide stencils": Tuning(stencil_columns=8, stencil_rows=1),
    "columns": Tuning(stencil_columns=1, stencil_rows=4, point_columns=1, strip_rows=3),
    "tall": Tuning(stencil_rows=4, tile_column_rows=16, tile_rows=(16,)),
    "small tiles": Tuning(
        threads=64, workgroup=(16, 4), stencil_workgroup=(8, 8), tile_columns=(64,), tile_rows=(4,)
    ),
    "flat tiles": Tuning(threads=128, workgroup=(128, 1), tile_columns=(512, 256), tile_rows=(2,)),
}
CHAINS: dict[str, Stages] = {
    "brightness": [("brightness", {"value": 0.2})],
    "vignette": [("vignette", {})],
    "sharpen": [("sharpen", {"amount": 0.3})],
    "median": [("median", {"radius": 1})],
    "blur": [("blur", {"radius": 5})],
    "two blurs": [("blur", {"radius": 2}), ("blur", {"radius": 3})],
    "blur, sharpen": [("blur", {"radius": 2}), ("sharpen", {"amount": 0.3}), ("invert", {})],
}
SHAPES = [(3, 5, 4), (37, 130, 4), (37, 132, 4), (21, 143)]


@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("tuning", TUNINGS)
@pytest.mark.parametrize("chain", CHAINS)
def test_sizes_change_nothing(chain: str, tuning: str, dtype: str) -> None:
    device = open_device("webgpu")
    assert isinstance(device, WebGpuDevice)
    kept, engine = device.tuning, Engine(device)
    reference = Engine(dala.device("reference"))
    device.tuning = TUNINGS[tuning]
    try:
        for shape in SHAPES:
            data = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
            given = data if dtype == "u8" else (data / np.float32(255)).astype(np.float32)
            got, want = (
                run_stages(e, CHAINS[chain], given).astype(float) for e in (engine, reference)
            )
            allowed = len(CHAINS[chain]) if dtype == "u8" else 1e-5
            assert np.abs(got - want).max() <= allowed, shape
    finally:
        device.tuning = kept
