"""Images of 8 and of 16 bits: processor time of the same work, in turns.

python bench/deep.py                 pictures of 24 megapixels, frames of 1920×1080
python bench/deep.py --size 3000x2000 --turns 9

A picture of 16 bits is twice the memory: a pass that does little else takes twice the time. The frames are
yuv420p of 8 and of 10 bits: planes in, filters between, planes out, one pass.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from dala import compute
from measure import machine, use_the_cpu

Call = tuple[str, dict[str, object]]
WORDS = {"u8": np.uint8, "u16": np.uint16}

CHAIN: list[Call] = [("blur", {"radius": 3}), ("sharpen", {"amount": 0.5}), ("contrast", {"value": 0.1}),
                     ("brightness", {"value": 0.05})]  # fmt: skip
ROWS: dict[str, list[Call]] = {
    "blur r3": CHAIN[:1],
    "blur r10": [("blur", {"radius": 10})],
    "sharpen": CHAIN[1:2],
    "contrast": CHAIN[2:3],
    "brightness": CHAIN[3:],
    "gamma": [("gamma", {"value": 1.4})],
    "the chain of four": CHAIN,
}
LONGEST_S = 0.5  # runs of one turn, together


def picture_pipeline(calls: Sequence[Call], shape: tuple[int, ...], dtype: str) -> compute.Pipeline:
    """Filters on a picture of noise."""
    rng = np.random.default_rng(1)
    picture = rng.integers(0, 1 << 8 * WORDS[dtype]().nbytes, shape, dtype=WORDS[dtype])
    return _chain(calls, compute.from_array(picture), [shape] * len(calls), dtype)


def frame_pipeline(calls: Sequence[Call], height: int, width: int, bits: int) -> compute.Pipeline:
    """Filters between planes and planes."""
    rng, dtype = np.random.default_rng(1), "u8" if bits == 8 else "u16"
    options: dict[str, object] = {"bits": bits}
    frame = rng.integers(0, 1 << bits, (height * 3 // 2, width), dtype=WORDS[dtype])
    steps: list[Call] = [("yuv420p_to_rgba", options), *calls, ("rgba_to_yuv420p", options)]
    shapes = [(height, width, 4)] * (len(steps) - 1) + [frame.shape]
    return _chain(steps, compute.from_array(frame), shapes, dtype)


def _chain(
    calls: Sequence[Call], source: compute.Buffer, shapes: Sequence[tuple[int, ...]], dtype: str
) -> compute.Pipeline:
    pipeline = compute.pipeline()
    for number, ((kernel, params), shape) in enumerate(zip(calls, shapes, strict=True), 1):
        last = number == len(calls)
        target = compute.buffer_zeros(shape, dtype) if last else compute.scratch(shape, dtype)
        pipeline.add({"kernel": kernel, "inputs": [source], "output": target, "params": params})
        source = target  # type: ignore[assignment]
    return pipeline


def race(runs: Sequence[Callable[[], object]], turns: int) -> list[float]:
    """Milliseconds of processor time of each, all threads together: medians over turns."""
    counts = [max(1, int(LONGEST_S / len(runs) / max(_spent(run, 1), 1e-4))) for run in runs]
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(turns):
        for run, count, spent in zip(runs, counts, times, strict=True):
            spent.append(_spent(run, count) * 1e3)
    return [statistics.median(spent) for spent in times]


def _spent(run: Callable[[], object], count: int) -> float:
    begun = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - begun) / count


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", default="6000x4000")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("rows", nargs="*", help="some of them: " + ", ".join(ROWS))
    given = parser.parse_args()
    use_the_cpu()
    width, height = map(int, given.size.split("x"))
    shape = (height, width, 4)
    chosen = {name: calls for name, calls in ROWS.items() if not given.rows or name in given.rows}
    print(f"{machine()}\n\n| | 8 bits, CPU ms | 16 bits | times |\n|---|---|---|---|")
    for name, calls in chosen.items():
        pair = [picture_pipeline(calls, shape, dtype) for dtype in ("u8", "u16")]
        few, many = race([p.run for p in pair], given.turns)
        print(
            f"| {name}, RGBA {given.size} | {few:.2f} | {many:.2f} | {many / few:.2f} |", flush=True
        )
    for name, calls in {"nothing": [], **chosen}.items():
        pair = [frame_pipeline(calls, 1080, 1920, bits) for bits in (8, 10)]
        few, many = race([p.run for p in pair], given.turns)
        print(f"| {name}, frames of 8 and 10 bits | {few:.2f} | {many:.2f} | {many / few:.2f} |")


if __name__ == "__main__":
    main()
