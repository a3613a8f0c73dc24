"""Weights on bytes: colour matrices and means of blocks as integer dot products.

A stage such as sepia or RGBA → NV12 weighs levels by numbers that are the same for all pixels, adds them
up and rounds. In 16-bit weights and 32-bit sums that needs neither a conversion to f32 nor back: pairs of
channels are multiplied and added in one instruction. Weights that are known only at run time are rounded
once per pass; the bounds of their parameters say how many fraction bits they may have.

The error, in levels: each weight is off by at most 2⁻ˢ⁻¹ (``s`` fraction bits, at least MIN_FRACTION_BITS),
so ``n`` of them by n·255·2⁻ˢ⁻¹, 0.13 for the four channels of a pixel; and no more than MAX_ERROR is
accepted. Rounding goes to the nearest level, halves upwards, so the result is never more than one level
from the reference's.

Where packing clamps (packing.py), levels are moved up by 16 - s bits before they are weighed: the upper
half of a sum is then the level, and no sum is shifted. It changes no bit of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dala.backends.cpu.arithmetic.base import CpuArithmetic, Subject, Values, write_bytes
from dala.backends.cpu.arithmetic.dot_planes import PlaneDots, WeighedSum, works_on_planes
from dala.backends.cpu.arithmetic.sums32 import ALPHA, SPARE, SPARE_WEIGHT, Sums32
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.packing import can_pack, pack_upper_halves
from dala.backends.cpu.emit.pixels import interleave_pair
from dala.backends.cpu.llvm.text import Type, splat
from dala.backends.cpu.schedule.cost import Match, cost_of_channels
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Access, Node, RuntimeParam, Stage, const, walk
from dala.ir.linear import (
    LinearForm,
    Weight,
    constant_of,
    is_constant,
    level_of,
    linear_forms,
    weight_bounds,
)

MIN_FRACTION_BITS, MAX_FRACTION_BITS = 12, 15
MAX_ERROR = 0.4  # levels, before rounding
MOST_TAPS = 22  # of an average
MAX_WEIGHTS = 64  # levels of so many pixels are added in 16 bits before they are weighed
SLACK = 1 + 2**-14  # weights of run time are rounded in f32
UPPER = 16  # fraction bits of a sum whose upper half is the level
assert SPARE * SPARE_WEIGHT == 1 << UPPER - 1  # half a level


Terms = tuple[tuple[int, float], ...]  # a Weight: numbers of arguments (ONE: none) and factors
ONE = -1


@dataclass(frozen=True, slots=True)
class DotMatch(Match):
    """A channel that is a linear form: the weight of each load among its node's arguments, and the bias."""

    fraction_bits: int  # of the weights, the same for all channels of a stage
    weights: tuple[Terms, ...]
    bias: Terms


@dataclass(frozen=True)
class DotArithmetic(CpuArithmetic):
    """A stage that weighs levels of u8 images."""

    def match_stage(self, subject: Subject, stage: Stage) -> Values | None:
        values = stage.body
        wide = any(n.op == "average" and len(n.args) > 2 * MOST_TAPS for n in walk(values))
        if subject.program.has_one_size and wide:
            return None  # a loop over f32 is less text
        forms = linear_forms(values) if subject.reads_bytes(values) else None
        fraction_bits = _find_fraction_bits(forms, subject.program.params) if forms else 0
        return _write_down(values, forms, fraction_bits) if forms and fraction_bits else None

    def lanes(self, body: BodyContext) -> int:
        return body.owner.vector_bytes if _is_on_planes(body) else body.owner.lanes

    def write(self, body: BodyContext) -> None:
        ring, small = body.body.ring, Type(U8, body.lanes)
        wide = PlaneDots(body) if body.lanes > body.owner.lanes else None

        def planes_of(values: Sequence[Node]) -> list[str]:
            levels = _on_planes(body, wide, values) if wide else _Dots(body, values).planes()
            return [f"{small} {level}" for level in levels]

        def pixels_of(values: Sequence[Node]) -> str:
            if wide:
                return _interleaved(body, _on_planes(body, wide, values))
            return _Dots(body, values).pixels()

        write_bytes(body, pixels_of, planes_of if ring is not None and ring.planar else None)


