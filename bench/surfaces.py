"""Drawing on a 1920×1080 surface, side by side with OpenCV, pygame-ce, Skia and Pillow.

    python bench/surfaces.py [--seconds S] [--out FOLDER]

Each job is 10,000 primitives of seeded random places and opaque colours (sprites: 1,000, blended), in
turns with its peers. dala's time is from the call to the presented frame, waiting included; "calling
thread" is what the caller itself spends with one call per primitive. What is painted is compared: the same
job must paint about the same share of the pixels everywhere. dala uses all cores, the others use one.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import cv2
import numpy as np
import pygame
import skia
from PIL import Image, ImageDraw

import dala
from dala import gpu
from measure import machine, measure, use_the_cpu, write_results

WIDTH, HEIGHT, COUNT, SPRITES, SIDE = 1920, 1080, 10_000, 1_000, 64
RESULTS = Path(__file__).parent / "results"
LIMITS_US = {"filled circles": 0.35, "rectangles": 0.35, "lines": 1.2, "sprites": 3.0}  # each
Run = Callable[[], object]


class Jobs:
    """Places and colours, and every library's canvas."""

    def __init__(self) -> None:
        rng = np.random.default_rng(7)

        def integers(low: tuple[int, ...], high: tuple[int, ...], count: int = COUNT) -> np.ndarray:
            return rng.integers(low, high, (count, len(low)), dtype=np.int32)

        self.circles = integers((0, 0, 3), (WIDTH, HEIGHT, 21))
        self.rects = integers((0, 0, 4, 4), (WIDTH, HEIGHT, 61, 61))
        self.lines = integers((0, 0, 0, 0), (WIDTH, HEIGHT, WIDTH, HEIGHT))
        corners = np.tile(integers((0, 0), (WIDTH, HEIGHT)), 3)
        self.triangles = corners + integers((-30,) * 6, (31,) * 6)
        self.places = integers((0, 0), (WIDTH - SIDE, HEIGHT - SIDE), SPRITES)
        self.colors = rng.integers(0, 256, (COUNT, 4), dtype=np.uint8)
        self.colors[:, 3] = 255
        self.sprite = rng.integers(0, 256, (SIDE, SIDE, 4), dtype=np.uint8)
        self.surface = gpu.create_surface(WIDTH, HEIGHT, device="cpu")
        self.surface.load_sprite(1, self.sprite)
        self.tuples = [tuple(c) for c in self.colors.tolist()]
        self.cv = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
        self.pygame = pygame.Surface((WIDTH, HEIGHT), pygame.SRCALPHA, 32)
        # each peer's sprite in its own favourite format, or it would be converted for every draw
        loaded = pygame.image.frombytes(self.sprite.tobytes(), (SIDE, SIDE), "RGBA")
        self.pygame_sprite = loaded.convert(self.pygame)
        self.skia_surface = skia.Surface(WIDTH, HEIGHT)
        self.skia = self.skia_surface.getCanvas()
        self.skia_paints = [skia.Paint(Color=skia.Color(*c), AntiAlias=False) for c in self.tuples]
        image = skia.Image.fromarray(self.sprite, skia.ColorType.kRGBA_8888_ColorType)
        premultiplied = skia.Surface(SIDE, SIDE)
        premultiplied.getCanvas().drawImage(image, 0, 0)
        self.skia_sprite = premultiplied.makeImageSnapshot()
        self.picture = Image.new("RGBA", (WIDTH, HEIGHT))
        self.pen = ImageDraw.Draw(self.picture)
        self.pillow_sprite = Image.fromarray(self.sprite)

    def runs(self) -> dict[str, dict[str, Run]]:
        """Job → library → what it does."""
        jobs = {
            "filled circles": self.circle_runs(),
            "rectangles": self.rect_runs(),
            "lines": self.line_runs(),
            "triangles": self.triangle_runs(),
            "sprites": self.sprite_runs(),
        }
        return {
            name: runs | {"dala, one thread": alone(runs["dala"])} for name, runs in jobs.items()
        }

    def presented(self, draw: Callable[[], None]) -> Run:
        def run() -> None:
            draw()
            self.surface.present().wait()

        return run

    def circle_runs(self) -> dict[str, Run]:
        table = self.circles.tolist()
        both = list(zip(table, self.tuples, strict=True))
        return {
            "dala": self.presented(lambda: self.surface.fill_circles(self.circles, self.colors)),
            "dala, one call each": self.presented(
                lambda: each(self.surface.fill_circle, self.circles, self.tuples)
            ),
            "OpenCV": lambda: [cv2.circle(self.cv, (x, y), r, c, -1) for (x, y, r), c in both],
            "pygame-ce": lambda: [
                pygame.draw.circle(self.pygame, c, (x, y), r) for (x, y, r), c in both
            ],
            "Skia": lambda: [
                self.skia.drawCircle(x, y, r, p)
                for (x, y, r), p in zip(table, self.skia_paints, strict=True)
            ],
            "Pillow": lambda: [
                self.pen.ellipse((x - r, y - r, x + r, y + r), c) for (x, y, r), c in both
            ],
        }

    def rect_runs(self) -> dict[str, Run]:
        table = self.rects.tolist()
        both = list(zip(table, self.tuples, strict=True))
        return {
            "dala": self.presented(lambda: self.surface.fill_rects(self.rects, self.colors)),
            "dala, one call each": self.presented(
                lambda: each(self.surface.fill_rect, self.rects, self.tuples)
            ),
            "OpenCV": lambda: [
                cv2.rectangle(self.cv, (x, y), (x + w - 1, y + h - 1), c, -1)
                for (x, y, w, h), c in both
            ],
            "pygame-ce": lambda: [pygame.draw.rect(self.pygame, c, r) for r, c in both],
            "Skia": lambda: [
                self.skia.drawRect(skia.Rect.MakeXYWH(*r), p)
                for r, p in zip(table, self.skia_paints, strict=True)
            ],
            "Pillow": lambda: [
                self.pen.rectangle((x, y, x + w - 1, y + h - 1), c) for (x, y, w, h), c in both
            ],
        }

    def line_runs(self) -> dict[str, Run]:
        table = self.lines.tolist()
        both = list(zip(table, self.tuples, strict=True))
        return {
            "dala": self.presented(lambda: self.surface.draw_lines(self.lines, self.colors)),
            "dala, one call each": self.presented(
                lambda: each(self.surface.draw_line, self.lines, self.tuples)
            ),
            "OpenCV": lambda: [
                cv2.line(self.cv, (a, b), (c, d), color) for (a, b, c, d), color in both
            ],
            "pygame-ce": lambda: [
                pygame.draw.line(self.pygame, color, (a, b), (c, d)) for (a, b, c, d), color in both
            ],
            "Skia": lambda: [
                self.skia.drawLine(*r, p) for r, p in zip(table, self.skia_paints, strict=True)
            ],
            "Pillow": lambda: [self.pen.line(r, c) for r, c in both],
        }

    def triangle_runs(self) -> dict[str, Run]:
        table = self.triangles.reshape(-1, 3, 2)
        points = [[tuple(p) for p in t] for t in table.tolist()]
        both = list(zip(points, self.tuples, strict=True))
        arrays = list(table)
        return {
            "dala": self.presented(
                lambda: self.surface.fill_triangles(self.triangles, self.colors)
            ),
            "dala, one call each": self.presented(
                lambda: each(self.surface.fill_triangle, self.triangles, self.tuples)
            ),
            "OpenCV": lambda: [
                cv2.fillConvexPoly(self.cv, t, c) for t, c in zip(arrays, self.tuples, strict=True)
            ],
            "pygame-ce": lambda: [pygame.draw.polygon(self.pygame, c, t) for t, c in both],
            "Pillow": lambda: [self.pen.polygon(t, c) for t, c in both],
        }

    def sprite_runs(self) -> dict[str, Run]:
        places = [tuple(p) for p in self.places.tolist()]
        pairs = [(self.pygame_sprite, p) for p in places]
        return {
            "dala": self.presented(lambda: self.surface.blits(1, self.places)),
            "pygame-ce": lambda: self.pygame.blits(pairs),
            "Skia": lambda: [self.skia.drawImage(self.skia_sprite, *p) for p in places],
            "Pillow": lambda: [self.picture.alpha_composite(self.pillow_sprite, p) for p in places],
        }

    def clean(self) -> None:
        """Opaque black everywhere."""
        self.surface.clear("black")
        self.cv[:] = (0, 0, 0, 255)
        self.pygame.fill((0, 0, 0, 255))
        self.skia.clear(skia.ColorBLACK)
        self.pen.rectangle((0, 0, WIDTH, HEIGHT), (0, 0, 0, 255))

    def painted(self, library: str) -> float:
        """The share of pixels that are not black any more."""
        content = {
            "dala": lambda: np.asarray(self.surface),
            "OpenCV": lambda: self.cv,
            "pygame-ce": lambda: pygame.surfarray.array3d(self.pygame),
            "Skia": lambda: self.skia_surface.toarray(),
            "Pillow": lambda: np.asarray(self.picture),
        }[library.split(",")[0]]()
        return float(content[..., :3].any(-1).mean())


