"""The device that is tested here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dala
from dala import compute
from dala.backends.webgpu.device import WebGpuDevice


@pytest.fixture
def gpu() -> Iterator[WebGpuDevice]:
    with dala.use("webgpu") as device:
        assert isinstance(device, WebGpuDevice)
        yield device
        compute.synchronize()
