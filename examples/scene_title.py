"""An animated title: lines that rise, a bar that grows, letters that are written one after the other."""

from __future__ import annotations

from dala.scene import Scene
from scene_parts import landscape, main

AT = 2.1


def make() -> Scene:
    """Three seconds."""
    stage = Scene(1280, 720, target_fps=30, background="black")
    sky = landscape(["#1b2a49", "#c8553d", "#f28f3b"], ["#3d2645", "#2a1a35", "#160d20"], (480, 84))
    back = stage.add_video(sky, size=(1280, 720), position=(640, 360), anchor=(0.5, 0.5))
    stage.animate(back, "scale", 1.0, 1.12, 3000, "linear", at=0.0)
    soft = stage.add_effect("blur", input=back, radius=12)
    stage.animate(soft, "radius", 0, 12, 900, "ease_out", at=0.0)
    title = stage.add_text(
        "The Long Evening", position=(640, 330), anchor=(0.5, 0.5), font_size=104, font_weight=700,
        color={"linear": ["#ffffff", "#ffd9a0"], "angle": 90}, shadow={"color": "#00000090", "blur": 14},
    )  # fmt: skip
    stage.animate(title, "position.y", 390, 330, 800, "ease_out_cubic", at=0.2)
    stage.animate(title, "opacity", 0, 1, 600, at=0.2)
    bar = stage.add_shape(
        size=(1, 6), position=(640, 415), anchor=(0.5, 0.5), fill="#ffd9a0", corner_radius=3
    )
    stage.animate(bar, "size", to=(560, 6), duration_ms=700, easing="ease_in_out", at=0.6)
    small = stage.add_text(
        "a film by نور الدين & 山田", position=(640, 465), anchor=(0.5, 0.5), font_size=40, reveal=0
    )
    stage.animate(small, "reveal", to=1, duration_ms=1000, easing="linear", at=0.9)
    return stage


if __name__ == "__main__":
    main(make, AT, "title")
