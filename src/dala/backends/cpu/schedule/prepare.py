"""A kernel's program as the CPU wants to compute it: what changes rounding, before fusion.

* A stage that only averages the levels of a u8 image is left to 16-bit fixed point (fixed.py).
* So is one that adds differences of levels times a gain that is the same everywhere (gain.py).
* A stage that weighs levels of u8 images is left to integer dot products (dot.py);
  one that chooses between constants by such a sum, to exact ones (choice.py).
* A bilinear sample of an RGBA image of bytes is left to 16 bits, too (sampled.py).
* And so is a stage that mixes a block of such pixels by weights of its columns and rows (resampled.py).
* So is a stage of minima and maxima of several pixels of a u8 image left alone: bytes (extrema.py).
* A stage that maps each byte of a pixel to a byte asks to be fused only with its kin: such a run becomes
  one look-up table (tables.py), and bytes are what lies on both sides of it.
* A wide average of another kind stays one, to be a loop over its taps (wide.py).
* Colours of bytes are counted in levels rather than in 0..1 (counted.py).
* Elsewhere averages are spelled out, and a multiply that feeds one add becomes a fused multiply-add.

Both are decided for one kernel and its element types alone, so that a stage rounds the same way in
every pipeline: fused equals unfused, byte for byte.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dala.backends.contract import contract_body
from dala.backends.cpu.analysis.bilinear import CHANNELS, find_sample
from dala.backends.cpu.analysis.separable import find_separable, weights_fit
from dala.backends.cpu.arithmetic.choice import suits_choice
from dala.backends.cpu.arithmetic.dot import find_places
from dala.backends.cpu.arithmetic.extrema import are_extrema
from dala.backends.cpu.arithmetic.fixed import MAX_PASSES, MAX_PRODUCTS, MAX_TAPS
from dala.backends.cpu.arithmetic.gain import suits_gain
from dala.backends.cpu.arithmetic.ways import (
    CHOICE,
    DOT,
    EXTREMA,
    FIXED,
    GAIN,
    RESAMPLED,
    SAMPLED,
    TABLE,
)
from dala.backends.cpu.schedule.counted import count_in_levels
from dala.backends.cpu.schedule.weight import weigh_curve
from dala.backends.patterns import drop_halves, is_plain_average, on_levels, reads_levels
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.ir.graph import (
    PLAIN,
    Access,
    Node,
    Program,
    Stage,
    Way,
    accesses,
    walk,
)
from dala.ir.ops import split_average
from dala.ir.rewrite import PASSES, expand_averages

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

    ``least_table``: curves that are so much work (weight.py) are look-up tables.
    """
    program = drop_halves(_choose_size(program, inputs, output))
    ways: dict[int, Way] = {}
    of_bytes: set[int] = set()  # sources that may be counted in levels
    if program.domain == "image" and output.dtype == U8:
        ways = _ways_on_bytes(program, inputs, least_table)
        of_bytes = _point_wise_bytes(program, inputs)
    stages = []
    for number, stage in enumerate(program.stages):
        way = ways.get(number, PLAIN)
        if way.alone and way != SAMPLED:
            stages.append(replace(stage, way=way))
            continue
        if _is_wide(program, stage):
            stages.append(stage)
            continue
        body = expand_averages(stage.body)
        if way == PLAIN and number >= program.first_result:
            body = count_in_levels(body, of_bytes) if of_bytes else body
        for rewrite in PASSES:
            body = rewrite(body)
        stages.append(replace(stage, body=contract_body(body) if fma else body, way=way))
    return replace(program, stages=tuple(stages))


def _choose_size(program: Program, inputs: Sequence[ArrayType], output: ArrayType) -> Program:
    """The program, or the same for images of any size where only that is mixed by columns and rows."""
    general = program.general
    if general is None or output.dtype != U8 or program.domain != "image":
        return program
    suits = [_is_resampled(p, len(p.stages) - 1, inputs) for p in (program, general)]
    return general if suits == [False, True] else program


def _ways_on_bytes(
    program: Program, inputs: Sequence[ArrayType], least_table: float
) -> dict[int, Way]:
    """The stages on the way to a u8 image that need no f32, and how they are computed instead."""
    ways: dict[int, Way] = {}
    if program.has_one_grid:
        ways |= dict.fromkeys(_extrema_stages(program, inputs), EXTREMA)
        ways |= dict.fromkeys(_fixed_stages(program, inputs), FIXED)
        if _maps_bytes(program, inputs) and weigh_curve(program.stages[0].body) >= least_table:
            ways[0] = TABLE
        if _is_gain(program, inputs):
            ways[len(program.stages) - 1] = GAIN
    for number in range(program.first_result, len(program.stages)):
        if number in ways:
            continue
        if _is_resampled(program, number, inputs):
            ways[number] = RESAMPLED
        elif places := _dot_places(program, number, inputs):
            ways[number] = next(way for way, p in DOT.items() if p == places)
        elif _is_choice(program, number, inputs):
            ways[number] = CHOICE
        elif _is_sampled(program, number, inputs):
            ways[number] = SAMPLED
    return ways


def _point_wise_bytes(program: Program, inputs: Sequence[ArrayType]) -> set[int]:
    """The u8 images that are read at the position written, and nowhere else.

    Curves keep 0..1: there are machines where they are tables, and their bytes are the same on all.
    """
    if not program.has_one_grid or _maps_bytes(program, inputs):
        return set()
    moved = {a.source for s in program.stages for a in accesses(s.body) if a.dx or a.dy}
    return {k for k in range(program.inputs) if inputs[k].dtype == U8} - moved


