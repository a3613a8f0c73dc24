"""How long the passes of the catalogue take to compile: every image kernel, on images of u8, u16 and f32.

    python bench/compiling.py [NAME ...]

A kernel with compile-time parameters is tried with those that make it largest. One line per kernel and
type: its slowest pass; beyond 40 ms it is flagged.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

import dala
from dala import compute
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import Compiled, detect_host
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan

LIMIT_MS = 40.0
SIZE = (96, 128)
OTHERS = [(60, 75, 4), (SIZE[0] // 2, SIZE[1] // 2, 4), (SIZE[0] * 2, SIZE[1] * 2, 4)]
FRAME = (SIZE[0] * 3 // 2, SIZE[1])
MATRIX = np.array([[0.9, 0.1, 2.0], [-0.1, 0.9, 1.0]], np.float32)
MODES = ("over", "subtract", "multiply", "overlay", "darken", "difference", "soft_light")


@dataclass(frozen=True)
class Case:
    """One call of a kernel; sizes that are not named are ``SIZE``."""

    params: dict[str, object] = field(default_factory=dict)
    source: tuple[int, ...] = (*SIZE, 4)
    target: tuple[int, ...] = (*SIZE, 4)


def shrunk(by: float) -> Case:
    rows, columns = (int(n / by) for n in SIZE)
    return Case({"interpolation": "area"}, target=(rows, columns, 4))


CASES: dict[str, list[Case]] = {
    "blur": [Case({"radius": r}) for r in (1, 2, 3, 4, 5, 7, 10, 16, 25, 26, 50, 100)]
    + [Case({"radius": r}, SIZE, SIZE) for r in (3, 10, 25)],
    "beauty": [Case({"radius": r}) for r in (1, 5, 10, 20)],
    "glow": [Case({"radius": r}) for r in (1, 5, 12, 19, 20, 100)],
    "background_blur": [Case({"radius": r}) for r in (1, 5, 12, 19, 20, 100)],
    "median": [Case({"radius": r}) for r in (1, 2, 3)],
    "blend": [Case({"mode": m}) for m in MODES],
    "resize": [Case({"interpolation": i}) for i in ("nearest", "bilinear", "bicubic", "lanczos")]
    + [Case({"interpolation": i}, target=size) for i in ("bicubic", "lanczos") for size in OTHERS]
    + [shrunk(by) for by in (2.0, 3.3, 6.1, 9.7, 10.9, 20.0)],
    "lut": [
        Case({"lut": np.linspace(0, 1, 256, dtype=np.float32)}),
        Case({"lut": np.random.default_rng(0).random((17, 17, 17, 3), dtype=np.float32)}),
    ],
    "warp_affine": [Case({"matrix": MATRIX})],
    "warp_perspective": [Case({"matrix": np.vstack([MATRIX, [1e-4, 1e-4, 1.0]])})],
    "flip": [Case({"horizontal": h, "vertical": True}) for h in (False, True)],
    "nv12_to_rgba": [Case({}, FRAME)],
    "yuv420p_to_rgba": [Case({}, FRAME)],
    "rgba_to_nv12": [Case({}, target=FRAME)],
    "rgba_to_yuv420p": [Case({}, target=FRAME)],
}
BYTES_ONLY = {"nv12_to_rgba", "yuv420p_to_rgba", "rgba_to_nv12", "rgba_to_yuv420p"}


def plan_of(kernel: str, case: Case, dtype: str) -> Plan:
    """What the engine makes of one call."""
    count = compute.find_kernel(kernel).inputs
    inputs = [compute.buffer_zeros(case.source, dtype) for _ in range(count)]
    output = compute.buffer_zeros(case.target, dtype)
    single = compute.pipeline()
    single.add({"kernel": kernel, "inputs": inputs, "output": output, "params": case.params})
    return single.engine.prepare(single._stages).executable.plan  # type: ignore[attr-defined]


def compile_ms(work: FusedPass, repeats: int = 5) -> tuple[float, float]:
    """Milliseconds of processor time to write a pass as text, and to compile that; the best of some."""
    host, emitting, compiling = detect_host(), [], []
    for _ in range(repeats):
        begun = time.process_time()
        text = emit_pass(work, host).text
        written = time.process_time()
        Compiled(text)
        emitting.append(written - begun)
        compiling.append(time.process_time() - written)
    return min(emitting) * 1e3, min(compiling) * 1e3


def slowest(kernel: str, dtype: str) -> tuple[float, str]:
    """The pass of a kernel that takes longest: milliseconds, and what it is."""
    found = [(0.0, "no pass of its own")]
    for case in CASES.get(kernel, [Case()]):
        for work in plan_of(kernel, case, dtype).passes:
            if isinstance(work, FusedPass):
                named = {k: v for k, v in case.params.items() if isinstance(v, int | str)}
                sizes = "" if case.target == case.source else f" {case.source} → {case.target}"
                grey = " grey" if len(case.target) == 2 else ""
                words = ", ".join(f"{k} {v}" for k, v in named.items())
                found.append((sum(compile_ms(work)), f"{words}{grey}{sizes}"))
    return max(found)


def catalogue() -> Iterator[tuple[str, str]]:
    """Every image kernel with every type it takes."""
    for name in compute.kernels():
        if compute.find_kernel(name).domain == "image":
            for dtype in ("u8",) if name in BYTES_ONLY else ("u8", "u16", "f32"):
                yield name, dtype


def bench_catalogue(wanted: list[str]) -> None:
    print("\n| slowest pass of | on | compile ms | |\n|---|---|---|---|")
    for name, dtype in catalogue():
        if not wanted or name in wanted:
            spent, what = slowest(name, dtype)
            flag = f" **over {LIMIT_MS:.0f}**" if spent > LIMIT_MS else ""
            print(f"| {name} | {dtype} | {spent:.1f}{flag} | {what} |", flush=True)


if __name__ == "__main__":
    dala.use("cpu")
    bench_catalogue(sys.argv[1:])
