"""Levels become bytes as the policy says, however a machine packs them."""

from __future__ import annotations

import numpy as np
import pytest
from machines import machine_with

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.compute import default
from dala.compute.engine import Engine
from dala.language.kernel import Kernel, make_kernel
from dala.language.values import Image, Vec
from dala.language.vocabulary import rgb

# around every level and every half between two, and what lies far outside
NEAR = np.arange(-2, 515, dtype=np.float32) / np.float32(510)
FAR = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10, 1e-40, -0.0])
VALUES = np.concatenate([NEAR, np.nextafter(NEAR, 2), np.nextafter(NEAR, -2), FAR])
HOSTS = [(64, True), (64, False), (32, True), (32, False), (16, True)]


def computed(src: Image) -> Vec:
    p = src[0, 0]
    return rgb(p.b, p.r, p.g).with_alpha(p.a * 1.0)


def three(src: Image, other: Image) -> Vec:
    """Alpha passes through."""
    p, q = src[0, 0], other[0, 0]
    return (p.rgb * q.a).with_alpha(q.a)


def opaque(src: Image) -> Vec:
    p = src[0, 0]
    return rgb(p.g, p.b, p.r).with_alpha(1.0)


KERNELS = [make_kernel(f) for f in (computed, three, opaque)]


def image() -> np.ndarray:
    rng = np.random.default_rng(3)
    chosen = rng.permutation(np.tile(VALUES, 8))[: 56 * 3 * 4 * 4].reshape(56, 12, 4)
    return np.ascontiguousarray(chosen)


def run(kernel: Kernel, source: np.ndarray) -> np.ndarray:
    inputs = [source, np.full(source.shape, 255, np.uint8)][: kernel.inputs]
    target = compute.buffer_zeros(source.shape, "u8")
    compute.run_kernel(kernel, [compute.from_array(i) for i in inputs], target)
    return target.read()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize(("vector_bytes", "x86"), HOSTS)
def test_bytes_are_those_of_the_policy(kernel: Kernel, vector_bytes: int, x86: bool) -> None:
    source = image()
    with dala.use("reference"):
        wanted = run(kernel, source)
    with pytest.MonkeyPatch.context() as patch:
        host = machine_with(vector_bytes, x86)
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = run(kernel, source)
    np.testing.assert_array_equal(got, wanted)
