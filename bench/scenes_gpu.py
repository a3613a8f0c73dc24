"""Scenes that a GPU paints: 3840 × 2160, 16 layers, everything moving by parts of a pixel.

    python bench/scenes_gpu.py [--size 3840x2160] [--frames 200] [--rounds 5] [--jobs WORD] [--check]

First every job is painted by the CPU and by the GPU, and compared (the exit code is 1 if anything is more
than a level apart). Then, medians of the rounds in milliseconds: the GPU's own timestamps, the host's part
of a frame, a frame in a pipeline (results stay on the GPU; wall time over many frames, the last of them
waited for), one that is waited for, and one that is read back. Videos are decoded before: three frames of
each go round, so that after a moment all of them are on the GPU; "sent" is with a new version of every
video for every frame. ``--check`` compares only.

    show     a video over everything, nine smaller ones with round corners, three panels, three texts
    full     sixteen layers over everything, half of them translucent pictures, none of them hidden
    turned   sixteen videos, each turned and translucent
    scene    "show" as nodes of a Scene, animated: what evaluation costs is counted, too
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dala import text
from dala.scene import Scene
from dala.scene.layers import Composition, Layer, Planes, Rgba
from dala.scene.paint import paint
from dala.scene.paint.webgpu import GpuPainter
from dala.scene.paint.webgpu.reading import open_gpu

VIDEOS, GOING_ROUND = 10, 3
WORDS = ("Sub-pixel positions, true alpha", "The quick brown fox jumps", "00:00:12.345")
Compose = Callable[[int], Composition]


def make_video(width: int, height: int, seed: int) -> Planes:
    y, x = np.mgrid[:height, :width].astype(np.float32)
    luma = 128 + 60 * np.sin(x / 40 + seed) + 40 * np.cos(y / 30)
    u, v = 128 + 50 * np.sin(x[::2, ::2] / 90), 128 + 50 * np.cos(y[::2, ::2] / 70 + seed)
    return Planes(*(plane.clip(16, 235).astype(np.uint8) for plane in (luma, u, v)))


def make_panel(width: int, height: int) -> Rgba:
    y, x = np.mgrid[:height, :width]
    inside = np.minimum(np.minimum(x, width - 1 - x), np.minimum(y, height - 1 - y))
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., :3] = 20, 90, 160
    pixels[..., 3] = 160 * np.clip(inside / 20, 0, 1)
    return Rgba(pixels)


class Material:
    """Videos, panels and texts for a canvas of that size."""

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        first = [make_video(width, height, n) for n in range(GOING_ROUND)]
        # the others show the same pixels under versions of their own
        self.videos = [first, *([_renewed(v) for v in first] for _ in range(VIDEOS - 1))]
        self.panels = [make_panel(width // 3, height // 4) for _ in range(3)]
        empty = np.zeros((height // 12, width // 3, 4), np.uint8)
        size = height / 25
        self.texts = [Rgba(text.draw(empty.copy(), words, (4, 4), size=size)) for words in WORDS]
        self.sheets = [make_panel(width, height) for _ in range(4)]

    def video(self, number: int, frame: int) -> Planes:
        return self.videos[number][frame % GOING_ROUND]


def _renewed(video: Planes) -> Planes:
    return Planes(video.y, video.u, video.v, video.matrix, video.full_range)


def show(material: Material, frame: int) -> Composition:
    width, height = material.size
    t, layers = frame / 30, [Layer(material.video(0, frame))]
    for i in range(9):
        scale = 0.2 + 0.02 * i
        at = (i % 3 * width / 3 + 40 * math.sin(t + i), i // 3 * height / 3 + 30.3 * math.cos(t))
        video = material.video(i + 1, frame)
        layers.append(Layer(video, (scale, 0, 0, scale, *at), corner_radius=24))
    for i, panel in enumerate(material.panels):
        at = (width / 3 * i + 9.7 * math.sin(t), height * 0.7 + 3.1 * i)
        layers.append(Layer(panel, (1, 0, 0, 1, *at), opacity=0.9))
    for i, words in enumerate(material.texts):
        layers.append(Layer(words, (1, 0, 0, 1, 60.3 + 20 * math.sin(2 * t + i), 100.4 + 120 * i)))
    return Composition(width, height, (0, 0, 0, 255), tuple(layers))


def full(material: Material, frame: int) -> Composition:
    layers = []
    for i in range(16):
        at = 0.3 * i + 3 * math.sin(frame / 30 + i), 0.7 * i
        content = material.sheets[i % 4] if i % 2 else material.video(i // 2, frame)
        layers.append(Layer(content, (1, 0, 0, 1, *at), opacity=0.6))
    return Composition(*material.size, (0, 0, 0, 255), tuple(layers))


def turned(material: Material, frame: int) -> Composition:
    width, height = material.size
    layers = []
    for i in range(16):
        angle, scale = frame / 60 + i, 0.4
        c, s = math.cos(angle) * scale, math.sin(angle) * scale
        at = width * (0.2 + i % 4 * 0.2), height * (0.2 + i // 4 * 0.2)
        layers.append(Layer(material.video(i % VIDEOS, frame), (c, s, -s, c, *at), opacity=0.8))
    return Composition(width, height, (0, 0, 0, 255), tuple(layers))


class GoingRound:
    """A source that shows some frames again and again."""

    def __init__(self, frames: list[Planes]) -> None:
        self._frames = frames
        self.size = frames[0].width, frames[0].height
        self.duration: Fraction | None = None

    def frame_at(self, at: Fraction) -> Planes:
        return self._frames[int(at * 30) % len(self._frames)]

    def close(self) -> None:
        pass


def make_scene(material: Material, device: str | None) -> Scene:
    """The same as ``show``, as nodes."""
    width, height = material.size
    stage = Scene(width, height, background="black", device=device)
    stage.add_video(GoingRound(material.videos[0]), size=(width, height))
    moving = []
    for i in range(9):
        size = (width * (0.2 + 0.02 * i), height * (0.2 + 0.02 * i))
        at = i % 3 * width / 3 + 0.3, i // 3 * height / 3 + 0.4
        source = GoingRound(material.videos[i + 1])
        moving.append((stage.add_video(source, size=size, position=at, corner_radius=24), at))
    for i, panel in enumerate(material.panels):
        at = width / 3 * i, height * 0.7
        size = panel.width, panel.height
        moving.append((stage.add_image(panel.pixels, size=size, position=at, opacity=0.9), at))
    for i, words in enumerate(WORDS):
        at = 60.3, 100.4 + 120 * i
        moving.append((stage.add_text(words, position=at, font_size=height / 25), at))
    for node, (x, y) in moving:
        stage.animate(
            node,
            "position",
            to=(x + 80, y + 30),
            duration_ms=2000,
            repeat="forever",
            alternate=True,
        )
    return stage


# -- comparing, measuring --------------------------------------------------------------------------------


def apart(a: np.ndarray, b: np.ndarray) -> int:
    """The most levels by which two pictures on an opaque ground differ."""
    return int((np.maximum(a, b) - np.minimum(a, b)).max())


@dataclass
class Row:
    """Milliseconds of a frame."""

    gpu: float
    host: float
    pipelined: float
    waited: float
    read: float

    def __str__(self) -> str:
        values = (self.gpu, self.host, self.pipelined, self.waited, self.read)
        return "".join(f"{value:10.3f}" for value in values) + f"{1e3 / self.pipelined:10.0f}"


def measure(painter: GpuPainter, compose: Compose, frames: int, rounds: int) -> Row:
    device = painter.device
    made = [compose(n) for n in range(frames)]  # a description is there; painting it is measured
    for composition in made[: 2 * GOING_ROUND]:
        painter.paint(composition)
    device.wait()
    hosts, pipelined, waited, read = [], [], [], []
    out = np.empty((made[0].height, made[0].width, 4), np.uint8)
    for _ in range(rounds):
        begun = time.perf_counter()
        for composition in made:
            painter.paint(composition)
        handed = time.perf_counter()
        device.wait()
        hosts.append((handed - begun) / frames)
        pipelined.append((time.perf_counter() - begun) / frames)
        for composition in made[:10]:
            begun = time.perf_counter()
            canvas = painter.paint(composition)
            device.wait()
            waited.append(time.perf_counter() - begun)
            device.download(canvas, out)
            read.append(time.perf_counter() - begun)
    medians = [statistics.median(times) * 1e3 for times in (hosts, pipelined, waited, read)]
    return Row(gpu_ms(painter, made), *medians)


def gpu_ms(painter: GpuPainter, made: list[Composition]) -> float:
    timers = painter.device.timers
    if timers is None:
        return math.nan
    painter.timed, runs = True, []
    for composition in made[:50]:
        painter.paint(composition)
        runs.append(painter.run)
    painter.timed = False
    took = [ms for run in runs if (ms := timers.read_ms(run)) is not None]
    return statistics.median(took)


def measure_scene(material: Material, frames: int, rounds: int) -> Row:
    with make_scene(material, "webgpu") as stage:
        device = stage.render(0).to_buffer().engine.device
        times = [Fraction(n, 60) for n in range(1, frames + 1)]
        for at in times[:12]:
            stage.render(at)
        hosts, pipelined, read = [], [], []
        for turn in range(rounds):
            moments = [at + turn * 10 for at in times]
            begun = time.perf_counter()
            for at in moments:
                stage.render(at)
            hosts.append((time.perf_counter() - begun) / frames)
            device.finish()
            device.wait()  # type: ignore[attr-defined]
            pipelined.append((time.perf_counter() - begun) / frames)
            for at in moments[:10]:
                begun = time.perf_counter()
                stage.render(at + 5).to_array()
                read.append(time.perf_counter() - begun)
    medians = [statistics.median(times_) * 1e3 for times_ in (hosts, pipelined, read)]
    return Row(math.nan, medians[0], medians[1], math.nan, medians[2])


def compare(painter: GpuPainter, jobs: dict[str, Compose], material: Material) -> bool:
    good = True
    for name, compose in jobs.items():
        levels = 0
        for frame in (0, 7):
            made = compose(frame)
            seen = painter.device.fetch(painter.paint(made))
            levels = max(levels, apart(seen, paint(made)))
        good &= levels <= 1
        print(f"{name:8} {levels} level{'s'[: levels != 1]} from the CPU at most", flush=True)
    with make_scene(material, "webgpu") as stage, make_scene(material, None) as other:
        levels = max(
            apart(stage.render(t).to_array(), other.render(t).to_array()) for t in (0, 0.7)
        )
    good &= levels <= 1
    print(f"{'scene':8} {levels} level{'s'[: levels != 1]} from the CPU at most", flush=True)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", default="")
    parser.add_argument("--check", action="store_true", help="compare only")
    args = parser.parse_args()
    width, height = (int(side) for side in args.size.split("x"))
    material = Material(width, height)
    painter = GpuPainter(open_gpu("webgpu"))
    jobs: dict[str, Compose] = {
        name: lambda n, make=make: make(material, n)  # type: ignore[misc]
        for name, make in (("show", show), ("full", full), ("turned", turned))
    }
    print(f"{painter.device.adapter}, {width} × {height}, 16 layers, ms")
    good = compare(painter, jobs, material)
    if not args.check:
        columns = ("GPU", "host", "pipelined", "waited", "read", "fps")
        print(" " * 8 + "".join(f"{column:>10}" for column in columns))
        for name, compose in jobs.items():
            if args.jobs in name:
                print(f"{name:8}{measure(painter, compose, args.frames, args.rounds)}", flush=True)
        if args.jobs in "show, sent":
            print(f"{'sent':8}{measure(painter, sent(material), 20, args.rounds)}", flush=True)
        if args.jobs in "scene":
            print(f"{'scene':8}{measure_scene(material, args.frames, args.rounds)}", flush=True)
    sys.exit(not good)


def sent(material: Material) -> Compose:
    """``show`` with every video new in every frame, as decoders give them."""

    def compose(number: int) -> Composition:
        made = show(material, number)
        layers = [
            Layer(
                _renewed(layer.content) if isinstance(layer.content, Planes) else layer.content,
                layer.matrix, opacity=layer.opacity, corner_radius=layer.corner_radius,
            )
            for layer in made.layers
            if isinstance(layer, Layer)
        ]  # fmt: skip
        return Composition(made.width, made.height, made.background, tuple(layers))

    return compose


if __name__ == "__main__":
    main()
