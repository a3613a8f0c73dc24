"""Compiled shaders, by their text: another size or another pipeline with the same code reuses them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from dala import forking
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.shader import Shader

KEPT = 256


class PipelineCache:
    """WGSL → compute pipeline and the layout of its bind group."""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self._layouts: dict[tuple[str, ...], tuple[Any, Any]] = {}
        self._pipelines: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
        self._lock = forking.lock()

    def get(self, shader: Shader) -> tuple[Any, Any]:
        """The pipeline of a shader and its bind group layout."""
        with self._lock:
            found = self._pipelines.get(shader.text)
            if found is not None:
                self._pipelines.move_to_end(shader.text)
                return found
        kinds = ["storage" if b.written else "read-only-storage" for b in shader.bindings]
        if shader.uniforms.fields:
            kinds.append("uniform")
        with mapped(shader.label, shader.text):
            groups, layout = self._layout(tuple(kinds))
            module = self.gpu.create_shader_module(code=shader.text, label=shader.label[:60])
            pipeline = self.gpu.create_compute_pipeline(
                layout=layout, compute={"module": module, "entry_point": "main"}
            )
        with self._lock:
            self._pipelines[shader.text] = (pipeline, groups)
            while len(self._pipelines) > KEPT:
                self._pipelines.popitem(last=False)
        return pipeline, groups

    def _layout(self, kinds: tuple[str, ...]) -> tuple[Any, Any]:
        with self._lock:
            if kinds not in self._layouts:
                entries = [
                    {"binding": i, "visibility": "COMPUTE", "buffer": {"type": kind}}
                    for i, kind in enumerate(kinds)
                ]
                groups = self.gpu.create_bind_group_layout(entries=entries)
                layout = self.gpu.create_pipeline_layout(bind_group_layouts=[groups])
                self._layouts[kinds] = (groups, layout)
            return self._layouts[kinds]