def _fixed_stages(program: Program, inputs: Sequence[ArrayType]) -> set[int]:
    """The stages that may run in 16 bits: averages of levels, on the way to a u8 image."""
    averages = {
        i
        for i, stage in enumerate(program.stages)
        if is_plain_average(stage.body) and _fits_16_bits(stage.body[0])
    }
    return on_levels(program, inputs, averages, MAX_PASSES)


def _extrema_stages(program: Program, inputs: Sequence[ArrayType]) -> set[int]:
    """The stages that are minima and maxima of levels, on the way to a u8 image."""
    stencils = {
        i
        for i, stage in enumerate(program.stages)
        if any(a.dx or a.dy for a in accesses(stage.body)) and are_extrema(stage.body)
    }
    return on_levels(program, inputs, stencils, len(program.stages))


def _dot_places(program: Program, number: int, inputs: Sequence[ArrayType]) -> int:
    """The binary places of weights, if a stage turns u8 images into one by nothing else."""
    body = program.stages[number].body
    if program.has_one_grid and any(n.op == "average" for n in walk(body)):
        return 0  # too many taps for 16 bits are too many for this, too
    return find_places(body, program.params) if _reads_bytes(program, body, inputs) else 0


def _is_choice(program: Program, number: int, inputs: Sequence[ArrayType]) -> bool:
    """Whether a stage chooses constants by weighted levels of the pixel."""
    body = program.stages[number].body
    if not program.has_one_grid or not _reads_bytes(program, body, inputs):
        return False
    return all(inputs[a.source].channels == len(body) for a in accesses(body)) and suits_choice(
        body, program.params
    )


def _reads_bytes(program: Program, body: Sequence[Node], inputs: Sequence[ArrayType]) -> bool:
    """Whether all that is read, without computing where, are u8 images in memory."""
    sources = {a.source for a in accesses(body)}
    if any(s >= program.inputs for s in sources):
        return False
    return all(inputs[program.source_part(s).array].dtype == U8 for s in sources)


def _is_sampled(program: Program, number: int, inputs: Sequence[ArrayType]) -> bool:
    """Whether a stage is a bilinear sample of an RGBA image of bytes."""
    found = find_sample(program.stages[number].body)
    if found is None or not program.has_one_grid:
        return False
    return _is_picture(program, found.source, inputs)


def _is_resampled(program: Program, number: int, inputs: Sequence[ArrayType]) -> bool:
    """Whether a stage mixes blocks of an RGBA image of bytes by their columns and rows."""
    stage = program.stages[number]
    found = find_separable(stage.body)
    if found is None or stage.margin or not _is_picture(program, found.source, inputs):
        return False
    # gathered from an image of any size, or read from one of twice the size
    whole = program.has_one_grid and found.rows.base and found.columns.base
    twice = not found.rows.base and program.grid_of(found.source) == stage.grid - 1
    return bool(whole or twice) and weights_fit(found)


def _is_picture(program: Program, source: int, inputs: Sequence[ArrayType]) -> bool:
    """Whether a source is an RGBA image of bytes in memory."""
    if source >= program.inputs or program.source_part(source).plane is not None:
        return False
    array = inputs[program.source_part(source).array]
    return array.dtype == U8 and array.channels == CHANNELS


def _is_gain(program: Program, inputs: Sequence[ArrayType]) -> bool:
    """Whether the last stage adds differences of levels of one u8 image, times a gain, to its levels."""
    body = program.stages[-1].body
    found = {a.source for a in accesses(body)}
    if len(found) != 1 or not any(a.dx or a.dy for a in accesses(body)):
        return False
    return reads_levels(program, len(program.stages) - 1, set(), inputs) and suits_gain(
        body, program.params
    )


def _maps_bytes(program: Program, inputs: Sequence[ArrayType]) -> bool:
    """Whether each channel written is a function of the same channel of one pixel of bytes."""
    if len(program.stages) > 1:
        return False
    body = program.stages[0].body
    if any(n.op == "coord" for n in walk(body)):
        return False
    found = {(a.source, a.dx, a.dy) for a in accesses(body)}
    if len(found) != 1 or next(iter(found))[1:] != (0, 0):
        return False
    source = inputs[next(iter(found))[0]]
    own = all(a.channel == c for c, node in enumerate(body) for a in accesses([node]))
    return own and source.dtype == U8 and source.channels == len(body)


def _is_wide(program: Program, stage: Stage) -> bool:
    """An average of f32 values that would be too much text if it were spelled out."""
    if program.domain != "image" or not is_plain_average(stage.body):
        return False
    if any(program.grid_of(a.source) != stage.grid for a in accesses(stage.body)):
        return False
    taps = sum(len(s.body[0].args) // 2 for s in program.stages if is_plain_average(s.body))
    return taps > SPELLED_OUT


def _fits_16_bits(average: Node) -> bool:
    """Whether the error is within what fixed.py proves."""
    values, weights = split_average(average.args)
    taps = [v.attr for v in values if isinstance(v.attr, Access)]
    alike = Counter((id(w), t.source) for w, t in zip(weights, taps, strict=True))
    products = sum(-(-count // 2) for count in alike.values())
    return len(values) <= MAX_TAPS and products <= MAX_PRODUCTS
