"""A podcast as a clip: cover, title, and the waveform of the sound, coloured up to where it is."""

from __future__ import annotations

import numpy as np

from dala.scene import Scene
from scene_parts import main, person, tune

AT = 3.4
SECONDS, BARS = 8.0, 90


def make() -> Scene:
    """A square clip for social media."""
    sound = tune(SECONDS, 0.7)
    stage = Scene(720, 720, target_fps=30, background="#22223b")
    stage.add_shape(size=(720, 720), fill={"linear": ["#4a4e69", "#22223b"], "angle": 60})
    stage.add_video(
        person("#c68642", "#9a8c98", "#f2e9e4", 360, 360), size=(250, 250), position=(360, 210),
        anchor=(0.5, 0.5), corner_radius=125, border=(6, "#f2e9e4"), shadow=True,
    )  # fmt: skip
    stage.add_text(
        "Waves and Particles", position=(360, 395), anchor=(0.5, 0.5), font_size=44, font_weight=700
    )
    stage.add_text("Episode 12 · Why light is odd", position=(360, 445), anchor=(0.5, 0.5), font_size=26,
                   color="#c9ada7")  # fmt: skip
    levels = np.abs(sound[:, 0])[: len(sound) // BARS * BARS].reshape(BARS, -1).max(1)
    levels = levels / levels.max()
    path = " ".join(
        f"M{7 * n + 1} {60 - 55 * v:.1f} h4 v{110 * v:.1f} h-4 Z"
        for n, v in enumerate(levels.tolist())
    )
    look = {"path": path, "size": (7 * BARS, 120)}
    stage.add_shape("path", position=(45, 510), fill="#ffffff40", **look)
    played = stage.add_group(position=(45, 510), size=(1, 120), clip=True)
    stage.add_shape("path", fill="#f2b5a7", parent=played, **look)
    stage.animate(played, "size", (1, 120), (7 * BARS, 120), 1000 * SECONDS, "linear", at=0.0)
    clock = stage.add_text(
        "0:00", position=(675, 640), anchor=(1, 0), font_size=22, color="#c9ada7"
    )
    stage.keyframes(
        clock, "text", {float(n): f"0:{n:02}" for n in range(int(SECONDS) + 1)}, "steps(1)"
    )
    stage.add_audio(sound, end=SECONDS)
    return stage


if __name__ == "__main__":
    main(make, AT, "audiogram")
