"""Levels of u8 images by weights that are the same for all pixels, added up in 32 bits.

Two channels lie in the halves of 32 bits, so that one instruction multiplies both by 16-bit weights and
adds the products. Two grey planes that are read at one offset are such a pair as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LaneWriter
from dala.backends.cpu.emit.pixels import every, repeated
from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.text import Type
from dala.ir.dtypes import F32, S32, U8
from dala.ir.graph import Access
from dala.ir.linear import LinearForm, Weight, constant_of, is_constant

Pixel = tuple[int, int, int]  # source, dx, dy
Factor = int | str  # a weight as a whole number: known now, or the name of an i32
ALPHA = 3
# which channels of a pixel lie in the lower and the upper half of 32 bits
Parts = tuple[tuple[int, ...], ...]
PARTS: dict[int, Parts] = {4: ((0, 2), (1, ALPHA)), 2: ((0, 1),), 1: ((0,),)}
PLANE_PARTS: dict[int, Parts] = {4: ((0, 1), (2, 3)), 3: ((0, 1), (2,)), 2: ((0, 1),), 1: ((0,),)}
SPARE, SPARE_WEIGHT = 2, 1 << 14  # a constant instead of alpha, and its weight


class Sums32:
    """Sums of products for the forms of one result.

    Weights are rounded to whole numbers of 1 / ``scale``; levels are moved up by ``rise`` bits. With
    ``spare``, nothing reads alpha, and SPARE times its weight is added to every sum instead.
    """

    rise = 0
    spare = False

    def __init__(self, body: BodyContext, forms: Sequence[LinearForm], scale: float) -> None:
        self.body, self.code = body, body.lane
        self.i32 = Type(S32, body.lanes)
        self.scale = scale
        self.paired = _pair_planes(body, forms)
        self.forms = [self._in_pairs(form) for form in forms]

    # -- numbers that are the same for all pixels --------------------------------------------------

    def factor(self, weight: Weight) -> Factor:
        """A weight times ``scale``, as a whole number."""
        if is_constant(weight):
            return round(constant_of(weight) * self.scale)
        code, f32 = self.body.uniform, Type(F32)
        writer = LaneWriter(self.body, 0, code, self.body.row, self.code)
        total = code.constant(f32, constant_of(weight))
        for uniform, factor in weight.items():
            if uniform is not None:
                writer.write([uniform])
                part = writer.names[id(uniform)]
                part = code.op(f"fmul float {part}, {code.constant(f32, factor)}")
                total = code.op(f"fadd float {total}, {part}")
        scaled = code.op(f"fmul float {total}, {code.constant(f32, self.scale)}")
        return code.op(f"fptosi float {code.intrinsic('roundeven', f32, [scaled])} to i32")

    # -- products ----------------------------------------------------------------------------------

    def terms(self, form: LinearForm) -> Iterator[str]:
        """Products to add up. Pixels with the same weights are added before they are weighed."""
        pixels: dict[Pixel, list[Factor]] = {}
        for access, weight in form.weights.items():
            pixel = (access.source, access.dx, access.dy)
            pixels.setdefault(pixel, [0] * 4)[access.channel] = self.factor(weight)
        alike: dict[tuple[int, tuple[Factor, ...]], list[Pixel]] = {}
        for pixel, weights in pixels.items():
            alike.setdefault((pixel[0], tuple(weights)), []).append(pixel)
        for (source, by_channel), group in alike.items():
            for part, channels in enumerate(self.parts_of(source)):
                low, high = (*(by_channel[c] for c in channels), 0)[:2]
                if self.spare and ALPHA in channels:
                    high = SPARE_WEIGHT
                if low or high:
                    yield self._multiply_pairs(self._sum_pixels(group, part), low, high)

    def _multiply_pairs(self, pairs: str, low: Factor, high: Factor) -> str:
        """The lower half of each 32 bits times ``low`` plus the upper half times ``high``."""
        code, i32, lanes = self.code, self.i32, self.body.lanes
        if isa.has(code, "weigh_words", 4 * lanes):
            i16 = f"<{lanes * 2} x i16>"
            words = (i16, code.op(f"bitcast {i32} {pairs} to {i16}"))
            return isa.weigh_words(code, 4 * lanes, words, (i16, self._weights(low, high, i16)))
        lower = code.op(f"and {i32} {pairs}, {code.constant(i32, 0xFFFF)}")
        upper = code.op(f"lshr {i32} {pairs}, {code.constant(i32, 16)}")
        a = code.op(f"mul {i32} {lower}, {self._spread(low)}")
        b = code.op(f"mul {i32} {upper}, {self._spread(high)}")
        return code.op(f"add {i32} {a}, {b}")

    def _weights(self, low: Factor, high: Factor, i16: str) -> str:
        """Two weights in turn, on all lanes."""
        if isinstance(low, int) and isinstance(high, int):
            return f"<{', '.join([f'i16 {low}, i16 {high}'] * self.body.lanes)}>"
        code = self.body.uniform
        upper = high << 16 if isinstance(high, int) else code.op(f"shl i32 {high}, 16")
        both = code.op(f"or i32 {code.op(f'and i32 {low}, 65535')}, {upper}")
        return code.op(f"bitcast {self.i32} {code.splat(self.i32, both)} to {i16}")

    def _spread(self, factor: Factor) -> str:
        if isinstance(factor, int):
            return self.code.constant(self.i32, factor)
        return self.body.uniform.splat(self.i32, factor)

    # -- levels ------------------------------------------------------------------------------------

    def _sum_pixels(self, pixels: Sequence[Pixel], part: int) -> str:
        """The levels of some pixels of one source, two channels to 32 bits."""
        step = self.body.step_to(pixels[0][0])
        t = Type(S32, self.body.lanes << max(step, 0) >> max(-step, 0))

        def total(group: Sequence[Pixel]) -> str:
            result = ""
            for source, dx, dy in group:
                found = self._load_part(Access(source, 0, dx, dy), part, t)
                result = self.code.op(f"add {t} {result}, {found}") if result else found
            return result

        if step == 0:
            return total(pixels)
        if step < 0:
            return repeated(self.code, total(pixels), t, 1 << -step)
        halves = []  # columns in pairs: the sum over rows is shared if both columns have the same rows
        for odd in (0, 1):
            group = sorted((s, dx - odd, dy) for s, dx, dy in pixels if dx & 1 == odd)
            if group:
                halves.append(every(self.code, total(group), t, 2, odd))
        if len(halves) == 1:
            return halves[0]
        return self.code.op(f"add {self.i32} {halves[0]}, {halves[1]}")

    def _load_part(self, access: Access, part: int, t: Type) -> str:
        """Two channels of pixels, moved up."""
        code = self.code
        if self.are_words(access.source):
            pixels = code.op(f"load {t}, ptr {self.body.address_of(access)}, align 1")
            by = self.rise - 8 * part
            if by:
                move = f"shl {t} {pixels}" if by > 0 else f"lshr {t} {pixels}"
                pixels = code.op(f"{move}, {code.constant(t, abs(by))}")
            pair = code.op(f"and {t} {pixels}, {code.constant(t, 0x00FF00FF << self.rise)}")
            if not self.spare or not part:
                return pair
            lower = code.op(f"and {t} {pair}, {code.constant(t, 0xFFFF)}")
            return code.op(f"or {t} {lower}, {code.constant(t, SPARE << 16)}")
        pairs = self._load_pairs(access, part, t)
        return code.op(f"shl {t} {pairs}, {code.constant(t, self.rise)}") if self.rise else pairs

    def _load_pairs(self, access: Access, part: int, t: Type) -> str:
        """Pixels of one or two channels, or those of one or two planes."""
        code, partner = self.code, self.paired.get(access.source)
        if partner is not None:
            return self._join(
                t,
                *(self._load_plane(access._replace(source=s), t) for s in (access.source, partner)),
            )
        if self.body.is_planar(access.source):
            planes = self.parts_of(access.source)[part]
            return self._join(t, *(self._load_plane(access, t, plane) for plane in planes))
        if self.body.channels_of(access.source) == 1:
            return self._load_plane(access, t)
        small, wide = Type(U8, t.lanes * 2), f"<{t.lanes * 2} x i16>"
        levels = code.op(f"load {small}, ptr {self.body.address_of(access)}, align 1")
        return code.op(f"bitcast {wide} {code.op(f'zext {small} {levels} to {wide}')} to {t}")

    def _join(self, t: Type, low: str, high: str | None = None) -> str:
        if high is None:
            return low
        moved = self.code.op(f"shl {t} {high}, {self.code.constant(t, 16)}")
        return self.code.op(f"or {t} {low}, {moved}")

    def _load_plane(self, access: Access, t: Type, plane: int = 0) -> str:
        small = Type(U8, t.lanes)
        levels = self.code.op(f"load {small}, ptr {self.body.address_of(access, plane)}, align 1")
        return self.code.op(f"zext {small} {levels} to {t}")

    def channel(self, access: Access) -> str:
        """One channel as it is, moved up."""
        code, i32 = self.code, self.i32
        pixel = (access.source, access.dx, access.dy)
        parts = self.parts_of(access.source)
        part = next(k for k, channels in enumerate(parts) if access.channel in channels)
        pair = self._sum_pixels([pixel], part)
        if parts[part][0] != access.channel:
            return code.op(f"lshr {i32} {pair}, {code.constant(i32, 16)}")
        return code.op(f"and {i32} {pair}, {code.constant(i32, 0xFFFF)}")

    def are_words(self, source: int) -> bool:
        """Whether the channels of a pixel are the bytes of 32 bits."""
        return self.channels_of(source) == 4 and not self.body.is_planar(source)

    def parts_of(self, source: int) -> Parts:
        return (PLANE_PARTS if self.body.is_planar(source) else PARTS)[self.channels_of(source)]

    def channels_of(self, source: int) -> int:
        return 2 if source in self.paired else self.body.channels_of(source)

    def _in_pairs(self, form: LinearForm) -> LinearForm:
        """The second plane of a pair is the second channel of the first."""
        first = {second: first for first, second in self.paired.items()}
        weights = {
            a._replace(source=first[a.source], channel=1) if a.source in first else a: w
            for a, w in form.weights.items()
        }
        return LinearForm(weights, form.bias)


def _pair_planes(body: BodyContext, forms: Sequence[LinearForm]) -> dict[int, int]:
    """Grey images that are read at one and the same offset, two by two: they share a product."""
    offsets: dict[int, set[tuple[int, int]]] = {}
    for access in (a for form in forms for a in form.weights):
        if body.channels_of(access.source) == 1:
            offsets.setdefault(access.source, set()).add((access.dx, access.dy))
    waiting: dict[tuple[int, tuple[int, int]], int] = {}
    pairs: dict[int, int] = {}
    for source in sorted(s for s, found in offsets.items() if len(found) == 1):
        kind = body.step_to(source), next(iter(offsets[source]))
        if kind in waiting:
            pairs[waiting.pop(kind)] = source
        else:
            waiting[kind] = source
    return pairs
