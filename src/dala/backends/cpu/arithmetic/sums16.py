"""Weighted sums of interleaved bytes in 16 bits, whichever channels they are of.

A vector of bytes becomes two of 16-bit numbers, its halves. On any machine those are the even and the odd
bytes: the lower and the upper parts of 16-bit words. AVX2 and AVX-512 have instructions that fit better:
two taps are zipped, each pair of bytes is weighed and added in one instruction, and the halves are packed
and clamped in another. Both give the same numbers, if weights are signed bytes and no sum leaves 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Type, splat
from dala.ir.dtypes import U16
from dala.ir.graph import Access

Weights = Mapping[Access, int]


class Sums16:
    """With the even and the odd bytes as halves: for any machine."""

    def __init__(self, body: BodyContext, taps: Sequence[Access]) -> None:
        self.body, self.code, self.taps = body, body.lane, taps
        self.size = body.owner.vector_bytes
        self.bytes, self.lanes = f"<{self.size} x i8>", self.size // 2
        self.vector = f"<{self.lanes} x i16>"

    def load(self, tap: Access) -> str:
        """The bytes of a tap."""
        return self.code.op(f"load {self.bytes}, ptr {self.body.address_of(tap)}, align 1")

    def sum(self, weights: Weights) -> list[str]:
        """Levels by their weights; those of one weight are added before they are multiplied."""
        groups: dict[int, list[Access]] = {}
        for tap, weight in weights.items():
            groups.setdefault(weight, []).append(tap)
        totals = []
        for half in range(2):
            total = ""
            for weight, taps in groups.items():
                term = self._half(taps[0], half)
                for tap in taps[1:]:
                    term = self.op("add", term, self._half(tap, half))
                term = self.op("mul", term, splat(weight)) if weight != 1 else term
                total = self.op("add", total, term) if total else term
            totals.append(total)
        return totals

    def scaled_sum(self, weights: Weights, factor: str) -> list[str]:
        """Such a sum times a factor that is the same everywhere (an i16)."""
        return [self.op("mul", half, self.spread(factor)) for half in self.sum(weights)]

    def join(self, halves: Sequence[str]) -> str:
        """The bytes again, clamped to 0..255."""
        low = [self.call("llvm.smax", h, splat(0)) for h in halves]
        even, odd = (self.call("llvm.smin", h, splat(255)) for h in low)
        words = self.op("or", even, self.op("shl", odd, splat(8)))
        return self.code.op(f"bitcast {self.vector} {words} to {self.bytes}")

    def multiply(self, a: str, b: str) -> str:
        """a · b / 2¹⁵, rounded."""
        return isa.multiply_rounded(self.code, self.size, a, b)

    def op(self, op: str, a: str, b: str) -> str:
        return self.code.op(f"{op} {self.vector} {a}, {b}")

    def call(self, name: str, a: str, b: str) -> str:
        """An intrinsic of LLVM that exists for every vector."""
        return self.code.call(self.vector, f"{name}.v{self.lanes}i16", self.vector, [a, b])

    def spread(self, number: str) -> str:
        """A uniform i16 on all lanes."""
        return self.body.uniform.splat(Type(U16, self.lanes), number)

    def _half(self, tap: Access, half: int) -> str:
        words = self.code.op(f"bitcast {self.bytes} {self.load(tap)} to {self.vector}")
        return self.op("lshr", words, splat(8)) if half else self.op("and", words, splat(255))


class ZippedSums16(Sums16):
    """The first and the second eight of every sixteen bytes, as AVX2 and AVX-512 take them apart."""

    def sum(self, weights: Weights) -> list[str]:
        return self._sum(weights, _pair)

    def scaled_sum(self, weights: Weights, factor: str) -> list[str]:
        code = self.body.uniform

        def pair(low: int, high: int) -> str:
            first = code.op(f"and i16 {code.op(f'mul i16 {factor}, {low}')}, 255")
            second = code.op(f"mul i16 {factor}, {high << 8}")
            return self.spread(code.op(f"or i16 {first}, {second}"))

        return self._sum(weights, pair)

    def _sum(self, weights: Weights, pair: Callable[[int, int], str]) -> list[str]:
        totals = ["", ""]
        for first in range(0, len(self.taps), 2):
            both = self.taps[first : first + 2]
            low, high = (*(weights.get(tap, 0) for tap in both), 0)[:2]
            if not low and not high:
                continue
            factors = pair(low, high)
            for half in range(2):
                zipped = self._zip(self.load(both[0]), self.load(both[-1]), half)
                term = self._weigh(zipped, factors)
                totals[half] = self.op("add", totals[half], term) if totals[half] else term
        return totals

    def weigh(self, zipped: str, low: int, high: int) -> str:
        """The sums of pairs of bytes, each times its weight."""
        return self._weigh(zipped, _pair(low, high))

    def _weigh(self, zipped: str, factors: str) -> str:
        weights = self.code.op(f"bitcast {self.vector} {factors} to {self.bytes}")
        return isa.weigh_bytes(self.code, self.size, zipped, weights)

    def _zip(self, a: str, b: str, half: int) -> str:
        size = 2 * self.lanes
        order = [block + 8 * half + i for block in range(0, size, 16) for i in range(8)]
        return self.code.shuffle(self.bytes, a, [n for i in order for n in (i, i + size)], b)

    def join(self, halves: Sequence[str]) -> str:
        return isa.narrow_to_bytes(self.code, self.size, halves)


def choose_sums16(body: BodyContext, taps: Sequence[Access]) -> Sums16:
    """The halves that suit the machine."""
    zipped = isa.has(body.lane, "weigh_bytes", body.owner.vector_bytes)
    return (ZippedSums16 if zipped else Sums16)(body, taps)


def _pair(low: int, high: int) -> str:
    """Two signed bytes as one number."""
    return splat((high << 8) + (low & 255))
