"""show: a scene in a window, in real time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dala.scene.out.stage import Composed, check_stage
from dala.scene.times import Time, planned

if TYPE_CHECKING:
    from dala.gpu.surface import Surface
    from dala.gpu.window import Window


def show(
    scene: Composed,
    *,
    title: str = "dala",
    start: Time = 0,
    end: Time | None = None,
    fps: float | None = None,
    on: Mapping[str, Callable[[dict[str, Any]], None]] | None = None,
    block: bool = True,
) -> Window | None:
    """Show a scene in a window, from ``start`` on as fast as the clock goes, until it is closed.

    ``end`` closes it then. ``on`` maps names of events to functions, as ``gpu.Surface.show`` does; they may
    change the scene. With ``block=False`` the window is returned: call its ``poll()`` from time to time. In
    a notebook the first picture is shown.

    >>> from dala import scene
    >>> with scene.Scene(320, 200, background="navy") as stage:
    ...     scene.show(stage, end=5.0)  # doctest: +SKIP
    """
    from dala import gpu

    check_stage(scene, "show")
    begin = planned(start, "show: start")
    last = None if end is None else planned(end, "show: end")
    rate = float(scene.target_fps if fps is None else fps)
    surface = gpu.create_surface(scene.width, scene.height)

    def draw(surface: Surface, seconds: float) -> bool:
        time = begin + Fraction(repr(seconds))
        if last is not None and time >= last:
            return False
        surface.set_pixels(scene.render(time).to_array())  # type: ignore[attr-defined]
        surface.present()
        return True

    window = surface.show(title, frame=draw, on=on, fps=rate, block=block)
    if block:
        surface.close()
    return window
