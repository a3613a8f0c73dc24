"""Instructions that LLVM does not find in plain text, or only slowly: named by what they do.

Each is one call; on a machine that lacks it the same is spelled out, which is the entry's meaning. Where a
caller has something better to do without it, it asks ``has`` first. Vectors are given by their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.cpu.llvm.text import Code, Type, splat
from dala.ir.dtypes import F32

BLOCK = 16  # bytes: narrowing and shuffling work within as many

# x86, by the bytes of a vector
_NAMES: dict[str, dict[int, str]] = {
    "min": {64: "avx512.min.ps.512", 32: "avx.min.ps.256", 16: "sse.min.ps"},
    "max": {64: "avx512.max.ps.512", 32: "avx.max.ps.256", 16: "sse.max.ps"},
    "round_to_whole": {64: "avx512.mask.cvtps2dq.512", 32: "avx.cvt.ps2dq.256"},
    "narrow_to_words": {64: "avx512.packssdw.512", 32: "avx2.packssdw"},
    "narrow_to_unsigned_words": {64: "avx512.packusdw.512", 32: "avx2.packusdw"},
    "narrow_to_bytes": {64: "avx512.packuswb.512", 32: "avx2.packuswb"},
    "multiply_high": {64: "avx512.pmulhu.w.512", 32: "avx2.pmulhu.w", 16: "sse2.pmulhu.w"},
    "multiply_rounded": {64: "avx512.pmul.hr.sw.512", 32: "avx2.pmul.hr.sw"},
    "weigh_words": {64: "avx512.pmaddw.d.512", 32: "avx2.pmadd.wd", 16: "sse2.pmadd.wd"},
    "weigh_bytes": {64: "avx512.pmaddubs.w.512", 32: "avx2.pmadd.ub.sw"},
    "permute_bytes": {64: "avx512.vpermi2var.qi.512"},
    "shuffle_bytes": {64: "avx512.pshuf.b.512", 32: "avx2.pshuf.b", 16: "ssse3.pshuf.b.128"},
}


def has(code: Code, what: str, size: int) -> bool:
    """Whether the machine has an instruction for vectors of so many bytes."""
    return code.names.x86 and size in _NAMES[what]


def _call(code: Code, what: str, size: int, result: str, operand: str, args: Sequence[str]) -> str:
    return code.call(result, f"llvm.x86.{_NAMES[what][size]}", operand, list(args))


def integers(size: int, bits: int) -> str:
    """The vector of integers that has so many bytes."""
    return f"<{8 * size // bits} x i{bits}>"


# -- f32 -----------------------------------------------------------------------------------------------


def extreme(code: Code, what: str, t: Type, args: Sequence[str]) -> str:
    """The smaller ("min") or larger ("max") of two numbers; with a NaN, or two zeros, the second.

    LLVM finds it in a compare and a select as well, but a network of hundreds then takes a tenth longer.
    """
    size = 4 * t.lanes
    if t.dtype != F32 or not has(code, what, size):
        order = {"min": "lt", "max": "gt"}[what]
        sign = "o" if t.dtype.is_float else "s" if t.dtype.kind == "s" else "u"
        compare = "fcmp" if t.dtype.is_float else "icmp"
        first = code.op(f"{compare} {sign}{order} {t} {args[0]}, {args[1]}")
        return code.select(t, first, args[0], args[1])
    if size < 64:
        return _call(code, what, size, str(t), str(t), args)
    # the widest ones name how they round, though nothing is rounded
    name = f"llvm.x86.{_NAMES[what][size]}"
    code.names.declarations[name] = f"declare {t} @{name}({t}, {t}, i32)"
    return code.op(f"call {t} @{name}({t} {args[0]}, {t} {args[1]}, i32 4)")


def round_to_whole(code: Code, t: Type, value: str) -> str:
    """The nearest i32 of an f32, halves to even; the lowest one there is for what does not fit."""
    size, i32 = 4 * t.lanes, integers(4 * t.lanes, 32)
    if not has(code, "round_to_whole", size):
        near = code.intrinsic("roundeven", t, [value])
        return code.call(i32, f"llvm.fptosi.sat.v{t.lanes}i32.v{t.lanes}f32", t, [near])
    if size < 64:
        return _call(code, "round_to_whole", size, i32, str(t), [value])
    name = f"llvm.x86.{_NAMES['round_to_whole'][size]}"
    code.names.declarations[name] = f"declare {i32} @{name}({t}, {i32}, i16, i32)"
    return code.op(f"call {i32} @{name}({t} {value}, {i32} poison, i16 -1, i32 4)")


# -- narrowing: of every block, the elements of the first vector, then those of the second ----------------


def narrow_to_words(code: Code, size: int, pair: Sequence[str]) -> str:
    """Two vectors of i32 as one of i16, clamped (spelled out: they must fit)."""
    return _narrow(code, "narrow_to_words", size, pair, 16)


def narrow_to_unsigned_words(code: Code, size: int, pair: Sequence[str]) -> str:
    """Two vectors of i32 as one of u16, clamped."""
    return _narrow(code, "narrow_to_unsigned_words", size, pair, 16, 65535)


def narrow_to_bytes(code: Code, size: int, pair: Sequence[str]) -> str:
    """Two vectors of i16 as one of u8, clamped."""
    return _narrow(code, "narrow_to_bytes", size, pair, 8, 255)


def _narrow(
    code: Code, what: str, size: int, pair: Sequence[str], bits: int, most: int | None = None
) -> str:
    lanes, block = 4 * size // bits, 4 * BLOCK // bits
    wide, narrow = f"<{lanes} x i{2 * bits}>", f"<{lanes} x i{bits}>"
    if has(code, what, size):
        return _call(code, what, size, integers(size, bits), wide, pair)
    if most is not None:
        pair = _clamped(code, wide, pair, 2 * bits, most)
    parts = [code.op(f"trunc {wide} {value} to {narrow}") for value in pair]
    starts = [n for first in range(0, lanes, block) for n in (first, first + lanes)]
    return code.shuffle(narrow, parts[0], [n + k for n in starts for k in range(block)], parts[1])


def _clamped(code: Code, wide: str, pair: Sequence[str], bits: int, most: int) -> list[str]:
    kind, element = f"v{wide[1:].split()[0]}i{bits}", f"i{bits}"
    low = [code.call(wide, f"llvm.smax.{kind}", wide, [v, splat(0, element)]) for v in pair]
    return [code.call(wide, f"llvm.smin.{kind}", wide, [v, splat(most, element)]) for v in low]


# -- products ------------------------------------------------------------------------------------------


def multiply_high(code: Code, size: int, a: str, b: str) -> str:
    """The upper 16 bits of u16 · u16.

    LLVM finds the instruction in the plain form too, but on vectors twice as wide as a register that
    search takes much of the compile time of a blur.
    """
    wide, narrow = integers(2 * size, 32), integers(size, 16)
    if has(code, "multiply_high", size):
        return _call(code, "multiply_high", size, narrow, narrow, [a, b])
    x, y = (code.op(f"zext {narrow} {value} to {wide}") for value in (a, b))
    product = code.op(f"mul nuw {wide} {x}, {y}")
    high = code.op(f"lshr {wide} {product}, {splat(16, 'i32')}")
    return code.op(f"trunc {wide} {high} to {narrow}")


def multiply_rounded(code: Code, size: int, a: str, b: str) -> str:
    """i16 · i16 / 2¹⁵, rounded."""
    wide, narrow = integers(2 * size, 32), integers(size, 16)
    if has(code, "multiply_rounded", size):
        return _call(code, "multiply_rounded", size, narrow, narrow, [a, b])
    x, y = (code.op(f"sext {narrow} {value} to {wide}") for value in (a, b))
    product = code.op(f"mul nsw {wide} {x}, {y}")
    half = code.op(f"add {wide} {product}, {splat(1 << 14, 'i32')}")
    high = code.op(f"ashr {wide} {half}, {splat(15, 'i32')}")
    return code.op(f"trunc {wide} {high} to {narrow}")


Typed = tuple[str, str]  # type and name


def weigh_words(code: Code, size: int, given: Typed, factors: Typed) -> str:
    """Of each two neighbours, u15 · i16 + u15 · i16 in 32 bits; pairs may come as any type of that size."""
    i32, i16 = integers(size, 32), integers(size, 16)
    if has(code, "weigh_words", size):
        pairs = [_as(code, value, i16) for value in (given, factors)]
        return _call(code, "weigh_words", size, i32, i16, pairs)
    return _weigh(code, i32, 16, _as(code, given, i32), _as(code, factors, i32))


def _as(code: Code, value: Typed, wanted: str) -> str:
    given, name = value
    return name if given == wanted else code.op(f"bitcast {given} {name} to {wanted}")


def weigh_bytes(code: Code, size: int, levels: str, weights: str) -> str:
    """Of each two neighbours, u8 · i8 + u8 · i8 in 16 bits, where no sum leaves those."""
    i16, i8 = integers(size, 16), integers(size, 8)
    if has(code, "weigh_bytes", size):
        return _call(code, "weigh_bytes", size, i16, i8, [levels, weights])
    return _weigh(code, i16, 8, *(_as(code, (i8, value), i16) for value in (levels, weights)))


def _weigh(code: Code, wide: str, bits: int, given: str, factors: str) -> str:
    """The unsigned halves of each element by the signed halves of another one, added."""
    half, lowest = splat(bits, f"i{2 * bits}"), splat((1 << bits) - 1, f"i{2 * bits}")
    first = code.op(f"and {wide} {given}, {lowest}")
    low = code.op(f"ashr {wide} {code.op(f'shl {wide} {factors}, {half}')}, {half}")
    second = code.op(f"lshr {wide} {given}, {half}")
    high = code.op(f"ashr {wide} {factors}, {half}")
    products = [code.op(f"mul {wide} {a}, {b}") for a, b in ((first, low), (second, high))]
    return code.op(f"add {wide} {products[0]}, {products[1]}")


# -- look-ups: nobody asks for them on a machine without (Host.least_table) -------------------------------


def permute_bytes(code: Code, first: str, positions: str, second: str) -> str:
    """The bytes of two vectors of 64 at computed positions; their highest bit is not looked at."""
    i8 = integers(64, 8)
    return _call(code, "permute_bytes", 64, i8, i8, [first, positions, second])


def shuffle_bytes(code: Code, size: int, table: str, positions: str) -> str:
    """The bytes of each block at computed positions in it; 0 where the highest bit is set."""
    i8 = integers(size, 8)
    return _call(code, "shuffle_bytes", size, i8, i8, [table, positions])
