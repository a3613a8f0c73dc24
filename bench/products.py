"""matmul and conv2d on a GPU: right first, then how fast, with each size of tiles.

python bench/products.py [DEVICE]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "src"))


import dala
from dala import compute
from dala.backends.webgpu import convolution, matmul, tiled
from dala.backends.webgpu.device import WebGpuDevice
from gpu import gpu_times_us

Array = np.ndarray[Any, Any]


def tflops(device: WebGpuDevice, stage: dict[str, Any], flops: float) -> float:
    """The GPU's own time of a run behind others of the same kind; the best of ten."""
    ready = compute.pipeline().add(stage)._prepared()
    slots = [b.storage() if isinstance(b, compute.Buffer) else None for b in ready.buffers]
    runs = 1 if device.adapter.is_software else 10
    times = gpu_times_us(ready.executable, slots, ready.numbers, runs)  # type: ignore[arg-type]
    return flops / min(times, default=float("nan")) / 1e6


def compare(
    device: WebGpuDevice, name: str, stage: dict[str, Any], flops: float, check: Callable[[], float]
) -> None:
    """One line: the speed with the chosen tiles and with each size of them."""
    chosen = tiled.choose_blocking
    found = []
    for label, choose in (
        ("chosen", chosen),
        ("128", lambda *shape: tiled.LARGE),
        ("64", lambda *shape: tiled.MEDIUM),
    ):
        matmul.choose_blocking = convolution.choose_blocking = choose
        stage["inputs"][0].engine.forget()
        found.append(f"{label} {tflops(device, stage, flops):7.2f}")
        error = check()
        assert error < 1e-4, (name, label, error)
    matmul.choose_blocking = convolution.choose_blocking = chosen
    print(f"{name:44} TFLOP/s: {'  '.join(found)}  (largest error {error:.1e})", flush=True)


def bench_matmul(device: WebGpuDevice, rows: int, inner: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, inner), dtype=np.float32)
    b = rng.standard_normal((inner, columns), dtype=np.float32)
    out = compute.buffer_zeros((rows, columns))
    stage = {"kernel": "matmul", "inputs": [*map(compute.from_array, (a, b))], "output": out}
    want = a[:32].astype(np.float64) @ b

    def check() -> float:
        return float(np.abs(out.read()[:32] - want).max() / np.abs(want).max())

    compare(device, f"matmul {rows}×{inner}×{columns}", stage, 2.0 * rows * inner * columns, check)


def bench_conv2d(device: WebGpuDevice, shape: Sequence[int], made: int, window: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype("f4")
    weight = rng.standard_normal((made, shape[1], window, window)).astype("f4")
    out = compute.buffer_zeros((shape[0], made, *shape[2:]))
    stage = {
        "kernel": "conv2d", "inputs": [*map(compute.from_array, (x, weight))], "output": out,
        "params": {"padding": window // 2},
    }  # fmt: skip
    corner = x[:1, :, : 2 * window, : 2 * window]
    with dala.use("reference"):
        part = compute.buffer_zeros((1, made, *corner.shape[2:]))
        compute.run_kernel(
            "conv2d", [*map(compute.from_array, (corner, weight))], part, {"padding": window // 2}
        )
        want = part.read()[:, :, :window, :window]

    def check() -> float:
        return float(np.abs(out.read()[:1, :, :window, :window] - want).max() / np.abs(want).max())

    flops = 2.0 * shape[0] * made * shape[1] * window**2 * shape[2] * shape[3]
    compare(device, f"conv2d {shape} to {made}, {window}×{window}", stage, flops, check)


def main() -> None:
    with dala.use(sys.argv[1] if len(sys.argv) > 1 else "webgpu") as device:
        assert isinstance(device, WebGpuDevice)
        small = device.adapter.is_software
        for side in (64,) if small else (256, 512, 1024, 2048, 4096):
            bench_matmul(device, side, side, side)
        if not small:
            bench_matmul(device, 1000, 1000, 1000)
            bench_conv2d(device, (1, 32, 112, 112), 64, 3)
            bench_conv2d(device, (1, 64, 56, 56), 128, 3)
            bench_conv2d(device, (4, 128, 28, 28), 128, 3)
            bench_conv2d(device, (1, 256, 14, 14), 512, 1)
        bench_conv2d(device, (1, 3, 16, 16) if small else (1, 3, 224, 224), 32, 3)


if __name__ == "__main__":
    main()
