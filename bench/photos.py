"""Photos of 24 megapixels through a look: dala beside ImageMagick and libvips, in one run.

python bench/photos.py                100 photos, made first: some 400 MB in a temporary folder
python bench/photos.py --photos 8     fewer
python bench/photos.py --json FILE    the numbers too

Each does the same work by its own command: decode a JPEG, an S-curve, a tint of dark and of light tones,
less saturation, a vignette, encode a JPEG of quality 92; as many processes or threads as there are cores.
Peers get curve and tint as what they do best: a table per channel (ImageMagick -clut, vips maplut), a
colour matrix, a product with a ready vignette. Needs convert (imagemagick) and vips (libvips-tools); with
pyvips, libvips runs as one streaming pipeline, as it is meant to, and without as four commands.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image
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


def make_tables(folder: Path) -> tuple[Path, Path]:
    """The curve and the vignette as pictures for the peers."""
    lut, dark = folder / "curve.png", folder / "vignette.png"
    Image.fromarray(curve()[None]).save(lut)
    across = (np.arange(SIZE[0]) + 0.5) * 2 / SIZE[0] - 1
    down = (np.arange(SIZE[1]) + 0.5) * 2 / SIZE[1] - 1
    shade = 1 - VIGNETTE * (across[None] ** 2 + down[:, None] ** 2) / 2
    Image.fromarray(np.rint(shade * 255).astype(np.uint8)).save(dark)
    return lut, dark


def with_imagemagick(source: Path, target: Path, lut: Path, dark: Path) -> list[list[str]]:
    return [[
        "convert", str(source), str(lut), "-clut", "-modulate", f"100,{SATURATION * 100:g},100",
        str(dark), "-compose", "multiply", "-composite", "-quality", str(QUALITY), str(target),
    ]]  # fmt: skip


def with_vips(source: Path, target: Path, lut: Path, dark: Path) -> list[list[str]]:
    luma, s = (0.299, 0.587, 0.114), SATURATION
    matrix = target.with_suffix(".mat")
    rows = [[w * (1 - s) + (s if i == j else 0) for j, w in enumerate(luma)] for i in range(3)]
    lines = [" ".join(f"{v:.6f}" for v in row) for row in rows]
    matrix.write_text("3 3\n" + "\n".join(lines) + "\n")
    graded, pale, shaded = (target.with_name(f"{target.stem}_{n}.v") for n in "abc")
    return [
        ["vips", "maplut", str(source), str(graded), str(lut)],
        ["vips", "recomb", str(graded), str(pale), str(matrix)],
        ["vips", "multiply", str(pale), str(dark), str(shaded)],
        ["vips", "linear", str(shaded), f"{target}[Q={QUALITY}]", str(1 / 255), "0", "--uchar"],
    ]


def with_pyvips(source: Path, target: Path, lut: Path, dark: Path) -> list[list[str]]:
    """All in one streaming pipeline, as libvips is meant to be used."""
    return [[sys.executable, __file__, "--vips", str(source), str(target), str(lut), str(dark)]]


def run_vips(source: str, target: str, lut: str, dark: str) -> None:
    import pyvips

    image = pyvips.Image.new_from_file(source, access="sequential")
    luma, s = (0.299, 0.587, 0.114), SATURATION
    rows = [[w * (1 - s) + (s if i == j else 0) for j, w in enumerate(luma)] for i in range(3)]
    graded = image.maplut(pyvips.Image.new_from_file(lut)).recomb(pyvips.Image.new_from_array(rows))
    shade = pyvips.Image.new_from_file(dark, access="sequential")
    (graded * shade * (1 / 255)).cast("uchar").write_to_file(target, Q=QUALITY)


def race(name: str, photos: list[Path], out: Path, commands) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """One command per photo, as many at once as there are cores."""
    out.mkdir()
    cores = len(os.sched_getaffinity(0))
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "MAGICK_THREAD_LIMIT": "1",
        "VIPS_CONCURRENCY": "1",
    }

    def do(path: Path) -> None:
        for command in commands(path, out / path.name):
            subprocess.run(command, check=True, env=env)
        for left in out.glob(f"{path.stem}_?.v"):
            left.unlink()

    return measure(name, photos, lambda: list(ThreadPoolExecutor(cores).map(do, photos)))


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
    missing = [c for c in ("convert", "vips") if shutil.which(c) is None]
    if missing:
        raise SystemExit(
            f"not installed: {', '.join(missing)} (apt-get install imagemagick libvips-tools)"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        photos = make_photos(folder / "in", given.photos)
        lut, dark = make_tables(folder)
        megabytes = sum(p.stat().st_size for p in photos) / 1e6
        print(f"{len(photos)} photos of {SIZE[0]}×{SIZE[1]}, {megabytes:.0f} MB")
        found = {"dala": race_dala(photos, folder / "dala")}
        print(f"{'':<12} peak {found['dala']['peak_mb']:.0f} MB")
        vips = with_pyvips if _has_pyvips() else with_vips
        found["libvips"] = race(
            "libvips", photos, folder / "vips", lambda s, t: vips(s, t, lut, dark)
        )
        found["ImageMagick"] = race(
            "ImageMagick", photos, folder / "magick", lambda s, t: with_imagemagick(s, t, lut, dark)
        )
        for peer in ("libvips", "ImageMagick"):
            wall = found[peer]["seconds"] / found["dala"]["seconds"]
            cpu = found[peer]["cpu_seconds"] / found["dala"]["cpu_seconds"]
            print(f"dala is {wall:.2f} × as fast as {peer} ({cpu:.2f} × by CPU time)")
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


def _has_pyvips() -> bool:
    try:
        import pyvips  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


if __name__ == "__main__":
    main()
