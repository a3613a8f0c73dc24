"""The device that is tested here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dala
from dala import compute
from dala.backends.webgpu.adapters import find_adapters
from dala.backends.webgpu.device import WebGpuDevice


@pytest.fixture
def gpu() -> Iterator[WebGpuDevice]:
    with dala.use("webgpu") as device:
        assert isinstance(device, WebGpuDevice)
        yield device
        compute.synchronize()


@pytest.fixture
def own() -> WebGpuDevice:
    """A device that nobody else uses, to be broken."""
    return WebGpuDevice(find_adapters()[0])
