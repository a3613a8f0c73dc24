"""One filter of a chain: a kernel, its checked parameters, and the further images it reads."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dala.errors import ArgumentError, KernelNotFoundError, ParameterError, suggest
from dala.language.kernel import WHOLE_IMAGES, Kernel
from dala.language.parameter import ParamValue
from dala.language.registry import find_kernel, kernel_names
from dala.language.signature import read_arguments
from dala.language.tables import Table
from dala.media.further import Further, take_further
from dala.media.lookfile import shipped


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

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    def __repr__(self) -> str:
        return " ".join([self.name, *(f"{k}={v!r}" for k, v in self.params.items())])

    @property
    def structure(self) -> Hashable:
        """What decides about the code and the size: not the values of other run-time parameters."""
        fixed: list[Hashable] = [self.kernel]
        # the size that a crop leaves open depends on where it begins
        size_is_open = self.kernel.output_size is not None and None in self.values.values()
        for p in self.kernel.params:
            value = self.values[p.name]
            if p.static or size_is_open:
                fixed.append(repr(value))
            elif isinstance(value, Table):
                fixed.append((value.type, value.kind))
            else:
                fixed.append(value is None)
        images = [(n, i.type, i.is_rgb, i.model) for n, i in self.images.items()]
        return (*fixed, *images)

    def values_at(self, width: int, height: int) -> Mapping[str, ParamValue]:
        """The values on a picture of that size: a ``resize`` or ``crop`` gets the size it left open."""
        if self.kernel.output_size is None:
            return self.values
        wide, high = self.size_after(width, height)
        return {**self.values, "width": wide, "height": high}

    def size_after(self, width: int, height: int) -> tuple[int, int]:
        """The size of what it makes of a picture of that size."""
        rule = self.kernel.output_size
        return (width, height) if rule is None else rule(self.values, width, height)


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
            f"{kernel.name}: needs {kernel.inputs_in_words}; give the images {', '.join(missing)} too"
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
    return [name for name in kernel_names() if not _why_no_filter(find_kernel(name))]


@functools.lru_cache(256)
def _why_no_filter(kernel: Kernel) -> str:
    if kernel.domain != "image" or kernel.function is None:
        return "works on tensors"
    if kernel.inputs == 0:
        return "makes a picture of nothing"
    if kernel.geometry != WHOLE_IMAGES:
        return "reads or writes video frames"
    return ""
