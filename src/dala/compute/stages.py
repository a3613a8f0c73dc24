"""Stage specs: dicts from users, checked once, here."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from dala.compute.buffers import Buffer, Scratch
from dala.errors import (
    ArgumentError,
    DalaError,
    DTypeError,
    KernelError,
    KernelNotFoundError,
    PipelineError,
    ShapeError,
    suggest,
)
from dala.ir.arrays import ArrayType
from dala.language.kernel import Kernel
from dala.language.parameter import ParamValue
from dala.language.registry import find_kernel, is_builtin
from dala.language.specialized import Specialized
from dala.language.tables import Table

OPS = ("run_kernel", "copy_buffer", "barrier")
KEYS = ("op", "kernel", "inputs", "output", "params")
TYPE = operator.attrgetter("type")
OUTPUT = -1  # the number of what is no input


class Stage(NamedTuple):
    """One checked stage."""

    op: str
    kernel: Kernel | None = None
    inputs: tuple[Buffer | Scratch, ...] = ()
    output: Buffer | Scratch | None = None
    values: Mapping[str, ParamValue] = MappingProxyType({})
    tables: tuple[Table, ...] = ()  # the values of array parameters: read like inputs, after them
    special: Specialized | None = None
    numbers: tuple[float | int, ...] = ()  # the run-time values in its order

    @property
    def label(self) -> str:
        return self.kernel.name if self.kernel is not None else self.op


def parse_stage(spec: object, *, allow_scratch: bool) -> Stage:
    """A Stage from a dict such as ``{"kernel": "blur", "inputs": [a], "output": b, "params": {}}``."""
    if not isinstance(spec, Mapping):
        raise ArgumentError(f"a stage is a dict, got {type(spec).__name__}")
    for key in spec:
        if key not in KEYS:
            raise PipelineError(
                f"unknown key {key!r} in a stage; expected {', '.join(KEYS)}{suggest(str(key), KEYS)}"
            )
    op = spec.get("op", "run_kernel")
    if op not in OPS:
        raise PipelineError(f"unknown op {op!r}; expected {', '.join(OPS)}{suggest(str(op), OPS)}")
    if op == "barrier":
        return _barrier(spec)
    if "output" not in spec:
        raise PipelineError(f"a {op} stage needs an 'output'")
    if op == "copy_buffer":
        return _copy(spec, allow_scratch)
    if "kernel" not in spec:
        raise PipelineError("a run_kernel stage needs a 'kernel'")
    return kernel_stage(
        spec["kernel"],
        spec.get("inputs", ()),
        spec["output"],
        spec.get("params"),
        allow_scratch=allow_scratch,
    )


def kernel_stage(
    name: object, inputs: object, output: object, params: object, *, allow_scratch: bool
) -> Stage:
    """The stage that runs one kernel; arrays and parameters are checked here, before any work."""
    kernel = find_kernel(name)
    if params is not None and type(params) is not dict and not isinstance(params, Mapping):
        raise ArgumentError(f"{kernel.name}: params must be a dict, got {type(params).__name__}")
    sources = _as_buffers(kernel.name, inputs, allow_scratch)
    target = _as_buffer(kernel.name, OUTPUT, output, allow_scratch)
    return bind_stage(kernel, sources, target, params)


def bind_stage(
    kernel: Kernel,
    sources: tuple[Buffer | Scratch, ...],
    target: Buffer | Scratch,
    params: Mapping[str, object] | None,
) -> Stage:
    """The stage that runs a kernel on checked buffers; parameters are checked here."""
    values = kernel.bind(params)
    special = specialize(kernel, tuple(map(TYPE, sources)), target.type, values)
    numbers, tables = special.numbers(values), kernel.tables(values)
    return Stage("run_kernel", kernel, sources, target, values, tables, special, numbers)


def specialize(
    kernel: Kernel,
    inputs: Sequence[ArrayType],
    output: ArrayType,
    values: Mapping[str, ParamValue],
) -> Specialized:
    """The kernel for these arrays. Where one of ours does not fit, its code is not to blame."""
    try:
        return kernel.specialize(inputs, output, values)
    except KernelError as error:
        if is_builtin(kernel.name) and is_known(kernel):
            raise _misfit(kernel, inputs, output, error) from error
        raise


def _misfit(
    kernel: Kernel, inputs: Sequence[ArrayType], output: ArrayType, error: KernelError
) -> DalaError:
    if kernel.domain == "image":
        return ShapeError(
            f"{kernel.name}: colours do not fit into an output of {output.shape}; "
            f"use one of {(*output.shape[:2], 4)}"
        )
    dtypes = [a.dtype.name for a in inputs]
    if {*dtypes} != {output.dtype.name}:
        return DTypeError(
            f"{kernel.name}: expected one dtype for inputs and output, "
            f"got {' and '.join(dtypes)} into {output.dtype}"
        )
    if output.dtype.is_int:
        return DTypeError(f"{kernel.name}: needs f32 or f64, got {output.dtype}")
    return error


def is_known(kernel: Kernel) -> bool:
    """Whether the kernel's name leads back to it."""
    try:
        return find_kernel(kernel.name) is kernel
    except KernelNotFoundError:
        return False


