"""A scene as a source of another one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from dala.scene.layers import Rgba
from dala.scene.sources.source import new_key


class Rendering(Protocol):
    """What is needed of a scene."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    def render(self, time: Fraction) -> Any: ...


class SceneSource:
    """What a scene shows at a time, as one picture."""

    def __init__(self, scene: Rendering) -> None:
        self._scene = scene
        self._key = new_key()

    @property
    def size(self) -> tuple[int, int]:
        """The scene's."""
        return self._scene.width, self._scene.height

    @property
    def duration(self) -> Fraction | None:
        """The scene's, where it has one."""
        return getattr(self._scene, "duration", None)

    def frame_at(self, time: Fraction) -> Rgba:
        """The scene, painted."""
        return Rgba(self._scene.render(time).to_array(), False)

    def close(self) -> None:
        """The scene is not ours."""
