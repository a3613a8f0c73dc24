"""Running a kernel's function once, on symbols, to get its Program.

The function is ordinary Python: loops over compile-time ranges unroll, helpers are called, other
kernels are inlined. Whatever goes wrong inside is reported at the user's own line.
"""

from __future__ import annotations

import dis
import linecache
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dala.errors import DalaError, KernelError
from dala.ir.dtypes import F32, S32, DType
from dala.ir.graph import ArrayView, Domain, Node, Program, RuntimeParam, gathered_sources
from dala.ir.planes import Plane
from dala.ir.rewrite import fold_constants, optimize, share_common
from dala.language.budget import Trace
from dala.language.interpret import TextFunction
from dala.language.operators import DomainMismatch
from dala.language.parameter import Param, ParamValue
from dala.language.quote import quote_line
from dala.language.scalars import as_scalar
from dala.language.values import Image, Scalar, Tensor, Vec, as_body
from dala.language.vocabulary import VOCABULARY, luma


@dataclass(frozen=True, slots=True)
class SourceType:
    """What tracing needs to know of an array: its element type and its channels or rank."""

    dtype: DType
    channels: int = 4
    rank: int = 1
    any_rank: bool = False  # a trial: the rank is not known yet
    kind: str = ""  # of an array parameter: what its loader said of it
    mip: int = 0  # mip level: of how many doublings the picture is larger
    planes: tuple[Plane, ...] = ()  # of a video frame: the images it is made of


def trace_kernel(
    name: str,
    function: Callable[..., object],
    domain: Domain,
    sources: Sequence[SourceType],
    output: SourceType,
    params: Sequence[Param],
    values: Mapping[str, ParamValue],
) -> Program:
    """The optimised program of ``function``; the last sources are its array parameters, in order."""
    given = [p for p in params if not p.static and values[p.name] is not None]
    arrays = [p.name for p in given if p.type == "array"]
    numbers = [p for p in given if p.type != "array"]
    slots: list[RuntimeParam] = []
    views = _views(sources)
    with Trace(views, domain) as trace:
        read = [_input_symbol(domain, k, p, sources[p.array]) for k, p in enumerate(views)]
        inputs, tables = read[: len(read) - len(arrays)], read[len(read) - len(arrays) :]
        symbols: dict[str, object] = dict(zip(arrays, tables, strict=True))
        for p in numbers:
            symbols[p.name] = _param_symbol(p, slots, domain, output.dtype)
        arguments = {p.name: symbols.get(p.name, values[p.name]) for p in params}
        result = call_traced(name, function, inputs, arguments)
        try:
            for body, mip in _results(result, domain, sources, output):
                trace.add_stage(body, mip)
        except DomainMismatch as error:
            raise DomainMismatch(_at_return(name, function, error)) from error
        except DalaError as error:
            raise KernelError(_at_return(name, function, error)) from error
    plain = all(view == ArrayView(k) for k, view in enumerate(views))
    program = optimize(
        Program(
            name,
            domain,
            len(views),
            tuple(slots),
            tuple(trace.stages),
            () if plain else tuple(views),
            output.planes,
        )
    )
    _check_margins(program)
    return program


def _check_margins(program: Program) -> None:
    """Refuse what would have to be in memory together with pixels that memory has no place for."""
    if not any(stage.margin for stage in program.stages):
        return
    for stage in program.stages:
        if max(gathered_sources(stage.body), default=0) >= program.inputs:
            raise KernelError(
                f"kernel {program.kernel!r}: an intermediate image is read at computed positions, and "
                "there is one with a margin; read it at offsets, drop the margin, or make two kernels of "
                "this"
            )


def _views(sources: Sequence[SourceType]) -> list[ArrayView]:
    """What each image that the function gets is: an input, or a plane of one."""
    views: list[ArrayView] = []
    for number, source in enumerate(sources):
        if source.planes:
            views += [ArrayView(number, plane, plane.mip) for plane in source.planes]
        else:
            views.append(ArrayView(number, None, source.mip))
    return views


def _results(
    result: object, domain: Domain, sources: Sequence[SourceType], output: SourceType
) -> list[tuple[tuple[Node, ...], int]]:
    """The bodies that are written to memory, with their mip levels."""
    if not output.planes:
        return [(_result_body(result, domain, sources, output), output.mip)]
    planes = result if isinstance(result, tuple) else (result,)
    found = [tuple(n for v in _listed(p) for n in as_body(v)) for p in planes]
    wanted = [p.channels for p in output.planes]
    if [len(body) for body in found] != wanted:
        names = ", ".join(f"{p.name} ({p.channels})" for p in output.planes)
        raise KernelError(f"a frame takes one value for each channel of its planes: {names}")
    return [(body, plane.mip) for body, plane in zip(found, output.planes, strict=True)]


def _listed(plane: object) -> Sequence[object]:
    return plane if isinstance(plane, tuple) else (plane,)


