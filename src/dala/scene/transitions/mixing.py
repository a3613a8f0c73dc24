"""A transition found by its name, and applied to two pictures of one size."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dala.errors import KernelNotFoundError, ParameterError, suggest
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.media.step import further_inputs
from dala.once import once
from dala.scene.effects.apply import Image, filtered
from dala.scene.transitions import fades, moves
from dala.scene.transitions.edges import edges

_FUNCTIONS: tuple[Callable[..., object], ...] = (
    fades.fade, fades.fadeblack, fades.fadewhite, fades.fadefast, fades.fadeslow, fades.distance,
    fades.dissolve, fades.pixelize, fades.lumawipe,
    moves.slideleft, moves.slideright, moves.slideup, moves.slidedown, moves.squeezeh, moves.squeezev,
    moves.zoomin,
)  # fmt: skip
_OWN: dict[str, Callable[..., object]] = {f.__name__: f for f in _FUNCTIONS} | edges()


@once
def _kernels() -> dict[str, Kernel]:
    return {name: make_kernel(f, name=name, domain="image") for name, f in _OWN.items()}


def names() -> tuple[str, ...]:
    """Of the transitions that come with dala."""
    return tuple(_OWN)


def mixed(
    a: Image,
    b: Image,
    transition: object,
    progress: float,
    params: Mapping[str, object],
    device: str | None = None,
) -> Image:
    """The picture between two others, both in main memory or both on the device."""
    if progress <= 0 or progress >= 1:
        return a if progress <= 0 else b
    kernel = _find(transition)
    (second,) = further_inputs(kernel)
    effects = ((kernel, {**params, second: b, "progress": progress}),)
    return filtered(a, effects, device=device)


def _find(transition: object) -> Kernel:
    if isinstance(transition, str) and transition in _OWN:
        return _kernels()[transition]
    try:
        kernel = transition if isinstance(transition, Kernel) else find_kernel(str(transition))
    except KernelNotFoundError:
        raise ParameterError(
            f"no transition is called {transition!r}{suggest(str(transition), names())}"
        ) from None
    if kernel.inputs != 2 or "progress" not in {p.name for p in kernel.params}:
        raise ParameterError(
            f"a transition is a kernel of two images with a parameter progress; {kernel.name} has "
            f"{kernel.inputs} and {[p.name for p in kernel.params]}"
        )
    return kernel
