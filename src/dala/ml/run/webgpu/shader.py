"""A shader under way: arrays, sizes by name, and the frame around a main function."""

from __future__ import annotations

import math

from dala.backends.webgpu.shader import MOST_GROUPS, Binding, Shader
from dala.backends.webgpu.uniforms import UniformBlock
from dala.ml.run.webgpu.access import Access, Stored

THREADS = 64


class LayerShader:
    """The shader of one layer."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.arrays: list[Access] = []
        self.sizes: dict[str, int] = {}
        self.helpers: dict[str, None] = {}
        self.shared = ""
        self._functions: list[str] = []

    def array(
        self, stored: Stored, channels: int | None = None, *, written: bool = False
    ) -> Access:
        """Bind an array, seen as rows of so many channels (as its shape says, if None)."""
        width = (stored.shape[-1] if stored.shape else 1) if channels is None else channels
        number = len(self.arrays)
        names = (
            self.number(f"channels{number}", width),
            self.number(f"stride{number}", stored.stride or width) if written else "",
            self.number(f"start{number}", stored.start) if written else "",
        )
        self.arrays.append(Access(number, stored, width, names, written))
        return self.arrays[-1]

    def number(self, name: str, value: int) -> str:
        """A size; asked for again by its name, it is what it was at first.

        It is written into the text: a division by a number, or a loop to one, is a few instructions. In
        uniforms, so that layers of one kind share code, all took 4 % longer on an H200.
        """
        value = self.sizes.setdefault(name, value)
        assert 0 <= value < 1 << 32, (name, value)
        return f"{value}u"

    def function(self, text: str) -> None:
        """A function of this shader's own, behind those of its arrays."""
        self._functions.append(text)

    def finish(self, body: str, threads: int, *, per_group: int = THREADS) -> Shader:
        """The shader; ``at`` is the number of the invocation's work, of which ``threads`` are needed.

        Each group of 64 invocations does ``per_group`` of them.
        """
        groups = -(-threads // per_group)
        across = min(groups, MOST_GROUPS)
        head = "    let group_number = group.y * groups.x + group.x;\n"
        total = self.number("threads", threads)
        if per_group == THREADS:
            head += f"    let at = group_number * {THREADS}u + lane;\n"
            head += f"    if (at >= {total}) {{ return; }}\n"
        return self.frame(head + body, THREADS, (across, math.ceil(groups / across), 1))

    def frame(self, body: str, threads: int, groups: tuple[int, int, int]) -> Shader:
        """The shader whose main function is ``body``; ``group``, ``groups`` and ``lane`` are there."""
        main = (
            f"@compute @workgroup_size({threads})\n"
            "fn main(@builtin(workgroup_id) group: vec3<u32>, "
            "@builtin(num_workgroups) groups: vec3<u32>, "
            f"@builtin(local_invocation_index) lane: u32) {{\n{body}}}\n"
        )
        declared = "".join(a.declare() for a in self.arrays)
        functions = "".join(a.functions() for a in self.arrays)
        text = f"{declared}{self.shared}{''.join(self.helpers)}{functions}{''.join(self._functions)}{main}"
        bindings = tuple(Binding(a.stored.location, a.written) for a in self.arrays)
        return Shader(text, UniformBlock((), []), bindings, groups, self.label)
