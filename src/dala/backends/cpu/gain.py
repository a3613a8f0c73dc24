"""Levels plus a gain times differences of levels, in 16 bits: sharpening u8 images.

The gain is a run-time value within declared bounds, the same for all pixels: v = A + g · B, where A and B
add levels of one channel of one image with small whole weights.

B is moved up by ``q`` bits, as far as 16 bits allow, g is scaled by 2ˢ to 15 bits, and their product is
rounded to its upper 16 bits (one instruction): g · B with f = q + s - 15 binary places. To that A · 2ᶠ is
added, and the sum is rounded to a level and clamped. ``s`` follows from the gain, once per pass: small
gains have up to MAX_PLACES places.

The error, in units of 2⁻ᶠ levels: the scaled gain is off by at most ½, and |B| · 2^q < 2¹⁵, so the product
is off by less than ½, and by ½ more after rounding: less than 1. The bounds of the gain promise f ≥ 1
(``suits_gain``), so this is less than half a level; for a gain below 0.5 in ``sharpen``, less than 1/32. What
the reference rounds in f32 is below 0.01. Values less than one level apart round to levels at most one
apart. The sum saturates at 2¹⁵ · 2⁻ᶠ ≥ 256 levels (f ≤ 7), which is clamped to 255 anyway.

Every channel must be the same function of its own channel, but for those that pass through, such as alpha:
a constant mask chooses them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dala.backends.cpu.code import Type
from dala.backends.cpu.extrema import interleave
from dala.backends.cpu.lanes import LaneWriter
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Access, Node, RuntimeParam, accesses, make, walk

if TYPE_CHECKING:
    from dala.backends.cpu.body import BodyEmitter

MAX_PLACES = 7
Weights = dict[Access, float]
Terms = dict[Node | None, Weights]  # the loads that are multiplied by a uniform value; None: by 1


@dataclass(frozen=True, slots=True)
class Gain:
    """``plain`` + ``gain`` · ``gained``: sums of levels, whichever channel, with whole weights."""

    plain: Weights
    gained: Weights
    gain: Node

    @property
    def rise(self) -> int:
        """By how many bits the levels that are gained may be moved up."""
        return _room(self.gained)

    @property
    def most_places(self) -> int:
        return min(MAX_PLACES, _room(self.plain))


def _room(weights: Weights) -> int:
    """How many bits of 15 are left above the largest sum of levels."""
    up = sum(w for w in weights.values() if w > 0)
    down = -sum(w for w in weights.values() if w < 0)
    return 15 - int(255 * max(up, down)).bit_length()


def find_gain(values: Sequence[Node]) -> Gain | None:
    """What the channels are that do not pass through, if they all are one such function."""
    if any(a.channel != c for c, node in enumerate(values) for a in accesses([node])):
        return None
    functions = dict.fromkeys(n for n in interleave(values) if n.op != "load")
    if len(functions) != 1:
        return None
    terms = _find_terms(next(iter(functions)))
    if terms is None or len(terms) != 1 + (None in terms):
        return None
    (gain,) = [uniform for uniform in terms if uniform is not None]
    found = Gain(terms.get(None, {}), terms[gain], gain)
    whole = all(w.is_integer() for w in (*found.plain.values(), *found.gained.values()))
    return found if whole else None


def _find_terms(root: Node) -> Terms | None:
    """A function as a sum of loads, each times a constant and perhaps a uniform value."""
    uniform: set[int] = set()
    known: dict[int, Terms] = {}
    for node in walk([root]):
        if node.op in ("const", "param"):
            uniform.add(id(node))
            continue
        if node.op in ("add", "sub", "mul", "neg") and all(id(a) in uniform for a in node.args):
            uniform.add(id(node))
            continue
        args = [known.get(id(a)) for a in node.args]
        match node.op, args:
            case "load", _:
                assert isinstance(node.attr, Access)
                known[id(node)] = {None: {node.attr: 1.0}}
            case "add" | "sub", [dict() as a, dict() as b]:
                known[id(node)] = _plus(a, b, 1.0 if node.op == "add" else -1.0)
            case "neg", [dict() as a]:
                known[id(node)] = _plus({}, a, -1.0)
            case "mul", [dict() as a, None]:
                known[id(node)] = _times(a, node.args[1])
            case "mul", [None, dict() as a]:
                known[id(node)] = _times(a, node.args[0])
            case _:
                return None
    return known.get(id(root))


def _plus(a: Terms, b: Terms, sign: float) -> Terms:
    total = {uniform: dict(weights) for uniform, weights in a.items()}
    for uniform, weights in b.items():
        sums = total.setdefault(uniform, {})
        for access, weight in weights.items():
            sums[access] = sums.get(access, 0.0) + sign * weight
    return total


def _times(terms: Terms, factor: Node) -> Terms:
    if factor.op == "const":
        number = factor.attr
        assert isinstance(number, float)
        return {u: {a: w * number for a, w in weights.items()} for u, weights in terms.items()}
    return {factor if u is None else make("mul", u, factor): w for u, w in terms.items()}


class Bounds(NamedTuple):
    """Between which numbers a value lies."""

    low: float
    high: float


def _bounds(root: Node, params: Sequence[RuntimeParam]) -> Bounds:
    """Of a uniform value, from the bounds of the parameters."""
    known: dict[int, Bounds] = {}
    for node in walk([root]):
        args = [known[id(a)] for a in node.args]
        known[id(node)] = _bounds_of(node, args, params)
    return known[id(root)]


def _bounds_of(node: Node, args: list[Bounds], params: Sequence[RuntimeParam]) -> Bounds:
    match node.op:
        case "const":
            assert isinstance(node.attr, float)
            return Bounds(node.attr, node.attr)
        case "param":
            assert isinstance(node.attr, int)
            return Bounds(params[node.attr].low, params[node.attr].high)
        case "add":
            return Bounds(args[0].low + args[1].low, args[0].high + args[1].high)
        case "sub":
            return Bounds(args[0].low - args[1].high, args[0].high - args[1].low)
        case "neg":
            return Bounds(-args[0].high, -args[0].low)
    assert node.op == "mul"
    ends = [a * b for a in args[0] for b in args[1]]
    if any(math.isnan(end) for end in ends):  # nothing times something without bounds
        return Bounds(-math.inf, math.inf)
    return Bounds(min(ends), max(ends))


def suits_gain(values: Sequence[Node], params: Sequence[RuntimeParam]) -> bool:
    """Whether a stage may be computed so: the gain is bounded, and leaves a binary place."""
    found = find_gain(values)
    if found is None or found.rise < 0 or found.most_places < 1:
        return False
    low, high = _bounds(found.gain, params)
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    # a little more, because in f32 it is rounded
    exponent = math.frexp(max(abs(low), abs(high)) * (1 + 2**-14))[1] - 1
    return found.rise - 1 - exponent >= 1


def write_gain(body: BodyEmitter) -> None:
    """Compute all channels, then hold and store them."""
    row = body.body
    values = row.held if row.ring is not None else row.stores[0].values
    assert all(root.op == "level" for root in values), "a u8 image stores levels"
    pixels = _PixelWriter(body).write([root.args[0] for root in values])
    if row.ring is not None:
        body.lane.line(f"store {pixels}, ptr {body.own_place(0)}, align 1")
    for store in row.stores:
        place = body.store_place(store.write, body.channels)
        body.lane.line(f"store {pixels}, ptr {place}, align 1")


class _PixelWriter:
    """The function of a body on 16-bit lanes: RGBA as (r, b) and (g, a), grey as it is."""

    def __init__(self, body: BodyEmitter) -> None:
        self.body, self.code = body, body.lane
        self.parts = 2 if body.channels == 4 else 1
        self.lanes = body.lanes * body.channels // self.parts
        self.vector = f"<{self.lanes} x i16>"

    def write(self, values: Sequence[Node]) -> str:
        """The pixels as they lie in memory, with their type."""
        found, functions = find_gain(values), interleave(values)
        assert found is not None
        factors = self._factors(found)
        result = self._join([self._level(found, factors, part) for part in range(self.parts)])
        small = f"<{self.lanes * self.parts} x i8>"
        for passed in dict.fromkeys(n for n in functions if n.op == "load"):
            assert isinstance(passed.attr, Access)
            kept = self._load(passed.attr, small)
            chosen = [functions[i % len(values)] is passed for i in range(self.lanes * self.parts)]
            mask = ", ".join(f"i1 {str(c).lower()}" for c in chosen)
            result = self.code.op(
                f"select <{len(chosen)} x i1> <{mask}>, {small} {kept}, {small} {result}"
            )
        return f"{small} {result}"

    def _factors(self, found: Gain) -> tuple[str, str, str]:
        """The scaled gain, 2ᶠ and 2¹⁵⁻ᶠ on all lanes, where f is the number of binary places."""
        code, i32 = self.body.uniform, Type(S32)
        writer = LaneWriter(self.body, 0, code, self.body.row, self.code)
        writer.write([found.gain])
        gain = writer.names[id(found.gain)]
        bits = code.op(f"and i32 {code.op(f'bitcast float {gain} to i32')}, {0x7FFFFFFF}")
        # the exponent that it has once it is rounded to 15 bits
        exponent = code.op(f"lshr i32 {code.op(f'add i32 {bits}, 256')}, 23")
        wanted = code.op(f"sub i32 {found.rise - 1 + 127}, {exponent}")
        places = code.intrinsic("smin", i32, [wanted, str(found.most_places)])
        power = code.op(f"shl i32 {code.op(f'add i32 {places}, {15 - found.rise + 127}')}, 23")
        scaled = code.op(f"fmul float {gain}, {code.op(f'bitcast i32 {power} to float')}")
        near = code.intrinsic("roundeven", Type(F32), [scaled])
        whole = code.op(f"fptosi float {near} to i32")
        down = code.op(f"sub i32 15, {places}")
        factors = whole, code.op(f"shl i32 1, {places}"), code.op(f"shl i32 1, {down}")
        return self._spread(factors[0]), self._spread(factors[1]), self._spread(factors[2])

    def _spread(self, number: str) -> str:
        code = self.body.uniform
        small = code.op(f"trunc i32 {number} to i16")
        single = code.op(f"insertelement {self.vector} poison, i16 {small}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return code.op(f"shufflevector {self.vector} {single}, {self.vector} poison, {zeros}")

    def _level(self, found: Gain, factors: tuple[str, str, str], part: int) -> str:
        """One part of the result: whole numbers in 0..255."""
        gain, up, down = factors
        total = self._multiply(self._op("shl", self._sum(found.gained, part), found.rise), gain)
        if found.plain:
            plain = self.code.op(f"mul {self.vector} {self._sum(found.plain, part)}, {up}")
            total = self._call("sadd.sat", plain, total)
        level = self._multiply(total, down)
        return self._call("smin", self._call("smax", level, _splat(0)), _splat(255))

    def _sum(self, weights: Weights, part: int) -> str:
        """Levels by their weights; those of one weight are added before they are multiplied."""
        groups: dict[int, list[Access]] = {}
        for access, weight in weights.items():
            groups.setdefault(int(weight), []).append(access)
        total = ""
        for weight, taps in sorted(groups.items(), key=lambda group: -group[0]):
            term = self._tap(taps[0], part)
            for tap in taps[1:]:
                term = self.code.op(f"add {self.vector} {term}, {self._tap(tap, part)}")
            if abs(weight) != 1:
                term = self._op("mul", term, abs(weight))
            if not total and weight > 0:
                total = term
                continue
            sign = "add" if weight > 0 else "sub"
            total = self.code.op(f"{sign} {self.vector} {total or _splat(0)}, {term}")
        return total

    def _tap(self, tap: Access, part: int) -> str:
        if self.parts == 1:
            small = f"<{self.lanes} x i8>"
            return self.code.op(f"zext {small} {self._load(tap, small)} to {self.vector}")
        words = self._load(tap, self.vector)
        return self._op("lshr", words, 8) if part else self._op("and", words, 255)

    def _load(self, tap: Access, vector: str) -> str:
        return self.code.op(f"load {vector}, ptr {self.body.place_of(tap)}, align 1")

    def _join(self, levels: Sequence[str]) -> str:
        """The parts as bytes."""
        small = f"<{self.lanes * self.parts} x i8>"
        if self.parts == 1:
            return self.code.op(f"trunc {self.vector} {levels[0]} to {small}")
        odd = self._op("shl", levels[1], 8)
        words = self.code.op(f"or {self.vector} {levels[0]}, {odd}")
        return self.code.op(f"bitcast {self.vector} {words} to {small}")

    def _multiply(self, a: str, b: str) -> str:
        """a · b / 2¹⁵, rounded."""
        code, vector = self.code, self.vector
        if self.body.owner.x86 and self.lanes in _X86_MULTIPLY:
            name = f"llvm.x86.{_X86_MULTIPLY[self.lanes]}"
            code.names.declarations[name] = f"declare {vector} @{name}({vector}, {vector})"
            return code.op(f"call {vector} @{name}({vector} {a}, {vector} {b})")
        wide = f"<{self.lanes} x i32>"
        x, y = (code.op(f"sext {vector} {value} to {wide}") for value in (a, b))
        product = code.op(f"mul nsw {wide} {x}, {y}")
        half = code.op(f"add {wide} {product}, {_splat(1 << 14, 'i32')}")
        high = code.op(f"ashr {wide} {half}, {_splat(15, 'i32')}")
        return code.op(f"trunc {wide} {high} to {vector}")

    def _op(self, op: str, value: str, number: int) -> str:
        return self.code.op(f"{op} {self.vector} {value}, {_splat(number)}")

    def _call(self, name: str, a: str, b: str) -> str:
        vector, full = self.vector, f"llvm.{name}.v{self.lanes}i16"
        self.code.names.declarations[full] = f"declare {vector} @{full}({vector}, {vector})"
        return self.code.op(f"call {vector} @{full}({vector} {a}, {vector} {b})")


# the instruction of 16 bytes is younger than the machines that have no wider one
_X86_MULTIPLY = {32: "avx512.pmul.hr.sw.512", 16: "avx2.pmul.hr.sw"}


def _splat(value: int, element: str = "i16") -> str:
    return f"splat ({element} {value})"
