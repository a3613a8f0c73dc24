"""Instructions by meaning: what the machine does, and what is spelled out, are one and the same."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dala.backends.cpu.llvm import isa
from dala.backends.cpu.llvm.jit import Module, detect_host
from dala.backends.cpu.llvm.text import Code, Names, Type
from dala.ir.dtypes import F32

Array = np.ndarray
Emit = Callable[[Code, int, list[str]], str]
LARGEST = 1 << 15


def compute(
    emit: Emit, size: int, x86: bool, result: str, given: Sequence[tuple[str, Array]]
) -> Array:
    """What a function of some vectors gives: a vector of as many bytes."""
    code = Code(Names(x86=x86))
    args = [code.op(f"load {t}, ptr %a{k}, align 1") for k, (t, _) in enumerate(given)]
    code.line(f"store {result} {emit(code, size, args)}, ptr %out, align 1")
    params = ", ".join(f"ptr %a{k}" for k in range(len(given)))
    text = [*code.names.declarations.values(), f"define void @f({params}, ptr %out) {{", "entry:"]
    module = Module("\n".join([*text, *code.lines, "  ret void", "}"]) + "\n")
    function = module.function("f", None, *[ctypes.c_void_p] * (len(given) + 1))
    out = np.zeros(size, np.uint8)
    function(*(v.ctypes.data for _, v in given), out.ctypes.data)
    return out


def wholes(size: int, dtype: type, low: int, high: int, count: int) -> list[Array]:
    rng = np.random.default_rng(size)
    lanes = size // np.dtype(dtype).itemsize
    return [rng.integers(low, high, lanes, endpoint=True).astype(dtype) for _ in range(count)]


def test_every_meaning_is_tested() -> None:
    looked_up = {"permute_bytes", "shuffle_bytes"}  # tables.py: nobody asks without
    assert {*CASES} | looked_up == {*isa._NAMES}


def extreme(what: str) -> Emit:
    return lambda code, size, args: isa.extreme(code, what, Type(F32, size // 4), args)


def narrowed(name: str) -> Emit:
    return lambda code, size, args: getattr(isa, name)(code, size, args)


def weighed(code: Code, size: int, args: list[str]) -> str:
    i16 = isa.integers(size, 16)
    return isa.weigh_words(code, size, (i16, args[0]), (i16, args[1]))


def numbers(size: int) -> list[Array]:
    rng = np.random.default_rng(size)
    a, b = (rng.normal(0, 300, size // 4).astype(np.float32) for _ in range(2))
    a[:3], b[:3] = (np.nan, 0.0, 2.5), (1.0, -0.0, np.nan)
    return [a, b]


# name → what writes it, the types of operands (bits, or f32) and of the result, and operands for a size
CASES: dict[str, tuple[Emit, int, int, Callable[[int], list[Array]]]] = {
    "min": (extreme("min"), 0, 32, numbers),
    "max": (extreme("max"), 0, 32, numbers),
    "round_to_whole": (
        lambda code, size, args: isa.round_to_whole(code, Type(F32, size // 4), args[0]),
        0,
        32,
        lambda size: [np.nan_to_num(numbers(size)[0])],
    ),
    "narrow_to_words": (
        narrowed("narrow_to_words"), 32, 16, lambda n: wholes(n, np.int32, -LARGEST, LARGEST - 1, 2)
    ),
    "narrow_to_unsigned_words": (
        narrowed("narrow_to_unsigned_words"), 32, 16, lambda n: wholes(n, np.int32, -9999, 99999, 2)
    ),
    "narrow_to_bytes": (
        narrowed("narrow_to_bytes"), 16, 8, lambda n: wholes(n, np.int16, -999, 999, 2)
    ),
    "multiply_high": (
        lambda code, size, args: isa.multiply_high(code, size, *args),
        16, 16, lambda n: wholes(n, np.uint16, 0, 65535, 2),
    ),
    "multiply_rounded": (
        lambda code, size, args: isa.multiply_rounded(code, size, *args),
        16, 16, lambda n: wholes(n, np.int16, -LARGEST + 1, LARGEST - 1, 2),
    ),
    "weigh_words": (
        weighed, 16, 32,
        lambda n: [*wholes(n, np.int16, 0, LARGEST - 1, 1), *wholes(n, np.int16, -99, 99, 1)],
    ),
    "weigh_bytes": (
        lambda code, size, args: isa.weigh_bytes(code, size, *args),
        8, 16, lambda n: [*wholes(n, np.uint8, 0, 255, 1), *wholes(n, np.int8, -60, 60, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [16, 32, 64])
@pytest.mark.parametrize("name", CASES)
def test_spelled_out_it_is_the_same(name: str, size: int) -> None:
    host, (emit, bits, result, make) = detect_host(), CASES[name]
    if not host.x86 or size > host.vector_bytes or size not in isa._NAMES[name]:
        pytest.skip("this machine has no such instruction")
    operand = isa.integers(size, bits) if bits else str(Type(F32, size // 4))
    kind = str(Type(F32, size // 4)) if name in ("min", "max") else isa.integers(size, result)
    given = [(operand, v) for v in make(size)]
    got, wanted = (compute(emit, size, x86, kind, given) for x86 in (True, False))
    np.testing.assert_array_equal(got, wanted)
    assert got.any()
