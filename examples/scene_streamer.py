"""A streamer's layout: a screen, a camera as picture in picture, a lower third that slides in, a clock."""

from __future__ import annotations

from dala.scene import Scene
from scene_parts import main, person

AT = 2.5


def screen() -> Scene:
    """What is on the screen: an editor with a few lines."""
    editor = Scene(1280, 720, background="#1e2230")
    editor.add_shape(size=(1280, 40), fill="#14171f")
    for n, color in enumerate(("#ff5f56", "#ffbd2e", "#27c93f")):
        editor.add_shape("ellipse", size=(14, 14), position=(18 + 24 * n, 13), fill=color)
    lines = [
        (0, 180, "#c792ea"), (1, 320, "#82aaff"), (1, 260, "#c3e88d"), (2, 420, "#eeffff"),
        (2, 300, "#ffcb6b"), (1, 200, "#f78c6c"), (0, 240, "#c792ea"), (1, 380, "#82aaff"),
    ]  # fmt: skip
    for n, (indent, width, color) in enumerate(lines):
        editor.add_shape(
            size=(width, 18), position=(70 + 50 * indent, 90 + 44 * n), fill=color, corner_radius=9
        )
    return editor


def make() -> Scene:
    """The layout."""
    stage = Scene(1280, 720, target_fps=30, background="black")
    stage.add_video(screen(), size=(1280, 720))
    stage.add_video(
        person("#e0ac88", "#3a6ea5", "#445566"), pip=True, pip_size=(320, 180), z_index=100,
        corner_radius=18, border=(4, "white"), shadow=True, name="camera",
    )  # fmt: skip
    third = stage.add_group(position=(-600, 560), z_index=50, name="lower third")
    stage.add_shape(
        size=(560, 96), fill={"linear": ["#d6246e", "#7a2ad6"]}, corner_radius=14, parent=third
    )
    stage.add_text("Ada Lovelace", position=(24, 10), font_size=38, font_weight=700, parent=third)
    stage.add_text(
        "writes a kernel, live", position=(24, 56), font_size=24, color="#ffffffd0", parent=third
    )
    stage.animate(third, "position", to=(40, 560), duration_ms=700, easing="ease_out_back", at=1.0)
    clock = stage.add_text(
        "00:00",
        position=(1250, 690),
        anchor=(1, 1),
        font_size=30,
        background="#000000a0",
        z_index=60,
    )
    stage.keyframes(clock, "text", {float(n): f"00:{n:02}" for n in range(60)}, "steps(1)")
    return stage


if __name__ == "__main__":
    main(make, AT, "streamer")
