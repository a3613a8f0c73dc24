"""What the scenes of the examples show in place of cameras and photos: drawn, so that nothing is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dala import scene
from dala.scene import Scene


def person(skin: str, shirt: str, wall: str, width: int = 320, height: int = 180) -> Scene:
    """Somebody in front of a camera, nodding a little."""
    camera = Scene(width, height, background=wall)
    w, h = width, height
    camera.add_shape(
        "ellipse", size=(w * 0.55, h), position=(w / 2, h * 0.68), anchor=(0.5, 0), fill=shirt
    )
    head = camera.add_group(position=(w / 2, h * 0.62), anchor=(0.5, 1))
    size = (h * 0.36, h * 0.44)
    camera.add_shape("ellipse", size=size, anchor=(0.5, 1), fill=skin, parent=head)
    for side in (-1, 1):
        camera.add_shape(
            "ellipse", size=(h * 0.04, h * 0.05), position=(side * h * 0.08, -h * 0.25),
            anchor=(0.5, 0.5), fill="#302018", parent=head,
        )  # fmt: skip
    camera.animate(head, "rotation", -4, 4, 900, repeat="forever", alternate=True, at=0.0)
    return camera


def landscape(sky: list[str], hills: list[str], sun: tuple[float, float]) -> Scene:
    """A photo of hills under a sky."""
    photo = Scene(640, 360)
    photo.add_shape(size=(640, 360), fill={"linear": sky, "angle": 90})
    photo.add_shape("ellipse", size=(70, 70), position=sun, anchor=(0.5, 0.5), fill="#fff4d0")
    for n, color in enumerate(hills):
        top, bend = 200 + 45 * n, 60 - 110 * (n % 2)
        path = f"M0 {top} C160 {top - bend} 420 {top + bend} 640 {top - 20} L640 360 L0 360 Z"
        photo.add_shape("path", path=path, size=(640, 360), fill=color)
    return photo


def tune(seconds: float, beat: float = 0.5) -> np.ndarray:
    """Music of a kind: a drum on every beat and a chord, (N, 2) at 48 kHz."""
    t = np.arange(int(seconds * 48_000)) / 48_000
    drum = np.sin(2 * np.pi * 70 * t) * np.exp(-18 * (t % beat))
    chord = sum(np.sin(2 * np.pi * f * t) for f in (220, 277.18, 329.63)) * 0.12
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * t / (4 * beat))
    mono = (0.5 * drum + chord * swell).astype(np.float32)
    return np.stack([mono, mono], 1)


def main(make: Callable[[], Scene], at: float, name: str) -> None:
    """``python examples/NAME.py [OUT.png | OUT.json]``: the picture of the documentation."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else f"{name}.png")
    with make() as stage:
        if out.suffix == ".json":
            scene.save(stage, out)
        else:
            stage.render(at).save(out)
    print(out)
