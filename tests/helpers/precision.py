"""What is promised of the device at hand: how far a WebGPU driver may be from the op table, and levels."""

from __future__ import annotations

import numpy as np

from dala import compute
from dala.backends.auto import open_device
from dala.backends.webgpu.device import WebGpuDevice
from dala.compute.default import default_engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, F64, U8
from dala.ir.graph import Program, walk

# Where a driver may differ from the op table, and by how much (relative, f32): WGSL's own accuracy
# for what is not correctly rounded.
EXCEPTIONS: dict[str, float] = {
    "div": 4e-7,  # 2.5 ulp
    "sqrt": 4e-7,
    "exp": 2e-5,  # 3 + 2|x| ulp
    "log": 4e-6,
    "sin": 2e-5,
    "cos": 2e-5,
    "tanh": 2e-5,
    "atan2": 1e-3,  # 4096 ulp
    "pow": 1e-4,
    "fma": 4e-7,
    "average": 1e-6,
}
EXCEPTIONS_F64 = 1e-12
# What lies closer to zero than this a driver may take for zero: operands, results, and what is cast.
FLUSHED = {F32: 2.0**-126, F64: 2.0**-1022}
EITHER_ZERO = frozenset({"min", "max"})  # of 0.0 and -0.0 a driver may choose either
# How far from the exact value, in levels, a stage on u8 images may be before it is rounded: in f32, and
# where it is computed in f16 (half.py). There half a level, so that what is stored is at most one off.
# What a blur needs of it: around 128 a rounding to f16 is 1/16 at most. A pass rounds the weights (1/16 in
# all) and every partial sum (1/16 times the weight in it), the second one also sums of two pixels (1/16):
# 0.45 for radius 3, were all roundings to go one way. Noise needs 0.04, flat bright images 0.25.
LEVELS = {"full": 2e-3, "half": 0.5}
# how far sin and cos go, in radians, and how far off they are, absolute
FARTHEST_ANGLE = (1e4, 4e-7)


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
