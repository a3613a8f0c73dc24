"""256 colours for each frame of a GIF, chosen for that frame, the rest made of dots."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dala.video.library import has_threads, load_av

_BASE = Fraction(1, 1000)  # only the order matters here


class Palette:
    """RGBA pictures of one size as pictures with a palette."""

    def __init__(self, width: int, height: int) -> None:
        self._graph = graph = load_av().filter.Graph()
        buffer = graph.add_buffer(width=width, height=height, format="rgba", time_base=_BASE)
        split = graph.add("split")
        choose = graph.add("palettegen", "stats_mode=single")
        paint = graph.add("paletteuse", "new=1:dither=sierra2_4a")
        buffer.link_to(split)
        split.link_to(choose, 0, 0)
        split.link_to(paint, 1, 0)
        choose.link_to(paint, 0, 1)
        paint.link_to(graph.add("buffersink"))
        graph.configure()
        has_threads(self, graph)
        self._number = 0

    def convert(self, picture: Any) -> Any:
        """The picture with its 256 colours."""
        picture.pts, picture.time_base = self._number, _BASE
        self._number += 1
        self._graph.vpush(picture)
        return self._graph.vpull()
