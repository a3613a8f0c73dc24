"""A kernel's program as the CPU wants to compute it: what changes rounding, before fusion.

* A stage that an arithmetic takes (arithmetic/catalogue.py) is written down in its terms.
* A wide average of another kind stays one, to be a loop over its taps (wide.py).
* Colours of bytes and of 16 bits are counted in levels rather than in 0..1 (counted.py).
* Elsewhere averages are spelled out, and a multiply that feeds one add becomes a fused multiply-add.

All is decided for one kernel and its element types alone, so that a stage rounds the same way in
every pipeline: fused equals unfused, byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dala.backends.cpu.arithmetic.base import IN_F32, CpuArithmetic, Subject, Values
from dala.backends.cpu.arithmetic.catalogue import choose_before_fusion
from dala.backends.cpu.schedule.counted import Counted, can_count, count_in_levels
from dala.ir.arrays import ArrayType
from dala.ir.contract import contract_body
from dala.ir.dtypes import U8, U16
from dala.ir.graph import Node, Program, Stage, accesses, gathered_sources
from dala.ir.patterns import drop_halves, is_plain_average
from dala.ir.rewrite import PASSES, expand_averages

Chosen = dict[int, tuple[CpuArithmetic, Values]]

SPELLED_OUT = 22  # taps of all f32 averages of a kernel; if there are more, they are loops


def prepare_program(
    program: Program,
    inputs: Sequence[ArrayType],
    output: ArrayType,
    *,
    fma: bool,
    least_table: float = math.inf,
) -> Program:
    """The program in the CPU's own arithmetic for arrays of these kinds.

    ``least_table``: curves that are so much work (cost.py) are look-up tables.
    """
    chosen: Chosen = {}
    counted = Counted(output.dtype, ())
    if program.domain == "image" and output.dtype == U8:
        program, chosen, counted = _choose(program, inputs, least_table)
    else:
        program = drop_halves(program)
        if program.domain == "image" and output.dtype == U16:
            counted = _count_deep(program, inputs)
    stages = []
    for number, stage in enumerate(program.stages):
        arithmetic, body = chosen.get(number, (IN_F32, stage.body))
        if number in chosen:
            stage = replace(stage, arithmetic=arithmetic, body=body)
        if arithmetic.contracts and not _is_wide(program, stage):
            body = expand_averages(body)
            stored = number >= program.first_result
            if number not in chosen and counted.images and (stored or counted.stages):
                body = count_in_levels(body, counted, stored=stored)
            stage = replace(stage, body=_rewrite(body, fma))
        stages.append(stage)
    return replace(program, stages=tuple(stages))


def _rewrite(body: tuple[Node, ...], fma: bool) -> tuple[Node, ...]:
    for rewrite in PASSES:
        body = rewrite(body)
    return contract_body(body) if fma else body


def _choose(
    program: Program, inputs: Sequence[ArrayType], least_table: float
) -> tuple[Program, Chosen, Counted]:
    """The program that is compiled: this one, or the one for images of any size where only that needs no
    f32 in the end. With the arithmetics of its stages, and the sources that may be counted in levels."""
    subject = Subject(drop_halves(program), inputs, least_table)
    chosen = choose_before_fusion(subject)
    if program.general is not None and len(program.stages) - 1 not in chosen:
        general = Subject(drop_halves(program.general), inputs, least_table)
        found = choose_before_fusion(general)
        if len(general.program.stages) - 1 in found:
            subject, chosen = general, found
    return subject.program, chosen, Counted(U8, _point_wise_bytes(subject))


def _count_deep(program: Program, inputs: Sequence[ArrayType]) -> Counted:
    """The u16 images, and what lies between the stages, if nothing in the program forbids to count them."""
    nothing = Counted(U16, ())
    sources = [inputs[program.view_of(k).array] for k in range(program.inputs)]
    if any(gathered_sources(s.body) or _is_wide(program, s) for s in program.stages):
        return nothing
    if not all(can_count(expand_averages(s.body)) for s in program.stages):
        return nothing
    images = {k for k, type_ in enumerate(sources) if type_.dtype == U16}
    return Counted(U16, images, range(program.inputs, program.inputs + program.first_result))


def _point_wise_bytes(subject: Subject) -> set[int]:
    """The u8 images that are read at the position written, and nowhere else.

    Curves keep 0..1: there are machines where they are tables, and their bytes are the same on all.
    """
    program, inputs = subject.program, subject.inputs
    if not program.has_one_size or subject.maps_bytes:
        return set()
    moved = {a.source for s in program.stages for a in accesses(s.body) if a.dx or a.dy}
    return {k for k in range(program.inputs) if inputs[k].dtype == U8} - moved


def _is_wide(program: Program, stage: Stage) -> bool:
    """An average of f32 values that would be too much text if it were spelled out."""
    if program.domain != "image" or not is_plain_average(stage.body):
        return False
    if any(program.mip_of(a.source) != stage.mip for a in accesses(stage.body)):
        return False
    taps = sum(len(s.body[0].args) // 2 for s in program.stages if is_plain_average(s.body))
    return taps > SPELLED_OUT
