"""Dot products of planes: as many pixels at once as a vector has bytes.

Where what is weighed lies in planes, and goes to planes, no pixel has to be taken apart. Bytes become
16-bit numbers, two planes are zipped, a pair is weighed and added in one instruction, and two packing
instructions clamp what they narrow. Unpacking and packing work within 16 bytes, so packing undoes the order
that unpacking made. The sums are those of dot.py, to the last bit. Needs AVX2 or AVX-512.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.pixels import repeated
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Type, splat
from dala.ir.dtypes import U8
from dala.ir.graph import Access, accesses

Levels = tuple[Access, ...]  # levels of one plane that have one weight: they are added first
Pair = tuple[Levels, ...]  # two of them, or one
Weights = Mapping[Access, int]


def works_on_planes(body: BodyContext, weighed: Iterable[Weights]) -> bool:
    """Whether a body of dot products is computed so: it reads planes, or buffers some."""
    row, owner = body.body, body.owner
    if not isa.has(body.lane, "narrow_to_words", owner.vector_bytes):
        return False
    found = list(accesses(row.roots))
    planar = row.ring is not None and row.ring.planar
    if not planar and not any(body.is_planar(a.source) for a in found):
        return False
    several = row.ring is not None and not planar and row.ring.channels > 1
    if several or any(len(s.values) > 2 for s in row.stores):
        return False
    if {body.step_to(a.source) for a in found} == {1}:
        return all(_in_pairs(levels) for w in weighed for levels in _same_weight(w)) and all(
            _is_plane(body, a) for a in found
        )
    return all(_is_plane(body, a) or _is_pair(body, a) for a in found)


def _is_plane(body: BodyContext, access: Access) -> bool:
    return body.is_planar(access.source) or body.channels_of(access.source) == 1


def _is_pair(body: BodyContext, access: Access) -> bool:
    """Whether it is one of two channels of an image of half the size."""
    return body.channels_of(access.source) == 2 and body.step_to(access.source) == -1


def _same_weight(weights: Weights) -> dict[Levels, int]:
    """The levels of each plane that have one weight, and that weight."""
    groups: dict[tuple[int, int, int], list[Access]] = {}
    for access, weight in weights.items():
        if weight:
            groups.setdefault((access.source, access.channel, weight), []).append(access)
    return {tuple(sorted(taps)): weight for (_, _, weight), taps in groups.items()}


def _in_pairs(levels: Levels) -> bool:
    """Whether of every pair of columns of an image of twice the size both are read."""
    return {a._replace(dx=a.dx ^ 1) for a in levels} == set(levels)


class WeighedSum(NamedTuple):
    """Levels times weights, added to ``start``; without its ``fraction_bits`` it is a level."""

    weights: Weights
    start: int
    fraction_bits: int


class PlaneDots:
    """Writes dot products of one body: vectors of bytes."""

    def __init__(self, body: BodyContext) -> None:
        self.body, self.code = body, body.lane
        self.size = body.owner.vector_bytes
        self.bytes = f"<{self.size} x i8>"
        self.i16, self.i32 = f"<{self.size // 2} x i16>", f"<{self.size // 4} x i32>"
        self.doubled = any(body.step_to(a.source) == 1 for a in accesses(body.body.roots))
        self.pairs: dict[Pair, list[str]] = {}  # as 16-bit numbers in turn

    def write(self, sums: Sequence[WeighedSum]) -> list[str]:
        """The level of each sum; short ones first, so that others can use their pairs."""
        terms = [_same_weight(s.weights) for s in sums]
        results = [""] * len(sums)
        for number in sorted(range(len(sums)), key=lambda n: len(terms[n])):
            start, fraction_bits = sums[number].start, sums[number].fraction_bits
            results[number] = self._sum(terms[number], start, fraction_bits)
        return results

    def level(self, access: Access) -> str:
        """One plane as it is."""
        assert not self.doubled, "of images of twice the size, whole blocks are read"
        body, code, step = self.body, self.code, self.body.step_to(access.source)
        planar, channels = body.is_planar(access.source), body.channels_of(access.source)
        address = body.address_of(access, access.channel if planar else 0)
        if not step:
            return code.op(f"load {self.bytes}, ptr {address}, align 1")
        if _is_pair(body, access) and not planar:
            both = code.op(f"load {self.bytes}, ptr {address}, align 1")
            order = [i - i % channels + access.channel for i in range(self.size)]
            return code.shuffle(self.bytes, both, order)
        part = Type(U8, self.size >> -step)
        return repeated(code, code.op(f"load {part}, ptr {address}, align 1"), part, 1 << -step)

    def _sum(self, terms: Mapping[Levels, int], start: int, fraction_bits: int) -> str:
        totals = [splat(start, "i32")] * 4
        for pair, low, high in self._cover(terms):
            weights = ", ".join([f"i16 {low}, i16 {high}"] * (self.size // 4))
            for quarter, zipped in enumerate(self._zipped(pair)):
                product = isa.weigh_words(
                    self.code, self.size, (self.i16, zipped), (self.i16, f"<{weights}>")
                )
                totals[quarter] = self.code.op(f"add {self.i32} {totals[quarter]}, {product}")
        shift = splat(fraction_bits, "i32")
        levels = [self.code.op(f"ashr {self.i32} {total}, {shift}") for total in totals]
        halves = [isa.narrow_to_words(self.code, self.size, levels[k : k + 2]) for k in (0, 2)]
        packed = isa.narrow_to_bytes(self.code, self.size, halves)
        if not self.doubled:
            return packed
        eights = [*range(0, self.size, isa.BLOCK), *range(isa.BLOCK // 2, self.size, isa.BLOCK)]
        return self.code.shuffle(self.bytes, packed, [e + i for e in eights for i in range(8)])

    def _cover(self, terms: Mapping[Levels, int]) -> Iterator[tuple[Pair, int, int]]:
        """Pairs that make up a sum, with their weights; those that are there already first."""
        rest = dict(terms)
        for pair in list(self.pairs):
            if rest.keys() & set(pair) and terms.keys() >= set(pair):
                low, high = (rest.pop(levels, 0) for levels in (*pair, ())[:2])
                yield pair, low, high
        left = list(rest)
        for first in range(0, len(left), 2):
            pair = tuple(left[first : first + 2])
            low, high = (rest.get(levels, 0) for levels in (*pair, ())[:2])
            yield pair, low, high

    def _zipped(self, pair: Pair) -> list[str]:
        """Levels of two planes in turn, in 16 bits; a quarter of the pixels in each vector."""
        if pair not in self.pairs:
            first = self._halves(pair[0])
            second = self._halves(pair[1]) if len(pair) > 1 else ["zeroinitializer"] * 2
            self.pairs[pair] = [
                self._zip(self.i16, a, b, isa.BLOCK // 2, half)
                for a, b in zip(first, second, strict=True)
                for half in range(2)
            ]
        return self.pairs[pair]

    def _halves(self, levels: Levels) -> list[str]:
        """The sums of levels in 16 bits, a half of the pixels in each vector."""
        totals = ["", ""]
        for access in levels:
            if not self.doubled:
                found = self.level(access)
                halves = [self._widened(found, half) for half in range(2)]
            elif access.dx & 1:
                continue  # it is added to its neighbour
            else:
                halves = self._column_sums(access)
            for k, half in enumerate(halves):
                totals[k] = (
                    self.code.op(f"add {self.i16} {totals[k]}, {half}") if totals[k] else half
                )
        return totals

    def _widened(self, found: str, half: int) -> str:
        """Bytes as 16-bit numbers: the first or the second eight of every sixteen."""
        zipped = self._zip(self.bytes, found, "zeroinitializer", isa.BLOCK, half)
        return self.code.op(f"bitcast {self.bytes} {zipped} to {self.i16}")

    def _column_sums(self, access: Access) -> list[str]:
        """Of pairs of columns, the first and the second half of them."""
        plane = access.channel if self.body.is_planar(access.source) else 0
        address, sums = self.body.address_of(access, plane), []
        for half in range(2):
            here = self.code.moved(address, half * self.size)
            found = self.code.op(f"load {self.bytes}, ptr {here}, align 1")
            sums.append(isa.weigh_bytes(self.code, self.size, found, splat(1, "i8")))
        return sums

    def _zip(self, vector: str, a: str, b: str, block: int, half: int) -> str:
        """Elements of two vectors in turn: the first or the second half of every block."""
        lanes = self.size * block // isa.BLOCK
        firsts = [start + block // 2 * half for start in range(0, lanes, block)]
        order = [k for f in firsts for i in range(block // 2) for k in (f + i, f + i + lanes)]
        return self.code.shuffle(vector, a, order, b)