def call_traced(
    name: str,
    function: Callable[..., object],
    inputs: Sequence[object],
    arguments: Mapping[str, object],
) -> object:
    """Call a kernel's function on symbols; errors come back quoting the user's line."""
    if isinstance(function, TextFunction):
        return function(*inputs, **arguments)
    try:
        return with_vocabulary(function)(*inputs, **arguments)
    except DomainMismatch as error:
        raise DomainMismatch(_at_users_line(name, function, error)) from error
    except RecursionError as error:
        raise KernelError(f"kernel {name!r} calls itself without end") from error
    except Exception as error:
        raise KernelError(_at_users_line(name, function, error)) from error


def with_vocabulary(function: Callable[..., object]) -> Callable[..., object]:
    """The function, seeing the language's words behind its own module's names."""
    if not isinstance(function, types.FunctionType):
        return function
    names = {**VOCABULARY, "__builtins__": __builtins__, **function.__globals__}
    twin = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


def _at_users_line(name: str, function: Callable[..., object], error: Exception) -> str:
    text = str(error) if isinstance(error, DalaError) else f"{type(error).__name__}: {error}"
    if isinstance(error, NameError) and error.name in VOCABULARY:  # only kernels see the words
        text += f"; a helper must import it: from dala.language import {error.name}"
    code = getattr(function, "__code__", None)
    frame, line = error.__traceback__, None
    while code is not None and frame is not None:
        if frame.tb_frame.f_code is code:
            line = frame.tb_lineno
        frame = frame.tb_next
    if line is None or text.startswith("kernel "):  # an inner kernel has quoted its line already
        return text if text.startswith("kernel ") else f"kernel {name!r}: {text}"
    source = linecache.getline(code.co_filename, line) if code is not None else ""
    return quote_line(name, line, source, None, text)


def _at_return(name: str, function: Callable[..., object], error: Exception) -> str:
    """The result is wrong: quote the line that returns it, if there is only one."""
    if isinstance(function, TextFunction):
        return function.quote_return(str(error))
    code = getattr(function, "__code__", None)
    if code is None:
        return f"kernel {name!r}: {error}"
    ends = [i.offset for i in dis.get_instructions(code) if i.opname.startswith("RETURN_")]
    spans = code.co_lines()
    lines = {line for begin, end, line in spans if any(begin <= e < end for e in ends)} - {None}
    if len(lines) != 1:
        return f"kernel {name!r}: {error}"
    (line,) = lines
    return quote_line(name, line, linecache.getline(code.co_filename, line), None, str(error))


def _input_symbol(
    domain: Domain, number: int, view: ArrayView, source: SourceType
) -> Image | Tensor:
    if view.plane is not None:
        return Image(number, view.plane.channels)
    if domain == "image":
        return Image(number, source.channels, source.kind)
    return Tensor(number, source.dtype, source.rank, any_rank=source.any_rank)


def _param_symbol(
    param: Param, slots: list[RuntimeParam], domain: Domain, element: DType
) -> Scalar | tuple[Scalar, ...]:
    """The symbol of a run-time parameter, or of each of its numbers; takes slots for them."""
    dtype = _param_dtype(param, domain, element)
    names = [f"{param.name}[{i}]" for i in range(param.length)] or [param.name]
    symbols = tuple(Scalar(Node("param", dtype, (), len(slots) + i)) for i in range(len(names)))
    low = -math.inf if param.min is None else param.min
    high = math.inf if param.max is None else param.max
    slots += [RuntimeParam(name, dtype, low, high) for name in names]
    return symbols if param.length else symbols[0]


def _param_dtype(param: Param, domain: Domain, element: DType) -> DType:
    if domain == "tensor":  # arithmetic is on the dtype of the buffers
        return element
    return F32 if param.type == "float" else S32


def _result_body(
    result: object, domain: Domain, sources: Sequence[SourceType], output: SourceType
) -> tuple[Node, ...]:
    if domain == "tensor":
        return _tensor_body(result, output)
    body = as_body(result)
    if len(body) == output.channels:
        return body
    if len(body) == 1:  # a scalar painted into a colour image: grey and opaque
        return (*body * 3, Node("const", F32, (), 1.0))
    if all(s.channels == 1 for s in sources):  # grey in, grey out
        red, green, blue = share_common(fold_constants(body[:3]))
        if red is green is blue:
            return (red,)
        return (
            luma(Vec(tuple(Scalar(n) for n in body[:3]))).node,
        )  # it colours: keep what is seen
    raise KernelError(
        "it gives a pixel of 4 channels, but the output has 1; use an (H, W, 4) output, "
        "or return a number such as luma(p)"
    )


def _tensor_body(result: object, output: SourceType) -> tuple[Node, ...]:
    if isinstance(result, Image):
        raise DomainMismatch("an image is not a number")
    if isinstance(result, int | float) and not isinstance(result, bool):
        return (as_scalar(result, output.dtype).node,)
    if not isinstance(result, Scalar) or hasattr(result, "parts"):
        raise KernelError(f"a tensor kernel returns one number, got {type(result).__name__}")
    if result.node.dtype != output.dtype:
        raise KernelError(
            f"it computes {result.node.dtype}, but the output is {output.dtype}; "
            f"convert the result with {output.dtype}(…) or use an output of {result.node.dtype}"
        )
    return (result.node,)
