"""A user's own kernels beside the catalogue's of the nearest shape, and beside OpenCV.

    python bench/own_kernels.py [--size 1920x1080] [--seconds 2]

The five of ``examples/own_filters.py`` must be as fast as what ships with dala: a fast path belongs to a
shape, not to a kernel. Medians, measured in turns; OpenCV's results are checked. Needs the ``bench`` extra.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import own_filters
from dala import compute
from dala.backends.cpu.run.cores import thread_count
from dala.language.kernel import Kernel
from job import EQUAL
from measure import Run, machine, measure, use_the_cpu

Array = np.ndarray
EDGE = cv2.BORDER_REPLICATE
DARK, LIGHT = np.array([0.1, 0.1, 0.4]), np.array([1.0, 0.8, 0.5])


@dataclass
class Row:
    """A kernel, what is nearest to it in the catalogue, and the same in OpenCV."""

    kernel: Kernel
    nearest: str
    opencv: Callable[[Array, Array], Run]
    params: Mapping[str, object] | None = None  # of the catalogue's


def unsharp_mask(image: Array, out: Array) -> Run:
    soft = np.empty_like(image)

    def run() -> object:
        cv2.GaussianBlur(image, (3, 3), 0, dst=soft, borderType=EDGE)
        return cv2.addWeighted(image, 1.8, soft, -0.8, 0, dst=out)

    return run


def emboss(image: Array, out: Array) -> Run:
    relief = np.array([[-1, 0, 0], [0, 0, 0], [0, 0, 1]], np.float32)
    return lambda: cv2.filter2D(image, -1, relief, dst=out, delta=127.5, borderType=EDGE)


def two_inks(image: Array, out: Array) -> Run:
    weights = np.array([0.299, 0.587, 0.114])
    matrix = np.zeros((4, 5), np.float32)
    matrix[:3, :3], matrix[:3, 4], matrix[3, 3] = np.outer(LIGHT - DARK, weights), DARK * 255, 1
    return lambda: cv2.transform(image, matrix, dst=out)


def soft_down(image: Array, out: Array) -> Run:
    down, one = np.array([1, 4, 6, 4, 1], np.float32) / 16, np.ones(1, np.float32)
    return lambda: cv2.sepFilter2D(image, -1, one, down, dst=out, borderType=EDGE)


def brightest(image: Array, out: Array) -> Run:
    return lambda: cv2.dilate(image, np.ones((3, 3), np.uint8), dst=out, borderType=EDGE)


ROWS = [
    Row(own_filters.unsharp_mask, "sharpen", unsharp_mask),
    Row(own_filters.emboss, "sharpen", emboss),
    Row(own_filters.two_inks, "saturation", two_inks, {"value": 0.3}),
    Row(own_filters.soft_down, "blur", soft_down, {"radius": 2, "sigma": 1.0}),
    Row(own_filters.brightest, "median", brightest, {"radius": 1}),
]


def runs_of(row: Row, image: Array) -> dict[str, Run]:
    """The three of a row; refused if OpenCV does something else."""
    photo, result = compute.from_array(image), compute.buffer_zeros(image.shape, "u8")
    theirs = np.empty_like(image)
    opencv = row.opencv(image, theirs)
    opencv()
    compute.run_kernel(row.kernel, [photo], result)
    apart = np.abs(result.read().astype(int) - theirs)[..., :3].max()
    if apart > EQUAL:
        raise SystemExit(f"{row.kernel.name}: OpenCV's result is {apart} levels from ours")
    nearest = compute.buffer_zeros(image.shape, "u8")
    return {
        "own": lambda: compute.run_kernel(row.kernel, [photo], result),
        "nearest": lambda: compute.run_kernel(row.nearest, [photo], nearest, row.params),
        "opencv": opencv,
    }


def main() -> None:
    use_the_cpu()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    cv2.setNumThreads(thread_count())
    image = np.random.default_rng(0).integers(0, 256, (height, width, 4), dtype=np.uint8)
    print(f"{machine()}\n\n{width}×{height} RGBA u8, ms\n")
    print("| kernel | its own | nearest | | × nearest | OpenCV | × OpenCV |")
    print("|---|---|---|---|---|---|---|")
    for row in ROWS:
        found = measure(runs_of(row, image), options.seconds)
        own, nearest, peer = (found[name] for name in ("own", "nearest", "opencv"))
        print(
            f"| {row.kernel.name} | {own:.2f} | {row.nearest} | {nearest:.2f} | {nearest / own:.2f} "
            f"| {peer:.2f} | {peer / own:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
