"""Curves of bytes as look-up tables: the bytes of the curve itself, however a machine looks them up."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from machines import machine_with

from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm import jit
from dala.backends.cpu.llvm.jit import Host
from dala.compute import default
from dala.compute.engine import Engine

CURVES: list[tuple[str, dict[str, object]]] = [
    ("gamma", {"value": 2.2}), ("hdr", {}), ("contrast", {"value": 0.3}), ("tone", {}),
    ("exposure", {"stops": 0.7}), ("posterize", {"levels": 5}),
]  # fmt: skip


def every_level(channels: int) -> np.ndarray:
    """All 256 of them in each channel, in an order of its own, and a row that ends within a vector."""
    rng = np.random.default_rng(channels)
    levels = [rng.permutation(np.arange(3 * 256) % 256) for _ in range(channels)]
    image = np.stack(levels, -1).astype(np.uint8)[:759].reshape(11, 69, channels)
    return np.concatenate([image, image[:, ::-1]])


def run_on(host: Host, image: np.ndarray) -> list[np.ndarray]:
    """All curves, and a chain of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        source = compute.from_array(image)
        out = compute.buffer_zeros(image.shape, "u8")
        results = []
        for kernel, params in CURVES:
            compute.run_kernel(kernel, [source], out, params)
            results.append(out.read().copy())
        chain, current = compute.pipeline(), source
        for number, (kernel, params) in enumerate(CURVES):
            last = number == len(CURVES) - 1
            target = out if last else compute.scratch(image.shape, "u8")
            stage = {"kernel": kernel, "inputs": [current], "output": target, "params": params}
            chain.add(stage)
            current = target  # type: ignore[assignment]
        chain.run()
        return [*results, out.read().copy()]


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_a_shuffled_table_is_the_curve(
    vector_bytes: int, channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = every_level(channels)
    host = machine_with(vector_bytes)
    if not host.shuffles_bytes:
        pytest.skip("this machine shuffles no bytes")
    plain = dataclasses.replace(host, shuffles_bytes=False)
    assert plain.least_table == math.inf
    wanted = run_on(plain, image)
    for least in (jit.SHUFFLED_TABLE, 1.0):  # the heavy ones; all of them
        monkeypatch.setattr(jit, "SHUFFLED_TABLE", least)
        for got, want in zip(run_on(host, image), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