DOT = DotArithmetic(
    "dot",
    own_body=True,
    joint_stores=True,
    relative_cost=0.5,
    light=True,
    mixes=True,
    fast_on_planes=True,
    borrows=True,
)


def _write_down(values: Sequence[Node], forms: Sequence[LinearForm], fraction_bits: int) -> Values:
    """A node for each channel, but for those that pass through and constants."""
    channels: dict[int, Node] = {}  # by what they were: some may be the same
    for value, form, operations in zip(values, forms, cost_of_channels(values), strict=True):
        if id(value) in channels:
            continue
        loads = [Node("load", F32, (), access) for access in form.weights]
        weights = (form.bias, *form.weights.values())
        uniforms = list(dict.fromkeys(u for weight in weights for u in weight if u is not None))
        number = {u: len(loads) + k for k, u in enumerate(uniforms)}
        bias, *terms = (
            tuple((ONE if u is None else number[u], factor) for u, factor in weight.items())
            for weight in weights
        )
        match = DotMatch(operations, fraction_bits, tuple(terms), bias)
        node = Node("dot", F32, (*loads, *uniforms), match)
        channels[id(value)] = value if value.op in ("load", "const") else node
    return tuple(channels[id(value)] for value in values)


def _read(root: Node) -> LinearForm:
    """What was found of a channel."""
    node = under_level(root)
    match node.attr:
        case Access() as access:
            return LinearForm({access: {None: 1.0}}, {})
        case float(number):
            return LinearForm({}, {None: number})
        case DotMatch() as found:
            loads = [a.attr for a in node.args if isinstance(a.attr, Access)]
            weights = (_weight(node, terms) for terms in found.weights)
            bias = _weight(node, found.bias)
            return LinearForm(dict(zip(loads, weights, strict=True)), bias)
    raise AssertionError(f"no dot product: {node.op}")


def _weight(node: Node, terms: Terms) -> Weight:
    return {None if k == ONE else node.args[k]: factor for k, factor in terms}


def _fraction_bits_of(roots: Sequence[Node]) -> int:
    """The fraction bits of the weights of some channels."""
    found = (under_level(root).attr for root in roots)
    return next(
        (match.fraction_bits for match in found if isinstance(match, DotMatch)), MAX_FRACTION_BITS
    )


def _find_fraction_bits(forms: Sequence[LinearForm], params: Sequence[RuntimeParam]) -> int:
    """With how many fraction bits a stage may be computed so; 0: it may not."""
    weighed = _weighed(forms)
    most = max((len(f.weights) for f in weighed), default=0)
    if not 0 < most <= MAX_WEIGHTS or not (_are_known(weighed) or _are_mixes(weighed)):
        return 0
    fraction_bits = _most_fraction_bits(weighed, params)
    return (
        fraction_bits
        if fraction_bits and most * 255 * 2.0 ** -(fraction_bits + 1) <= MAX_ERROR
        else 0
    )


def _are_known(forms: Sequence[LinearForm]) -> bool:
    """Whether all weights are constants."""
    return all(is_constant(w) for f in forms for w in (f.bias, *f.weights.values()))


def _are_mixes(forms: Sequence[LinearForm]) -> bool:
    """Whether channels or pixels are mixed; a curve of one channel is left to tables."""
    return not all(len(f.weights) == 1 for f in forms)


