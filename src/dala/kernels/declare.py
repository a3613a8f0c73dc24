"""How a built-in kernel enters the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dala.ir.graph import Domain
from dala.language.kernel import PLAIN, Geometry, Kernel, ShapeRule, make_kernel
from dala.language.parameter import Param
from dala.language.registry import add_builtin


def builtin(
    domain: Domain, *, shape_rule: ShapeRule | None = None, geometry: Geometry = PLAIN
) -> Callable[[Callable[..., object]], Kernel]:
    """Enter the decorated function under its own name."""

    def enter(function: Callable[..., object]) -> Kernel:
        return add_builtin(
            make_kernel(function, domain=domain, shape_rule=shape_rule, geometry=geometry)
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
