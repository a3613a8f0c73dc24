"""A scene that changes from render to render: nodes of every kind come and go, textures are given back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dala.scene.sources import open_media


def render_and_change(stage: Any, pool: Any) -> Callable[[int], None]:
    """A render with nodes that come and go: each type, its pictures, texts, sounds and animations.

    Pictures are the same ones again and again: those that were painted are kept, up to a number of bytes.
    """
    picture = stage.load_image(np.full((6, 8, 4), 200, np.uint8))
    film = open_media(np.zeros((5, 6, 8, 3), np.uint8))
    song = "1\n00:00:00,000 --> 00:00:09,000\none\n\n2\n00:00:00,500 --> 00:00:09,000\ntwo\n"
    kinds: list[Callable[[int], int]] = [
        lambda n: stage.add_shape("ellipse", size=(9, 7), fill="gold", name=f"node {n}"),
        lambda n: stage.add_text(f"n{n % 40}", font_size=9, shadow=True),
        lambda n: stage.add_image(image_id=picture, size=(9, 7), rotation=n % 90),
        lambda n: stage.add_video(film, size=(9, 7), loop=True, pauses=[(0.1, 0.2)]),
        lambda n: stage.add_subtitles(song, font_size=8 + n % 3),
        lambda n: stage.add_audio(np.zeros((480, 2), np.float32)),
        lambda n: stage.add_row(gap=1, size=(30, 10)),
    ]
    there: list[int] = []

    def run(n: int) -> None:
        node = kinds[n % len(kinds)](n)
        if n % len(kinds) not in (5,):
            stage.animate(node, "opacity", 0.2, 1, duration_ms=500, at=n % 3 / 2)
        there.append(node)
        if len(there) > 12:
            stage.remove_node(there.pop(n % 12))
        with pool.acquire() as texture:
            texture.pixels[:] = stage.render((n * 7 % 40) / 20).to_array()
        assert pool.stats.in_use == 0

    return run
