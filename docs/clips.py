"""The clips of docs/kernels.md and docs/scenes.md: what moves, for a few seconds.

They are animated WebP, which browsers and GitHub show as pictures, of at most 300 kB, with a background of
their own for light and dark pages. Beside each is one of its frames, for readers who want nothing to move.

python docs/clips.py [NAME…]      into docs/clips (needs Pillow and scikit-image)
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data

from dala import media
from dala.scene import Scene
from dala.scene.animation.easing import read_easing

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "examples"))

import scene_karaoke  # noqa: E402
import scene_title  # noqa: E402
from scene_parts import landscape  # noqa: E402

MOST = 300_000  # bytes
WIDTH = 640
PANEL, LINE, INK, LIT = "#101828", "#3a4663", "#c7d0e4", "tomato"
EASINGS = ("linear", "ease_in_out", "ease_out_back", "spring", "bounce", "steps(4)")
TRANSITIONS = ("fade", "wipeleft", "circleopen", "pixelize")


def make_clip(name: str) -> None:
    """With the best quality that is small enough."""
    rate, still, frames = CLIPS[name]
    pictures = [Image.fromarray(frame[..., :3].copy()) for frame in frames()]
    for quality in (80, 70, 60, 50, 40, 30):
        packed = io.BytesIO()
        pictures[0].save(
            packed, "webp", save_all=True, append_images=pictures[1:], duration=round(1000 / rate),
            loop=0, quality=quality, method=4,
        )  # fmt: skip
        if packed.tell() <= MOST:
            break
    else:
        raise SystemExit(f"{name}: {packed.tell():,} bytes; make it shorter or smaller")
    (HERE / "clips" / f"{name}.webp").write_bytes(packed.getvalue())
    pictures[round(still * rate)].save(HERE / "clips" / f"{name}.jpg", quality=80)
    print(f"{name}: {len(pictures)} frames, quality {quality}, {packed.tell() / 1000:.0f} kB")


def filmed(stage: Scene, seconds: Iterable[float]) -> Iterator[np.ndarray]:
    """A scene at these times, as wide as the page."""
    with stage:
        for second in seconds:
            yield media.resize(
                stage.render(float(second)).to_array(), width=WIDTH, interpolation="area"
            )


def every(rate: int, start: float, end: float) -> np.ndarray:
    return np.arange(round((end - start) * rate)) / rate + start


# -- a filter that knows its frame -----------------------------------------------------------------


def grain() -> Iterator[np.ndarray]:
    """The same picture in each frame, and never the same grain."""
    photo = np.ascontiguousarray(data.chelsea()[40:240, 60:380])
    for number in range(8):
        grainy = media.apply_filters(
            photo, [("grain", {"amount": 0.16, "size": 2, "frame": number})]
        )
        grainy[:, :160] = photo[:, :160]
        grainy[:, 159:161] = 255
        yield grainy


# -- scenes --------------------------------------------------------------------------------------------


def title() -> Iterator[np.ndarray]:
    yield from filmed(scene_title.make(), every(15, 0, 3))


def karaoke() -> Iterator[np.ndarray]:
    yield from filmed(scene_karaoke.make(), every(12, 0.5, 4.2))


def transitions() -> Iterator[np.ndarray]:
    """There and back, four at once."""
    w, h, gap = 315, 177, 10
    stage = Scene(2 * w + gap, 2 * (h + 34), background=PANEL)
    for n, kind in enumerate(TRANSITIONS):
        left, top = n % 2 * (w + gap), n // 2 * (h + 34)
        stage.add_scene(one_transition(kind), position=(left, top), size=(w, h))
        stage.add_text(
            kind, position=(left + w / 2, top + h + 17), anchor=(0.5, 0.5), font_size=18, color=INK
        )
    yield from filmed(stage, every(15, 0, 3.6))


def one_transition(kind: str) -> Scene:
    """From evening to night (second 0.4 to 1.4), and back (2.2 to 3.2)."""
    evening = (["#1b2a49", "#c8553d", "#f28f3b"], ["#3d2645", "#2a1a35", "#160d20"], (420.0, 170.0))
    night = (["#050b1f", "#10284f", "#2d5d8a"], ["#16324a", "#0c2033", "#06121f"], (170.0, 80.0))
    stage = Scene(640, 360)
    there = stage.add_group(size=(640, 360), end=1.8)
    back = stage.add_group(size=(640, 360), start=1.8)
    for group, looks, at in ((there, (evening, night), 0.4), (back, (night, evening), 2.2)):
        a, b = (stage.add_scene(landscape(*look), parent=group) for look in looks)
        stage.transition(a, b, kind, 1000, at)
    return stage


def easings() -> Iterator[np.ndarray]:
    """A dot whose height follows the easing, along the easing's curve."""
    stage = Scene(WIDTH, 400, background=PANEL)
    for n, name in enumerate(EASINGS):
        draw_easing(stage, name, 35 + n % 3 * 210, 50 + n // 3 * 195)
    yield from filmed(stage, every(20, 0, 2.6))


def draw_easing(stage: Scene, name: str, left: float, top: float, side: float = 150) -> None:
    """A square from (0, 0) at the bottom to (1, 1) at the top; a bar beside it moves the same way."""
    high = side * 0.7
    curve = read_easing(name)
    points = [(side * t, high * (1 - curve(t))) for t in np.linspace(0, 1, 101).tolist()]
    stage.add_shape(position=(left, top), size=(side, high), fill=None, stroke=LINE, stroke_width=1)
    stage.add_shape(
        "line", points=points, position=(left, top), size=(side, high), stroke=INK, stroke_width=2
    )
    stage.add_text(
        name,
        position=(left + side / 2, top + high + 24),
        anchor=(0.5, 0.5),
        font_size=17,
        color=INK,
    )
    dot = stage.add_shape(
        "ellipse", size=(12, 12), position=(left, top + high), anchor=(0.5, 0.5), fill=LIT
    )
    slider = stage.add_shape(
        size=(8, 16), position=(left + side + 16, top + high), anchor=(0.5, 0.5), fill=LIT
    )
    stage.animate(dot, "position.x", to=left + side, duration_ms=1800, easing="linear", at=0.3)
    for node in (dot, slider):
        stage.animate(node, "position.y", to=top, duration_ms=1800, easing=name, at=0.3)


# name: frames a second; the second that is seen if nothing moves; the frames
CLIPS: dict[str, tuple[int, float, Callable[[], Iterator[np.ndarray]]]] = {
    "grain": (12, 0, grain),
    "title": (15, 2.6, title),
    "karaoke": (12, 1.6, karaoke),
    "transitions": (15, 0.75, transitions),
    "easings": (20, 1.1, easings),
}


if __name__ == "__main__":
    (HERE / "clips").mkdir(exist_ok=True)
    for wanted in sys.argv[1:] or CLIPS:
        make_clip(wanted)
