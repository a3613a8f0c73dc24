"""How a built-in kernel enters the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from dala.ir.arrays import ArrayType
from dala.ir.graph import Domain
from dala.language.kernel import (
    WHOLE_IMAGES,
    Alpha,
    Geometry,
    Kernel,
    ShapeRule,
    SizeRule,
    ValuesRule,
    make_kernel,
)
from dala.language.parameter import Param, ParamValue
from dala.language.registry import add_builtin
from dala.language.specialized import Specialized


def builtin(
    domain: Domain,
    *,
    shape_rule: ShapeRule | None = None,
    geometry: Geometry = WHOLE_IMAGES,
    output_size: SizeRule | None = None,
    at_size: ValuesRule | None = None,
    size_key: Callable[[Mapping[str, ParamValue]], Hashable] | None = None,
    alpha: Alpha = "kept",
) -> Callable[[Callable[..., object]], Kernel]:
    """Enter the decorated function under its own name."""

    def enter(function: Callable[..., object]) -> Kernel:
        return add_builtin(
            make_kernel(
                function,
                domain=domain,
                shape_rule=shape_rule,
                geometry=geometry,
                output_size=output_size,
                at_size=at_size,
                size_key=size_key,
                alpha=alpha,
            )
        )

    return enter


def library_kernel(
    name: str, inputs: int, params: Sequence[Param], doc: str, *, optional_inputs: int = 0
) -> Kernel:
    """Enter a whole-array op of ir/library.py. Its parameters are all compile-time values."""
    assert all(p.static for p in params), name
    return add_builtin(
        Kernel(name, None, inputs, params, doc=doc, library=name, optional_inputs=optional_inputs)
    )


Choose = Callable[
    [Sequence[ArrayType], ArrayType, Mapping[str, ParamValue]],
    "tuple[Kernel, Mapping[str, ParamValue]] | None",
]  # a variant and the values it wants besides, or None: the kernel's own function will do


class KernelWithVariants(Kernel):
    """A kernel that has other ways to do the same, chosen by the sizes and values at hand."""

    choose: Choose

    def specialize(
        self, inputs: Sequence[ArrayType], output: ArrayType, values: Mapping[str, ParamValue]
    ) -> Specialized:
        chosen = self.choose(inputs, output, values)
        if chosen is None:
            return super().specialize(inputs, output, values)
        variant, further = chosen
        return variant.specialize(inputs, output, {**values, **further})


def builtin_with_variants(
    name: str,
    function: Callable[..., object],
    choose: Choose,
    *,
    shape_rule: ShapeRule | None = None,
    output_size: SizeRule | None = None,
    at_size: ValuesRule | None = None,
    size_key: Callable[[Mapping[str, ParamValue]], Hashable] | None = None,
    alpha: Alpha = "kept",
) -> Kernel:
    """Enter an image kernel under ``name``; ``choose`` says where a variant takes its place."""
    plain = make_kernel(function, name=name, domain="image")
    kernel = KernelWithVariants(
        name,
        function,
        plain.inputs,
        plain.params,
        domain="image",
        doc=plain.doc,
        example=plain.example,
        shape_rule=shape_rule,
        output_size=output_size,
        at_size=at_size,
        size_key=size_key,
        alpha=alpha,
    )
    kernel.choose = choose
    return add_builtin(kernel)
