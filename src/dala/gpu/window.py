"""A window that shows what a surface presents: one texture, one triangle over the screen.

rendercanvas brings window and events, wgpu the GPU; both come with the extra ``window``. The frame keeps
its proportions; what the window has beyond is black.
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from dala.closing import Closing
from dala.errors import ParameterError, suggest
from dala.gpu import gamepads
from dala.gpu.glfw_window import open_canvas
from dala.gpu.quad import Quad, fit
from dala.gpu.shown import Shown
from dala.gpu.undisturbed import undisturbed
from dala.once import once

EVENTS = (
    *gamepads.EVENTS, "resize", "close", "pointer_down", "pointer_up", "pointer_move", "pointer_enter",
    "pointer_leave", "double_click", "wheel", "key_down", "key_up", "char",
)  # fmt: skip


class Window(Closing):
    """An open window; ``show(block=False)`` returns it."""

    canvas: Any = None

    def __init__(
        self,
        surface: Shown,
        title: str,
        *,
        frame: Callable[[float], object] | None,
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
        self._on_gamepad = {name: on[name] for name in gamepads.EVENTS if name in on}
        self._started = time.perf_counter()
        self._quad: Quad | None = None
        self._error: Exception | None = None
        self._ends_with_surface = not surface.closed  # one that is destroyed can still be looked at
        try:
            with undisturbed:
                self._open(title, fps=fps, vsync=vsync)
        except BaseException:
            if self.canvas is not None:
                self.canvas.close()  # nobody else will
            raise
        self.canvas.failed = self._fail
        self.canvas.add_event_handler(self._note_key, "key_down", "key_up", "close")
        for name, handler in on.items():
            if name in self._on_gamepad:
                continue
            self.canvas.add_event_handler(self._passing(handler), name)
        self.canvas.request_draw(self._draw)

    def _open(self, title: str, *, fps: float, vsync: bool) -> None:
        surface = self.surface
        size = (surface.width, surface.height)
        self.canvas, self._loop = open_canvas(
            size, title=title, update_mode="continuous", max_fps=fps, vsync=vsync
        )
        self._gamepads = gamepads.Gamepads(self.canvas.glfw)
        self.canvas.before_frame = self._call_frame
        self.canvas.before_close = self._let_quad_go
        _open.add(self)
        _close_at_exit()
        shaders = surface._renderer.canvas.shaders
        self._quad = Quad(self.canvas, shaders.device if shaders is not None else None)
        self._quad.check_size(size)

    @property
    def closed(self) -> bool:
        """Whether the user, or close(), has closed it."""
        return bool(self.canvas.get_closed())

    def close(self) -> None:
        """Close the window; the surface stays. Twice does nothing."""
        self.canvas.close()

    def _let_quad_go(self) -> None:
        """What draws into a window goes before it: drivers crash otherwise."""
        self._quad = None

    def run(self) -> None:
        """Handle events and draw until the window is closed; what a function of the user raised."""
        self._loop.run()
        self._raise_failure()

    def poll(self) -> bool:
        """Handle the events that came, and show what is presented; whether the window is still open."""
        if not self.closed:
            self.canvas._process_events()
        if not self.closed:
            self.canvas.force_draw()
        self._raise_failure()
        return not self.closed

    def _fail(self, error: Exception) -> None:
        """A function of the user raised: that ends the window, and whoever runs it gets the first one."""
        self._error = self._error or error
        self.close()

    def _raise_failure(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _note_key(self, event: Any) -> None:
        """Which keys are down, for ``Surface.keys``."""
        held = self.surface._keys
        if event["event_type"] == "key_down":
            held.add(event["key"])
        elif event["event_type"] == "key_up":
            held.discard(event["key"])
        else:
            held.clear()
            self.surface._gamepads = ()

    def _poll_gamepads(self) -> None:
        """Which there are, for ``Surface.gamepads``, and what happened to them."""
        events = self._gamepads.poll()
        self.surface._gamepads = self._gamepads.now
        for event in events:
            if event["event_type"] in self._on_gamepad and not self.closed:
                self._on_gamepad[event["event_type"]](event)

    def _call_frame(self) -> None:
        self._poll_gamepads()
        if self._frame is None or self.closed:
            return
        if self._frame(time.perf_counter() - self._started) is False:
            self.close()

    def _draw(self) -> None:
        if self._ends_with_surface and self.surface.closed:
            self.close()
        if self._quad is not None:
            canvas = self.surface._renderer.canvas
            number, held = canvas.frames, canvas.shown  # held, so that it is not drawn over
            self._quad.show(held, number)

    def _passing(self, handler: Callable[[dict[str, Any]], None]) -> Callable[[Any], None]:
        """An event as a dict, with the surface's pixel under the pointer as ``pixel``."""

        def pass_on(event: Any) -> None:
            told = dict(event)
            if "x" in told and "y" in told:
                told["pixel"] = self._pixel_at(told["x"], told["y"])
            undisturbed.behind(lambda: self.canvas.call(lambda: handler(told)))

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
