"""Kernel: a declared function, and its specialisation for given arrays.

@kernel / register  →  Kernel  →  specialize(array types, parameters)  →  Program or LibraryCall
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from dala import forking
from dala.errors import DTypeError, KernelError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, IMAGE_DTYPES
from dala.ir.graph import OUTPUT, Domain, Extent, Program, accesses, walk
from dala.ir.library import LIBRARY, LibraryCall
from dala.ir.planes import Plane
from dala.language.budget import current_trace
from dala.language.interpret import TextFunction
from dala.language.operators import DomainMismatch
from dala.language.parameter import Param, ParamValue, bind_params
from dala.language.signature import complete_param, count_inputs, read_arguments, trial_value
from dala.language.specialized import Specialized, make_specialized
from dala.language.tables import Table
from dala.language.text import parse_kernel
from dala.language.trace import SourceType, call_traced, trace_kernel
from dala.language.values import Image, Scalar, Tensor
from dala.once import drop_oldest

SPECIALISATIONS = 256  # traced programs kept per kernel
SPECIALISED = 1024  # and for how many different arrays and values it is known which fits
ShapeRule = Callable[
    [Sequence[ArrayType], ArrayType, Mapping[str, ParamValue]], "tuple[int, ...] | None"
]  # the output shape a kernel wants, or None where any will do
SizeRule = Callable[[Mapping[str, ParamValue], int, int], "tuple[int, int]"]
ValuesRule = Callable[[Mapping[str, ParamValue], int, int], "Mapping[str, ParamValue]"]
# Of an opaque picture: it stays opaque; it may be transparent in places; and that is what it is for, so a
# picture without alpha gets one.
Alpha = Literal["kept", "written", "added"]


@dataclass(frozen=True, slots=True)
class Geometry:
    """How the arrays of an image kernel relate to the picture it computes: planes and sizes."""

    input_planes: tuple[Plane, ...] = ()  # the first input is a frame; the function gets its planes
    output_planes: tuple[Plane, ...] = ()  # the output is a frame; the function returns its planes
    input_mip: int = 0  # 1: the inputs have half the picture's size
    output_mip: int = 0


WHOLE_IMAGES = Geometry()


class Kernel:
    """A kernel: one output element as a function of its inputs.

    Made by ``@dala.kernel`` or ``dala.compute.register``; run by name or as itself.

    >>> import dala
    >>> @dala.kernel
    ... def negative(src):
    ...     p = src[0, 0]
    ...     return (1 - p.rgb).with_alpha(p.a)
    >>> negative.domain, negative.inputs
    ('image', 1)
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., object] | None,
        inputs: int,
        params: Sequence[Param] = (),
        *,
        domain: Domain | None = None,
        doc: str = "",
        example: str = "",
        shape_rule: ShapeRule | None = None,
        library: str | None = None,
        optional_inputs: int = 0,
        geometry: Geometry = WHOLE_IMAGES,
        output_size: SizeRule | None = None,
        at_size: ValuesRule | None = None,
        size_key: Callable[[Mapping[str, ParamValue]], Hashable] | None = None,
        alpha: Alpha = "written",
    ) -> None:
        self.name = name
        self.function = function
        self.inputs = inputs
        self.optional_inputs = optional_inputs  # how many of them, from the right, may be left out
        self.params = tuple(params)
        self.doc = doc
        self.example = example  # of its function in dala.media
        self.library = library
        self.geometry = geometry
        self.output_size = output_size  # of what it makes of a picture; the picture's own if None
        self.at_size = at_size  # the values on a picture of a size, where they depend on it
        self.size_key = size_key  # what of the run-time values decides about the size
        self.alpha = alpha
        self.general: Kernel | None = None  # the same for images of any size, if this is for some
        self._shape_rule = shape_rule
        self._declared = {p.name: p for p in self.params}
        self._arrays = [p.name for p in self.params if p.type == "array"]
        # those of which more than a number is known while the kernel is traced
        self._steering = [
            p for p in self.params if p.static or p.default is None or p.name in self._arrays
        ]
        self._programs: OrderedDict[Hashable, Program] = OrderedDict()  # by kinds of arrays
        self._specialized: OrderedDict[Hashable, Specialized] = OrderedDict()  # by arrays
        self._lock = forking.lock()
        self.domain: Domain = domain or ("tensor" if library else self._infer_domain())
        if self._arrays and self.domain == "tensor":
            raise KernelError(
                f"kernel {name!r}: {self._arrays[0]} is an array parameter; only image kernels have those, "
                "a tensor kernel takes one more input"
            )

    def __repr__(self) -> str:
        params = ", ".join(p.name for p in self.params)
        return f"<dala {self.domain} kernel {self.name}({self.inputs} inputs; {params})>"

    def __call__(self, *inputs: object, **params: object) -> object:
        """Inline this kernel into the one being traced."""
        if current_trace() is None or not all(isinstance(i, Image | Tensor) for i in inputs):
            raise KernelError(
                f"{self.name} is a kernel: inside another kernel call it with that kernel's inputs; "
                f"outside, run it with dala.compute.run_kernel({self.name!r}, [input], output)"
            )
        if self.function is None:
            raise KernelError(f"{self.name} works on whole tensors and cannot be part of a kernel")
        if self.geometry != WHOLE_IMAGES:
            raise KernelError(
                f"{self.name} changes the size or the planes of an image and cannot be part of a "
                "kernel; make it a stage of its own in a pipeline"
            )
        if not self.takes(len(inputs)):
            raise KernelError(f"{self.name} takes {self.inputs_in_words}, got {len(inputs)}")
        symbols: dict[str, object] = {}
        for p in self.params:
            if p.type == "array" and params.get(p.name) is not None:
                if not isinstance(params[p.name], Image):
                    raise KernelError(
                        f"{self.name}: inside a kernel {p.name} takes an image: an input or an array "
                        "parameter of that kernel"
                    )
                symbols[p.name] = params.pop(p.name)
            elif isinstance(params.get(p.name), Scalar):
                if p.static:
                    raise KernelError(
                        f"{self.name}: {p.name} is a compile-time parameter, but this value is only "
                        "known at run time; give a number, or declare your parameter static"
                    )
                symbols[p.name] = params.pop(p.name)
        known = {p.name: p for p in self.params if p.name not in symbols}
        values = {**bind_params(self.name, known, params), **symbols}
        return call_traced(self.name, self.function, inputs, values)

    def takes(self, inputs: int) -> bool:
        """Whether the kernel runs on so many inputs."""
        return self.inputs - self.optional_inputs <= inputs <= self.inputs

    @property
    def inputs_in_words(self) -> str:
        """``1 input``, ``2 to 3 inputs``."""
        if self.optional_inputs:
            return f"{self.inputs - self.optional_inputs} to {self.inputs} inputs"
        return f"{self.inputs} inputs"

    def bind(self, params: Mapping[str, object] | None) -> dict[str, ParamValue]:
        """Every declared parameter with its checked value."""
        return bind_params(self.name, self._declared, params)

    def tables(self, values: Mapping[str, ParamValue]) -> tuple[Table, ...]:
        """The values of the array parameters: what the kernel reads besides its inputs."""
        if not self._arrays:
            return ()
        arrays = [values[name] for name in self._arrays]
        return tuple(v for v in arrays if isinstance(v, Table))

    def specialize(
        self, inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
    ) -> Specialized:
        """Check the arrays, then give the program for them (checked and traced once per kind)."""
        # repr tells 1 from 1.0 and True, and 0.0 from -0.0: they trace differently
        fixed: tuple[str | bool, ...] = ()
        for p in self._steering:
            fixed += (repr(values[p.name]) if p.static else values[p.name] is None,)
        key: Hashable = (*inputs, output, fixed)
        if self._arrays:
            key = (key, *[(t.type, t.kind) for t in self.tables(values)])
        found = self._specialized.get(key)
        if found is None:
            work = self._check(inputs, output, values, fixed)
            fresh = make_specialized(self.name, work, self.params, values)
            with self._lock:
                found = self._specialized.setdefault(key, fresh)
                drop_oldest(self._specialized, SPECIALISED)
        return found

    def _check(
        self,
        inputs: Sequence[ArrayType],
        output: ArrayType,
        values: Mapping[str, ParamValue],
        fixed: tuple[ParamValue, ...],
    ) -> Program | LibraryCall:
        if not self.takes(len(inputs)):
            raise ShapeError(f"{self.name}: expected {self.inputs_in_words}, got {len(inputs)}")
        if self.library is not None:
            options = tuple((p.name, values[p.name]) for p in self.params)
            LIBRARY[self.library].check(self.name, inputs, output, dict(options))
            return LibraryCall(self.library, self.name, options)
        if self.domain == "image":
            sources, target = self._image_types(inputs, output)
            sources += [SourceType(F32, kind=t.kind) for t in self.tables(values)]
        else:
            sources = [SourceType(a.dtype, rank=len(a.shape)) for a in inputs]
            target = SourceType(output.dtype, rank=len(output.shape))
        if self._shape_rule is not None:
            wanted = self._shape_rule(inputs, output, values)
            if wanted is not None and tuple(output.shape[: len(wanted)]) != wanted:
                raise ShapeError(f"{self.name}: expected an output of {wanted}, got {output.shape}")
        program = self._program(sources, target, values, fixed)
        if self.general is not None:
            any_size = self.general._check(inputs, output, values, fixed)
            assert isinstance(any_size, Program)
            program = replace(program, general=any_size)
        self._check_axes(program, output)
        self._check_shapes(program, inputs, output, values)
        return program

    def _program(
        self,
        sources: list[SourceType],
        target: SourceType,
        values: Mapping[str, ParamValue],
        fixed: tuple[ParamValue, ...],
    ) -> Program:
        key = (tuple(sources), target, fixed)
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
                return program
        assert self.function is not None
        program = trace_kernel(
            self.name, self.function, self.domain, sources, target, self.params, values
        )
        with self._lock:
            self._programs[key] = program
            drop_oldest(self._programs, SPECIALISATIONS)
        return program

    def _image_types(
        self, inputs: Sequence[ArrayType], output: ArrayType
    ) -> tuple[list[SourceType], SourceType]:
        for role, array in [*(("input", a) for a in inputs), ("output", output)]:
            if array.dtype not in IMAGE_DTYPES:
                raise DTypeError(
                    f"{self.name}: expected a u8, u16 or f32 {role} image, got {array.dtype}; "
                    "convert it first"
                )
            if array.channels not in (1, 4) or len(array.shape) not in (2, 3):
                raise ShapeError(
                    f"{self.name}: expected an {role} of shape (H, W, 4), (H, W, 1) or (H, W), "
                    f"got {array.shape}; {_shape_hint(array.shape)}"
                )
        # images of all types trace alike (values are 0..1), so they share one program
        given = self.geometry
        kinds = [SourceType(F32, channels=a.channels, mip=given.input_mip) for a in inputs]
        if given.input_planes:
            kinds[0] = SourceType(F32, channels=1, planes=given.input_planes)
        target = SourceType(F32, output.channels, mip=given.output_mip, planes=given.output_planes)
        return kinds, target

    def _check_axes(self, program: Program, output: ArrayType) -> None:
        """Refuse index(axis) and size(axis) of an axis that the output does not have."""
        rank = 2 if self.domain == "image" else len(output.shape)
        for node in (n for s in program.stages for n in walk(s.body)):
            axis = -1
            if node.op == "coord":
                axis = cast("int", node.attr)
            elif isinstance(node.attr, Extent) and node.attr.source == OUTPUT:
                axis = node.attr.axis
            if axis >= rank:
                word = "index" if node.op == "coord" else "size"
                raise ShapeError(
                    f"{self.name}: {word}({axis}) does not exist; the output {output.shape} has "
                    f"{'rows and columns, 0 and 1' if self.domain == 'image' else f'{rank} axes'}"
                )

    def _check_shapes(
        self,
        program: Program,
        inputs: Sequence[ArrayType],
        output: ArrayType,
        values: Mapping[str, ParamValue],
    ) -> None:
        """Whoever is read at the output's own position must have the output's size."""
        read = {a.source for s in program.stages for a in accesses(s.body)}
        for number, table in enumerate(self.tables(values), len(inputs)):
            shape = table.type.shape
            if number in read and shape[:2] != output.shape[:2]:
                name = next(p.name for p in self.params if values[p.name] is table)
                raise ShapeError(
                    f"{self.name}: {name} is {shape} but the output is {output.shape}; give an array "
                    f"of that size, or read it with {name}.at(column, row)"
                )
        if self._shape_rule is not None:
            return
        keep = 2 if self.domain == "image" else len(output.shape)
        for number, array in enumerate(inputs):
            same_rank = self.domain == "image" or len(array.shape) == len(output.shape)
            if number in read and (not same_rank or array.shape[:keep] != output.shape[:keep]):
                raise ShapeError(
                    f"{self.name}: input {number} is {array.shape} but the output is "
                    f"{output.shape}; they must have one {'size' if keep == 2 else 'shape'}"
                )

    def _infer_domain(self) -> Domain:
        """Trace once with the defaults: this also reports a wrong kernel when it is defined."""
        values = {p.name: trial_value(p) for p in self.params}
        pixel, element = SourceType(F32, channels=4), SourceType(F32, rank=2, any_rank=True)
        assert self.function is not None
        sources = self.inputs + len(self.tables(values))
        try:
            trace_kernel(
                self.name, self.function, "image", [pixel] * sources, pixel, self.params, values
            )
        except DomainMismatch as error:
            try:
                trace_kernel(
                    self.name, self.function, "tensor", [element] * sources, element,
                    self.params, values,
                )  # fmt: skip
            except DomainMismatch as other:  # images are the more likely meaning
                raise KernelError(str(error)) from other
            return "tensor"
        return "image"


