"""Curves of bytes as look-up tables: the bytes of the curve itself, however a machine looks them up."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from machines import machine_with

from dala import compute
from dala.backends.cpu.arithmetic import deep_tables
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.emit.body_context import BodyContext
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
        dtype = source.dtype
        out = compute.buffer_zeros(image.shape, dtype)
        results = []
        for kernel, params in CURVES:
            compute.run_kernel(kernel, [source], out, params)
            results.append(out.read().copy())
        chain, current = compute.pipeline(), source
        for number, (kernel, params) in enumerate(CURVES):
            last = number == len(CURVES) - 1
            target = out if last else compute.scratch(image.shape, dtype)
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


def every_deep_level(channels: int) -> np.ndarray:
    """All 65,536 of them in each channel, in an order of its own; rows end within a vector."""
    rng = np.random.default_rng(channels)
    levels = [rng.permutation(9 * 7283) % 65536 for _ in range(channels)]
    return np.stack(levels, -1).astype(np.uint16).reshape(9, 7283, channels)


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("vector_bytes", [16, 64])
def test_a_deep_table_is_the_curve(
    vector_bytes: int, channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = every_deep_level(channels)
    host = machine_with(vector_bytes)
    looked_up = []
    real = deep_tables.DeepTableArithmetic.write

    def noted(self: deep_tables.DeepTableArithmetic, body: BodyContext) -> None:
        looked_up.append(1)
        real(self, body)

    monkeypatch.setattr(deep_tables.DeepTableArithmetic, "write", noted)
    wanted = run_on(host, image)
    assert not looked_up, "such an image is too small for it"
    monkeypatch.setattr(deep_tables, "LEAST_PIXELS", 1)
    some = run_on(host, image)
    assert 2 <= len(looked_up) < 7, "gamma, the chain with it, and on narrow vectors more"
    monkeypatch.setattr(deep_tables, "LOOK_UP", 0.0)
    every = run_on(host, image)
    assert len(looked_up) > 8
    for want, *got in zip(wanted, some, every, strict=True):
        for one in got:
            np.testing.assert_array_equal(one, want)


def test_a_deep_table_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    image = every_deep_level(4)
    made = []
    for least in (image.size, 1):
        monkeypatch.setattr(deep_tables, "LEAST_PIXELS", least)
        monkeypatch.setattr(default, "_default", Engine(CpuDevice(jit.detect_host())))
        same = compute.from_array(image)
        compute.run_kernel("gamma", [same], same, {"value": 2.2})
        made.append(same.read())
    np.testing.assert_array_equal(*made)
