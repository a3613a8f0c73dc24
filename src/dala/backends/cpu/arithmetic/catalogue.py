"""The arithmetics, in the order in which they are tried; what none of them takes is computed in f32."""

from __future__ import annotations

from dala.backends.cpu.arithmetic.base import (
    IN_F32,
    CpuArithmetic,
    Subject,
    Values,
    arithmetic_of,
)
from dala.backends.cpu.arithmetic.choice import CHOICE
from dala.backends.cpu.arithmetic.deep_tables import DEEP_TABLE
from dala.backends.cpu.arithmetic.dot import DOT
from dala.backends.cpu.arithmetic.extrema import EXTREMA
from dala.backends.cpu.arithmetic.fixed import FIXED
from dala.backends.cpu.arithmetic.gain import GAIN
from dala.backends.cpu.arithmetic.interleaved import INTERLEAVED
from dala.backends.cpu.arithmetic.resampled import RESAMPLED
from dala.backends.cpu.arithmetic.sampled import SAMPLED
from dala.backends.cpu.arithmetic.tables import TABLE
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.schedule.sweep import RowBody

ARITHMETICS: tuple[CpuArithmetic, ...] = (
    EXTREMA,
    FIXED,
    TABLE,
    DEEP_TABLE,
    INTERLEAVED,
    GAIN,
    RESAMPLED,
    DOT,
    CHOICE,
    SAMPLED,
)


def choose_before_fusion(subject: Subject) -> dict[int, tuple[CpuArithmetic, Values]]:
    """The stages that need no f32: how each is computed, and what was found of it."""
    chosen: dict[int, tuple[CpuArithmetic, Values]] = {}
    for arithmetic in ARITHMETICS:
        found = {k: (arithmetic, values) for k, values in arithmetic.match(subject).items()}
        chosen |= found
        subject.found.update(found)
    return chosen


def choose_after_fusion(context: PassContext, body: RowBody) -> CpuArithmetic:
    """How a body is computed: the first arithmetic that takes it, or the one it came with."""
    own = arithmetic_of(body)
    fitting = (arithmetic for arithmetic in ARITHMETICS if arithmetic.suits(context, body))
    return next(fitting, IN_F32 if own.tentative else own)
