"""Stages that read and write the same few buffers, in any order: fused, they do what they do one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples

import dala
from dala import compute

BUFFERS = 3
KERNELS: list[tuple[str, dict[str, Any]]] = [
    ("saturation", {"value": 0.7}),
    ("sepia", {}),
    ("grayscale", {}),
    ("threshold", {"value": 0.4}),
    ("contrast", {"value": 0.3}),
    ("vibrance", {"value": 0.5}),
    ("blur", {"radius": 2}),
    ("sharpen", {"amount": 0.7}),
    ("median", {}),
    ("rotate", {"degrees": 15.0}),
]
PLACES = st.integers(0, BUFFERS - 1)
Wiring = list[
    tuple[tuple[str, dict[str, Any]], int, int]
]  # a kernel, what it reads, what it writes


def run(wiring: Wiring, *, fused: bool) -> list[np.ndarray]:
    noise = np.random.default_rng(0).integers(0, 256, (BUFFERS, 14, 37, 4), dtype=np.uint8)
    with dala.use("cpu"):
        buffers = [compute.from_array(image) for image in noise]
        pipeline = compute.pipeline()
        for (kernel, params), source, target in wiring:
            pipeline.add({"kernel": kernel, "inputs": [buffers[source]],
                          "output": buffers[target], "params": params})  # fmt: skip
            if not fused:
                pipeline.run()
                pipeline = compute.pipeline()
        pipeline.run()
        return [b.read().copy() for b in buffers]


@settings(max_examples=examples(80))
@given(st.lists(st.tuples(st.sampled_from(KERNELS), PLACES, PLACES), min_size=2, max_size=5))
def test_any_wiring(wiring: Wiring) -> None:
    for got, wanted in zip(run(wiring, fused=True), run(wiring, fused=False), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("first", ["grayscale", "sepia", "saturation"])
@pytest.mark.parametrize("second", ["threshold", "rotate", "sepia"])
def test_what_is_read_is_overwritten_by_the_next(first: str, second: str) -> None:
    params = dict(KERNELS)
    wiring = [((first, params[first]), 0, 2), ((second, params[second]), 1, 0)]
    for got, wanted in zip(run(wiring, fused=True), run(wiring, fused=False), strict=True):
        np.testing.assert_array_equal(got, wanted)
