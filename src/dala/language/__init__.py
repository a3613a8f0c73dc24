"""The kernel language: what a person writes, and how it becomes IR.

budget.py      what one trace collects, and how much it may
scalars.py     Scalar and Vec: the numbers a kernel computes with
operators.py   Python's operators on them
values.py      Image, Tensor: what they are read from
vocabulary.py  floor, where, mix, x, y, … : the words a kernel may use
parameter.py   declared parameters: type, default, range, one line of help
tables.py      arrays given as parameters, loaded once
quote.py       diagnostics: what is wrong, and the user's own line
text.py        kernel text: parsed and checked, never executed
interpret.py   kernel text: one walk over the checked tree, on symbols
signature.py   which arguments are inputs, and what the parameters are
trace.py       running a kernel's function once, on symbols
kernel.py      Kernel: a declared function
specialized.py a kernel made ready for given arrays
registry.py    kernels by name
decorator.py   @kernel and register: how a function or text enters
shown.py       what print(p) in a kernel says

A kernel sees the words of the language without importing them; ``from dala.language import luma, mix, rgb``
tells type checkers and linters, and helpers, where they come from.
"""

from __future__ import annotations

from dala.language.scalars import Scalar, Value, Vec
from dala.language.values import Image, Tensor, intermediate
from dala.language.vocabulary import (
    abs,
    atan2,
    average,
    ceil,
    clamp,
    cos,
    dot,
    exp,
    f32,
    f64,
    floor,
    fract,
    half_precision,
    height,
    index,
    log,
    luma,
    max,
    min,
    mix,
    pi,
    pow,
    rgb,
    rgba,
    round,
    s32,
    s64,
    sign,
    sin,
    size,
    smoothstep,
    sqrt,
    step,
    sum,
    tanh,
    trunc,
    u8,
    u16,
    u32,
    where,
    width,
    x,
    y,
)

__all__ = [
    "Image",
    "Scalar",
    "Tensor",
    "Value",
    "Vec",
    "abs",
    "atan2",
    "average",
    "ceil",
    "clamp",
    "cos",
    "dot",
    "exp",
    "f32",
    "f64",
    "floor",
    "fract",
    "half_precision",
    "height",
    "index",
    "intermediate",
    "log",
    "luma",
    "max",
    "min",
    "mix",
    "pi",
    "pow",
    "rgb",
    "rgba",
    "round",
    "s32",
    "s64",
    "sign",
    "sin",
    "size",
    "smoothstep",
    "sqrt",
    "step",
    "sum",
    "tanh",
    "trunc",
    "u8", "u16",
    "u32",
    "where",
    "width",
    "x",
    "y",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
