"""Constant weights on bytes: colour matrices and means of blocks as integer dot products.

A stage such as grayscale or RGBA → NV12 weighs levels by constants, adds them up and rounds. In 16-bit
weights and 32-bit sums that needs neither a conversion to f32 nor back: pairs of channels are multiplied
and added in one instruction.

The error, in levels: each weight is off by at most 2⁻ˢ⁻¹ (``s`` binary places, at least MIN_PLACES), so
``n`` of them by n·255·2⁻ˢ⁻¹, 0.13 for the four channels of a pixel; and no more than MAX_ERROR is
accepted. Rounding goes to the nearest level, halves upwards, so the result is never more than one level
from the reference's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dala.backends.cpu.code import Type
from dala.backends.cpu.dot_planes import PlaneDots, WeighedSum, works_on_planes
from dala.backends.cpu.formats import every, interleave_pair, repeated
from dala.backends.cpu.halves import splat
from dala.ir.dtypes import S32, U8
from dala.ir.graph import Access, Node, const, walk
from dala.ir.ops import split_average

if TYPE_CHECKING:
    from dala.backends.cpu.body import BodyEmitter

MIN_PLACES = 12
MAX_PLACES = 15
MAX_ERROR = 0.4  # levels, before rounding
MAX_WEIGHTS = 64  # levels of so many pixels are added in 16 bits before they are weighed
Pixel = tuple[int, int, int]  # source, dx, dy
# which channels of a pixel lie in the lower and the upper half of 32 bits
Parts = tuple[tuple[int, ...], ...]
PARTS: dict[int, Parts] = {4: ((0, 2), (1, 3)), 2: ((0, 1),), 1: ((0,),)}
PLANE_PARTS: dict[int, Parts] = {4: ((0, 1), (2, 3)), 3: ((0, 1), (2,)), 2: ((0, 1),), 1: ((0,),)}


@dataclass(frozen=True, slots=True)
class LinearForm:
    """``bias`` plus the sum of loads, each times its weight; values in 0..1."""

    weights: dict[Access, float]
    bias: float

    def plus(self, other: LinearForm, sign: float = 1.0) -> LinearForm:
        weights = dict(self.weights)
        for access, weight in other.weights.items():
            weights[access] = weights.get(access, 0.0) + sign * weight
        return LinearForm(weights, self.bias + sign * other.bias)

    @property
    def passes_through(self) -> bool:
        """Whether it is one channel as it is."""
        return not self.bias and list(self.weights.values()) == [1.0]

    def times(self, factor: float) -> LinearForm:
        return LinearForm({a: w * factor for a, w in self.weights.items()}, self.bias * factor)


def linear_forms(roots: Sequence[Node]) -> list[LinearForm] | None:
    """The roots as sums of loads with constant weights, if that is what they are."""
    forms: dict[int, LinearForm] = {}
    for node in walk(roots):
        form = _linear_form(node, [forms[id(a)] for a in node.args])
        if form is None:
            return None
        forms[id(node)] = form
    return [forms[id(root)] for root in roots]


def _linear_form(node: Node, args: list[LinearForm]) -> LinearForm | None:
    constant = [not form.weights for form in args]
    match node.op:
        case "load":
            assert isinstance(node.attr, Access)
            return LinearForm({node.attr: 1.0}, 0.0)
        case "const" if isinstance(node.attr, float):
            return LinearForm({}, node.attr)
        case "add" | "sub":
            return args[0].plus(args[1], 1.0 if node.op == "add" else -1.0)
        case "neg":
            return args[0].times(-1.0)
        case "mul" if any(constant):
            return args[1].times(args[0].bias) if constant[0] else args[0].times(args[1].bias)
        case "div" if constant[1] and args[1].bias:
            return args[0].times(1.0 / args[1].bias)
        case "average":
            values, weights = split_average(tuple(args))
            shares = [max(w.bias, 0.0) for w in weights]
            if any(w.weights for w in weights) or not sum(shares):
                return None
            total = LinearForm({}, 0.0)
            for value, share in zip(values, shares, strict=True):
                total = total.plus(value.times(share / sum(shares)))
            return total
    return None


def _weighed(forms: Sequence[LinearForm]) -> list[LinearForm]:
    """Those that are more than a constant or one channel as it is."""
    return [f for f in forms if f.weights and not f.passes_through]


def _places(forms: Sequence[LinearForm]) -> int:
    """Binary places that let every weight fit into 16 bits, and the sum into 32; 0: none does."""
    weighed = _weighed(forms)
    largest = max((abs(w) for f in weighed for w in f.weights.values()), default=0.0)
    total = max((sum(map(abs, f.weights.values())) + abs(f.bias) for f in weighed), default=0.0)
    for places in range(MAX_PLACES, MIN_PLACES - 1, -1):
        if round(largest * 2**places) <= 32767 and total * 2**places * 255 < 2**30:
            return places
    return 0


def dot_places(values: Sequence[Node]) -> int:
    """The binary places of the weights of what becomes levels."""
    return _forms(values)[1]


def suits_dot(body: Sequence[Node]) -> bool:
    """Whether a stage may be computed so: constant weights that fit, and few pixels."""
    forms = linear_forms(body)
    if forms is None or not _weighed(forms) or not _places(forms):
        return False
    most = max(len(f.weights) for f in forms)
    return most <= MAX_WEIGHTS and most * 255 * 2.0 ** -(_places(forms) + 1) <= MAX_ERROR


def on_planes(body: BodyEmitter) -> bool:
    """Whether a body is computed as many pixels at once as a vector has bytes."""
    results = [body.body.held, *(s.values for s in body.body.stores)]
    weights = [_whole_weights(f, places) for forms, places in map(_forms, results) for f in forms]
    return works_on_planes(body, weights)


def write_dot(body: BodyEmitter) -> None:
    """Compute every channel, then hold and store them."""
    row = body.body
    planes = PlaneDots(body) if body.lanes > body.owner.lanes else None
    held = _levels(body, row.held, planes) if row.ring is not None else []
    stored = [_levels(body, store.values, planes) for store in row.stores]
    if row.ring is not None and row.ring.planar:
        for plane, level in enumerate(held):
            _store(body, [level], body.own_place(plane))
    elif row.ring is not None:
        _store(body, held, body.own_place(0))
    for store, levels in zip(row.stores, stored, strict=True):
        _store(body, levels, body.store_place(store.write, len(levels)))


def _forms(roots: Sequence[Node]) -> tuple[list[LinearForm], int]:
    """What becomes levels, and the binary places of its weights."""
    forms = linear_forms([_under_level(root) for root in roots])
    assert forms is not None
    return forms, _places(forms)


def _levels(body: BodyEmitter, roots: Sequence[Node], planes: PlaneDots | None) -> list[str]:
    """The channels as vectors of levels: bytes if they are computed on planes, else i32."""
    forms, places = _forms(roots)
    if planes is None:
        return [_level(body, form, places) for form in forms]
    sums = [
        WeighedSum(_whole_weights(f, places), _start(f, places), places) for f in _weighed(forms)
    ]
    written = iter(planes.write(sums))
    levels = []
    for form in forms:
        if form.passes_through:
            levels.append(planes.level(next(iter(form.weights))))
        else:
            levels.append(next(written) if form.weights else splat(_constant(form, places), "i8"))
    return levels


def _whole_weights(form: LinearForm, places: int) -> dict[Access, int]:
    return {a: round(w * (1 << places)) for a, w in form.weights.items()}


def _start(form: LinearForm, places: int) -> int:
    """What products are added to: the bias, and a half, so that cutting off rounds."""
    return round(form.bias * 255 * (1 << places)) + (1 << places >> 1)


def _constant(form: LinearForm, places: int) -> int:
    """The level of a form without weights."""
    return min(max(_start(form, places) >> places, 0), 255)


def _under_level(root: Node) -> Node:
    """What becomes a level; a constant has become one already."""
    if root.op == "const" and isinstance(root.attr, float):
        return const(root.attr / 255, root.dtype)
    assert root.op == "level", "a u8 image stores levels"
    return root.args[0]


def _level(body: BodyEmitter, form: LinearForm, places: int) -> str:
    code, i32 = body.lane, Type(S32, body.lanes)
    if form.passes_through:
        return _channel(body, next(iter(form.weights)))
    if not form.weights:
        return code.constant(i32, _constant(form, places))
    total = code.constant(i32, _start(form, places))
    for term in _terms(body, form, places):
        total = code.op(f"add {i32} {total}, {term}")
    level = code.op(f"ashr {i32} {total}, {code.constant(i32, places)}")
    low = code.intrinsic("smax", i32, [level, code.constant(i32, 0)])
    return code.intrinsic("smin", i32, [low, code.constant(i32, 255)])


def _terms(body: BodyEmitter, form: LinearForm, places: int) -> Iterator[str]:
    """Products to add up. Pixels with the same weights are added before they are weighed."""
    pixels: dict[Pixel, list[int]] = {}
    for access, weight in _whole_weights(form, places).items():
        pixel = (access.source, access.dx, access.dy)
        pixels.setdefault(pixel, [0] * 4)[access.channel] = weight
    alike: dict[tuple[int, tuple[int, ...]], list[Pixel]] = {}
    for pixel, weights in pixels.items():
        alike.setdefault((pixel[0], tuple(weights)), []).append(pixel)
    for (source, by_channel), group in alike.items():
        for part, channels in enumerate(_parts(body, source)):
            low, high = (*(by_channel[c] for c in channels), 0)[:2]
            if low or high:
                yield _multiply_pairs(body, _sum_pixels(body, group, part), low, high)


def _sum_pixels(body: BodyEmitter, pixels: Sequence[Pixel], part: int) -> str:
    """The levels of some pixels of one source, two channels to 32 bits."""
    step = body.step_to(pixels[0][0])
    t = Type(S32, body.lanes << max(step, 0) >> max(-step, 0))

    def total(group: Sequence[Pixel]) -> str:
        result = ""
        for source, dx, dy in group:
            found = _load_part(body, Access(source, 0, dx, dy), part, t)
            result = body.lane.op(f"add {t} {result}, {found}") if result else found
        return result

    if step == 0:
        return total(pixels)
    if step < 0:
        return repeated(body.lane, total(pixels), t, 1 << -step)
    halves = []  # columns in pairs: the sum over rows is shared if both columns have the same rows
    for odd in (0, 1):
        group = sorted((s, dx - odd, dy) for s, dx, dy in pixels if dx & 1 == odd)
        if group:
            halves.append(every(body.lane, total(group), t, 2, odd))
    if len(halves) == 1:
        return halves[0]
    return body.lane.op(f"add {Type(S32, body.lanes)} {halves[0]}, {halves[1]}")


def _parts(body: BodyEmitter, source: int) -> Parts:
    return (PLANE_PARTS if body.is_planar(source) else PARTS)[body.channels_of(source)]


def _load_part(body: BodyEmitter, access: Access, part: int, t: Type) -> str:
    code, channels = body.lane, body.channels_of(access.source)
    if body.is_planar(access.source):
        low, *high = (_load_plane(body, access, plane, t) for plane in PLANE_PARTS[channels][part])
        for other in high:
            low = code.op(f"or {t} {low}, {code.op(f'shl {t} {other}, {code.constant(t, 16)}')}")
        return low
    place = body.place_of(access)
    if channels == 4:
        pixels = code.op(f"load {t}, ptr {place}, align 1")
        if part:
            pixels = code.op(f"lshr {t} {pixels}, {code.constant(t, 8)}")
        return code.op(f"and {t} {pixels}, {code.constant(t, 0x00FF00FF)}")
    small = Type(U8, t.lanes * channels)
    levels = code.op(f"load {small}, ptr {place}, align 1")
    if channels == 1:
        return code.op(f"zext {small} {levels} to {t}")
    wide = f"<{t.lanes * 2} x i16>"
    return code.op(f"bitcast {wide} {code.op(f'zext {small} {levels} to {wide}')} to {t}")


def _load_plane(body: BodyEmitter, access: Access, plane: int, t: Type) -> str:
    small = Type(U8, t.lanes)
    levels = body.lane.op(f"load {small}, ptr {body.place_of(access, plane)}, align 1")
    return body.lane.op(f"zext {small} {levels} to {t}")


def _channel(body: BodyEmitter, access: Access) -> str:
    """One channel as it is."""
    code, i32 = body.lane, Type(S32, body.lanes)
    pixel = (access.source, access.dx, access.dy)
    parts = _parts(body, access.source)
    part = next(k for k, channels in enumerate(parts) if access.channel in channels)
    pair = _sum_pixels(body, [pixel], part)
    if parts[part][0] != access.channel:
        return code.op(f"lshr {i32} {pair}, {code.constant(i32, 16)}")
    return code.op(f"and {i32} {pair}, {code.constant(i32, 255)}")


_X86_MULTIPLY_PAIRS = {16: "avx512.pmaddw.d.512", 8: "avx2.pmadd.wd", 4: "sse2.pmadd.wd"}


def _multiply_pairs(body: BodyEmitter, pairs: str, low: int, high: int) -> str:
    """The lower half of each 32 bits times ``low`` plus the upper half times ``high``."""
    code, i32 = body.lane, Type(S32, body.lanes)
    if body.owner.x86 and body.lanes in _X86_MULTIPLY_PAIRS:
        i16 = f"<{body.lanes * 2} x i16>"
        name = f"llvm.x86.{_X86_MULTIPLY_PAIRS[body.lanes]}"
        halves = code.op(f"bitcast {i32} {pairs} to {i16}")
        weights = ", ".join(f"i16 {low}, i16 {high}" for _ in range(body.lanes))
        return code.call(i32, name, i16, [halves, f"<{weights}>"])
    lower = code.op(f"and {i32} {pairs}, {code.constant(i32, 0xFFFF)}")
    upper = code.op(f"lshr {i32} {pairs}, {code.constant(i32, 16)}")
    a = code.op(f"mul {i32} {lower}, {code.constant(i32, low)}")
    b = code.op(f"mul {i32} {upper}, {code.constant(i32, high)}")
    return code.op(f"add {i32} {a}, {b}")


def _store(body: BodyEmitter, levels: Sequence[str], place: str) -> None:
    code, i32, small = body.lane, Type(S32, body.lanes), Type(U8, body.lanes)
    if len(levels) == 4:
        pixels = levels[0]
        for channel, level in enumerate(levels[1:], 1):
            moved = code.op(f"shl {i32} {level}, {code.constant(i32, 8 * channel)}")
            pixels = code.op(f"or {i32} {pixels}, {moved}")
        code.line(f"store {i32} {pixels}, ptr {place}, align 1")
        return
    parts = list(levels)
    if body.lanes == body.owner.lanes:
        parts = [code.op(f"trunc {i32} {level} to {small}") for level in levels]
    whole = parts[0] if len(parts) == 1 else interleave_pair(code, parts[0], parts[1], small)
    code.line(f"store {Type(U8, body.lanes * len(parts))} {whole}, ptr {place}, align 1")
