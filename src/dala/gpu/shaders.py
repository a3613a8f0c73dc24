"""Compute shaders on a surface's pixels. Their text may be a stranger's: it is measured first (wgsl.py).

A shader is WGSL with one ``@compute`` function. What it is given, it finds by name, in group 0, under
whatever binding numbers it likes:

    var<storage, read_write> pixels: array<u32>   the frame, row by row; red in the lowest byte
    var<uniform> surface: vec4u                   width, height, number of the frame, 0
    var<uniform> params: …                        the bytes given with the dispatch
    var<uniform> NAME: …                          the bytes of set_uniform(NAME, …); also var<storage, read>

``unpack4x8unorm(pixels[i])`` is a pixel as vec4f, ``pack4x8unorm(color)`` the way back.
"""

from __future__ import annotations

import re
import struct
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dala import forking
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray
from dala.errors import ShaderError, SurfaceError
from dala.gpu.wgsl import STACK, check_wgsl, without_comments
from dala.leaving import native
from dala.threads import call_with_stack

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

KEPT = 64  # compiled shaders
_VARIABLE = re.compile(
    r"((?:@(?:group|binding)\s*\(\s*\d{1,10}\s*\)\s*){2})"
    r"var\s*<\s*(uniform|storage)\s*(?:,\s*(\w+)\s*)?>\s*(\w+)\s*:"
)
_NUMBER = re.compile(r"@(group|binding)\s*\(\s*(\d+)")
_COMPUTE = re.compile(r"@compute\b([^{;]*)")
_FUNCTION = re.compile(r"\bfn\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Shader:
    """A compiled shader and what it wants to be given: name → (binding, kind)."""

    text: str
    pipeline: Any
    layout: Any
    wants: Mapping[str, tuple[int, str]]


def find_variables(text: str) -> dict[str, tuple[int, str]]:
    """The variables of group 0 that a shader declares, with binding number and kind."""
    found: dict[str, tuple[int, str]] = {}
    for numbers, space, access, name in _VARIABLE.findall(without_comments(text)):
        place = {key: int(value) for key, value in _NUMBER.findall(numbers)}
        if place.get("group") != 0 or "binding" not in place:
            raise ShaderError(
                f"shader: {name!r} is in group {place.get('group')}; expected group 0 and a binding"
            )
        written = access in ("read_write", "write")
        storage = "storage" if written else "read-only-storage"
        found[name] = (place["binding"], "uniform" if space == "uniform" else storage)
    return found


def find_entry(text: str) -> str:
    """The name of a shader's compute function; ``main`` if there are several."""
    heads = _COMPUTE.findall(without_comments(text))
    names = [found[1] for head in heads if (found := _FUNCTION.search(head))]
    if not names:
        raise ShaderError(
            f"no @compute function in {text[:60]!r}, and no shader of that name is loaded"
        )
    return "main" if "main" in names else str(names[0])


class ShaderSet:
    """The shaders and uniforms of one surface, on its GPU."""

    def __init__(self, device: WebGpuDevice) -> None:
        self.device = device
        self._named: dict[str, Shader] = {}
        self._uniforms: dict[str, bytes] = {}
        self._compiled: OrderedDict[str, Shader] = OrderedDict()
        self._compiling = forking.lock()  # the render thread compiles too, and whoever calls
        self._buffers: dict[str, tuple[Any, int]] = {}

    def load(self, name: str, source: str) -> None:
        """Compile a shader and keep it under a name; if it does not compile, the old one stays."""
        self._named[name] = self._compile(source)

    def check(self, source: str) -> None:
        """Compile a shader on the caller's thread, who is told what is wrong with it; it is kept."""
        self._compile(source)

    def set_uniform(self, name: str, data: bytes) -> None:
        """Bytes for shaders to read."""
        self._uniforms[name] = data

    def dispatch(
        self, pixels: Any, info: tuple[int, int, int], shader: str, params: bytes, counts: Any
    ) -> None:
        """Run a shader on a frame's pixels; ``info`` is width, height and number of the frame."""
        found = self._named.get(shader) or self._compile(shader)
        assert isinstance(pixels, GpuArray)
        given = {**self._uniforms, "surface": struct.pack("<4I", *info, 0), "params": params}
        gpu = self.device.gpu
        with mapped("dispatch_compute", found.text, self.device), native, self.device.queue.lock:
            entries = []
            for name, (binding, _) in found.wants.items():
                if name == "pixels":
                    resource = {
                        "buffer": pixels.memory.buffer,
                        "offset": 0,
                        "size": pixels.type.nbytes,
                    }
                elif name in given:
                    resource = self._block(name, given[name])
                else:
                    raise SurfaceError(
                        f"dispatch_compute: the shader reads {name!r}, which nobody has set; "
                        f"call set_uniform({name!r}, …) first"
                    )
                entries.append({"binding": binding, "resource": resource})
            group = gpu.create_bind_group(layout=found.layout, entries=entries)
            encoder = gpu.create_command_encoder()
            work = encoder.begin_compute_pass()
            work.set_pipeline(found.pipeline)
            work.set_bind_group(0, group)
            work.dispatch_workgroups(*counts)
            work.end()
            self.device.queue.submit(encoder)

    def _block(self, name: str, data: bytes) -> dict[str, Any]:
        """A small buffer with these bytes, in whole vectors as uniforms want them."""
        padded = data + bytes(-len(data) % 16 or (16 if not data else 0))
        buffer, size = self._buffers.get(name, (None, 0))
        if size != len(padded):
            size = len(padded)
            buffer = self.device.gpu.create_buffer(size=size, usage="UNIFORM|STORAGE|COPY_DST")
            self._buffers[name] = (buffer, size)
        self.device.queue.write_buffer(buffer, padded)
        return {"buffer": buffer, "offset": 0, "size": size}

    def copy(self, source: Any, target: Any) -> None:
        """One frame's pixels into another's."""
        assert isinstance(source, GpuArray) and isinstance(target, GpuArray)
        with mapped("copying a frame", device=self.device), native, self.device.queue.lock:
            encoder = self.device.gpu.create_command_encoder()
            size = source.type.nbytes
            encoder.copy_buffer_to_buffer(source.memory.buffer, 0, target.memory.buffer, 0, size)
            self.device.queue.submit(encoder)

    def _compile(self, text: str) -> Shader:
        with self._compiling:
            return self._compile_once(text)

    def _compile_once(self, text: str) -> Shader:
        found = self._compiled.get(text)
        if found is not None:
            self._compiled.move_to_end(text)
            return found
        check_wgsl(text)
        with mapped("shader", text, self.device), native:
            shader = call_with_stack(STACK, lambda: self._create(text))
        self._compiled[text] = shader
        while len(self._compiled) > KEPT:
            self._compiled.popitem(last=False)
        return shader

    def _create(self, text: str) -> Shader:
        wants, entry, gpu = find_variables(text), find_entry(text), self.device.gpu
        entries = [
            {"binding": binding, "visibility": "COMPUTE", "buffer": {"type": kind}}
            for binding, kind in wants.values()
        ]
        layout = gpu.create_bind_group_layout(entries=entries)
        module = gpu.create_shader_module(code=text)
        pipeline = gpu.create_compute_pipeline(
            layout=gpu.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": module, "entry_point": entry},
        )
        return Shader(text, pipeline, layout, wants)

    # -- all or nothing ----------------------------------------------------------------------------

    def begin(self) -> Any:
        """What rollback() goes back to."""
        return dict(self._named), dict(self._uniforms)

    def commit(self) -> None:
        """Nothing to do."""

    def rollback(self, before: Any) -> None:
        """Forget what was loaded and set since begin()."""
        self._named, self._uniforms = before
