"""Levels plus a gain times differences of levels, in 16 bits: sharpening u8 images.

The gain is a run-time value within declared bounds, the same for all pixels: v = A + g · B, where A and B
add levels of one channel of one image with small whole weights, and A a constant. However a kernel says
it: a mix of a and b by t is a + t · (b - a); what g multiplies in sixteenths is whole, g is divided by 16.

B is moved up by ``q`` bits, as far as 16 bits allow, g is scaled by 2ˢ to 15 bits, and their product is
rounded to its upper 16 bits (one instruction): g · B with f = q + s - 15 fraction bits. To that A · 2ᶠ is
added, and the sum is rounded to a level and clamped. (All with the signs turned around: a weight of 2⁷ is
a signed byte only below zero.) ``s`` follows from the gain, once per pass: small
gains have up to MAX_FRACTION_BITS.

The error, in units of 2⁻ᶠ levels: the scaled gain is off by at most ½, and |B| · 2^q < 2¹⁵, so the product
is off by less than ½, and by ½ more after rounding: less than 1. The bounds of the gain promise f ≥ 1
(``suits_gain``), so this is less than half a level; for a gain below 0.5 in ``sharpen``, less than 1/32.
A constant is rounded to the same bits: ½ more, 2⁻⁸ levels before that. What the reference rounds in f32
is below 0.01. Values less than one level apart round to levels at most one
apart. The sum saturates at 2¹⁵ · 2⁻ᶠ ≥ 256 levels (f ≤ 7), which is clamped to 255 anyway.

Every channel must be the same function of its own channel, but for those that pass through, such as alpha:
a constant mask chooses them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dala.backends.cpu.arithmetic.base import (
    CpuArithmetic,
    Subject,
    Values,
    write_bytes,
    written_down,
)
from dala.backends.cpu.arithmetic.sums16 import Sums16, choose_sums16
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LaneWriter
from dala.backends.cpu.llvm.text import Code, Type
from dala.backends.cpu.schedule.cost import Match, cost_of_channels
from dala.ir.bounds import find_bounds
from dala.ir.channels import interleave, reads_own_channels
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Access, Node, RuntimeParam, accesses, const, make
from dala.ir.linear import LinearForm, constant_of, linear_forms
from dala.ir.patterns import reads_levels

Weights = Mapping[Access, float]

MAX_FRACTION_BITS = 7
NOTHING = 2.0**-20  # what weights differ by because they are rounded


@dataclass(frozen=True, slots=True)
class Gain:
    """``plain`` + ``bias`` + ``gain`` · ``gained``: sums of levels of a channel, with whole weights."""

    plain: Weights
    gained: Weights
    gain: Node
    bias: float = 0.0  # in levels

    @property
    def rise(self) -> int:
        """By how many bits the levels that are gained may be moved up."""
        return _room(self.gained)

    @property
    def most_fraction_bits(self) -> int:
        return min(MAX_FRACTION_BITS, _room(self.plain, self.bias))


def _room(weights: Weights, bias: float = 0.0) -> int:
    """By how many bits weights may move up: sums of levels stay in 16 bits, -weights are signed bytes."""
    up = 255 * sum(w for w in weights.values() if w > 0) + max(bias, 0.0)
    down = -255 * sum(w for w in weights.values() if w < 0) + max(-bias, 0.0)
    room = 15 - math.ceil(max(up, down)).bit_length()
    return room - (min(weights.values(), default=0.0) * 2.0**room == -128)


@dataclass(frozen=True, slots=True)
class GainMatch(Match):
    """A channel that is a Gain. Its node's arguments are the gain and loads; here are numbers of loads and
    their weights, and the constant."""

    plain: tuple[tuple[int, int], ...]
    gained: tuple[tuple[int, int], ...]
    bias: float


@dataclass(frozen=True)
class GainArithmetic(CpuArithmetic):
    """The last stage of a kernel that adds differences of levels of one u8 image, times a gain, to them."""

    def match(self, subject: Subject) -> dict[int, Values]:
        program = subject.program
        last = len(program.stages) - 1
        values = program.stages[last].body
        found = list(accesses(values))
        if not program.has_one_size or not any(a.dx or a.dy for a in found):
            return {}
        if len({a.source for a in found}) != 1:
            return {}
        if not reads_levels(program, last, set(), subject.inputs):
            return {}
        gain = _find_gain(values)
        if gain is None or not _fits(gain, program.params):
            return {}
        return {last: _write_down(gain, values)}

    def lanes(self, body: BodyContext) -> int:
        return body.owner.vector_bytes // body.channels

    def write(self, body: BodyContext) -> None:
        pixels = _pixels(body, written_down(body))
        write_bytes(body, lambda _: pixels)


GAIN = GainArithmetic("gain", own_body=True, relative_cost=0.5, alike=True)


def _find_gain(values: Sequence[Node]) -> Gain | None:
    """What the channels are that do not pass through, if they all are one such function."""
    if not reads_own_channels(values):
        return None
    functions = dict.fromkeys(n for n in interleave(values) if n.op != "load")
    if len(functions) != 1:
        return None
    forms = linear_forms([next(iter(functions))])
    return _as_gain(forms[0].spread()) if forms else None


def _as_gain(form: LinearForm) -> Gain | None:
    """A sum with one uniform value in it, if the rest has whole weights."""
    kept = {
        uniform: {a: w for a, w in weights.items() if abs(w) > NOTHING}
        for uniform, weights in form.by_uniform().items()
    }
    gains = [uniform for uniform, weights in kept.items() if uniform is not None and weights]
    if len(gains) != 1 or any(w for u, w in form.bias.items() if u is not None):
        return None
    gain, plain = gains[0], kept.get(None, {})
    unit = _unit_of(kept[gain])
    if not unit or not _are_whole(plain, 1.0):
        return None
    if unit != 1.0:
        gain = make("mul", gain, const(unit, gain.dtype))
    bias = constant_of(form.bias) * 255
    return Gain(_in_units(plain, 1.0), _in_units(kept[gains[0]], unit), gain, bias)


def _unit_of(weights: Weights) -> float:
    """What all weights are whole multiples of; 0 if nothing is found."""
    least = min(map(abs, weights.values()))
    units = (1.0, least, least / 2, least / 3)
    return next((unit for unit in units if _are_whole(weights, unit)), 0.0)


def _are_whole(weights: Weights, unit: float) -> bool:
    return all(abs(w / unit - round(w / unit)) < NOTHING for w in weights.values())


def _in_units(weights: Weights, unit: float) -> Weights:
    return {a: float(round(w / unit)) for a, w in weights.items()}


def _fits(found: Gain, params: Sequence[RuntimeParam]) -> bool:
    """Whether the gain is bounded, and leaves a fraction bit."""
    if found.rise < 0 or found.most_fraction_bits < 1:
        return False
    low, high = find_bounds(found.gain, params)
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    # a little more, because in f32 it is rounded
    exponent = math.frexp(max(abs(low), abs(high)) * (1 + 2**-14))[1] - 1
    return found.rise - 1 - exponent >= 1


def _write_down(found: Gain, values: Sequence[Node]) -> Values:
    """A node for each channel that does not pass through."""
    taps = list(dict.fromkeys([*found.plain, *found.gained]))
    plain, gained = (
        tuple((taps.index(tap), int(weight)) for tap, weight in weights.items())
        for weights in (found.plain, found.gained)
    )
    channels: list[Node] = []
    for channel, (value, operations) in enumerate(
        zip(values, cost_of_channels(values), strict=True)
    ):
        loads = (Node("load", F32, (), tap._replace(channel=channel)) for tap in taps)
        match = GainMatch(operations, plain, gained, found.bias)
        node = Node("gain", F32, (found.gain, *loads), match)
        channels.append(value if value.op == "load" else node)
    return tuple(channels)


def _read(node: Node) -> Gain:
    """What was found of a channel."""
    match, (gain, *loads) = node.attr, node.args
    assert isinstance(match, GainMatch)
    taps = [load.attr for load in loads if isinstance(load.attr, Access)]
    plain, gained = (
        {taps[k]: float(weight) for k, weight in weights} for weights in (match.plain, match.gained)
    )
    return Gain(plain, gained, gain, match.bias)


def _pixels(body: BodyContext, values: Sequence[Node]) -> str:
    """The bytes of all channels, with their type."""
    functions = interleave(values)
    found = _read(next(n for n in functions if n.op == "gain"))
    sums16 = choose_sums16(body, list(dict.fromkeys([*found.plain, *found.gained])))
    result = sums16.join(_levels(body, sums16, found))
    for passed in dict.fromkeys(n for n in functions if n.op == "load"):
        assert isinstance(passed.attr, Access)
        size = body.lanes * len(values)
        chosen = [functions[i % len(values)] is passed for i in range(size)]
        result = body.lane.blend(sums16.bytes, chosen, sums16.load(passed.attr), result)
    return f"{sums16.bytes} {result}"


def _levels(body: BodyContext, sums16: Sums16, found: Gain) -> list[str]:
    """The result in whole levels, not yet clamped."""
    gain, up, down, bias = _factors(body, found)
    risen = {tap: -int(weight) << found.rise for tap, weight in found.gained.items()}
    totals = [sums16.multiply(half, sums16.spread(gain)) for half in sums16.sum(risen)]
    if found.plain:
        weights = {tap: int(weight) for tap, weight in found.plain.items()}
        plain = sums16.scaled_sum(weights, up)
        if bias:
            plain = [sums16.op("add", half, sums16.spread(bias)) for half in plain]
    elif bias:
        plain = [sums16.spread(bias)] * 2
    else:
        plain = []
    if plain:
        totals = [sums16.call("llvm.sadd.sat", a, b) for a, b in zip(plain, totals, strict=True)]
    return [sums16.multiply(total, sums16.spread(down)) for total in totals]


def _factors(body: BodyContext, found: Gain) -> tuple[str, str, str, str]:
    """The scaled gain, -2ᶠ, -2¹⁵⁻ᶠ and the bias times -2ᶠ (if there is one) as i16; f: fraction bits."""
    code, i32 = body.uniform, Type(S32)
    writer = LaneWriter(body, 0, code, body.row, body.lane)
    writer.write([found.gain])
    gain = writer.names[id(found.gain)]
    bits = code.op(f"and i32 {code.op(f'bitcast float {gain} to i32')}, {0x7FFFFFFF}")
    # the exponent that it has once it is rounded to 15 bits
    exponent = code.op(f"lshr i32 {code.op(f'add i32 {bits}, 256')}, 23")
    wanted = code.op(f"sub i32 {found.rise - 1 + 127}, {exponent}")
    bits = code.intrinsic("smin", i32, [wanted, str(found.most_fraction_bits)])
    power = code.op(f"shl i32 {code.op(f'add i32 {bits}, {15 - found.rise + 127}')}, 23")
    scaled = code.op(f"fmul float {gain}, {code.op(f'bitcast i32 {power} to float')}")
    near = code.intrinsic("roundeven", Type(F32), [scaled])
    whole = code.op(f"fptosi float {near} to i32")
    up = code.op(f"shl i32 -1, {bits}")
    down = code.op(f"shl i32 -1, {code.op(f'sub i32 15, {bits}')}")
    scaled_gain, minus_up, minus_down = (
        code.op(f"trunc i32 {n} to i16") for n in (whole, up, down)
    )
    return scaled_gain, minus_up, minus_down, _bias(code, found.bias, up)


def _bias(code: Code, bias: float, up: str) -> str:
    """The constant times ``up``, rounded; "" where there is none."""
    fine = round(bias * 2**MAX_FRACTION_BITS)
    if not fine:
        return ""
    risen = code.op(f"add i32 {code.op(f'mul i32 {up}, {fine}')}, {1 << MAX_FRACTION_BITS >> 1}")
    return code.op(f"trunc i32 {code.op(f'ashr i32 {risen}, {MAX_FRACTION_BITS}')} to i16")
