"""A window that shows what a surface presents: one texture, one triangle over the screen.

rendercanvas brings window and events, wgpu the GPU; both come with the extra ``window``. The frame keeps
its proportions; what the window has beyond is black.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, UnsupportedError, suggest

if TYPE_CHECKING:
    from dala.gpu.surface import Surface

EVENTS = (
    "resize", "close", "pointer_down", "pointer_up", "pointer_move", "pointer_enter",
    "pointer_leave", "double_click", "wheel", "key_down", "key_up", "char",
)  # fmt: skip

SHADER = """
@group(0) @binding(0) var frame: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;

struct Corner { @builtin(position) position: vec4f, @location(0) uv: vec2f }

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    // one triangle that is larger than the screen
    let uv = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

@fragment
fn pixel(at: Corner) -> @location(0) vec4f {
    let color = textureSample(frame, smooth_sampler, at.uv);
    return vec4f(color.rgb * color.a, 1.0);  // straight alpha, on black
}
"""


class Window:
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
        canvas_type, self._loop = _load_backend()
        self.surface = surface
        self._frame = frame
        self._started = time.perf_counter()
        self.canvas: Any = canvas_type(
            size=(surface.width, surface.height),
            title=title,
            update_mode="continuous",
            max_fps=fps,
            vsync=vsync,
        )
        self._picture = _Picture(self.canvas)
        for name, handler in on.items():
            self.canvas.add_event_handler(self._passing(handler), name)
        self.canvas.request_draw(self._draw)

    @property
    def closed(self) -> bool:
        """Whether the user, or close(), has closed it."""
        return bool(self.canvas.get_closed())

    def close(self) -> None:
        """Close the window; the surface stays."""
        self.canvas.close()

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
        canvas = self.surface._renderer.canvas
        number, held = canvas.frames, canvas.shown  # held, so that it is not drawn over meanwhile
        self._picture.show(held.array, number)

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


def fit(window: tuple[int, int], size: tuple[int, int]) -> tuple[float, float, float, float]:
    """The largest rectangle (x, y, w, h) with a frame's proportions in the middle of a window."""
    scale = min(window[0] / size[0], window[1] / size[1])
    w, h = size[0] * scale, size[1] * scale
    return (window[0] - w) / 2, (window[1] - h) / 2, w, h


def _load_backend() -> tuple[Any, Any]:
    try:
        import wgpu  # noqa: F401
        from rendercanvas.glfw import RenderCanvas, loop
    except ImportError as error:
        raise UnsupportedError(
            f"show: a window needs {error.name or 'glfw'}; pip install 'dala-gpu[window]', "
            "or save() the surface to a file"
        ) from error
    except Exception as error:  # glfw without a display
        raise UnsupportedError(f"show: no window can be opened here: {error}") from error
    return RenderCanvas, loop


class _Picture:
    """A frame on the GPU, and how it comes onto the window."""

    def __init__(self, canvas: Any) -> None:
        import wgpu

        self._canvas = canvas
        adapter = wgpu.gpu.request_adapter_sync(canvas=canvas, power_preference="high-performance")
        if adapter is None:
            raise UnsupportedError("show: no GPU driver can draw into a window here")
        self._gpu = adapter.request_device_sync()
        self._context: Any = canvas.get_wgpu_context()
        # what is drawn is meant for the screen as it is: no second conversion to sRGB
        form = self._context.get_preferred_format(adapter).removesuffix("-srgb")
        self._context.configure(device=self._gpu, format=form)
        module = self._gpu.create_shader_module(code=SHADER)
        self._pipeline = self._gpu.create_render_pipeline(
            layout="auto",
            vertex={"module": module, "entry_point": "corner"},
            fragment={"module": module, "entry_point": "pixel", "targets": [{"format": form}]},
            primitive={"topology": "triangle-list"},
        )
        self._sampler = self._gpu.create_sampler(min_filter="linear", mag_filter="nearest")
        self._texture: Any = None
        self._bound: Any = None
        self._number = -1

    def show(self, frame: npt.NDArray[np.uint8], number: int) -> None:
        """Draw a frame; it is uploaded unless it is the one from before."""
        if number != self._number:
            self._upload(frame)
            self._number = number
        target = self._context.get_current_texture()
        encoder = self._gpu.create_command_encoder()
        cleared = {
            "view": target.create_view(),
            "load_op": "clear",
            "store_op": "store",
            "clear_value": (0, 0, 0, 1),
        }
        drawing = encoder.begin_render_pass(color_attachments=[cleared])
        height, width, _ = frame.shape
        drawing.set_viewport(*fit(target.size[:2], (width, height)), 0, 1)
        drawing.set_pipeline(self._pipeline)
        drawing.set_bind_group(0, self._bound)
        drawing.draw(3)
        drawing.end()
        self._gpu.queue.submit([encoder.finish()])

    def _upload(self, frame: npt.NDArray[np.uint8]) -> None:
        height, width, _ = frame.shape
        if self._texture is None or self._texture.size[:2] != (width, height):
            self._texture = self._gpu.create_texture(
                size=(width, height, 1), format="rgba8unorm", usage="COPY_DST|TEXTURE_BINDING"
            )
            self._bound = self._gpu.create_bind_group(
                layout=self._pipeline.get_bind_group_layout(0),
                entries=[
                    {"binding": 0, "resource": self._texture.create_view()},
                    {"binding": 1, "resource": self._sampler},
                ],
            )
        self._gpu.queue.write_texture(
            {"texture": self._texture},
            frame,
            {"bytes_per_row": width * 4, "rows_per_image": height},
            (width, height, 1),
        )