def _most_fraction_bits(forms: Sequence[LinearForm], params: Sequence[RuntimeParam]) -> int:
    """Fraction bits that let every weight fit into 16 bits, and the level of a sum; 0: none does."""
    largest = total = 0.0
    for form in forms:
        sizes = [weight_bounds(w, params).largest for w in form.weights.values()]
        bias = weight_bounds(form.bias, params).largest
        largest, total = max(largest, *sizes), max(total, sum(sizes) + bias)
    if not _are_known(forms):
        largest, total = largest * SLACK, total * SLACK
    for fraction_bits in range(MAX_FRACTION_BITS, MIN_FRACTION_BITS - 1, -1):
        # in this order: no bounds are not a number that can be rounded
        if total * 255 < 32767 and round(largest * 2**fraction_bits) <= 32767:
            return fraction_bits
    return 0


def _is_on_planes(body: BodyContext) -> bool:
    """Whether a body is computed as many pixels at once as a vector has bytes."""
    results = [r for r in (body.body.buffered, *(s.values for s in body.body.stores)) if r]
    if not all(_are_known([_read(root) for root in roots]) for roots in results):
        return False
    whole = [
        _whole_weights(_read(root), 1 << _fraction_bits_of(roots))
        for roots in results
        for root in roots
    ]
    return works_on_planes(body, whole)


def _on_planes(body: BodyContext, planes: PlaneDots, roots: Sequence[Node]) -> list[str]:
    """The levels of each channel, as many as a vector has bytes."""
    forms, fraction_bits = [_read(root) for root in roots], _fraction_bits_of(roots)
    half, scale = 1 << fraction_bits >> 1, 1 << fraction_bits
    sums = [
        WeighedSum(
            _whole_weights(f, scale), round(constant_of(f.bias) * 255 * scale) + half, fraction_bits
        )
        for f in _weighed(forms)
    ]
    written = iter(planes.write(sums))
    levels = []
    for form in forms:
        if form.passes_through:
            levels.append(planes.level(next(iter(form.weights))))
        elif form.weights:
            levels.append(next(written))
        else:
            levels.append(splat(level_of(constant_of(form.bias)), "i8"))
    return levels


def _interleaved(body: BodyContext, levels: Sequence[str]) -> str:
    """The bytes of pixels of one or two channels, with their type."""
    small = Type(U8, body.lanes)
    whole = levels[0]
    if len(levels) == 2:
        whole = interleave_pair(body.lane, levels[0], levels[1], small)
    return f"{Type(U8, body.lanes * len(levels))} {whole}"


def _weighed(forms: Sequence[LinearForm]) -> list[LinearForm]:
    """Those that are more than a constant or one channel as it is."""
    return [f for f in forms if f.weights and not f.passes_through]


def _whole_weights(form: LinearForm, scale: int) -> dict[Access, int]:
    return {a: round(constant_of(w) * scale) for a, w in form.weights.items()}


def under_level(root: Node) -> Node:
    """What becomes a level; a constant has become one already."""
    if root.op == "const" and isinstance(root.attr, float):
        return const(root.attr / 255, root.dtype)
    assert root.op == "level", "a u8 image stores levels"
    return root.args[0]


