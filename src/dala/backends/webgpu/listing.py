"""Hand-written shaders: arrays element by element, sizes by name, and the frame around a main function."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from dala.backends.webgpu.arrays import SMALL
from dala.backends.webgpu.functions import functions_for
from dala.backends.webgpu.shader import MOST_GROUPS, Binding, Shader
from dala.backends.webgpu.spelling import constant, type_name
from dala.backends.webgpu.uniforms import UniformBlock
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32, DType
from dala.ir.graph import const
from dala.plan.fuse import PassArray

THREADS = 256


class Element:
    """How elements of one array are read and written."""

    def __init__(self, name: str, type_: ArrayType) -> None:
        self.name = name
        self.dtype = type_.dtype
        self.type = type_name(type_.dtype)
        self.zero = constant(type_.dtype, 0)

    def read(self, index: str) -> str:
        if self.dtype in SMALL:
            count, bits, mask = SMALL[self.dtype]
            word = f"{self.name}[({index}) / {count}u]"
            return f"(({word} >> ((({index}) % {count}u) * {bits}u)) & {mask})"
        return f"{self.name}[{index}]"

    def write(self, index: str, value: str) -> str:
        if self.dtype in SMALL:
            count, bits, mask = SMALL[self.dtype]
            shift, word = (
                f"((({index}) % {count}u) * {bits}u)",
                f"&{self.name}[({index}) / {count}u]",
            )
            return (
                f"atomicAnd({word}, ~({mask} << {shift})); "
                f"atomicOr({word}, (({value}) & {mask}) << {shift});"
            )
        return f"{self.name}[{index}] = {value};"

    def wrapped(self, text: str) -> str:
        """A sum or product in the range of the type."""
        return f"(({text}) & {SMALL[self.dtype][2]})" if self.dtype in SMALL else f"({text})"

    @property
    def lowest(self) -> str:
        return self._end(low=True)

    @property
    def highest(self) -> str:
        return self._end(low=False)

    def _end(self, low: bool) -> str:
        if self.dtype.is_float:
            return constant(self.dtype, float("-inf") if low else float("inf"))
        bits, signed = self.dtype.bytes * 8, self.dtype.kind == "s"
        if low:
            return constant(self.dtype, -(1 << bits - 1) if signed else 0)
        return constant(self.dtype, (1 << (bits - signed)) - 1)


class Listing:
    """A shader under way. ``written`` is the number of the array that it writes."""

    def __init__(self, label: str, arrays: Sequence[PassArray], *, written: int) -> None:
        self.label = label
        self.arrays = list(arrays)
        self.written = written
        self.elements = [Element(f"a{i}", a.type) for i, a in enumerate(arrays)]
        self.uniforms = UniformBlock((), [])
        self._lets: list[str] = []
        self._shared: list[str] = []
        self._functions: list[str] = []
        self._main = ""

    def numbers(self, **sizes: int) -> None:
        """Sizes, under names."""
        for name, value in sizes.items():
            self._lets.append(f"    let {name} = {self.uniform(name, value)};\n")

    def uniform(self, name: str, value: int) -> str:
        """A size where it lies in the uniform block, for functions."""
        return self.uniforms.number(name, functools.partial(int, value), U32)

    def value(self, name: str, dtype: DType, value: float) -> None:
        """A number of an element type, under a name."""
        self._lets.append(f"    let {name} = {self.uniforms.of(const(value, dtype))};\n")

    def read_as_fours(self) -> None:
        """Every array becomes one of vectors of four."""
        for element in self.elements:
            element.type = f"vec4<{element.type}>"

    def shared(self, name: str, type_: str, length: int) -> None:
        """An array in workgroup memory."""
        self._shared.append(f"var<workgroup> {name}: array<{type_}, {length}>;\n")

    def function(self, text: str) -> None:
        """A function of this shader's own."""
        self._functions.append(text)

    def tree(self, name: str, combine: Callable[[str, str], str]) -> str:
        """Lines that reduce a shared array into its first element."""
        joined = combine(f"{name}[lane]", f"{name}[lane + step]")
        return (
            f"    for (var step = {THREADS // 2}u; step > 0u; step /= 2u) {{\n"
            f"        if (lane < step) {{ {name}[lane] = {joined}; }}\n"
            "        workgroupBarrier();\n"
            "    }"
        )

    def main(self, body: str) -> None:
        """The lines of the main function; ``group``, ``groups`` and ``lane`` are there."""
        self._main = body.strip("\n") + "\n"

    def shader(self, workgroups: int, threads: int = THREADS) -> Shader:
        across = min(workgroups, MOST_GROUPS)
        return self.shader_of((across, -(-workgroups // across), 1), threads)

    def shader_of(self, groups: tuple[int, int, int], threads: int) -> Shader:
        """So many groups along each axis, or the same ones counted through, where a GPU has fewer."""
        found, spread = ("group", "groups"), ""
        if max(groups) > MOST_GROUPS:
            found, spread = ("place", "places"), self._spread(groups)
            total = math.prod(groups)
            groups = MOST_GROUPS, -(-total // MOST_GROUPS), 1
        head = (
            f"@compute @workgroup_size({threads})\n"
            f"fn main(@builtin(workgroup_id) {found[0]}: vec3<u32>, "
            f"@builtin(num_workgroups) {found[1]}: vec3<u32>, "
            "@builtin(local_invocation_index) lane: u32) {\n"
        )
        body = "".join(self._functions) + head + spread + "".join(self._lets) + self._main + "}\n"
        declared = "".join(self._declare(i) for i in range(len(self.arrays)))
        declared += self.uniforms.declare(len(self.arrays)) + "".join(self._shared)
        text = f"// {self.label}\n{declared}{functions_for(body)}{body}"
        bindings = tuple(Binding(a.location, i == self.written) for i, a in enumerate(self.arrays))
        return Shader(text, self.uniforms, bindings, groups, self.label)

    def _spread(self, groups: tuple[int, int, int]) -> str:
        """Lines that find ``group`` by its number; what the last row has too many of leaves."""
        x, y, z = (
            self.uniform(f"groups_{axis}", count) for axis, count in zip("xyz", groups, strict=True)
        )
        return f"""\
    let groups = vec3<u32>({x}, {y}, {z});
    let nth = place.y * places.x + place.x;
    if (nth >= groups.x * groups.y * groups.z) {{ return; }}
    let group = vec3<u32>(nth % groups.x, nth / groups.x % groups.y, nth / groups.x / groups.y);
"""

    def _declare(self, number: int) -> str:
        element = self.elements[number]
        access = "read_write" if number == self.written else "read"
        kind = element.type
        if element.dtype in SMALL and number == self.written:
            kind = "atomic<u32>"
        return (
            f"@group(0) @binding({number}) var<storage, {access}> {element.name}: array<{kind}>;\n"
        )
