"""A frame onto a window: one triangle over the screen, from a texture or straight from GPU memory."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from dala.backends.webgpu.memory import GpuArray
from dala.backends.webgpu.runtime_dir import some_runtime_dir
from dala.backends.webgpu.wgpu_log import say, withheld_warnings
from dala.errors import UnsupportedError
from dala.gpu.frame import Frame

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

CORNERS = """
struct Corner { @builtin(position) position: vec4f, @location(0) uv: vec2f }

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    // one triangle that is larger than the screen
    let uv = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}
"""
FROM_TEXTURE = """
@group(0) @binding(0) var frame: texture_2d<f32>;
@group(0) @binding(1) var frame_sampler: sampler;

@fragment
fn pixel(at: Corner) -> @location(0) vec4f {
    let color = textureSample(frame, frame_sampler, at.uv);
    return vec4f(color.rgb * color.a, 1.0);  // straight alpha, on black
}
"""
FROM_MEMORY = """
@group(0) @binding(0) var<storage, read> pixels: array<u32>;
@group(0) @binding(1) var<uniform> size: vec2u;

@fragment
fn pixel(at: Corner) -> @location(0) vec4f {
    let place = min(vec2u(at.uv * vec2f(size)), size - 1u);
    let color = unpack4x8unorm(pixels[place.y * size.x + place.x]);
    return vec4f(color.rgb * color.a, 1.0);
}
"""


def fit(window: tuple[int, int], size: tuple[int, int]) -> tuple[float, float, float, float]:
    """The largest rectangle (x, y, w, h) with a frame's proportions in the middle of a window."""
    scale = min(window[0] / size[0], window[1] / size[1])
    w, h = size[0] * scale, size[1] * scale
    return (window[0] - w) / 2, (window[1] - h) / 2, w, h


class Quad:
    """What a window shows, on the GPU: the surface's own, or one for the window alone."""

    def __init__(self, canvas: Any, device: WebGpuDevice | None) -> None:
        import wgpu

        self._shared = device is not None
        self._queue = None if device is None else device.queue  # others use it too
        gpu: Any = None if device is None else device.gpu
        if gpu is None:
            with withheld_warnings() as withheld, some_runtime_dir():
                adapter = wgpu.gpu.request_adapter_sync(
                    canvas=canvas, power_preference="high-performance"
                )
            if adapter is None:
                say(withheld)
                raise UnsupportedError("show: no GPU driver can draw into a window here")
            with withheld_warnings():
                gpu = adapter.request_device_sync()
        self._gpu = gpu
        self._context: Any = canvas.get_wgpu_context()
        # what is drawn is meant for the screen as it is: no second conversion to sRGB
        self._format = self._context.get_preferred_format(gpu.adapter).removesuffix("-srgb")
        self._context.configure(device=gpu, format=self._format)
        self._sampler = gpu.create_sampler(min_filter="linear", mag_filter="nearest")
        self._pipelines: dict[str, Any] = {}
        self._texture: Any = None
        self._pipeline: Any = None  # with what is bound to it: the frame that was shown last
        self._bound: Any = None
        self._number = -1

    def check_size(self, size: tuple[int, int]) -> None:
        """Refuse a frame that no texture can hold."""
        most = self._gpu.limits["max-texture-dimension-2d"]
        if max(size) > most:
            raise UnsupportedError(
                f"show: this GPU shows at most {most} pixels each way, the surface has "
                f"{size[0]} × {size[1]}; save() it to a file"
            )

    def show(self, frame: Frame, number: int) -> None:
        """Draw a frame; it is brought over unless it is the one from before."""
        if self._queue is None:
            self._show(frame, number)
            return
        with self._queue.lock:
            self._queue.submit_recorded()  # the frame may be among it
            self._show(frame, number)

    def _show(self, frame: Frame, number: int) -> None:
        if number != self._number:
            if frame.on_gpu and self._shared:
                self._bind_memory(frame)
            else:
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
        drawing.set_viewport(*fit(target.size[:2], frame.size), 0, 1)
        drawing.set_pipeline(self._pipeline)
        drawing.set_bind_group(0, self._bound)
        drawing.draw(3)
        drawing.end()
        self._gpu.queue.submit([encoder.finish()])

    def _use(self, code: str, *resources: Any) -> None:
        """Draw with this fragment shader, and these resources in its bindings."""
        if code not in self._pipelines:
            module = self._gpu.create_shader_module(code=CORNERS + code)
            target = {"format": self._format}
            self._pipelines[code] = self._gpu.create_render_pipeline(
                layout="auto",
                vertex={"module": module, "entry_point": "corner"},
                fragment={"module": module, "entry_point": "pixel", "targets": [target]},
                primitive={"topology": "triangle-list"},
            )
        self._pipeline = self._pipelines[code]
        self._bound = self._gpu.create_bind_group(
            layout=self._pipeline.get_bind_group_layout(0),
            entries=[{"binding": i, "resource": r} for i, r in enumerate(resources)],
        )

    def _bind_memory(self, frame: Frame) -> None:
        """A frame that is on this GPU is read where it is."""
        array = frame.gpu()
        assert isinstance(array, GpuArray)
        width, height = frame.size
        size = struct.pack("<2I", width, height)
        block = self._gpu.create_buffer_with_data(data=size, usage="UNIFORM")
        pixels = {"buffer": array.memory.buffer, "offset": 0, "size": array.type.nbytes}
        self._use(FROM_MEMORY, pixels, {"buffer": block, "offset": 0, "size": 8})

    def _upload(self, frame: Frame) -> None:
        width, height = frame.size
        if self._texture is None or self._texture.size[:2] != (width, height):
            self.check_size(frame.size)
            self._texture = self._gpu.create_texture(
                size=(width, height, 1), format="rgba8unorm", usage="COPY_DST|TEXTURE_BINDING"
            )
        self._gpu.queue.write_texture(
            {"texture": self._texture},
            frame.host().array,
            {"bytes_per_row": width * 4, "rows_per_image": height},
            (width, height, 1),
        )
        self._use(FROM_TEXTURE, self._texture.create_view(), self._sampler)
