"""Compiled shaders, by their text: another size or another pipeline with the same code reuses them. And
what was bound to them lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple

from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import Memory
from dala.backends.webgpu.shader import Shader
from dala.leaving import native
from dala.once import OnceByKey

KEPT = 256
KEPT_BY_HAND = 16


class CompiledShader(NamedTuple):
    """A compute pipeline, and the layout of what is bound to it."""

    pipeline: Any
    layout: Any


class PipelineCache:
    """WGSL → compute pipeline and the layout of its bind group."""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self._layouts: OnceByKey[tuple[tuple[str, ...], int], tuple[Any, Any]] = OnceByKey(KEPT)
        self._pipelines: OnceByKey[str, CompiledShader] = OnceByKey(KEPT)
        self._by_hand: OnceByKey[Hashable, CompiledShader] = OnceByKey(KEPT_BY_HAND)

    def get(self, shader: Shader) -> CompiledShader:
        """That of a shader."""
        return self._pipelines.get(shader.text, lambda: self._compile_pass(shader))

    def get_by_hand(
        self,
        key: Hashable,
        what: str,
        make: Callable[[], tuple[str, int]],
        written: Collection[int],
    ) -> CompiledShader:
        """That of a key; ``make`` gives its text and how many arrays it is bound to."""

        def compile_it() -> CompiledShader:
            text, count = make()
            return self.compile(what, text, [number in written for number in range(count)])

        return self._by_hand.get(key, compile_it)

    def _compile_pass(self, shader: Shader) -> CompiledShader:
        block = shader.uniforms.size if shader.uniforms.fields else 0
        return self.compile(shader.label, shader.text, [b.written for b in shader.bindings], block)

    def compile(
        self, label: str, text: str, written: Sequence[bool], block: int = 0
    ) -> CompiledShader:
        """A shader that nobody shares: by its text, which of the arrays it writes, and the bytes of its
        uniform block."""
        kinds = ["storage" if w else "read-only-storage" for w in written]
        if block:
            kinds.append("uniform")
        with mapped(label, text), native:
            groups, layout = self._layout(tuple(kinds), block)
            module = self.gpu.create_shader_module(code=text, label=label[:60])
            pipeline = self.gpu.create_compute_pipeline(
                layout=layout, compute={"module": module, "entry_point": "main"}
            )
        return CompiledShader(pipeline, groups)

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


class BindGroups:
    """What was bound lately. For one thread at a time."""

    def __init__(self, gpu: Any, kept: int) -> None:
        self._gpu, self._kept = gpu, kept
        self._groups: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def get(self, shader: CompiledShader, memories: Sequence[Memory], uniforms: Any = None) -> Any:
        """These memories and a uniform block, which stays the same, bound in their order."""
        key = (shader.layout, *[m.serial for m in memories])
        found = self._groups.get(key)
        if found is not None:
            self._groups.move_to_end(key)
            return found
        resources = [{"buffer": m.buffer, "offset": 0, "size": m.bytes} for m in memories]
        if uniforms is not None:
            resources.append({"buffer": uniforms, "offset": 0, "size": uniforms.size})
        entries = [{"binding": i, "resource": r} for i, r in enumerate(resources)]
        found = self._groups[key] = self._gpu.create_bind_group(
            layout=shader.layout, entries=entries
        )
        while len(self._groups) > self._kept:
            self._groups.popitem(last=False)
        return found

    def clear(self) -> None:
        """Let go of all."""
        self._groups.clear()