def alone(run: Run) -> Run:
    def run_alone() -> None:
        with dala.use("cpu", threads=1):
            run()

    return run_alone


def each(draw: Callable[..., None], table: np.ndarray, colors: list[tuple[int, ...]]) -> None:
    for row, color in zip(table.tolist(), colors, strict=True):
        draw(*row, color)


def calling_thread_us(jobs: Jobs) -> dict[str, float]:
    """What one call costs the thread that makes it, waiting for the render thread left out."""
    surface, rows = jobs.surface, {}
    for name, draw, table in (
        ("fill_circle", surface.fill_circle, jobs.circles),
        ("fill_rect", surface.fill_rect, jobs.rects),
        ("draw_line", surface.draw_line, jobs.lines),
    ):
        best = min(_thread_time(jobs, draw, table) for _ in range(7))
        rows[name] = best / COUNT * 1e6
    return rows


def _thread_time(jobs: Jobs, draw: Callable[..., None], table: np.ndarray) -> float:
    listed = table.tolist()
    started = time.thread_time()
    for row, color in zip(listed, jobs.tuples, strict=True):
        draw(*row, color)
    spent = time.thread_time() - started
    jobs.surface.present().wait()
    return spent


def check_same(name: str, runs: Mapping[str, Run], jobs: Jobs) -> None:
    """Everybody paints about the same; else something else is raced."""
    shares = {}
    for library, run in runs.items():
        jobs.clean()
        run()
        shares[library] = jobs.painted(library)
    low, high = min(shares.values()), max(shares.values())
    if high > low * 1.08 + 0.002:
        raise SystemExit(f"{name}: not the same is painted: {shares}")


