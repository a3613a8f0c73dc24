"""What is promised of levels on the device at hand: the bounds stand in the backend's own table."""

from __future__ import annotations

import numpy as np

from dala import compute
from dala.backends.auto import open_device
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.spelling import LEVELS
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
