"""A window that shows what a surface presents: one texture, one triangle over the screen.

rendercanvas brings window and events, wgpu the GPU; both come with the extra ``window``. The frame keeps
its proportions; what the window has beyond is black.
"""

from __future__ import annotations

import atexit
import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dala.closing import Closing
from dala.errors import ParameterError, UnsupportedError, suggest
from dala.gpu.quad import Picture, fit
from dala.once import once

if TYPE_CHECKING:
    from dala.gpu.surface import Surface

EVENTS = (
    "resize", "close", "pointer_down", "pointer_up", "pointer_move", "pointer_enter",
    "pointer_leave", "double_click", "wheel", "key_down", "key_up", "char",
)  # fmt: skip


class Window(Closing):
    """An open window; ``show(block=False)`` returns it."""

    def __init__(
        self,
        surface: Surface,
        title: str,
        *,
        frame: Callable[[Surface, float], None] | None,
        on: Mapping[str, Callable[[dict[str, Any]], None]],
        fps: float,
        vsync: bool,
    ) -> None:
        for name in on:
            if name not in EVENTS:
                listed = ", ".join(EVENTS)
                raise ParameterError(
                    f"show: no event {name!r}{suggest(name, EVENTS)}; there are {listed}"
                )
        self.surface = surface
        self._frame = frame
        self._drawing = self._closing = False
        self._started = time.perf_counter()
        self.canvas, self._loop = _open_canvas(
            size=(surface.width, surface.height),
            title=title,
            update_mode="continuous",
            max_fps=fps,
            vsync=vsync,
        )
        self._close_canvas: Callable[[], None] = self.canvas.close
        self.canvas.close = self.close  # rendercanvas calls it too, in its handler of Ctrl-C
        _open.add(self)
        _close_at_exit()
        self._picture: Picture | None = None
        shaders = surface._renderer.canvas.shaders
        try:
            self._picture = Picture(self.canvas, shaders.device if shaders is not None else None)
            self._picture.check_size((surface.width, surface.height))
        except BaseException:
            self._close_now()  # nobody else will
            raise
        for name, handler in on.items():
            self.canvas.add_event_handler(self._passing(handler), name)
        self.canvas.request_draw(self._draw)

    @property
    def closed(self) -> bool:
        """Whether the user, or close(), has closed it."""
        return bool(self.canvas.get_closed())

    def close(self) -> None:
        """Close the window; the surface stays. Twice does nothing."""
        # within a frame that is drawn it has to wait: drivers abort if their texture goes away
        if self._drawing:
            self._closing = True
        else:
            self._close_now()

    def _close_now(self) -> None:
        self._picture = None  # what draws into a window goes before it: drivers crash otherwise
        self._close_canvas()

    def run(self) -> None:
        """Handle events and draw until the window is closed."""
        self._loop.run()

    def poll(self) -> bool:
        """Handle the events that came, and show what is presented; whether the window is still open."""
        if not self.closed:
            self.canvas._process_events()
        if not self.closed:
            self.canvas.force_draw()
        return not self.closed

    def _draw(self) -> None:
        if self._frame is not None:
            self._frame(self.surface, time.perf_counter() - self._started)
        self._drawing = True
        try:
            if self._picture is not None:  # that function may have closed the window
                canvas = self.surface._renderer.canvas
                number, held = canvas.frames, canvas.shown  # held, so that it is not drawn over
                self._picture.show(held, number)
        finally:
            self._drawing = False
            if self._closing:
                self._close_now()

    def _passing(self, handler: Callable[[dict[str, Any]], None]) -> Callable[[Any], None]:
        """An event as a dict, with the surface's pixel under the pointer as ``pixel``."""

        def pass_on(event: Any) -> None:
            told = dict(event)
            if "x" in told and "y" in told:
                told["pixel"] = self._pixel_at(told["x"], told["y"])
            handler(told)

        return pass_on

    def _pixel_at(self, x: float, y: float) -> tuple[int, int]:
        ratio = self.canvas.get_pixel_ratio()
        size = (self.surface.width, self.surface.height)
        left, top, w, h = fit(self.canvas.get_physical_size(), size)
        across, down = (x * ratio - left) / w, (y * ratio - top) / h
        return int(across * size[0] // 1), int(down * size[1] // 1)


_open: weakref.WeakSet[Window] = weakref.WeakSet()


@once
def _close_at_exit() -> None:
    """Once, when there is a window: what was registered last runs first, so before GLFW ends."""
    atexit.register(_close_all)


def _close_all() -> None:
    for window in list(_open):
        window.close()


def _open_canvas(size: tuple[int, int], **options: object) -> tuple[Any, Any]:
    """A window of rendercanvas, as large as the frame if the screen is, and the loop that serves it."""
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
            return RenderCanvas(size=_fitting(size, glfw), **options), loop
    except Exception as error:
        raise UnsupportedError(f"show: no window can be opened here: {error}") from error


def _fitting(size: tuple[int, int], glfw: Any) -> tuple[int, int]:
    """A frame's size, or the largest of its proportions that fits onto the screen."""
    glfw.init()
    monitor = glfw.get_primary_monitor()
    if not monitor:
        return size
    _, _, width, height = glfw.get_monitor_workarea(monitor)
    _, _, w, h = fit((min(width, size[0]), min(height, size[1])), size)
    return max(round(w), 1), max(round(h), 1)
