"""Random commands, and all that can be seen of a canvas they were applied to."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from dala.gpu import (
    ConicGradient,
    LinearGradient,
    Path,
    Pattern,
    RadialGradient,
    Recorder,
    command,
)
from dala.gpu.canvas import Canvas, Outcome
from dala.gpu.raster import layout

UNKNOWN = 99  # a picture that nobody has loaded


class Writer:
    """Random commands of every kind: a seed's first n are always the same, so that fewer can be tried."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def stream(self, count: int) -> bytes:
        return b"".join(self.command(0) for _ in range(count))

    def command(self, depth: int) -> bytes:
        kind = self.rng.random()
        if kind < 0.06 and depth < 3:
            return command.encode_batch(
                [self.command(depth + 1) for _ in range(self.rng.randrange(5))]
            )
        if kind < 0.12:
            return self.for_python()
        return self.draw(self.rng.choice(list(DRAWN)))

    def draw(self, name: str) -> bytes:
        encode: Callable[..., bytes] = getattr(command, f"encode_{name}")
        return encode(*[getattr(self, FIELDS[letter])() for letter in DRAWN[name]])

    def for_python(self) -> bytes:
        """What machine code stops at."""
        side = self.rng.randrange(1, 60), self.rng.randrange(1, 60)
        return self.rng.choice([
            command.encode_present(),
            command.encode_resize(*side),
            command.encode_read_pixels(*side, *side),
            command.encode_remove_sprite(self.picture()),
            command.encode_blit(UNKNOWN, 0, 0),
        ])  # fmt: skip

    def place(self) -> int:
        return self.rng.randrange(-(2**31), 2**31) if self.rng.random() < 0.1 else self.near()

    def near(self) -> int:
        return self.rng.randrange(-40, 230)

    def length(self) -> int:
        return self.rng.randrange(2**32) if self.rng.random() < 0.1 else self.rng.randrange(120)

    def picture(self) -> int:
        return self.rng.choice([1, 1, 2, 2, 3, 3, UNKNOWN])

    def color(self) -> tuple[int, ...]:
        alpha = self.rng.choice([0, 1, 90, 128, 254, 255, 255, self.rng.randrange(256)])
        return (*self.rng.randbytes(3), alpha)


FIELDS = {"p": "place", "l": "length", "i": "picture", "c": "color"}
DRAWN = {
    "clear": "c", "fill_rect": "llllc", "draw_line": "ppppc", "draw_circle": "pplc",
    "fill_circle": "pplc", "draw_triangle": "ppppppc", "fill_triangle": "ppppppc",
    "draw_round_rect": "lllllc", "fill_round_rect": "lllllc", "set_clip": "llll",
    "reset_clip": "", "blit": "ipp", "draw_image": "ippll",
}  # fmt: skip


def pictures() -> list[np.ndarray]:
    rng = np.random.default_rng(6)
    made = [
        rng.integers(0, 256, (h, w, 4), dtype=np.uint8) for w, h in ((21, 19), (5, 40), (70, 3))
    ]
    made[0][..., 3] = 255
    made[1][..., 3] = np.where(made[1][..., 3] < 128, 0, 255)
    return made


PICTURES = pictures()


def new_canvas(width: int, height: int, *, replace: bool = False) -> Canvas:
    """One that the CPU paints on, with pictures."""
    return load_pictures(Canvas(width, height, replace=replace, shaders=None))


def load_pictures(canvas: Canvas) -> Canvas:
    for number, pixels in enumerate(PICTURES, 1):
        canvas.sprites.load(number, pixels)
        canvas.images.load(number, pixels)
    return canvas


def apply_to(canvas: Canvas, data: bytes) -> tuple[object, ...]:
    """All that can be seen afterwards."""
    outcome = Outcome()
    canvas.apply(data, outcome)
    clip = [canvas._get(word) for word in range(layout.CLIPPED, layout.HALVES, 8)]
    return (
        canvas.size,
        canvas.frames,
        canvas._get(layout.STALE),
        clip if canvas._get(layout.CLIPPED) else None,
        [pixels.tobytes() for pixels in outcome.reads],
        [str(error) for error in outcome.errors],
        canvas.front.host().array.tobytes(),
        canvas.read(0, 0, *canvas.size).tobytes(),
    )


# -- ink -----------------------------------------------------------------------------------------------


