"""Arrays as shaders see them: rows of channels, read and written four at a time.

A form is how elements are stored: f32, s32, bytes, or f16 in pairs (unpacked to f32 on every GPU).
Where the channels are a multiple of four, a row is made of whole quads; else the last quad of a row is read
and written element by element.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, S32, U8, U32
from dala.plan.fuse import Location

FORMS = {"f32": F32, "s32": S32, "u8": U8}


@dataclass(frozen=True, slots=True)
class Stored:
    """An array on the GPU: where, how its elements are stored, and its shape."""

    location: Location
    form: str  # "f32", "s32", "u8" or "f16"
    shape: tuple[int, ...]
    start: int = 0  # of its first element, where it is a part of another array
    stride: int = 0  # elements from one of its rows to the next; 0: as many as it has channels

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def type(self) -> ArrayType:
        """As the pool of memory sees it."""
        return stored_type(self.form, self.shape)


def stored_type(form: str, shape: tuple[int, ...]) -> ArrayType:
    """The array that holds a value."""
    if form == "f16":  # two in a word; such rows are whole quads
        return ArrayType((max(1, math.prod(shape) // 2),), U32)
    return ArrayType(shape or (1,), FORMS[form])


def form_of(dtype: np.dtype[Any], *, outside: bool) -> str:
    """How a value is stored; bytes stay bytes only outside, where somebody else owns the array."""
    if dtype.kind == "f":
        return "f32"
    return "u8" if outside and dtype == np.uint8 else "s32"


class Access:
    """WGSL for one array of a shader, seen as rows of ``channels`` elements."""

    def __init__(
        self, number: int, stored: Stored, channels: int, names: tuple[str, str, str], written: bool
    ) -> None:
        """``names``: the channels, the elements from row to row, and where it starts."""
        self.number = number
        self.stored = stored
        self.written = written
        self.channels = channels
        inside = bool(stored.start or stored.stride)  # of another array
        self.whole = channels % 4 == 0 or (
            channels == stored.count and not inside
        )  # memory is padded
        self.whole = self.whole and not (stored.start % 4 or stored.stride % 4)
        self.inside = inside
        self.size, self.stride, self.start = names
        self.used: dict[str, None] = {}
        if not self.whole:
            assert stored.form != "f16", "rows of f16 are whole quads"

    @property
    def name(self) -> str:
        return f"a{self.number}"

    def read(self, row: str, quad: str) -> str:
        """Four channels of a row, as floats; zeros behind the last."""
        self.used["read"] = None
        return f"read{self.number}({row}, {quad})"

    def one(self, index: str) -> str:
        """One element, by its place in the array, as a float."""
        self.used["one"] = None
        return f"one{self.number}({index})"

    def write(self, row: str, quad: str, value: str) -> str:
        """Store four channels of a row."""
        self.used["write"] = None
        return f"write{self.number}({row}, {quad}, {value});"

    def declare(self) -> str:
        access = "read_write" if self.written else "read"
        kinds = {
            "f32": ("vec4<f32>", "f32"), "s32": ("vec4<i32>", "i32"), "f16": ("vec2<u32>", ""),
            "u8": ("u32", "atomic<u32>" if self.written else "u32"),
        }[self.stored.form]  # fmt: skip
        kind = kinds[0 if self.whole else 1]
        return f"@group(0) @binding({self.number}) var<storage, {access}> {self.name}: array<{kind}>;\n"

    def functions(self) -> str:
        """The functions that were asked for."""
        return "".join(
            {"read": self._read, "one": self._one, "write": self._write}[k]() for k in self.used
        )

    # -- reading -----------------------------------------------------------------------------------

    def _element(self, index: str) -> str:
        """One element as a float, by its place."""
        a, form = self.name, self.stored.form
        if form == "u8":
            word = (
                f"atomicLoad(&{a}[({index}) >> 2u])"
                if self.written and not self.whole
                else f"{a}[({index}) >> 2u]"
            )
            return f"f32(({word} >> ((({index}) & 3u) * 8u)) & 255u)"
        if form == "f16":
            pair = f"{a}[({index}) >> 2u][(({index}) >> 1u) & 1u]"
            return f"unpack2x16float({pair})[({index}) & 1u]"
        place = f"{a}[({index}) >> 2u][({index}) & 3u]" if self.whole else f"{a}[{index}]"
        return f"f32({place})"

    def _one(self) -> str:
        return f"fn one{self.number}(i: u32) -> f32 {{ return {self._element('i')}; }}\n"

    def _read(self) -> str:
        head = f"fn read{self.number}(row: u32, quad: u32) -> vec4<f32> {{\n"
        if self.whole:
            at = f"{self.name}[row * (({self.size} + 3u) / 4u) + quad]"
            if self.stored.form == "u8":
                bytes_ = "vec4<u32>(w, w >> 8u, w >> 16u, w >> 24u) & vec4<u32>(255u)"
                body = f"let w = {at}; return vec4<f32>({bytes_});"
            elif self.stored.form == "f16":
                body = (
                    f"let w = {at}; return vec4<f32>(unpack2x16float(w.x), unpack2x16float(w.y));"
                )
            else:
                body = f"return vec4<f32>({at});"
            return f"{head}    {body}\n}}\n"
        lines = [f"let i = row * {self.size} + quad * 4u;", f"let left = {self.size} - quad * 4u;"]
        lines.append(f"var v = vec4<f32>({self._element('i')}, 0.0, 0.0, 0.0);")
        for k in (1, 2, 3):
            lines.append(f"if (left > {k}u) {{ v[{k}] = {self._element(f'i + {k}u')}; }}")
        return head + "".join(f"    {line}\n" for line in (*lines, "return v;")) + "}\n"

    # -- writing -----------------------------------------------------------------------------------

    def _write(self) -> str:
        head = f"fn write{self.number}(row: u32, quad: u32, v: vec4<f32>) {{\n"
        form = self.stored.form
        if self.whole:
            at = f"{self.name}[row * (({self.size} + 3u) / 4u) + quad]"
            if self.inside:
                at = f"{self.name}[row * ({self.stride} / 4u) + {self.start} / 4u + quad]"
            if form == "u8":
                body = (
                    "let w = vec4<u32>(clamp(v, vec4<f32>(0.0), vec4<f32>(255.0)));\n    "
                    f"{at} = w.x | (w.y << 8u) | (w.z << 16u) | (w.w << 24u);"
                )
            elif form == "f16":
                top = "vec4<f32>(65504.0)"
                body = (
                    f"let s = clamp(v, -{top}, {top});\n    "
                    f"{at} = vec2<u32>(pack2x16float(s.xy), pack2x16float(s.zw));"
                )
            else:
                body = f"{at} = {'v' if form == 'f32' else 'vec4<i32>(v)'};"
            return f"{head}    {body}\n}}\n"
        first = f"row * {self.stride} + {self.start}" if self.inside else f"row * {self.size}"
        lines = [f"let i = {first} + quad * 4u;", f"let left = {self.size} - quad * 4u;"]
        for k in range(4):
            lines.append(f"if (left > {k}u) {{ {self._store(f'(i + {k}u)', f'v[{k}]')} }}")
        return head + "".join(f"    {line}\n" for line in lines) + "}\n"

    def _store(self, index: str, value: str) -> str:
        if self.stored.form == "u8":
            shift, word = f"(({index} & 3u) * 8u)", f"&{self.name}[{index} >> 2u]"
            byte = f"u32(clamp({value}, 0.0, 255.0))"
            return f"atomicAnd({word}, ~(255u << {shift})); atomicOr({word}, {byte} << {shift});"
        return f"{self.name}[{index}] = {value if self.stored.form == 'f32' else f'i32({value})'};"
