"""One filter of a chain: a kernel, its checked parameters, and the further images it reads."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dala.errors import ArgumentError, KernelNotFoundError, ParameterError, suggest
from dala.language.kernel import WHOLE_IMAGES, Kernel
from dala.language.parameter import Param, ParamValue
from dala.language.registry import find_kernel, kernel_names
from dala.language.signature import read_arguments
from dala.language.tables import Table
from dala.media.automatic import AUTO_LEVELS, AUTO_WHITE_BALANCE, measure, needs_measuring
from dala.media.further import Further, take_further
from dala.media.lookfile import shipped
from dala.media.overlays import OVERLAY

# The longer side of the picture for which the lengths of a look are written: those of the gallery are a
# little smaller, and a length of one pixel can hardly be less.
REFERENCE = 512
# filters that are more than a kernel, and in no catalogue of kernels
OWN_FILTERS = {kernel.name: kernel for kernel in (AUTO_LEVELS, AUTO_WHITE_BALANCE, OVERLAY)}


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One filter of a chain, with checked parameters.

    >>> from dala.media import Chain
    >>> step = Chain.of([("blur", {"radius": 2})]).steps[0]
    >>> step.name, step.params["radius"], step.values["sigma"]
    ('blur', 2, None)
    """

    kernel: Kernel
    params: Mapping[str, object]  # as given; what was not given has the kernel's default
    values: Mapping[str, ParamValue]  # all of them, checked
    images: Mapping[str, Further]  # further inputs, in the kernel's order
    relative: bool = False  # lengths follow the picture's size: they hold for REFERENCE pixels

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    def __repr__(self) -> str:
        return " ".join([self.name, *(f"{k}={v!r}" for k, v in self.params.items())])

    @property
    def structure(self) -> Hashable:
        """What decides about the code and the size: not the values of other run-time parameters."""
        fixed: list[Hashable] = [self.kernel, self.relative]
        if self.kernel.size_key is not None:
            fixed.append(self.kernel.size_key(self.values))
        for p in self.kernel.params:
            value = self.values[p.name]
            if p.static:
                fixed.append(repr(value))
            elif isinstance(value, Table):
                fixed.append((value.type, value.kind))
            else:
                fixed.append(value is None)
        images = [(n, i.type, i.is_rgb, i.model) for n, i in self.images.items()]
        return (*fixed, *images)

    @property
    def is_open(self) -> bool:
        """Whether it has to look at a picture before it can run."""
        return needs_measuring(self.kernel, self.values)

    def measured(self, pixels: np.ndarray) -> Step:
        """The same step with what it sees in a picture: (H, W) or (H, W, C), RGB."""
        return replace(self, values=measure(self.kernel, self.values, pixels))

    def values_at(self, width: int, height: int) -> Mapping[str, ParamValue]:
        """The values on a picture of that size: a ``resize`` or ``crop`` gets the size it left open."""
        values = self._scaled(width, height) if self.relative else self.values
        rule = self.kernel.at_size
        return values if rule is None else rule(values, width, height)

    def _scaled(self, width: int, height: int) -> Mapping[str, ParamValue]:
        """Lengths in pixels as they look on a picture of REFERENCE pixels; a smaller one has those."""
        factor = max(width, height) / REFERENCE
        lengths = [p for p in self.kernel.params if p.pixels]
        if factor <= 1 or not lengths:
            return self.values
        return {**self.values, **{p.name: _times(p, self.values[p.name], factor) for p in lengths}}

    def size_after(self, width: int, height: int) -> tuple[int, int]:
        """The size of what it makes of a picture of that size."""
        rule = self.kernel.output_size
        return (width, height) if rule is None else rule(self.values, width, height)


def _times(p: Param, value: ParamValue, factor: float) -> ParamValue:
    """A length times a factor, within what its kernel takes."""
    if not isinstance(value, int | float):
        return value  # derived from others
    length = value * factor if p.max is None else min(value * factor, p.max)
    return round(length) if p.type == "int" else length


def make_step(kernel: Kernel, params: Mapping[str, object]) -> Step:
    """A filter with checked parameters; further images are taken from among them."""
    names = further_inputs(kernel)
    if not names:
        return Step(kernel, MappingProxyType(dict(params)), kernel.bind(params), _NO_IMAGES)
    known = [*(p.name for p in kernel.params), *names]
    for name in params:
        if name not in known:
            raise ParameterError(
                f"{kernel.name}: unknown parameter {name!r}; "
                f"it takes: {', '.join(known)}{suggest(str(name), known)}"
            )
    values = kernel.bind({k: v for k, v in params.items() if k not in names})
    images = {
        name: take_further(params[name], f"{kernel.name}: {name}")
        for name in names
        if params.get(name) is not None
    }
    if not kernel.takes(1 + len(images)):
        missing = [n for n in names if n not in images]
        raise ParameterError(
            f"{kernel.name}: the picture {' and '.join(missing)} is missing; give {missing[0]}=…"
        )
    return Step(kernel, MappingProxyType(dict(params)), values, images)


_NO_IMAGES: Mapping[str, Further] = MappingProxyType({})


@functools.lru_cache(256)
def further_inputs(kernel: Kernel) -> tuple[str, ...]:
    """The names of a kernel's inputs but for the first."""
    assert kernel.function is not None
    return tuple(a.name for a in read_arguments(kernel.function)[1 : kernel.inputs])


def find_filter(name: object) -> Kernel:
    """The image kernel of that name; kernels that are no filters are refused."""
    try:
        kernel = find_kernel(name)
    except KernelNotFoundError:
        if not isinstance(name, str):
            raise
        if name in OWN_FILTERS:
            return OWN_FILTERS[name]
        hint = suggest(name, [*filter_names(), *shipped()])
        raise KernelNotFoundError(
            f"no filter or look is named {name!r}{hint or '; see compute.kernels()'}"
        ) from None
    reason = _why_no_filter(kernel)
    if reason:
        raise ArgumentError(f"{kernel.name} is no filter: it {reason}")
    return kernel


def filter_names() -> list[str]:
    """Every kernel that makes a picture of a picture, by name."""
    names = {name for name in kernel_names() if not _why_no_filter(find_kernel(name))}
    return sorted(names | set(OWN_FILTERS))


@functools.lru_cache(256)
def _why_no_filter(kernel: Kernel) -> str:
    if kernel.domain != "image" or kernel.function is None:
        return "works on tensors"
    if kernel.inputs == 0:
        return "makes a picture of nothing"
    if kernel.geometry != WHOLE_IMAGES:
        return "reads or writes video frames"
    return ""
