"""The plan scene side by side: full-screen video, four scaled PiPs, two translucent overlays, three texts.

    python bench/scenes.py            prints a table, and writes results/scenes.md

1920 × 1080, decoded YUV 4:2:0 in, everything moving by parts of a pixel; decoding is not counted. The peers
do what they can: OpenCV blends at whole positions (frames are converted from YUV in the loop), FFmpeg's
overlay is at whole chroma positions, MoviePy is given RGB frames. CPU-ms are user and system time of all
threads a frame; for FFmpeg those of reading the same raw frames to nothing are taken off.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dala import text
from dala.scene.layers import Adjustment, Bytes, Composition, Layer, Planes, Rgba
from dala.scene.paint import paint, paint_planes
from measure import machine, use_the_cpu

WIDTH, HEIGHT, FRAMES, ROUNDS = 1920, 1080, 30, 7
PIPS = ((480, 270), (432, 243), (560, 315), (384, 216))
WORDS = ("Sub-pixel positions, true alpha", "The quick brown fox jumps", "00:00:12.345")


def make_video(seed: int) -> Planes:
    noise = np.random.default_rng(seed).integers(-6, 6, (HEIGHT, WIDTH))
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    luma = 128 + 60 * np.sin(x / 40 + seed) + 40 * np.cos(y / 30) + noise
    u, v = 128 + 50 * np.sin(x[::2, ::2] / 90), 128 + 50 * np.cos(y[::2, ::2] / 70 + seed)
    return Planes(luma.clip(16, 235).astype(np.uint8), u.astype(np.uint8), v.astype(np.uint8))


def make_overlay(width: int, height: int) -> Bytes:
    y, x = np.mgrid[:height, :width]
    inside = np.minimum(np.minimum(x, width - 1 - x), np.minimum(y, height - 1 - y))
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., :3] = 20, 90, 160
    pixels[..., 3] = 160 * np.clip(inside / 20, 0, 1)
    return pixels


VIDEOS = [[make_video(10 * i + j) for j in range(3)] for i in range(5)]
OVERLAYS = [make_overlay(1200, 180), make_overlay(400, 400)]
TEXTS = [text.draw(np.zeros((70, 760, 4), np.uint8), words, (4, 4), size=48) for words in WORDS]
PICTURES = [Rgba(p) for p in (*OVERLAYS, *TEXTS)]


def places(number: int) -> list[tuple[float, float]]:
    """Where PiPs, overlays and texts are in a frame."""
    t = number / 30
    pips = [
        (60.3 + i % 2 * 1200 + 17 * math.sin(t + i), 50.7 + i // 2 * 520 + 11 * math.cos(t * 1.3))
        for i in range(4)
    ]
    panels = [
        (360.2 + 9.7 * math.sin(t), 840.6),
        (760.2 + 39.7 * math.sin(t), 340.6 + 3 * math.cos(t)),
    ]
    return pips + panels + [(420.3 + 20 * math.sin(2 * t + i), 850.4 + i * 50) for i in range(3)]


def compose(number: int) -> Composition:
    where, which = places(number), number % 3
    layers = [Layer(VIDEOS[0][which])]
    for i, (width, _) in enumerate(PIPS):
        scale = width / WIDTH
        layers.append(Layer(VIDEOS[i + 1][which], (scale, 0, 0, scale, *where[i])))
    for picture, at, opacity in zip(PICTURES, where[4:], (0.9, 0.7, 1, 1, 1), strict=True):
        layers.append(Layer(picture, (1, 0, 0, 1, *at), opacity=opacity))
    return Composition(WIDTH, HEIGHT, (0, 0, 0, 255), tuple(layers))


# -- the contenders ----------------------------------------------------------------------------


def ours() -> dict[str, Callable[[int], object]]:
    out = np.empty((HEIGHT, WIDTH, 4), np.uint8)
    half = HEIGHT // 2, WIDTH // 2
    planes = np.empty((HEIGHT, WIDTH), np.uint8), np.empty(half, np.uint8), np.empty(half, np.uint8)
    still = compose(0)
    held = paint(still)

    def blurred(number: int) -> object:
        made = compose(number)
        layers = (*made.layers, Adjustment((("blur", {"radius": 3}),)))
        return paint(Composition(WIDTH, HEIGHT, made.background, layers), out=out)

    return {
        "dala, RGBA": lambda n: paint(compose(n), out=out),
        "dala, YUV for an encoder": lambda n: paint_planes(compose(n), out=planes),
        "dala, with a blur of radius 3 on everything": blurred,
        "dala, nothing moves": lambda n: paint(compose(0), out=held, previous=still),
    }


def opencv() -> dict[str, Callable[[int], object]]:
    if find_spec("cv2") is None:
        return {}
    import cv2

    frames = [
        [np.concatenate([v.y.ravel(), v.u.ravel(), v.v.ravel()]).reshape(-1, WIDTH) for v in three]
        for three in VIDEOS
    ]
    alphas = [
        (p[..., 3:].astype(np.uint16) + 1, p[..., :3].astype(np.uint16)) for p in OVERLAYS + TEXTS
    ]

    def run(number: int) -> object:
        where = [(round(x), round(y)) for x, y in places(number)]
        canvas = cv2.cvtColor(frames[0][number % 3], cv2.COLOR_YUV2RGB_I420)
        for i, (size, (x, y)) in enumerate(zip(PIPS, where, strict=False)):
            video = cv2.cvtColor(frames[i + 1][number % 3], cv2.COLOR_YUV2RGB_I420)
            small = cv2.resize(video, size, interpolation=cv2.INTER_AREA)
            canvas[y : y + size[1], x : x + size[0]] = small
        for (alpha, color), (x, y) in zip(alphas, where[4:], strict=True):
            part = canvas[y : y + alpha.shape[0], x : x + alpha.shape[1]]
            part[:] = (part * (256 - alpha) + color * alpha) >> 8
        return canvas

    return {"OpenCV and NumPy, whole positions": run}


def moviepy() -> dict[str, Callable[[int], object]]:
    if find_spec("moviepy") is None:
        return {}
    from moviepy import CompositeVideoClip, ImageClip, VideoClip

    rgb = [
        [paint(Composition(WIDTH, HEIGHT, layers=(Layer(v),)))[..., :3] for v in t] for t in VIDEOS
    ]

    def clip(i: int) -> VideoClip:
        return VideoClip(lambda t: rgb[i][round(t * 30) % 3], duration=100)

    def mover(i: int) -> Callable[[float], tuple[float, float]]:
        return lambda t: places(round(t * 30))[i]

    clips = [clip(0)]
    clips += [clip(i + 1).resized(size).with_position(mover(i)) for i, size in enumerate(PIPS)]
    clips += [
        ImageClip(p, transparent=True).with_duration(100).with_position(mover(4 + i))
        for i, p in enumerate(OVERLAYS + TEXTS)
    ]
    whole = CompositeVideoClip(clips, size=(WIDTH, HEIGHT))
    return {"MoviePy": lambda n: whole.get_frame(n / 30)}


# -- measuring ---------------------------------------------------------------------------------


def cpu_s(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measure_frames(run: Callable[[int], object], frames: int) -> tuple[float, float]:
    """Milliseconds and CPU-ms a frame."""
    started, used = time.perf_counter(), cpu_s(resource.RUSAGE_SELF)
    for number in range(frames):
        run(number)
    spent = cpu_s(resource.RUSAGE_SELF) - used
    return (time.perf_counter() - started) / frames * 1e3, spent / frames * 1e3


def ffmpeg(frames: int = 60) -> tuple[float, float] | None:
    """The same as a filter graph on raw frames, less what it takes to read them."""
    if shutil.which("ffmpeg") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        inputs: list[str] = []
        for i, three in enumerate(VIDEOS):
            file = Path(folder, f"{i}.yuv")
            file.write_bytes(b"".join(p.tobytes() for v in three for p in (v.y, v.u, v.v)))
            raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}", "-r", "30"]
            inputs += ["-stream_loop", "-1", *raw, "-i", str(file)]
        for i, p in enumerate(OVERLAYS + TEXTS):
            file = Path(folder, f"{i}.rgba")
            file.write_bytes(p.tobytes())
            raw = [
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgba",
                "-s",
                f"{p.shape[1]}x{p.shape[0]}",
                "-r",
                "30",
            ]
            inputs += ["-stream_loop", "-1", *raw, "-i", str(file)]
        graph = [f"[{i + 1}]scale={w}:{h}[p{i}]" for i, (w, h) in enumerate(PIPS)]
        last = "0"
        for i, (x, y) in enumerate(places(0)):
            above = f"p{i}" if i < 4 else f"{i + 1}"
            graph.append(f"[{last}][{above}]overlay=x='{x:.1f}+17*sin(t)':y={y:.1f}[v{i}]")
            last = f"v{i}"
        many = [x for i in range(10) for x in ("-map", str(i))]
        full = measure_ffmpeg(
            [*inputs, "-filter_complex", ";".join(graph), "-map", f"[{last}]"], frames
        )
        read = measure_ffmpeg([*inputs, *many, "-c", "copy"], frames)
        return full[0] - read[0], full[1] - read[1]


def measure_ffmpeg(arguments: list[str], frames: int) -> tuple[float, float]:
    command = ["ffmpeg", "-v", "error", *arguments, "-frames:v", str(frames), "-f", "null", "-"]
    started, used = time.perf_counter(), cpu_s(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    spent = cpu_s(resource.RUSAGE_CHILDREN) - used
    return (time.perf_counter() - started) / frames * 1e3, spent / frames * 1e3


def main() -> None:
    use_the_cpu()
    lines = [f"{'':46} {'ms':>8} {'fastest':>8} {'CPU-ms':>8}   of {ROUNDS} rounds"]
    rows = []
    for name, run in (ours() | opencv()).items():
        measure_frames(run, 3)
        rounds = [measure_frames(run, FRAMES) for _ in range(ROUNDS)]
        ms, cpu = (statistics.median(r[i] for r in rounds) for i in (0, 1))
        rows.append((name, ms, min(r[0] for r in rounds), cpu))
    for name, run in moviepy().items():
        run(0)
        ms, cpu = measure_frames(run, 4)
        rows.append((name, ms, ms, cpu))
    found = ffmpeg()
    if found is not None:
        rows.append(("FFmpeg's graph, without reading", found[0], found[0], found[1]))
    lines += [f"{name:46} {ms:8.2f} {best:8.2f} {cpu:8.2f}" for name, ms, best, cpu in rows]
    table = "\n".join(lines)
    print(table)
    load = f"load average at the end {os.getloadavg()[0]:.1f}: milliseconds are good below 1, CPU-ms always"
    page = f"# The plan scene\n\n{machine()}; {load}.\n\n```\n{table}\n```\n"
    Path(__file__).with_name("results").joinpath("scenes.md").write_text(page)


if __name__ == "__main__":
    main()
