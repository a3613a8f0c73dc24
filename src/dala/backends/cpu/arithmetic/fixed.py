"""Averages of levels in 16-bit fixed point: a blur on u8 images at twice the speed of f32.

A value is a level (0..255) with 8 fraction bits, so all 16 bits are used. Taps of one weight go in pairs:
their mean (one instruction, rounded up) times twice the weight. Weights have 16 fraction bits and the
product's upper half is kept: one instruction. Sums saturate, so nothing wraps. Channels stay interleaved as
they lie in memory: every element is treated alike.

Bytes are read as 16-bit words, each 256 · odd byte + even byte. The even bytes are moved up by 8; the odd
ones are freed of the even ones by a mask, so that a level is weighed alike wherever it lies: pixels
interleaved or in planes give the same result. Of a wide window (more than NARROW taps), the words are
summed up as they are, because sums are linear: what the even bytes added is known at the end and taken off.

A single channel goes by pairs of columns: its words are an even and an odd column, and the two are buffered
apart. A tap to the side is then a whole vector of one or the other, and most are read for both.

The error, in units of 2⁻⁸ levels, of ``p`` products of ``n`` taps. Each product kept loses less than 1,
and p // 2 is given back: (p + 1) / 2. Each weight is off by at most 2⁻¹⁷ (a weight of 1 by 2⁻¹⁶), so p
products by (p + 1) / 2. Means are off by ½ times their weights, so by ½. Taking off the even bytes cuts off
less than 1, and adds 1/256 of their own error. The weights' sum in f32 is off by (n + 1) · 2⁻²⁴ of its
value, (n + 1) / 256. Together less than p + 3 + (p + n + 4) / 256: with the largest window (MAX_TAPS,
MAX_PRODUCTS) 54.6 units or 0.21 levels for a pass, and no more than two passes follow each other: 0.43 < ½,
so the result is never more than one level from the exact one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple

from dala.backends.cpu.arithmetic.base import CpuArithmetic, Subject, Values
from dala.backends.cpu.arithmetic.taps import tap_addresses, weight_table
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Code, Type, splat
from dala.backends.cpu.schedule.sweep import Form, RowBody
from dala.ir.dtypes import F32, S32, U16
from dala.ir.graph import Access, Node
from dala.ir.ops import split_average
from dala.ir.patterns import is_plain_average, on_levels
from dala.plan.fuse import Body

MAX_TAPS = 101
MAX_PRODUCTS = 51  # taps of one weight go in pairs
MAX_PASSES = 2
FRACTION_BITS = 8  # of a buffered level
NARROW = 16  # taps of an average that takes the bytes of a pixel apart for each of them
SPELLED_OUT = (
    20  # products of one kind, times parts; more of them are a loop, which compiles faster
)
VECTORS = (
    4  # that go through such a loop together: addresses and weights are read once for all of them
)


class Product(NamedTuple):
    """One tap or two, and the weight each of them has."""

    taps: tuple[Access, ...]
    weight: Node

    @property
    def kind(self) -> tuple[int, int]:
        return len(self.taps), self.taps[0].source


@dataclass(frozen=True)
class FixedArithmetic(CpuArithmetic):
    """Stages that only average levels, on the way to a u8 image."""

    def match(self, subject: Subject) -> dict[int, Values]:
        program = subject.program
        if not program.has_one_size:
            return {}
        averages = {
            number
            for number, stage in enumerate(program.stages)
            if is_plain_average(stage.body) and _fits_16_bits(stage.body[0])
        }
        found = on_levels(program, subject.inputs, averages, MAX_PASSES)
        return {number: program.stages[number].body for number in found}

    def form(self, body: Body, bytes_wanted: bool) -> Form:
        return "u8" if body.levels else "u16"

    def suits_planes(self, body: Body) -> bool:
        return is_narrow(body.buffered)

    def find_pairs(self, bodies: Sequence[Body], planar: frozenset[int]) -> set[int]:
        """The averages of single channels that are computed by pairs of columns: all of them, or none."""
        single = {
            n
            for n, b in enumerate(bodies)
            if b.arithmetic == self and (n in planar or b.channels == 1)
        }
        return single if all(is_narrow(bodies[n].roots) for n in single) else set()

    def lanes(self, body: BodyContext) -> int:
        if body.body.pairs:
            return body.owner.vector_bytes
        body.vectors = _vectors_at_once(body.body, body.channels)
        # of grey pixels, twice as many fit into 16-bit lanes
        return body.owner.lanes * body.vectors * (2 if body.channels == 1 else 1)

    def write(self, body: BodyContext) -> None:
        products = _find_products(average_of(body.body.roots[0]))  # the channels are all alike
        _keep(body, _totals(body, products))


FIXED = FixedArithmetic("fixed", own_body=True, relative_cost=0.5, alike=True)


def average_of(node: Node) -> Node:
    """The average under what storing or viewing a u8 image puts around it."""
    while node.op != "average":
        node = node.args[0]
    return node


def is_narrow(roots: Sequence[Node]) -> bool:
    """Whether an average has few taps."""
    return len(average_of(roots[0]).args) <= 2 * NARROW


def _fits_16_bits(average: Node) -> bool:
    """Whether the error is within what is proved above."""
    values, weights = split_average(average.args)
    taps = [v.attr for v in values if isinstance(v.attr, Access)]
    alike = Counter((id(w), t.source) for w, t in zip(weights, taps, strict=True))
    products = sum(-(-count // 2) for count in alike.values())
    return len(values) <= MAX_TAPS and products <= MAX_PRODUCTS


def _vectors_at_once(body: RowBody, channels: int) -> int:
    """How many vectors of pixels the body computes in one round."""
    kinds = Counter(p.kind for p in _find_products(average_of(body.roots[0])))
    return VECTORS if _is_loop(max(kinds.values()), channels) else 1


def _is_loop(products: int, channels: int) -> bool:
    return products * (2 if channels == 4 else 1) > SPELLED_OUT


def _totals(body: BodyContext, products: Sequence[Product]) -> list[str]:
    """The sums of products, with their fraction bits, for every part."""
    factors = _factor_table(body, products)
    sums: dict[bool, list[str]] = {}  # of what is read as bytes, and of what is buffered in 16 bits
    first = 0
    for (_, source), group in groupby(products, lambda p: p.kind):
        alike = list(group)
        from_bytes = body.form_of(source) == "u8"
        sums.setdefault(from_bytes, ["zeroinitializer"] * _parts(body) * body.vectors)
        start = body.uniform.op(f"getelementptr {_vector(body)}, ptr {factors}, i64 {first}")
        sums[from_bytes] = _add_products(body, alike, start, sums[from_bytes])
        first += len(alike)
    totals: list[str] = []
    rounding = (
        0 if _keeps_fraction(body) else 1 << (FRACTION_BITS - 1)
    )  # once, with one of the sums
    for from_bytes, parts in sums.items():
        count = sum((body.form_of(p.kind[1]) == "u8") == from_bytes for p in products)
        bias = count // 2  # what cutting off the lower halves lost
        in_words = from_bytes and _parts(body) == 2 and not _is_exact(body)
        if not in_words:
            bias, rounding = bias + rounding, 0
        parts = [_saturating(body, "uadd", part, splat(bias)) for part in parts]
        if in_words:  # take the even bytes off
            for odd in range(1, len(parts), 2):
                even = body.lane.op(f"lshr {_vector(body)} {parts[odd - 1]}, {splat(8)}")
                parts[odd] = _saturating(body, "usub", parts[odd], even)
        joined = [_saturating(body, "uadd", a, b) for a, b in zip(totals, parts, strict=False)]
        totals = joined or parts
    if rounding:
        totals = [_saturating(body, "uadd", total, splat(rounding)) for total in totals]
    return totals


def _find_products(average: Node) -> list[Product]:
    """The taps in pairs of one weight and source; products of one kind next to each other, pairs first."""
    values, weights = split_average(average.args)
    groups: dict[tuple[int, int], list[tuple[Access, Node]]] = {}
    for value, weight in zip(values, weights, strict=True):
        assert isinstance(value.attr, Access)
        groups.setdefault((id(weight), value.attr.source), []).append((value.attr, weight))
    products = [
        Product(tuple(tap for tap, _ in taps[start : start + 2]), taps[0][1])
        for taps in groups.values()
        for start in range(0, len(taps), 2)
    ]
    return sorted(products, key=lambda p: (-p.kind[0], p.kind[1]))


def _add_products(
    body: BodyContext, products: Sequence[Product], factors: str, sums: list[str]
) -> list[str]:
    """Products of one kind added to the sums of their parts."""
    vector, (each, source) = _vector(body), products[0].kind
    if body.body.pairs or not _is_loop(len(products), body.channels):
        for number, product in enumerate(products):
            address = body.uniform.op(f"getelementptr {vector}, ptr {factors}, i64 {number}")
            factor = body.row.op(f"load {vector}, ptr {address}, align 64")
            loaded = [_load_tap(body, tap) for tap in product.taps]
            sums = _add_product(body, body.lane, source, factor, sums, loaded)
        return sums
    addresses = tap_addresses(body, [tap for p in products for tap in p.taps])
    offsets = [body.offset_in_row(source, plane) for plane in range(_planes(body, source))]

    def add(code: Code, index: str, sums: list[str]) -> list[str]:
        factor_address = code.op(f"getelementptr {vector}, ptr {factors}, i64 {index}")
        factor = code.op(f"load {vector}, ptr {factor_address}, align 64")
        rows = []
        for k in range(each):
            slot = code.op(f"getelementptr [{each} x ptr], ptr {addresses}, i64 {index}, i64 {k}")
            rows.append(code.op(f"load ptr, ptr {slot}, align 8"))

        def address(row: str, plane: int) -> str:
            return code.op(f"getelementptr i8, ptr {row}, i64 {offsets[plane]}")

        loaded = [_load_parts(body, code, source, partial(address, row)) for row in rows]
        return _add_product(body, code, source, factor, sums, loaded)

    return body.lane.repeat(len(products), 1, [(vector, s) for s in sums], add)


def _add_product(
    body: BodyContext,
    code: Code,
    source: int,
    factor: str,
    sums: Sequence[str],
    taps: list[list[str]],
) -> list[str]:
    """One tap, or the mean of two, times its weight, for every part."""
    vector = _vector(body)
    grey_bytes = body.form_of(source) == "u8" and _parts(body) == 1
    results = []
    for total, *values in zip(sums, *taps, strict=True):
        if grey_bytes:  # whole levels so far
            both = code.op(f"add {vector} {values[0]}, {values[-1]}")  # one tap twice, or two
            mean = code.op(f"shl {vector} {both}, {splat(FRACTION_BITS - 1)}")
        else:
            mean = values[0] if len(values) == 1 else _mean(body, code, *values)
        term = isa.multiply_high(code, 2 * _lanes(body), mean, factor)
        fresh = total == "zeroinitializer"
        results.append(term if fresh else _saturating(body, "uadd", total, term, code))
    return results


def _load_tap(body: BodyContext, tap: Access) -> list[str]:
    """The parts of one tap; to the right of the pixel they are cut out of two whole vectors.

    A load that crosses cache lines, as nearly all do that are moved sideways, takes two turns; with half of
    the taps made by shuffles instead, loads and arithmetic take about the same time. (In pairs, most loads
    are for an even column of one tap and an odd one of another: half as many.)
    """
    if body.form_of(tap.source) != "u16" or body.vectors > 1:
        return _load_parts(body, body.lane, tap.source, partial(body.address_of, tap))
    code, vector, lanes = body.lane, _vector(body), _lanes(body)
    parts = []
    for part in range(_parts(body)):
        if body.body.pairs:  # a neighbour of an even column is an odd one
            plane, first = (part + tap.dx) & 1, (part + tap.dx) >> 1
        else:
            plane, first = part, tap.dx * lanes // body.lanes
        address = body.address_of(tap._replace(dx=0), plane)
        if body.body.pairs or not 0 < first < lanes:
            parts.append(code.op(f"load {vector}, ptr {code.moved(address, 2 * first)}, align 2"))
            continue
        here = code.op(f"load {vector}, ptr {address}, align 2")
        after = code.op(f"load {vector}, ptr {code.moved(address, 2 * lanes)}, align 2")
        parts.append(code.shuffle(vector, here, range(first, first + lanes), after))
    return parts


def _load_parts(
    body: BodyContext, code: Code, source: int, address: Callable[[int], str]
) -> list[str]:
    """The pixels at one address: with 8 fraction bits; grey bytes, as they are; RGBA bytes, the even ones
    with 8 fraction bits, and the whole words."""
    vector, lanes = _vector(body), _lanes(body)
    parts = []
    for number in range(body.vectors):
        here = [
            _moved(body, code, address(p), source, number) for p in range(_planes(body, source))
        ]
        if body.form_of(source) == "u16":
            parts += [code.op(f"load {vector}, ptr {p}, align 2") for p in here]
        elif _parts(body) == 1:
            small = code.op(f"load <{lanes} x i8>, ptr {here[0]}, align 1")
            parts.append(code.op(f"zext <{lanes} x i8> {small} to {vector}"))
        else:
            words = code.op(f"load {vector}, ptr {here[0]}, align 1")
            odd = code.op(f"and {vector} {words}, {splat(-256)}") if _is_exact(body) else words
            parts += [code.op(f"shl {vector} {words}, {splat(8)}"), odd]
    return parts


def _moved(body: BodyContext, code: Code, address: str, source: int, number: int) -> str:
    """The address for a following vector of the same round."""
    step = number * body.lanes // body.vectors * body.rows_of(source)[3]
    return code.op(f"getelementptr i8, ptr {address}, i64 {step}") if step else address


def _keep(body: BodyContext, totals: list[str]) -> None:
    ring, code, parts = body.body.ring, body.lane, _parts(body)
    vectors = [totals[start : start + parts] for start in range(0, len(totals), parts)]
    if _keeps_fraction(body):
        for plane in range(parts):
            values = [f"{_vector(body)} {v[plane]}" for v in vectors]
            _store(code, body.own_address(plane), values, 2 * _lanes(body))
        return
    levels = [_levels(body, v) for v in vectors]
    size = _lanes(body) * parts
    if ring is not None:
        _store(code, body.own_address(0), levels, size)
    for store in body.body.stores:
        _store(code, body.store_address(store.write, body.channels), levels, size)


def _store(code: Code, address: str, values: Sequence[str], size: int) -> None:
    for number, value in enumerate(values):
        target = (
            code.op(f"getelementptr i8, ptr {address}, i64 {number * size}") if number else address
        )
        code.line(f"store {value}, ptr {target}, align 1")


def _levels(body: BodyContext, totals: list[str]) -> str:
    """The totals without their fraction bits, as they lie in memory."""
    code, vector, lanes = body.lane, _vector(body), _lanes(body)
    even = code.op(f"lshr {vector} {totals[0]}, {splat(8)}")
    if len(totals) == 1:
        return f"<{lanes} x i8> " + code.op(f"trunc {vector} {even} to <{lanes} x i8>")
    odd = code.op(f"and {vector} {totals[1]}, {splat(-256)}")
    return f"{vector} " + code.op(f"or {vector} {even}, {odd}")


def _parts(body: BodyContext) -> int:
    """RGBA is split into (r, b) and (g, a), pairs into even and odd columns: the lower and the upper byte
    of every 16 bits."""
    return 2 if body.channels == 4 or body.body.pairs else 1


def _keeps_fraction(body: BodyContext) -> bool:
    """Whether what is buffered keeps its fraction bits."""
    return body.body.ring is not None and body.body.ring.form == "u16"


def _is_exact(body: BodyContext) -> bool:
    """Whether the upper byte of 16 bits is freed of the lower one at every tap."""
    return is_narrow(body.body.roots)


def _planes(body: BodyContext, source: int) -> int:
    return 1 if body.form_of(source) == "u8" else _parts(body)


def _lanes(body: BodyContext) -> int:
    return body.lanes * body.channels // _parts(body) // body.vectors


def _vector(body: BodyContext) -> str:
    return f"<{_lanes(body)} x i16>"


def _factor_table(body: BodyContext, products: Sequence[Product]) -> str:
    """Where the weights of the products are: 16 fraction bits, repeated over the lanes."""
    seconds = [p.weight for p in products if len(p.taps) == 2]  # counted in the sum alone
    weights = weight_table(body, [*(p.weight for p in products), *seconds])
    fill = partial(_fill_factors, weights, len(seconds), len(products), _lanes(body))
    key = ("factors", weights, _lanes(body), len(seconds))
    return body.owner.table(key, 2 * _lanes(body) * len(products), fill)


def _fill_factors(weights: str, pairs: int, count: int, lanes: int, code: Code, start: str) -> None:
    f32, vector = Type(F32), f"<{lanes} x i16>"

    def scale(first: int, scale: float) -> Callable[[Code, str, list[str]], list[str]]:
        def entry(inner: Code, index: str, _: list[str]) -> list[str]:
            number = inner.op(f"add i64 {index}, {first}")
            address = inner.op(f"getelementptr float, ptr {weights}, i64 {number}")
            weight = inner.op(f"load float, ptr {address}, align 4")
            scaled = inner.op(f"fmul float {weight}, {inner.constant(f32, scale)}")
            near = inner.intrinsic("roundeven", f32, [scaled])
            whole = inner.call(Type(S32), "llvm.fptoui.sat.i32.f32", f32, [near])
            over = inner.op(f"icmp ugt i32 {whole}, 65535")
            fitting = inner.op(f"select i1 {over}, i32 65535, i32 {whole}")
            small = inner.op(f"trunc i32 {fitting} to i16")
            spread = inner.splat(Type(U16, lanes), small)
            target = inner.op(f"getelementptr {vector}, ptr {start}, i64 {number}")
            inner.line(f"store {vector} {spread}, ptr {target}, align 2")
            return []

        return entry

    for first, size, factor in ((0, pairs, 2 * 65536.0), (pairs, count - pairs, 65536.0)):
        if size:
            code.repeat(size, 1, [], scale(first, factor))


def _mean(body: BodyContext, code: Code, a: str, b: str) -> str:
    """(a + b + 1) / 2 without the carry; LLVM knows that machines have an instruction for it."""
    vector = _vector(body)
    either = code.op(f"or {vector} {a}, {b}")
    differing = code.op(f"xor {vector} {a}, {b}")
    half = code.op(f"lshr {vector} {differing}, {splat(1)}")
    return code.op(f"sub {vector} {either}, {half}")


def _saturating(body: BodyContext, op: str, a: str, b: str, code: Code | None = None) -> str:
    vector, name = _vector(body), f"llvm.{op}.sat.v{_lanes(body)}i16"
    return (code or body.lane).call(vector, name, vector, [a, b])
