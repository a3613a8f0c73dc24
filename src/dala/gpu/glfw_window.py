"""GLFW's window by rendercanvas, and when it calls whom.

GLFW calls back while it handles events: the first frame is drawn within its handler of a new size, and so
are those while a user drags a window's edge. Neither it nor a driver is disturbed (undisturbed.py), and
users' functions are called between:

    [ GLFW's events → a frame in its new size ] → users' functions → [ draw, present ] → …
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from dala.errors import UnsupportedError
from dala.gpu.quad import fit
from dala.gpu.undisturbed import undisturbed


def open_canvas(size: tuple[int, int], **options: object) -> tuple[Any, Any]:
    """A window, as large as the frame if the screen is, and the loop that serves it."""
    try:
        import glfw
        import wgpu  # noqa: F401
        from rendercanvas.glfw import RenderCanvas, loop
    except ImportError as error:
        raise UnsupportedError(
            f"show: a window needs {error.name or 'glfw'}; pip install 'dala-gpu[window]', "
            "or save() the surface to a file"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", glfw.GLFWError)  # it only warns that there is no screen
            canvas = _canvas_class(RenderCanvas)(size=_fitting(size, glfw), **options)
            canvas.glfw = glfw
            return canvas, loop
    except Exception as error:
        raise UnsupportedError(f"show: no window can be opened here: {error}") from error


def _canvas_class(render_canvas: Any) -> Any:
    """rendercanvas' window, which nobody disturbs."""

    class Canvas(render_canvas):  # type: ignore[misc]  # known when it is imported
        glfw: Any = None
        before_frame: Callable[[], None] | None = None  # a user's, called between events
        before_close: Callable[[], None] | None = None
        failed: Callable[[Exception], None] | None = None  # told what a user's function raised

        def _rc_gui_poll(self) -> None:
            if self._window is not None:  # another window's events may have closed this one
                with undisturbed:
                    super()._rc_gui_poll()

        def _draw_and_present(self, *, force_sync: bool) -> None:
            before = self.before_frame
            drawn = not self.get_closed() and min(self.get_physical_size()) > 0
            if before is not None and drawn and not undisturbed.entered:
                self.before_frame = None  # it may handle events itself, and those may draw
                try:
                    self.call(before)
                finally:
                    self.before_frame = before
            with undisturbed:
                super()._draw_and_present(force_sync=force_sync)

        def call(self, function: Callable[[], None]) -> None:
            """What a user's function raises is kept for whoever runs the window: a loop would log it."""
            try:
                function()
            except Exception as error:
                if self.failed is None:
                    raise
                self.failed(error)

        def close(self) -> None:
            undisturbed.at_the_end(self._close_now)

        def _close_now(self) -> None:
            with undisturbed:
                if self.before_close is not None:
                    self.before_close()
                super().close()

    return Canvas


def _fitting(size: tuple[int, int], glfw: Any) -> tuple[int, int]:
    """A frame's size, or the largest of its proportions that fits onto the screen."""
    glfw.init()
    monitor = glfw.get_primary_monitor()
    if not monitor:
        return size
    _, _, width, height = glfw.get_monitor_workarea(monitor)
    _, _, w, h = fit((min(width, size[0]), min(height, size[1])), size)
    return max(round(w), 1), max(round(h), 1)