def _barrier(spec: Mapping[object, object]) -> Stage:
    given = {k: spec.get(k) for k in KEYS[1:]}
    empty = [k for k, v in given.items() if isinstance(v, list | tuple | Mapping) and not v]
    extra = [k for k, v in given.items() if v is not None and k not in empty]
    if extra:
        raise PipelineError(f"a barrier takes nothing else, got {', '.join(extra)}")
    return Stage("barrier")


def _copy(spec: Mapping[object, object], allow_scratch: bool) -> Stage:
    if spec.get("kernel") or spec.get("params"):
        raise PipelineError("a copy_buffer stage takes 'inputs' and 'output' only")
    sources = _as_buffers("copy_buffer", spec.get("inputs", ()), allow_scratch)
    if len(sources) != 1:
        raise ShapeError(f"copy_buffer: expected 1 input, got {len(sources)}")
    target = _as_buffer("copy_buffer", OUTPUT, spec["output"], allow_scratch)
    source = sources[0]
    if source.type.dtype != target.type.dtype or source.type.count != target.type.count:
        raise ShapeError(
            f"copy_buffer: {source.shape} {source.dtype} does not fit into "
            f"{target.shape} {target.dtype}; both need as many elements of one dtype"
        )
    return Stage("copy_buffer", None, sources, target)


def _as_buffers(who: str, inputs: object, allow_scratch: bool) -> tuple[Buffer | Scratch, ...]:
    if type(inputs) is not list and type(inputs) is not tuple:
        inputs = _as_list(who, inputs)
    sources = tuple(inputs)
    for number, source in enumerate(sources):
        _as_buffer(who, number, source, allow_scratch)
    return sources


def _as_list(who: str, inputs: object) -> Sequence[object]:
    if isinstance(inputs, Buffer | Scratch):
        raise ArgumentError(f"{who}: inputs is a list of buffers; put brackets around it")
    if not isinstance(inputs, Sequence) or isinstance(inputs, str | bytes):
        raise ArgumentError(f"{who}: inputs is a list of buffers, got {type(inputs).__name__}")
    return inputs


def _as_buffer(who: str, number: int, value: object, allow_scratch: bool) -> Buffer | Scratch:
    if isinstance(value, Buffer):
        value.storage()  # refuses a freed one
        return value
    role = "output" if number == OUTPUT else f"input {number}"
    if not isinstance(value, Scratch):
        raise ArgumentError(
            f"{who}: {role} must be a buffer, got {type(value).__name__}; "
            "make one with compute.from_array(x)"
        )
    if not allow_scratch:
        raise PipelineError(f"{who}: {role} is a scratch buffer; those only work in a pipeline")
    return value
