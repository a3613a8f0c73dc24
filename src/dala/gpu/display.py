"""Where a surface is shown: an image in a notebook, a window elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dala.gpu.shown import Shown

if TYPE_CHECKING:
    from dala.gpu.window import Window

Event = dict[str, Any]
Handler = Callable[[Event], None]


def show_surface(
    surface: Shown,
    title: str,
    *,
    frame: Callable[[float], object] | None = None,
    on: Mapping[str, Handler] | None = None,
    fps: float = 60.0,
    vsync: bool = True,
    block: bool = True,
) -> Window | None:
    """Surface.show; its docstring is there."""
    if in_notebook():
        if frame is not None:
            frame(0.0)
        show_inline(surface)
        return None
    from dala.gpu.window import Window

    window = Window(surface, title, frame=frame, on=on or {}, fps=fps, vsync=vsync)
    if block:
        window.run()
        return None
    return window


def in_notebook() -> bool:
    """Whether an IPython kernel with a front end that shows images runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def show_inline(surface: Shown) -> None:
    """The last presented frame as output of a notebook's cell."""
    from IPython.display import Image, display

    display(Image(data=surface._repr_png_(), format="png"))
