"""One function for each image kernel of the catalogue and each filter of dala.media's own, made from its
declaration.

functions.pyi says the same to editors and type checkers; docs/stubs.py writes it.
"""

from __future__ import annotations

from dala.language.kernel import Kernel
from dala.language.registry import builtin_kernels
from dala.media.apply import run_filter
from dala.media.making import Function, make_filter, make_generator
from dala.media.planar import run_from_frame, run_to_frame
from dala.media.step import OWN_FILTERS


def _make(kernel: Kernel) -> Function:
    if not kernel.inputs:
        return make_generator(kernel, __name__)
    if kernel.geometry.input_planes:
        return make_filter(kernel, run_from_frame, __name__)
    if kernel.geometry.output_planes:
        return make_filter(kernel, run_to_frame, __name__)
    return make_filter(kernel, run_filter, __name__)


_kernels = [kernel for kernel in builtin_kernels() if kernel.domain == "image"]
_made = {kernel.name: _make(kernel) for kernel in (*_kernels, *OWN_FILTERS.values())}
globals().update(_made)
__all__ = sorted(_made)
__test__ = _made  # where doctest finds their examples