class InkWriter:
    """Random ink, with some plain primitives between it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.plain = Writer(seed + 1)
        self.pushed: list[str] = []

    def stream(self, count: int) -> bytes:
        recorder = Recorder()
        for _ in range(count):
            kind = self.rng.choice(INKS)
            if kind == "plain":
                self.plain.rng.seed(self.rng.random())
                data = self.plain.draw(self.rng.choice(["fill_rect", "blit", "set_clip", "clear"]))
                recorder.commands.append(data)
            else:
                getattr(self, kind)(recorder)
        while self.pushed:
            getattr(recorder, self.pushed.pop())()
        return bytes(recorder)

    def x(self) -> float:
        return self.rng.uniform(-20, 130)

    def size(self) -> float:
        return self.rng.choice([self.rng.uniform(0.1, 4), self.rng.uniform(1, 60), 300.0, 0.25])

    def color(self) -> tuple[int, ...]:
        return self.plain.color()

    def points(self) -> list[tuple[float, float]]:
        return [(self.x(), self.x()) for _ in range(self.rng.choice([1, 3, 4, 7, 150]))]

    def path(self) -> Path:
        path = Path().move_to(self.x(), self.x())
        for x, y in self.points():
            kind = self.rng.randrange(5)
            if kind == 0:
                path.move_to(x, y)
            elif kind == 1:
                path.quad_to(self.x(), self.x(), x, y)
            elif kind == 2:
                path.cubic_to(self.x(), self.x(), self.x(), self.x(), x, y)
            else:
                path.line_to(x, y)
        return path

    def paint(self) -> object:
        stops = [self.color() for _ in range(self.rng.randrange(1, 5))]
        spread: Any = self.rng.choice(["pad", "repeat", "reflect"])
        numbers = [self.x() for _ in range(4)]
        kind = self.rng.randrange(7)
        if kind == 0:
            return LinearGradient(*numbers, stops, spread)
        if kind == 1:
            return RadialGradient(*numbers[:2], self.size() + 9, stops, spread=spread)
        if kind == 2:
            return ConicGradient(*numbers[:2], stops)
        if kind == 3:
            extend: Any = self.rng.choice(["pad", "repeat", "reflect", "none"])
            a, b, c, d = (self.rng.uniform(-2, 2) for _ in range(4))
            return Pattern(self.rng.randrange(1, 4), extend, (a, b, c, d, *numbers[:2]))
        return self.color()

    def rule(self) -> Any:
        return self.rng.choice(["nonzero", "evenodd"])

    def fill_path(self, to: Recorder) -> None:
        to.fill_path(self.path(), self.paint(), self.rule())  # type: ignore[arg-type]

    def stroke_path(self, to: Recorder) -> None:
        dash = self.rng.choice([(), (), (5.0, 3.0)])
        join, cap = (
            self.rng.choice(["miter", "round", "bevel"]),
            self.rng.choice(["butt", "round", "square"]),
        )
        to.stroke_path(self.path(), self.paint(), self.size() / 4, join=join, cap=cap, dash=dash)  # type: ignore[arg-type]

    def fill_polygon(self, to: Recorder) -> None:
        to.fill_polygon(self.points(), self.color(), self.rule())

    def stroke_line(self, to: Recorder) -> None:
        cap = self.rng.choice(["butt", "round", "square"])
        to.stroke_line(self.x(), self.x(), self.x(), self.x(), self.color(), self.size() / 5, cap)  # type: ignore[arg-type]

    def fill_ellipse(self, to: Recorder) -> None:
        angle = self.rng.uniform(0, 7)
        to.fill_ellipse(self.x(), self.x(), self.size(), self.size(), self.color(), rotation=angle)

    def stroke_circles(self, to: Recorder) -> None:
        circles = [[self.x(), self.x(), self.size()] for _ in range(3)]
        to.stroke_circles(circles, self.color(), self.size() / 5)

    def draw_sprite(self, to: Recorder) -> None:
        scale = self.rng.uniform(0.2, 3), self.rng.uniform(0.2, 3)
        how: Any = self.rng.choice(["bilinear", "nearest"])
        to.draw_sprite(
            self.rng.randrange(1, 4), self.x(), self.x(), scale=scale, filter=how,
            rotation=self.rng.uniform(0, 7), opacity=self.rng.random(), tint=self.color(),
        )  # fmt: skip

    def push(self, to: Recorder) -> None:
        if self.rng.random() < 0.5:
            to.push_transform(
                translate=(self.rng.uniform(-9, 9), self.rng.uniform(-9, 9)),
                rotate=self.rng.uniform(-1, 1),
                scale=self.rng.uniform(0.5, 1.5),
            )
            self.pushed.append("pop_transform")
        else:
            clip = self.path() if self.rng.random() < 0.4 else None
            blend: Any = self.rng.choice(BLENDS)
            to.push_layer(self.rng.random(), blend, clip, rule=self.rule())
            self.pushed.append("pop_layer")

    def pop(self, to: Recorder) -> None:
        if self.pushed:
            getattr(to, self.pushed.pop())()


INKS = (
    "plain", "fill_path", "stroke_path", "fill_polygon", "stroke_line", "fill_ellipse",
    "stroke_circles", "draw_sprite", "push", "pop",
)  # fmt: skip
BLENDS = (
    "over", "over", "multiply", "screen", "overlay", "darken", "lighten", "add", "difference",
    "exclusion", "hard_light", "erase",
)  # fmt: skip
