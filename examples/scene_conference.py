"""A conference of nine: tiles that make room when somebody comes, and close the gap when somebody goes."""

from __future__ import annotations

from dala.scene import Scene
from scene_parts import main, person

AT = 3.25
PEOPLE = [
    ("Amina", "#8d5524", "#2a9d8f", "#e9d8a6"), ("Bo", "#f1c27d", "#e76f51", "#577590"),
    ("Chiara", "#ffdbac", "#264653", "#a8dadc"), ("Dmitri", "#e0ac69", "#6d597a", "#b5c99a"),
    ("Esi", "#5c3a21", "#f4a261", "#84a59d"), ("Farid", "#c68642", "#457b9d", "#f1e3d3"),
    ("Grete", "#ffe0bd", "#9b2226", "#cdb4db"), ("Hiro", "#f3cfa2", "#1d3557", "#bde0fe"),
    ("Inés", "#d9a066", "#588157", "#ffcad4"),
]  # fmt: skip


def make() -> Scene:
    """Eight people; the ninth comes at 3 s, one goes at 6 s."""
    stage = Scene(1280, 720, target_fps=30, background="#15181e")
    tiles = stage.add_tiles(gap=14, padding=20, move_ms=500, name="tiles")
    for n, (name, skin, shirt, wall) in enumerate(PEOPLE):
        tile = Scene(320, 180)
        tile.add_video(person(skin, shirt, wall), size=(320, 180))
        tile.add_text(name, position=(12, 166), anchor=(0, 1), font_size=18, background="#00000090")
        stage.add_video(
            tile, parent=tiles, corner_radius=14, name=name, start=3.0 if n == 8 else None,
            end=6.0 if n == 2 else None, border=(4, "#35d07f") if n == 4 else None,
        )  # fmt: skip
    return stage


if __name__ == "__main__":
    main(make, AT, "conference")
