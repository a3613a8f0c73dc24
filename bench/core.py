"""The compute core by numbers: compile time, overhead per run, fused against unfused.

    python bench/core.py [--size 1920x1080]

Medians over many runs; ratios where they say more than milliseconds. Peers come with the catalogue.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from compiling import bench_catalogue
from dala import compute
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import Compiled, detect_host
from dala.plan.fuse import FusedPass
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot
from measure import use_the_cpu
from photo_chain import CHAIN, build_pipeline, median_time, run_apart

WIDE: list[tuple[str, dict[str, float]]] = [
    *(("blur", {"radius": r}) for r in (10, 25, 50)),
    *(("median", {"radius": r}) for r in (1, 2, 3)),
]


def median_ms(run: Callable[[], object], repeats: int = 40) -> float:
    return median_time(run, repeats) * 1e3


def bench_compile(photo: compute.Buffer, result: compute.Buffer) -> None:
    print("\n| pass | plan ms | emit ms | LLVM ms | compile (emit + LLVM) |\n|---|---|---|---|---|")
    host = detect_host()
    for name, params in [*CHAIN, *WIDE, ("chain of five", {})]:
        single = compute.pipeline()
        if name == "chain of five":
            single = build_pipeline(photo, result)
        else:
            single.add({"kernel": name, "inputs": [photo], "output": result, "params": params})
        plan = single.engine.prepare(single._stages).executable.plan
        calls, slots = calls_of(single)
        planning = median_ms(lambda c=calls, s=slots: plan_calls(c, s), 15)
        work = plan.passes[0]
        assert isinstance(work, FusedPass)
        emitting = median_ms(lambda w=work: emit_pass(w, host), 15)
        text = emit_pass(work, host).text
        compiling = median_ms(lambda t=text: Compiled(t), 15)
        print(
            f"| {name} {params or ''} | {planning:.1f} | {emitting:.1f} | {compiling:.1f} "
            f"| {emitting + compiling:.1f} |"
        )


def calls_of(pipeline: compute.Pipeline) -> tuple[list[Call], list[Slot]]:
    """What the planner sees of a pipeline."""
    buffers = pipeline.engine.prepare(pipeline._stages).buffers
    slot_of = {b: number for number, b in enumerate(buffers)}
    slots = [Slot(b.type, isinstance(b, compute.Scratch)) for b in buffers]
    return pipeline.engine.calls(pipeline._stages, slot_of), slots


def bench_overhead() -> None:
    """Tiny images: what is left is Python and the call."""
    small = compute.from_array(np.zeros((8, 8, 4), np.uint8))
    other = compute.from_array(np.zeros((8, 8, 4), np.uint8))
    out = compute.buffer_zeros((8, 8, 4), "u8")
    pipeline = build_pipeline(small, out)
    counter = iter(range(10**9))

    def with_new_values() -> None:
        pipeline.set_params(1, amount=(next(counter) % 100) / 100)
        pipeline.run()

    rows = [
        ("run_kernel", lambda: compute.run_kernel("brightness", [small], out, {"value": 0.1})),
        ("pipeline of 5, again", pipeline.run),
        ("pipeline of 5, new parameter value", with_new_values),
        ("pipeline of 5, other buffer", lambda: pipeline.run(buffers={small: other})),
    ]
    print("\n| 8×8 image | µs per run |\n|---|---|")
    for name, run in rows:
        print(f"| {name} | {median_ms(run, 2000) * 1e3:.1f} |")


def bench_kernels(photo: compute.Buffer, result: compute.Buffer) -> None:
    pipeline = build_pipeline(photo, result)
    fused = median_ms(pipeline.run)
    apart = median_ms(lambda: run_apart(photo, result))
    host = photo.read()
    target = np.empty_like(host)
    copy = median_ms(lambda: np.copyto(target, host))
    print("\n| run | ms | × copy |\n|---|---|---|")
    print(f"| NumPy copy | {copy:.2f} | 1.0 |")
    for name, params in CHAIN:
        alone = median_ms(lambda n=name, p=params: compute.run_kernel(n, [photo], result, p))
        print(f"| {name} | {alone:.2f} | {alone / copy:.1f} |")
    print(f"| chain, fused | {fused:.2f} | {fused / copy:.1f} |")
    print(f"| chain, stage by stage | {apart:.2f} | {apart / copy:.1f} |")
    print(f"\nfused against stage by stage: {apart / fused:.2f} ×")


def bench_pointwise(photo: compute.Buffer, result: compute.Buffer) -> None:
    print("\n| point-wise stages in one pass | ms | per further stage |\n|---|---|---|")
    first = 0.0
    for count in (1, 2, 4, 8, 16):
        pipeline = compute.pipeline()
        current: compute.Buffer | compute.Scratch = photo
        for index in range(count):
            output = result if index == count - 1 else compute.scratch(photo.shape, "u8")
            params = {"value": 0.01 * (index + 1)}
            kernel = "brightness" if index % 2 else "contrast"
            pipeline.add(
                {"kernel": kernel, "inputs": [current], "output": output, "params": params}
            )
            current = output
        spent = median_ms(pipeline.run)
        first = first or spent
        further = (spent - first) / (count - 1) / first if count > 1 else 0.0
        print(f"| {count} | {spent:.2f} | {further:.0%} of one pass |")


def main() -> None:
    use_the_cpu()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1920x1080")
    width, height = map(int, parser.parse_args().size.split("x"))
    info = compute.device_info()
    print(f"{info['name']}, {info['threads']} threads, {info['vector_bits']}-bit vectors")
    rng = np.random.default_rng(0)
    photo = compute.from_array(rng.integers(0, 256, (height, width, 4), dtype=np.uint8))
    result = compute.buffer_zeros(photo.shape, "u8")
    bench_compile(photo, result)
    bench_catalogue([])
    bench_overhead()
    print(f"\n{width}×{height} RGBA u8")
    bench_kernels(photo, result)
    bench_pointwise(photo, result)


if __name__ == "__main__":
    main()
