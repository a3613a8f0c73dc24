"""Scenes made by chance: every type of node, nested, animated, with transitions and effects."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np

from dala.scene import Scene
from dala.scene.animation.easing import EASINGS
from dala.scene.layers import BLENDS, Rgba
from dala.scene.transitions import names

WIDTH, HEIGHT = 48, 32
FILTERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("invert", {}),
    ("brightness", {"value": 0.2}),
    ("blur", {"radius": 2}),
)

# cues that follow and overlap each other; syllables that switch and fill; fades, a movement
SONG = """[Script Info]
PlayResX: 48
PlayResY: 32
[Events]
Dialogue: 0,0:00:00.10,0:00:00.90,Default,,0,0,0,,{\\k20}ka{\\kf30}rao{\\k10}ke
Dialogue: 1,0:00:00.60,0:00:01.20,Default,,0,0,0,,{\\fad(100,150)}no
Dialogue: 0,0:00:01.00,0:00:01.80,Default,,0,0,0,,{\\move(0,0,40,30,200,500)}go
"""


class Numbered:
    """Frames of 1/8 s that say their number by their colour."""

    def __init__(self, frames: int) -> None:
        self.duration = Fraction(frames, 8)
        self.size = (8, 6)
        self._frames = [
            Rgba(
                np.full((6, 8, 4), (20 * n % 256, 255 - 20 * n % 256, 128, 255), np.uint8),
                opaque=True,
            )
            for n in range(frames)
        ]

    def frame_at(self, time: Fraction) -> Rgba:
        return self._frames[int(time * 8)]

    def close(self) -> None:
        pass


def random_scene(chance: random.Random, depth: int = 0, device: str | None = None) -> Scene:
    """A scene of three to eight nodes within two seconds."""
    ground = chance.choice(["transparent", "navy", "#20304080"])
    stage = Scene(WIDTH, HEIGHT, background=ground, device=device)
    parents: list[int | None] = [None]
    seen: list[int] = []
    for _ in range(chance.randint(3, 8)):
        number = _add(stage, chance, chance.choice(parents), depth)
        seen.append(number)
        if stage.node(number).type in ("group", "row", "grid", "tiles"):
            parents.append(number)
    for number in seen:
        _animate(stage, chance, number)
    if len(seen) > 1 and chance.random() < 0.6:
        a, b = chance.sample(seen, 2)
        if stage.node(a).parent == stage.node(b).parent:
            stage.transition(a, b, chance.choice(sorted(names())), 500, at=chance.random())
    if chance.random() < 0.4:
        name, params = chance.choice(FILTERS)
        on = chance.choice([None, *seen])
        effect = stage.add_effect(name, input=on, z_index=chance.randint(-2, 3), **params)
        if name == "brightness":
            stage.animate(effect, "value", to=-0.3, duration_ms=700, at=chance.random())
    return stage


def _add(stage: Scene, chance: random.Random, parent: int | None, depth: int) -> int:
    common: dict[str, Any] = {
        "parent": parent,
        "position": (chance.uniform(-8, WIDTH), chance.uniform(-8, HEIGHT)),
        "rotation": chance.choice([0, 0, 90, chance.uniform(-180, 180)]),
        "scale": chance.choice([1, 1, chance.uniform(0.3, 2)]),
        "anchor": chance.choice([(0, 0), (0.5, 0.5)]),
        "opacity": chance.choice([1, 1, chance.random()]),
        "z_index": chance.randint(-3, 3),
        "blend": chance.choice(["over"] * 5 + list(BLENDS)),
    }
    if chance.random() < 0.4:
        begin = Fraction(chance.randint(0, 20), 12)
        common |= {"start": begin, "end": begin + Fraction(chance.randint(1, 30), 25)}
    size = (chance.randint(4, WIDTH), chance.randint(4, HEIGHT))
    kind = chance.choice(
        ["shape", "shape", "text", "subtitles", "video", "image"]
        + ["group", "row", "grid", "tiles", "scene"]
    )
    if kind == "shape":
        return stage.add_shape(
            chance.choice(["rect", "ellipse"]), size=size, fill=_color(chance),
            corner_radius=chance.choice([0, 4]), border=chance.choice([None, (2, _color(chance))]),
            shadow=chance.choice([None, True]), **common,
        )  # fmt: skip
    if kind == "text":
        return stage.add_text(
            chance.choice(["Ag", "{x}", "مر"]), font_size=14, color=_color(chance), **common
        )
    if kind == "subtitles":
        return stage.add_subtitles(
            SONG, size=chance.choice([(0, 0), size]), font_size=chance.choice([None, 9]),
            color=_color(chance), vertical_align=chance.choice(["auto", "top", "middle"]),
            speed=chance.choice([1, 1.7]), loop=chance.random() < 0.3, **common,
        )  # fmt: skip
    if kind == "video":
        looped = chance.random() < 0.5
        return stage.add_video(Numbered(chance.randint(2, 12)), size=size, loop=looped,
                               speed=chance.choice([1, 0.5, 1.7]), **common)  # fmt: skip
    if kind == "image":
        pixels = np.frombuffer(chance.randbytes(6 * 8 * 4), np.uint8).reshape(6, 8, 4)
        return stage.add_image(
            pixels, size=size, fit=chance.choice(["stretch", "contain", "cover"]), **common
        )
    if kind == "scene" and depth == 0:
        return stage.add_scene(random_scene(chance, depth + 1), **common)
    if kind in ("row", "grid", "tiles"):
        return stage.add_node(kind, size=size, gap=2, **common)
    return stage.add_group(**common)


def _animate(stage: Scene, chance: random.Random, number: int) -> None:
    easing = chance.choice(list(EASINGS))
    begin = chance.random()
    if chance.random() < 0.5:
        to = (chance.uniform(0, WIDTH), chance.uniform(0, HEIGHT))
        stage.animate(number, "position", to=to, duration_ms=800, easing=easing, at=begin)
    if chance.random() < 0.3:
        stage.animate(
            number, "rotation", to=90, duration_ms=300, repeat="forever", alternate=True, at=begin
        )
    if chance.random() < 0.3:
        stage.keyframes(number, "opacity", {0.2: 0, 0.9: 1, 1.7: 0.5})


def _color(chance: random.Random) -> tuple[int, int, int, int]:
    r, g, b = chance.randbytes(3)
    return (r, g, b, chance.choice([255, 255, chance.randint(0, 255)]))