def frames_per_second(jobs: Jobs) -> float:
    def run() -> None:
        for _ in range(100):
            jobs.surface.clear("red")
            jobs.surface.present()
        jobs.surface.present().wait()

    return 100e3 / measure({"it": run}, 2.0)["it"]


def main() -> None:
    use_the_cpu()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="for each job")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    jobs = Jobs()
    lines = [f"# Drawing at {WIDTH}×{HEIGHT}", "", machine(), ""]
    lines += [f"Median µs per primitive, {COUNT:,} of them (sprites: {SPRITES:,}), presented.", ""]
    data: dict[str, object] = {"title": machine()}
    for name, runs in jobs.runs().items():
        check_same(name, runs, jobs)
        jobs.clean()
        count = SPRITES if name == "sprites" else COUNT
        times = {k: v / count * 1e3 for k, v in measure(runs, options.seconds).items()}
        peers = {k: v for k, v in times.items() if not k.startswith("dala")}
        best = min(peers, key=lambda k: peers[k])
        told = " · ".join(f"{k} {v:.2f}" for k, v in times.items())
        limit = f" (wanted: {LIMITS_US[name]})" if name in LIMITS_US else ""
        lines.append(
            f"- **{name}**{limit}: {told}; best peer ÷ dala: {peers[best] / times['dala']:.1f}"
        )
        data[name] = times
    calls, fps = calling_thread_us(jobs), frames_per_second(jobs)
    told = " · ".join(f"{k} {v:.2f}" for k, v in calls.items())
    lines.append(f"- **one call each, on the calling thread** (wanted: 1.5): {told} µs")
    lines.append(f"- **clear and present** (wanted: 1000): {fps:.0f} frames per second")
    data |= {"calls": calls, "fps": fps}
    text = "\n".join(lines) + "\n"
    print(text)
    write_results(options.out, "surfaces", text, data)


if __name__ == "__main__":
    main()