class _Dots(Sums32):
    """The channels of one result, as sums of 32 bits."""

    def __init__(self, body: BodyContext, roots: Sequence[Node]) -> None:
        self.fraction_bits = _fraction_bits_of(roots)
        forms = [_read(root) for root in roots]
        super().__init__(body, forms, 2.0**self.fraction_bits)
        most = max(len(form.weights) for form in forms)
        self.rise = UPPER - self.fraction_bits  # by how many bits levels are moved up
        if len(roots) < 4 or not can_pack(self.code, body.lanes) or most * 255 << self.rise > 32767:
            self.rise = 0
        self.spare = self.rise > 0 and self._has_spare_half()

    def pixels(self) -> str:
        """The bytes of all channels, with their type."""
        code, i32 = self.code, self.i32
        if self.rise:
            return self._packed()
        if len(self.forms) < 4:
            return _interleaved(self.body, self.planes())
        pixels, *others = [self._level(form) for form in self.forms]
        for channel, level in enumerate(others, 1):
            moved = code.op(f"shl {i32} {level}, {code.constant(i32, 8 * channel)}")
            pixels = code.op(f"or {i32} {pixels}, {moved}")
        return f"{i32} {pixels}"

    def planes(self) -> list[str]:
        """The bytes of each channel."""
        small, levels = Type(U8, self.body.lanes), [self._level(form) for form in self.forms]
        return [self.code.op(f"trunc {self.i32} {level} to {small}") for level in levels]

    def _packed(self) -> str:
        """The pixels, packed from the upper halves of sums; bytes that keep their channel are taken from
        the source's pixels."""
        kept: dict[str, set[int]] = {}  # pixels → the channels that are taken from them
        sums: list[str | None] = []
        for channel, form in enumerate(self.forms):
            pixels = self._kept_from(form, channel)
            sums.append(None if pixels else self._sum(form))
            if pixels:
                kept.setdefault(pixels, set()).add(channel)
        return pack_upper_halves(self.code, self.body.lanes, sums, kept)

    def _kept_from(self, form: LinearForm, channel: int) -> str | None:
        """The pixels that a byte is taken from, if it is the same channel of them, or a constant."""
        if not form.weights and is_constant(form.bias):
            return f"splat (i8 {level_of(constant_of(form.bias))})"
        if not form.passes_through:
            return None
        access = next(iter(form.weights))
        source = access.source
        if access.channel != channel or not self.are_words(source) or self.body.step_to(source):
            return None
        size = self.body.lanes * 4
        return self.code.op(f"load <{size} x i8>, ptr {self.body.address_of(access)}, align 1")

    def _level(self, form: LinearForm) -> str:
        """A channel as whole levels."""
        code, i32 = self.code, self.i32
        if form.passes_through:
            return self.channel(next(iter(form.weights)))
        if not form.weights and is_constant(form.bias):
            return code.constant(i32, level_of(constant_of(form.bias)))
        level = code.op(f"ashr {i32} {self._sum(form)}, {code.constant(i32, self.fraction_bits)}")
        low = code.intrinsic("smax", i32, [level, code.constant(i32, 0)])
        return code.intrinsic("smin", i32, [low, code.constant(i32, 255)])

    def _sum(self, form: LinearForm) -> str:
        """A channel with ``fraction_bits`` and ``rise`` more of them; half a level is added."""
        code, i32 = self.code, self.i32
        if form.passes_through:
            channel = self.channel(next(iter(form.weights)))
            return code.op(f"shl {i32} {channel}, {code.constant(i32, self.fraction_bits)}")
        terms = list(self.terms(form))
        total = terms.pop(0) if self.spare else self._start(form.bias)
        for term in terms:
            total = code.op(f"add {i32} {total}, {term}")
        return total

    def _start(self, bias: Weight) -> str:
        """What is added to the sum of products: the bias, and half a level."""
        scaled = {u: w * 255 for u, w in bias.items()}
        start, half = self.factor(scaled), 1 << self.fraction_bits >> 1
        if isinstance(start, int):
            return self.code.constant(self.i32, (start + half) << self.rise)
        code = self.body.uniform
        risen = code.op(f"shl i32 {code.op(f'add i32 {start}, {half}')}, {self.rise}")
        return code.splat(self.i32, risen)

    def _has_spare_half(self) -> bool:
        """Whether alpha takes no part in the sums, and nothing but half a level is added to them. Then a
        constant stands where alpha would be: times its weight it is half a level, and adding it costs
        nothing."""
        summed = [f for c, f in enumerate(self.forms) if self._kept_from(f, c) is None]
        pixels = {(a.source, a.dx, a.dy) for f in summed for a in f.weights}
        if len(pixels) != 1 or not self.are_words(next(iter(pixels))[0]):
            return False
        taken = any(a.channel == ALPHA or f.passes_through for f in summed for a in f.weights)
        return not taken and not any(any(f.bias.values()) for f in summed)
