"""Kernels as a user would write them, and what becomes of them."""

from __future__ import annotations

import inspect
import linecache
import textwrap
import types
from collections.abc import Callable

from dala import compute
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.ir.graph import Program
from dala.ir.printer import print_program
from dala.language.kernel import Kernel, make_kernel

PIXELS = ArrayType((4, 6, 4), U8)
GREY = ArrayType((4, 6), U8)


def define(source: str, **names: object) -> Callable[..., object]:
    """A function as a user's module would define it: with a file of its own to be quoted from."""
    text = textwrap.dedent(source).lstrip("\n")
    filename = f"<user {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    module = types.ModuleType("user")
    module.__dict__.update(names)
    exec(compile(text, filename, "exec"), module.__dict__)
    found = [v for v in module.__dict__.values() if inspect.isfunction(v)]
    return next(f for f in reversed(found) if f.__code__.co_filename == filename)


def program(
    function: Callable[..., object] | Kernel,
    inputs: tuple[ArrayType, ...] = (PIXELS,),
    output: ArrayType = PIXELS,
    **params: object,
) -> Program:
    kernel = function if isinstance(function, Kernel) else make_kernel(function)
    work = kernel.specialize(inputs, output, kernel.bind(params)).work
    assert isinstance(work, Program)
    return work


def printed(*args: object, **kwargs: object) -> str:
    return print_program(program(*args, **kwargs)).split("\n", 1)[1]  # without the kernel's name


def same(one: Callable[..., object], other: Callable[..., object], **params: object) -> None:
    assert printed(one, **params) == printed(other)


def numbers(kernel: Kernel, *arrays: object, dtype: str = "f32", **params: object) -> list[float]:
    inputs = [compute.buffer(a, dtype=dtype) for a in arrays]
    out = compute.buffer_zeros(inputs[0].shape, dtype)
    compute.run_kernel(kernel, inputs, out, params)
    return compute.read_list(out)
