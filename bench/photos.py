"""Photos of 24 megapixels through a look: dala beside ImageMagick and libvips, in one run.

python bench/photos.py                100 photos, made first: some 400 MB in a temporary folder
python bench/photos.py --photos 8     fewer
python bench/photos.py --json FILE    the numbers too

Each does the same work: decode a JPEG, an S-curve, a tint of dark and of light tones, less saturation, a
vignette, encode a JPEG of quality 92 with 4:2:0; as many processes or threads as there are cores. Peers
get curve and tint as what they do best: a table per channel, a colour matrix, a product with a ready
vignette in their own format. libvips runs as streaming pipelines in one process, ImageMagick as a process
per photo. Needs imagemagick, libvips-tools and pyvips.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image, JpegImagePlugin
from skimage import data

SIZE = (6000, 4000)
LOOK = "cinematic"
QUALITY = 92
SATURATION = 0.95
VIGNETTE = 0.25


def make_photos(folder: Path, count: int) -> list[Path]:
    """Photos of scikit-image, enlarged, with the noise of a sensor; no two alike."""
    originals = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket()]
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 2.5, (SIZE[1], SIZE[0], 1)).astype(np.int8)
    paths = []
    for number in range(count):
        path = folder / f"photo_{number:03}.jpg"
        large = Image.fromarray(originals[number % len(originals)]).resize(
            SIZE, Image.Resampling.BICUBIC
        )
        pixels = np.asarray(large).astype(np.int16) + np.roll(noise, number * 37, axis=1)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path, quality=QUALITY)
        paths.append(path)
    return paths


def curve() -> np.ndarray:
    """The look's tone curve and tints on greys, 256 × 3: what the peers apply to each channel."""
    from dala import media

    grey = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    steps = [s for s in media.looks.load(LOOK).steps if s.name in ("tone", "split_tone")]
    return np.asarray(media.apply_filters(grey, media.Chain(steps)))[0]


def make_tables(folder: Path) -> tuple[Path, Path, Path]:
    """The curve as a picture, and the vignette in each peer's own format, read without decoding."""
    lut, dark = folder / "curve.png", folder / "vignette.png"
    Image.fromarray(curve()[None]).save(lut)
    across = (np.arange(SIZE[0]) + 0.5) * 2 / SIZE[0] - 1
    down = (np.arange(SIZE[1]) + 0.5) * 2 / SIZE[1] - 1
    shade = 1 - VIGNETTE * (across[None] ** 2 + down[:, None] ** 2) / 2
    Image.fromarray(np.rint(shade * 255).astype(np.uint8)).save(dark)
    cache, plain = dark.with_suffix(".mpc"), dark.with_suffix(".v")
    subprocess.run([imagemagick(), str(dark), str(cache)], check=True)
    subprocess.run(["vips", "copy", str(dark), str(plain)], check=True)
    return lut, cache, plain


def saturation() -> list[list[float]]:
    """The look's saturation as a colour matrix."""
    luma, s = (0.299, 0.587, 0.114), SATURATION
    return [[w * (1 - s) + (s if i == j else 0) for j, w in enumerate(luma)] for i in range(3)]


def imagemagick() -> str:
    """The program itself, where a distribution has it under a name of its own."""
    for name in ("magick", "convert-im6.q16", "convert"):
        if found := shutil.which(name):
            return found
    raise SystemExit("not installed: ImageMagick (apt-get install imagemagick)")


def race_imagemagick(photos: list[Path], out: Path, lut: Path, dark: Path) -> dict[str, float]:
    """A process per photo, as many at once as there are cores, one thread each: its quickest form."""
    out.mkdir()
    matrix = " ".join(f"{v:.6f}" for row in saturation() for v in row)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MAGICK_THREAD_LIMIT": "1"}

    def do(path: Path) -> None:
        command = [
            imagemagick(), str(path), str(lut), "-clut", "-color-matrix", matrix, str(dark), "-compose",
            "multiply", "-composite", "-quality", str(QUALITY), "-sampling-factor", "4:2:0",
            str(out / path.name),
        ]  # fmt: skip
        subprocess.run(command, check=True, env=env)

    return measure("ImageMagick", photos, lambda: in_parallel(do, photos))


