"""A photo through a fused chain: pictures and timings out.

    python examples/photo_chain.py [PHOTO] [--out FOLDER]

Blur, sharpen, contrast, brightness and grayscale run as one pass over memory: the four images in
between never exist. The same chain is run again stage by stage, and the bytes are compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from dala import compute

PHOTO = Path(__file__).parent / "assets" / "astronaut.jpg"
HEIGHT, WIDTH = 1080, 1920
CHAIN: list[tuple[str, dict[str, float]]] = [
    ("blur", {"radius": 3, "sigma": 1.5}),
    ("sharpen", {"amount": 0.5}),
    ("contrast", {"value": 0.2}),
    ("brightness", {"value": 0.05}),
    ("grayscale", {}),
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("photo", nargs="?", type=Path, default=PHOTO)
    parser.add_argument("--out", type=Path, default=Path("demo_output"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    photo = load_full_hd(options.photo)
    info = compute.device_info()
    print(f"device   {info['name']}, {info['threads']} threads: {info['reason']}")
    print(f"photo    {options.photo.name}, scaled to {WIDTH}×{HEIGHT} by dala's own resize\n")

    result = compute.buffer_zeros(photo.shape, "u8")
    pipeline = build_pipeline(photo, result)
    started = time.perf_counter()
    pipeline.run()
    first = time.perf_counter() - started
    fused = median_time(pipeline.run)
    print(pipeline.explain())

    apart_result = compute.buffer_zeros(photo.shape, "u8")
    apart = median_time(lambda: run_apart(photo, apart_result))
    same = bool((result.read() == apart_result.read()).all())
    source, target = photo.read(), result.read()
    copy = median_time(lambda: np.copyto(target, source))

    print(f"\nfirst run, compiling   {first * 1e3:7.1f} ms")
    print(f"fused, one pass        {fused * 1e3:7.2f} ms   {1 / fused:6.0f} frames/s")
    print(f"stage by stage         {apart * 1e3:7.2f} ms   {apart / fused:6.2f} × the fused time")
    print(f"plain copy (NumPy)     {copy * 1e3:7.2f} ms")
    print(f"fused == stage by stage, byte for byte: {same}")
    if not same:
        raise SystemExit("the fused result differs: this is a defect of dala")
    write_pictures(options.out, photo.read(), result.read())


def load_full_hd(path: Path) -> compute.Buffer:
    """The photo, cropped to 16:9 and scaled up by dala."""
    with Image.open(path) as opened:
        image = opened.convert("RGBA")
    height = min(image.height, image.width * HEIGHT // WIDTH)
    width = min(image.width, image.height * WIDTH // HEIGHT)
    left, top = (image.width - width) // 2, (image.height - height) // 6
    small = compute.from_array(image.crop((left, top, left + width, top + height)))
    large = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")
    compute.run_kernel("resize", [small], large, {"interpolation": "bicubic"})
    return large


def build_pipeline(photo: compute.Buffer, result: compute.Buffer) -> compute.Pipeline:
    pipeline = compute.pipeline()
    current: compute.Buffer | compute.Scratch = photo
    for index, (kernel, params) in enumerate(CHAIN):
        last = index == len(CHAIN) - 1
        output = result if last else compute.scratch(photo.shape, "u8")
        pipeline.add({"kernel": kernel, "inputs": [current], "output": output, "params": params})
        current = output
    return pipeline


def run_apart(photo: compute.Buffer, result: compute.Buffer) -> None:
    """The same chain, one kernel call after the other, each writing a whole image."""
    current = photo
    for kernel, params in CHAIN:
        compute.run_kernel(kernel, [current], result, params)
        current = result


def median_time(run: Callable[[], object], repeats: int = 25) -> float:
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def write_pictures(folder: Path, before: np.ndarray, after: np.ndarray) -> None:
    Image.fromarray(before).save(folder / "before.png")
    Image.fromarray(after).save(folder / "after.png")
    split = before.copy()
    split[:, WIDTH // 2 :] = after[:, WIDTH // 2 :]
    split[:, WIDTH // 2 - 2 : WIDTH // 2 + 2] = 255
    Image.fromarray(split).convert("RGB").save(folder / "before_after.jpg", quality=88)
    print(f"\npictures: {folder}/before.png, after.png, before_after.jpg")


if __name__ == "__main__":
    main()
