"""What descriptions point at, opened: pictures, streams; and what was drawn, kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from dala import forking
from dala.errors import ParameterError
from dala.scene.evaluate.kept import Kept
from dala.scene.layers import Rgba
from dala.scene.nodes.media import Held
from dala.scene.subtitles import Cues
from dala.scene.subtitles.opening import is_text, read_subtitles

PICTURE_BYTES = 512 << 20  # of files; what a stranger's scene may make us hold
DRAWN_BYTES = 128 << 20  # of texts and shapes
CUES = 1_000_000  # of subtitles
T = TypeVar("T")


class Resources:
    """The pictures and texts of one scene. Files are read once, and stay as they were read."""

    def __init__(self, report: Callable[[str, str], None] = lambda name, what: None) -> None:
        self._report = report  # what of a file was left out
        self._files: Kept[Rgba] = Kept(PICTURE_BYTES)
        self._drawn: Kept[Any] = Kept(DRAWN_BYTES)
        self._cues: Kept[Cues] = Kept(CUES)
        self._loaded: dict[int, Rgba] = {}
        self._lock = forking.lock()

    def load(self, number: int, picture: Rgba) -> None:
        """Keep a picture under a number."""
        with self._lock:
            self._loaded[number] = picture

    def unload(self, number: int) -> None:
        """Let a loaded picture go."""
        with self._lock:
            self._loaded.pop(number, None)

    def picture(self, image: Any) -> Rgba:
        """What an image property stands for."""
        if isinstance(image, Held):
            held: Rgba = image.of
            return held
        if isinstance(image, int):
            with self._lock:
                if image in self._loaded:
                    return self._loaded[image]
            raise ParameterError(
                f"no image {image} is loaded; load_image(picture) gives its number"
            )

        def read() -> tuple[Rgba, int]:
            found = read_picture(image)
            return found, found.pixels.nbytes

        return self._files.get(image, read)

    def cues(self, subtitles: Any) -> Cues:
        """What a subtitles property stands for."""
        if isinstance(subtitles, Held):
            held: Cues = subtitles.of
            return held

        def read() -> tuple[Cues, int]:
            found = read_subtitles(subtitles)
            name = "subtitles" if is_text(subtitles) else subtitles
            for problem in found.problems:
                self._report(name, problem)
            return found, len(found)

        return self._cues.get(subtitles, read)

    def drawn(self, key: Hashable, draw: Callable[[], tuple[T, int]]) -> T:
        """A text or shape that may have been drawn already."""
        found: T = self._drawn.get(key, draw)
        return found

    def close(self) -> None:
        """Let everything go."""
        self._files.clear()
        self._drawn.clear()
        self._cues.clear()
        with self._lock:
            self._loaded.clear()


def read_picture(image: Any) -> Rgba:
    """Any picture or picture file as RGBA of its own: what its owner does with it later changes nothing."""
    from dala import media
    from dala.video.rgba import as_rgba

    given = media.open(image) if isinstance(image, str) else image
    pixels = as_rgba(given, who="add_image")
    if isinstance(image, np.ndarray) and np.shares_memory(pixels, image):
        pixels = pixels.copy()
    return Rgba(pixels, opaque=bool((pixels[..., 3] == 255).all()))