def make_kernel(
    source: Callable[..., object] | str,
    *,
    name: str | None = None,
    inputs: int | None = None,
    params: Sequence[Param | str] = (),
    domain: Domain | None = None,
    shape_rule: ShapeRule | None = None,
    geometry: Geometry = WHOLE_IMAGES,
    output_size: SizeRule | None = None,
    at_size: ValuesRule | None = None,
    size_key: Callable[[Mapping[str, ParamValue]], Hashable] | None = None,
    alpha: Alpha = "written",
) -> Kernel:
    """A Kernel from a function or from text; the signature tells inputs from parameters."""
    if not isinstance(source, str) and not callable(source):
        raise KernelError(f"expected a function or text, got {type(source).__name__}")
    function = parse_kernel(source) if isinstance(source, str) else source
    arguments = read_arguments(function)
    kernel_name = name or str(getattr(function, "name", None) or getattr(function, "__name__", ""))
    given = {p if isinstance(p, str) else p.name: p for p in params}
    if inputs is None:
        inputs = count_inputs(kernel_name, arguments, given)
    if not isinstance(inputs, int) or not 0 <= inputs <= 16 or inputs > len(arguments):
        names = ", ".join(a.name for a in arguments) or "nothing"
        raise KernelError(
            f"kernel {kernel_name!r}: {inputs!r} inputs declared, but it takes {names}"
        )
    if domain not in ("image", "tensor", None):
        raise KernelError(
            f"kernel {kernel_name!r}: domain must be 'image' or 'tensor', got {domain!r}"
        )
    if domain is None and any(a.annotation == "Tensor" for a in arguments[:inputs]):
        domain = "tensor"
    declared = [complete_param(kernel_name, a, given.pop(a.name, None)) for a in arguments[inputs:]]
    if given:
        missing = ", ".join(given)
        raise KernelError(f"kernel {kernel_name!r} has no argument for parameter {missing}")
    doc = function.doc if isinstance(function, TextFunction) else inspect.getdoc(function) or ""
    doc, arrow, example = doc.partition("\n\n>>> ")
    optional = sum(1 for a in arguments[:inputs] if a.default is None)
    return Kernel(
        kernel_name,
        function,
        inputs - max(0, len(geometry.input_planes) - 1),
        declared,
        domain=domain,
        doc=doc,
        example=arrow.lstrip() + example,
        shape_rule=shape_rule,
        optional_inputs=optional,
        geometry=geometry,
        output_size=output_size,
        at_size=at_size,
        size_key=size_key,
        alpha=alpha,
    )


def _shape_hint(shape: tuple[int, ...]) -> str:
    if len(shape) == 3 and shape[2] == 3:
        return "add an alpha channel"
    return "add a channel axis" if len(shape) < 3 else "one image at a time"
