"""Compiled shaders, by their text: another size or another pipeline with the same code reuses them."""

from __future__ import annotations

from typing import Any

from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.shader import Shader
from dala.leaving import native
from dala.once import OnceByKey

KEPT = 256


class PipelineCache:
    """WGSL → compute pipeline and the layout of its bind group."""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self._layouts: OnceByKey[tuple[tuple[str, ...], int], tuple[Any, Any]] = OnceByKey(KEPT)
        self._pipelines: OnceByKey[str, tuple[Any, Any]] = OnceByKey(KEPT)

    def get(self, shader: Shader) -> tuple[Any, Any]:
        """The pipeline of a shader and its bind group layout."""
        return self._pipelines.get(shader.text, lambda: self._compile(shader))

    def _compile(self, shader: Shader) -> tuple[Any, Any]:
        kinds = ["storage" if b.written else "read-only-storage" for b in shader.bindings]
        if shader.uniforms.fields:
            kinds.append("uniform")
        with mapped(shader.label, shader.text), native:
            groups, layout = self._layout(tuple(kinds), shader.uniforms.size)
            module = self.gpu.create_shader_module(code=shader.text, label=shader.label[:60])
            pipeline = self.gpu.create_compute_pipeline(
                layout=layout, compute={"module": module, "entry_point": "main"}
            )
        return pipeline, groups

    def _layout(self, kinds: tuple[str, ...], block: int) -> tuple[Any, Any]:
        return self._layouts.get((kinds, block), lambda: self._make_layout(kinds, block))

    def _make_layout(self, kinds: tuple[str, ...], block: int) -> tuple[Any, Any]:
        """A uniform block has its size here: left open, wgpu 27 compares it with another shader's."""
        sizes = {"uniform": block}
        entries = [
            {
                "binding": i,
                "visibility": "COMPUTE",
                "buffer": {"type": kind, "min_binding_size": sizes.get(kind, 0)},
            }
            for i, kind in enumerate(kinds)
        ]
        groups = self.gpu.create_bind_group_layout(entries=entries)
        return groups, self.gpu.create_pipeline_layout(bind_group_layouts=[groups])
