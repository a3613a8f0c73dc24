"""A slide show: photos that change on the beat of the music, each slowly growing."""

from __future__ import annotations

import itertools

from dala.scene import Scene
from scene_parts import landscape, main, tune

AT = 1.88
BEAT = 0.5  # 120 a minute
PHOTOS = [
    (["#2b5876", "#a8c0d6"], ["#5b8c5a", "#3e6b48", "#264a36"], (500.0, 90.0)),
    (["#f7b267", "#f25c54"], ["#7b2d26", "#4a1c1c", "#2b0f12"], (320.0, 190.0)),
    (["#0b132b", "#3a506b"], ["#1c2541", "#131a30", "#0b1020"], (150.0, 80.0)),
    (["#a1c4fd", "#fefcea"], ["#c9d6a3", "#9cb380", "#6a8d5c"], (560.0, 140.0)),
]


def make(kinds: tuple[str, ...] = ("wipeleft", "circleopen", "slideup")) -> Scene:
    """Four photos, each four beats long; the transitions end on a beat."""
    stage = Scene(1280, 720, target_fps=30, background="black")
    length, change = 4 * BEAT, 0.5 * BEAT
    slides = []
    for n, (sky, hills, sun) in enumerate(PHOTOS):
        slide = stage.add_video(
            landscape(sky, hills, sun), size=(1280, 720), position=(640, 360), anchor=(0.5, 0.5),
            name=f"photo {n + 1}",
        )  # fmt: skip
        begin = max(n * length - change, 0.0)
        stage.animate(slide, "scale", 1.0, 1.15, 1000 * (length + change), "linear", at=begin)
        slides.append(slide)
    for n, (a, b) in enumerate(itertools.pairwise(slides), 1):
        stage.transition(a, b, kinds[n % len(kinds)], 1000 * change, at=n * length - change)
    stage.add_text("Summer 2026", position=(60, 640), font_size=48, shadow=True, z_index=10)
    end = len(PHOTOS) * length
    stage.add_audio(tune(end, BEAT), fade_in_ms=100, fade_out_ms=1000, end=end)
    return stage


if __name__ == "__main__":
    main(make, AT, "slides")
