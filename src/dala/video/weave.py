"""Interlaced pictures made whole: two half pictures in one frame become one that was never cut."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dala.video.library import as_fraction, has_threads, load_av


class Deinterlacer:
    """FFmpeg's bwdif over the frames of one format; each frame keeps its time."""

    def __init__(self, first: Any, rate: Fraction | None) -> None:
        av = load_av()
        self._base = as_fraction(first.time_base) if first.time_base else Fraction(1, 1000)
        self._graph = graph = av.filter.Graph()
        buffer = graph.add_buffer(
            width=first.width, height=first.height, format=first.format, time_base=self._base
        )
        woven = graph.add("bwdif", "mode=send_frame:parity=auto:deint=interlaced")
        buffer.link_to(woven)
        woven.link_to(graph.add("buffersink"))
        graph.configure()
        has_threads(self, graph)

    def take(self, picture: Any) -> Iterator[Any]:
        """The next frame goes in; what is whole by now comes out."""
        self._graph.vpush(picture)
        yield from self._pull()

    def finish(self) -> Iterator[Any]:
        """What is left."""
        self._graph.vpush(None)
        yield from self._pull()

    def _pull(self) -> Iterator[Any]:
        av = load_av()
        while True:
            try:
                picture = self._graph.vpull()
            except (av.error.BlockingIOError, av.error.EOFError, BlockingIOError, EOFError):
                return
            if picture.pts is not None:  # bwdif counts in halves
                time = picture.pts * as_fraction(picture.time_base)
                picture.pts, picture.time_base = round(time / self._base), self._base
                picture.duration = 0
            yield picture
