"""What windows and notebooks know of a surface, which knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dala.gpu.gamepads import Gamepad
    from dala.gpu.renderer import Renderer


class Shown(Protocol):
    """A surface, as far as a window knows it."""

    _renderer: Renderer
    _keys: set[str]  # those that are down
    _gamepads: tuple[Gamepad, ...]

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    @property
    def closed(self) -> bool: ...

    def _repr_png_(self) -> bytes: ...
