"""Filters that change from frame to frame: those with a run-time parameter ``frame`` or ``time``.

Whoever plays frames sets them: the frame's number from 0 on, and its time in seconds. A value that was
given stays as it is. They are run-time values, so nothing is compiled anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from dala.language.kernel import Kernel
from dala.language.parameter import ParamValue
from dala.media.chain import Chain
from dala.media.step import make_step

FRAME, TIME = "frame", "time"


def values_at(
    kernel: Kernel, values: Mapping[str, ParamValue], number: int, seconds: float
) -> dict[str, float | int]:
    """What a kernel gets for a frame; empty if it does not ask."""
    found: dict[str, float | int] = {}
    for p in kernel.params:
        if p.name not in (FRAME, TIME) or p.static or p.length or values[p.name] != p.default:
            continue
        value: float | int = number if p.name == FRAME else seconds
        if p.max is not None and value > p.max:  # a camera may run for ever
            value = value % (int(p.max) + 1)
        found[p.name] = float(value) if p.type == "float" else int(value)
    return found


def chain_at(chain: Chain, number: int, seconds: float) -> Chain:
    """The chain for a frame; the same one if none of its filters asks.

    >>> from dala.media import Chain
    >>> from dala.media.timed import chain_at
    >>> chain_at(Chain.of(["grain"]), 7, 0.28).steps
    (grain frame=7,)
    """
    asked = [values_at(s.kernel, s.values, number, seconds) for s in chain.steps]
    if not any(asked):
        return chain
    steps = [
        make_step(step.kernel, {**step.params, **values}) if values else step
        for step, values in zip(chain.steps, asked, strict=True)
    ]
    return Chain(steps, chain.strength)
