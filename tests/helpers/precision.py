"""What is promised of levels on the device at hand: the bounds stand in the backend's own table."""

from __future__ import annotations

import numpy as np

from dala import compute
from dala.backends.auto import open_device
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.spelling import LEVELS
from dala.compute.default import default_engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Program, walk


def is_halved(device: str, kernel: str, image: np.ndarray, **params: object) -> bool:
    """Whether a device computes a kernel on such an image in half precision, if only in part."""
    opened = open_device(device)
    if not isinstance(opened, WebGpuDevice):
        return False
    type_ = ArrayType(image.shape, U8 if image.dtype == np.uint8 else F32)
    found = compute.find_kernel(kernel)
    work = found.specialize([type_], type_, found.bind(params)).work
    assert isinstance(work, Program)
    prepared = opened.prepare(work, [type_], type_)
    return any(n.op == "half" for s in prepared.stages for n in walk(s.body))


def levels_off(device: str, kernel: str, image: np.ndarray, **params: object) -> float:
    """How far from the exact value a result may be before it is rounded to a level."""
    return LEVELS["half" if is_halved(device, kernel, image, **params) else "full"]


AMPLIFIED = 9  # what two stages in a row may make of a level: sharpening three times as much each


def assert_fused_is_unfused(fused: np.ndarray, unfused: np.ndarray, stages: int) -> None:
    """On the default device: byte for byte, but for a GPU, whose compiler may round another shader
    otherwise. There it is a level on one value in a thousand for each stage, amplified by those behind it.
    """
    if not default_engine().device.is_gpu:
        assert np.array_equal(fused, unfused, equal_nan=fused.dtype == np.float32)
        return
    if fused.dtype == np.float32:
        np.testing.assert_allclose(fused, unfused, atol=1e-5 * AMPLIFIED, rtol=1e-4)
        return
    off = np.abs(fused.astype(int) - unfused)
    assert np.count_nonzero(off) <= stages * (off.size / 1000 + 2)
    assert off.max() <= AMPLIFIED