def race_vips(photos: list[Path], out: Path, lut: Path, dark: Path) -> dict[str, float]:
    """All photos in one process, a thread for each core: no start, no copies between commands."""
    out.mkdir()
    env = {**os.environ, "VIPS_CONCURRENCY": "1"}
    command = [
        sys.executable,
        __file__,
        "--vips",
        str(photos[0].parent),
        str(out),
        str(lut),
        str(dark),
    ]
    return measure("libvips", photos, lambda: subprocess.run(command, check=True, env=env))


def run_vips(source: str, target: str, lut: str, dark: str) -> None:
    """One streaming pipeline for each photo. The matrix takes the vignette's 1 / 255 along: the quickest of
    four orders that were tried."""
    import pyvips

    matrix = pyvips.Image.new_from_array([[v / 255 for v in row] for row in saturation()])
    table = pyvips.Image.new_from_file(lut)

    def do(path: Path) -> None:
        image = pyvips.Image.new_from_file(str(path), access="sequential")
        shaded = image.maplut(table) * pyvips.Image.new_from_file(dark)
        made = shaded.recomb(matrix).cast("uchar")
        made.write_to_file(f"{target}/{path.name}", Q=QUALITY, subsample_mode="on")

    in_parallel(do, sorted(Path(source).iterdir()))


def in_parallel(do: Callable[[Path], None], photos: list[Path]) -> None:
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        list(threads.map(do, photos))


def race_dala(photos: list[Path], out: Path) -> dict[str, float]:
    """In a process that tells its own peak: getrusage counts that of the process it was forked from."""
    words = ["filter", str(photos[0].parent), f"{out}/", "--look", LOOK, "--quality", str(QUALITY),
             "--quiet", "--device", "cpu"]  # fmt: skip
    told = out.with_suffix(".status")
    code = (
        "import sys, pathlib; from dala.cli import main; code = main(sys.argv[2:]);"
        "pathlib.Path(sys.argv[1]).write_text(pathlib.Path('/proc/self/status').read_text());"
        "sys.exit(code)"
    )
    command = [sys.executable, "-c", code, str(told), *words]
    found = measure("dala", photos, lambda: subprocess.run(command, check=True))
    peak = next(line for line in told.read_text().splitlines() if line.startswith("VmHWM"))
    return {**found, "peak_mb": int(peak.split()[1]) * 1024 / 1e6}


def measure(name: str, photos: list[Path], work) -> dict[str, float]:  # type: ignore[no-untyped-def]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = {"seconds": wall, "cpu_seconds": cpu, "photos_per_s": len(photos) / wall}
    print(f"{name:<12} {wall:7.1f} s  {cpu:7.1f} s of CPU  {len(photos) / wall:5.2f} photos/s")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--photos", type=int, default=100)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--vips", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.vips:
        run_vips(*given.vips)
        return
    if shutil.which("vips") is None or not has_pyvips():
        raise SystemExit(
            "not installed: libvips (apt-get install libvips-tools; pip install pyvips)"
        )
    imagemagick()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        photos = make_photos(folder / "in", given.photos)
        lut, cache, plain = make_tables(folder)
        megabytes = sum(p.stat().st_size for p in photos) / 1e6
        print(f"{len(photos)} photos of {SIZE[0]}×{SIZE[1]}, {megabytes:.0f} MB")
        found = {"dala": race_dala(photos, folder / "dala")}
        print(f"{'':<12} peak {found['dala']['peak_mb']:.0f} MB")
        found["libvips"] = race_vips(photos, folder / "vips", lut, plain)
        found["ImageMagick"] = race_imagemagick(photos, folder / "magick", lut, cache)
        for peer in ("libvips", "ImageMagick"):
            wall = found[peer]["seconds"] / found["dala"]["seconds"]
            cpu = found[peer]["cpu_seconds"] / found["dala"]["cpu_seconds"]
            print(f"dala is {wall:.2f} × as fast as {peer} ({cpu:.2f} × by CPU time)")
        compare(photos[0].name, folder)
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


def compare(name: str, folder: Path) -> None:
    """Whether all did the same work: how far their pictures are from dala's, in levels."""
    own = np.asarray(Image.open(folder / "dala" / name), np.int16)
    for peer in ("vips", "magick"):
        with Image.open(folder / peer / name) as made:
            assert JpegImagePlugin.get_sampling(made) == 2, "4:2:0, as dala keeps it"
            far = np.abs(np.asarray(made, np.int16) - own)
        print(f"{peer:<12} differs by {far.mean():.1f} levels on average")


def has_pyvips() -> bool:
    try:
        import pyvips  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


if __name__ == "__main__":
    main()
