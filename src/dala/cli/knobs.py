"""The values of the filters in ``dala live``, one after the other under the same keys."""

from __future__ import annotations

from typing import NamedTuple

from dala.language.parameter import Param
from dala.media.chain import Step, make_step

STEPS = 20  # from one end of a range to the other
_OPEN = 10.0  # how far a value without a range may go


class Knob(NamedTuple):
    """A number of one filter."""

    step: int  # which filter
    param: Param


def knobs_of(steps: list[Step]) -> list[Knob]:
    """Every number that can be turned: those that change while it runs, and whole ones."""
    found = []
    for number, step in enumerate(steps):
        for param in step.kernel.params:
            plain = param.type in ("float", "int") and not param.length
            if plain and isinstance(step.values[param.name], int | float):
                found.append(Knob(number, param))
    return found


def turned(step: Step, param: Param, by: int) -> Step:
    """The filter with a value some steps up or down, within its range."""
    low = -_OPEN if param.min is None else float(param.min)
    high = _OPEN if param.max is None else float(param.max)
    value = step.values[param.name]
    assert isinstance(value, int | float)
    reach = min(high - low, max(abs(float(value)) * 4, 2 * _OPEN))
    moved = min(max(float(value) + by * reach / STEPS, low), high)
    if param.type == "int":
        least = (
            by if by * reach / STEPS == 0 or abs(reach / STEPS) < 1 else round(by * reach / STEPS)
        )
        fitting: int | float = int(min(max(value + least, low), high))
    else:
        fitting = round(moved, 6)
    return make_step(step.kernel, {**step.params, param.name: fitting})


def shown(step: Step, param: Param) -> str:
    """``blur radius=3``."""
    value = step.values[param.name]
    return f"{step.name} {param.name}={value:g}" if isinstance(value, int | float) else step.name
