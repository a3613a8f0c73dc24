"""What is published, made and tried: sdist and wheel, as a stranger gets them.

python tools/package.py [FOLDER]     build, check, install, run tests of the sdist
python tools/package.py --resolve    only: do the extras resolve on every Python that is supported?
python tools/package.py --whole      only: the whole suite, from the sdist, with all extras (long)

    sources → sdist, wheel → twine check → wheel in an empty environment → smoke
                                         → sdist unpacked, its own tests on the installed wheel

Needs the extra ``package`` and pip's index. `make package` runs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MANYLINUX = ("2_17", "2_24", "2_26", "2_27", "2_28", "2_31", "2_34")
PLATFORMS: dict[str, tuple[str, ...]] = {  # beside this one; what pip calls them
    "Linux aarch64": (
        *(f"manylinux_{glibc}_aarch64" for glibc in MANYLINUX),
        "manylinux2014_aarch64",
    ),
    "macOS arm64": (
        *(f"macosx_{system}_0_arm64" for system in (11, 12, 13, 14, 15)),
        *(f"macosx_{system}_0_universal2" for system in (11, 12, 13, 14, 15)),
        "macosx_10_9_universal2",
    ),
    "Windows x86-64": ("win_amd64",),
}
EXTRAS = ("image", "webgpu", "window", "video", "text", "ml", "cli", "fleet", "all")
TESTS = (  # of the core: these need nothing but pytest
    "tests/unit", "tests/meta/test_import.py", "tests/compute/test_buffers.py",
    "tests/compute/test_commands.py", "tests/compute/test_pipelines.py",
    "tests/compute/test_errors.py", "tests/compute/test_kernel_errors.py",
)  # fmt: skip
SMOKE = """
import sys
import numpy as np
import dala
from dala import compute, gpu, media

photo = np.full((48, 64, 3), 100, np.uint8)
assert media.blur(photo, 3).shape == photo.shape
assert media.apply_filters(photo, "film").dtype == np.uint8
with gpu.create_surface(64, 48) as surface:
    surface.fill_circle(20, 20, 9, "gold")
    surface.present().wait()
    surface.save("surface.png")
missing = {
    "image": lambda: media.open("surface.png"),
    "webgpu": lambda: dala.device("webgpu"),
    "video": lambda: __import__("dala.video").video.probe("clip.mp4"),
    "text": lambda: __import__("dala.text").text.layout("hello"),
}
for extra, call in missing.items():
    try:
        call()
    except dala.DalaError as error:
        assert f"dala-gpu[{extra}]" in str(error), (extra, error)
    else:
        raise SystemExit(f"{extra}: expected an error that names the extra")
print("works without extras, and names each that is asked for; Python", sys.version.split()[0])
"""


def main() -> None:
    if "--resolve" in sys.argv:
        resolve(ROOT)
        return
    if "--whole" in sys.argv:
        test_whole(ROOT)
        return
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    wheel, sdist = newest(folder, "*.whl"), newest(folder, "*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        python = make_environment(place / "empty")
        run(python, "-m", "pip", "install", "--quiet", wheel)
        run(python, "-c", SMOKE, cwd=place)
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]", "pytest", "hypothesis",
            "pytest-randomly", "pytest-rerunfailures")  # fmt: skip
        run(python, "-m", "dala", "--version", cwd=place)
        test_sdist(sdist, place, python)
    print(f"{wheel.name} and {sdist.name} are ready in {folder}")


def test_sdist(sdist: Path, place: Path, python: Path) -> None:
    """The core's tests, from the unpacked sdist, on the installed wheel: its sources are taken away."""
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    sources = place / sdist.name.removesuffix(".tar.gz")
    (sources / "src").rename(sources / "not_this_src")
    run(python, "-m", "pytest", "-q", "-x", *TESTS, cwd=sources)


def test_whole(what: Path) -> None:
    """All tests, from the unpacked sdist, on what was installed from it: nothing is missing in it."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        run(sys.executable, "-m", "build", "--sdist", "--outdir", place, what)
        sdist = newest(place, "*.tar.gz")
        python = make_environment(place / "all")
        run(python, "-m", "pip", "install", "--quiet", f"{sdist}[all,dev]")
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        sources = place / sdist.name.removesuffix(".tar.gz")
        run(python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", cwd=sources)


def resolve(what: Path) -> None:
    """Ask pip for every extra on every Python, without installing; wheels alone, as users get them.
    Then on the other platforms, what tests need included, with the oldest and the newest Python they are
    tested with."""
    with tempfile.TemporaryDirectory() as scratch:
        run(sys.executable, "-m", "build", "--wheel", "--outdir", scratch, what)
        wheel = newest(Path(scratch), "*.whl")

        def ask(version: str, extras: tuple[str, ...], platforms: tuple[str, ...] = ()) -> None:
            run(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
                "--only-binary", ":all:", "--python-version", version, "--target", f"{scratch}/none",
                *(f"--platform={name}" for name in platforms),
                f"{wheel}[{','.join(extras)}]")  # fmt: skip

        for version in PYTHONS:
            ask(version, EXTRAS)
            print(f"Python {version}: {', '.join(EXTRAS)} resolve")
        for name, platforms in PLATFORMS.items():
            versions = (PYTHONS[0], PYTHONS[-1]) if name.startswith("Linux") else ("3.12",)
            for version in versions:
                ask(version, (*EXTRAS, "dev"), platforms)
                print(f"{name}, Python {version}: {', '.join(EXTRAS)}, dev resolve")


def make_environment(folder: Path) -> Path:
    """An environment with nothing in it; its Python."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime)


def run(*command: object, cwd: Path | None = None) -> None:
    words = [str(word) for word in command]
    print("$", *(word if len(word) < 200 else "…" for word in words), flush=True)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run(words, check=True, cwd=cwd, env=env)


if __name__ == "__main__":
    main()
