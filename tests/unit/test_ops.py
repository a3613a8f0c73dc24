"""THE op table: what each row accepts, and what it means in the corners of its types."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dala.errors import DTypeError
from dala.ir.dtypes import BOOL, BUFFER_DTYPES, F32, F64, S32, S64, U8, U32, DType, parse_dtype
from dala.ir.graph import Node, const, make
from dala.ir.ops import LEAVES, OPS, VARIADIC, cast_array
from dala.ir.rewrite import INVERSE_255, INVERSE_65535

FLOATS = (F32, F64)
INTEGERS = (S32, S64, U32, U8)
SIGNED = (S32, S64)
INF, NAN = math.inf, math.nan


def arity(op: str) -> int:
    return 4 if OPS[op].arity == VARIADIC else OPS[op].arity


def run(op: str, *args: object) -> np.ndarray:
    meaning = OPS[op].numpy
    assert meaning is not None
    return np.asarray(meaning(*args))


def numbers(dtype: DType, *values: float) -> np.ndarray:
    """Values in a type; integers wrap into it."""
    if dtype.is_float:
        return np.array(values, dtype.numpy)
    bits = dtype.bytes * 8
    wrapped = [int(v) % 2**bits for v in values]
    return np.array(wrapped, f"u{dtype.bytes}").view(dtype.numpy)


def exact(result: np.ndarray, *wanted: float) -> None:
    """Equal values of the same type, where NaN equals NaN and -0.0 differs from 0.0."""
    other = np.array(wanted, result.dtype)
    np.testing.assert_array_equal(result, other)
    if result.dtype.kind == "f":
        known = ~np.isnan(other)
        np.testing.assert_array_equal(np.signbit(result)[known], np.signbit(other)[known])


# --- the table itself -----------------------------------------------------------------------------


def test_every_row_is_entered_under_its_own_name() -> None:
    assert all(row.name == name for name, row in OPS.items())


def test_every_computed_op_has_a_meaning_and_every_leaf_has_none() -> None:
    without = {name for name, row in OPS.items() if row.numpy is None}
    assert without == LEAVES | {"cast"}


def test_only_library_functions_have_a_tolerance() -> None:
    inexact = {name for name, row in OPS.items() if row.tolerance}
    assert inexact == {"fma", "average", "exp", "log", "sin", "cos", "tanh", "atan2", "pow"}
    assert max(row.tolerance for row in OPS.values()) <= 2e-5


NUMBERS = ("add", "sub", "mul", "floordiv", "mod", "neg", "abs", "min", "max")
COMPARES = ("lt", "le", "gt", "ge", "eq", "ne")
FLOAT_OPS = (
    "div", "fma", "average", "floor", "ceil", "trunc", "round", "half", "sqrt", "exp", "log", "sin", "cos",
    "tanh", "atan2", "pow",
)  # fmt: skip


def test_the_groups_below_cover_the_table() -> None:
    listed = {*NUMBERS, *COMPARES, *FLOAT_OPS, "and", "or", "xor", "not", "shl", "shr", "select"}
    assert listed | {"level", "level16", "cast"} | LEAVES == set(OPS)


def verdict(op: str, dtype: DType) -> DType | str:
    return OPS[op].types([dtype] * arity(op))


@pytest.mark.parametrize("dtype", [*BUFFER_DTYPES, BOOL], ids=repr)
def test_type_rules(dtype: DType) -> None:
    number = dtype is not BOOL
    for op in NUMBERS:
        assert verdict(op, dtype) == (dtype if number else "needs numbers, got bool")
    for op in COMPARES:
        assert verdict(op, dtype) == (BOOL if number else "needs numbers, got bool")
    for op in FLOAT_OPS:
        refusal = f"needs a float type (f32 or f64), got {dtype}"
        assert verdict(op, dtype) == (dtype if dtype.is_float else refusal)
    for op in ("shl", "shr"):
        refusal = f"needs an integer type, got {dtype}"
        assert verdict(op, dtype) == (dtype if dtype.is_int else refusal)
    for op in ("and", "or", "xor"):
        refusal = f"needs integers or booleans, got {dtype}"
        assert verdict(op, dtype) == (refusal if dtype.is_float else dtype)
    assert verdict("not", dtype) == (f"needs booleans, got {dtype}" if number else BOOL)
    for op in ("level", "level16"):
        assert verdict(op, dtype) == (F32 if dtype is F32 else f"needs f32, got {dtype}")


@pytest.mark.parametrize("op", [n for n, r in OPS.items() if r.arity == 2])
def test_operands_of_two_types_are_refused(op: str) -> None:
    assert OPS[op].types([F32, S32]) == (
        "needs operands of one type, got f32 and s32; cast one of them"
    )


def test_select_wants_a_condition_and_two_choices_of_one_type() -> None:
    rule = OPS["select"].types
    assert rule([BOOL, U8, U8]) is U8
    assert rule([BOOL, BOOL, BOOL]) is BOOL
    assert rule([F32, U8, U8]) == "needs a condition (a comparison), got f32"
    assert rule([BOOL, U8, S32]) == "needs both choices of one type, got u8 and s32"


def test_make_refuses_with_the_sentence_of_the_rule() -> None:
    a, b = const(1.0, F32), const(1, S32)
    with pytest.raises(DTypeError) as caught:
        make("add", a, b)
    assert str(caught.value) == (
        "'add' needs operands of one type, got f32 and s32; cast one of them"
    )
    with pytest.raises(DTypeError) as caught:
        make("sqrt", b)
    assert str(caught.value) == "'sqrt' needs a float type (f32 or f64), got s32"
    with pytest.raises(DTypeError) as caught:
        make("select", a, b, b)
    assert str(caught.value) == "'select' needs a condition (a comparison), got f32"


def test_make_gives_the_type_of_the_rule() -> None:
    a = const(2, U32)
    assert make("add", a, a).dtype is U32
    assert make("lt", a, a).dtype is BOOL
    assert make("select", make("eq", a, a), a, a).dtype is U32


def test_make_asserts_the_arity() -> None:
    with pytest.raises(AssertionError, match="add takes 2 operands, got 1"):
        make("add", const(1.0, F32))


@pytest.mark.parametrize("op", sorted(set(OPS) - LEAVES - {"cast"}))
def test_the_meaning_keeps_the_promised_type(op: str) -> None:
    row = OPS[op]
    for dtype in (*BUFFER_DTYPES, BOOL):
        types = [BOOL, dtype, dtype] if op == "select" else [dtype] * arity(op)
        promised = row.types(types)
        if isinstance(promised, DType):
            result = run(op, *(np.ones(3, t.numpy) for t in types))
            assert result.dtype == promised.numpy, (op, dtype)
            scalars = run(op, *(t.numpy.type(1) for t in types))  # what constant folding does
            assert scalars.dtype == promised.numpy, (op, dtype)
            np.testing.assert_array_equal(result, np.full(3, scalars))


def test_no_op_warns_whatever_the_values() -> None:
    for op in set(OPS) - LEAVES - {"cast"}:
        row = OPS[op]
        for dtype in BUFFER_DTYPES:
            values = [0, 1, -1, 2**31, -(2**63), 200]
            values += [NAN, INF, -INF, 1e38] if dtype.is_float else []
            grid = [a.ravel() for a in np.meshgrid(*[numbers(dtype, *values)] * arity(op))]
            if op == "select":
                grid[0] = grid[0] > 0
            types = [BOOL, dtype, dtype] if op == "select" else [dtype] * arity(op)
            if isinstance(row.types(types), DType):
                assert run(op, *grid).shape == grid[0].shape


# --- cast -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", FLOATS, ids=repr)
@pytest.mark.parametrize("target", INTEGERS, ids=repr)
def test_floats_truncate_and_saturate(source: DType, target: DType) -> None:
    info = np.iinfo(target.numpy)
    values = np.array([0.0, -0.0, 0.99, 1.5, 2.999, 100.5, NAN, INF, -INF, 1e30, -1e30])
    result = cast_array(values.astype(source.numpy), target)
    assert result.dtype == target.numpy
    assert result.tolist() == [0, 0, 0, 1, 2, 100, 0, info.max, info.min, info.max, info.min]
    below = cast_array(np.array([-0.99, -1.5, -7.9], source.numpy), target)
    assert below.tolist() == ([0, -1, -7] if info.min < 0 else [0, 0, 0])


@pytest.mark.parametrize("source", FLOATS, ids=repr)
@pytest.mark.parametrize("target", INTEGERS, ids=repr)
def test_the_ends_of_the_range_are_exact(source: DType, target: DType) -> None:
    info, kind = np.iinfo(target.numpy), source.numpy.type
    end = kind(float(info.max) + 1)  # a power of two: exact in every float type
    inside = np.nextafter(end, kind(0))
    assert cast_array(end, target).item() == info.max
    assert cast_array(inside, target).item() == min(int(inside), info.max)
    assert cast_array(np.nextafter(end, kind(INF)), target).item() == info.max
    assert cast_array(kind(info.min), target).item() == info.min
    beyond = np.nextafter(kind(info.min), kind(-INF))
    assert cast_array(beyond, target).item() == info.min


@pytest.mark.parametrize(
    ("value", "source", "target", "wanted"),
    [
        (300, S32, U8, 44),
        (-1, S32, U8, 255),
        (-1, S32, U32, 2**32 - 1),
        (-1, S64, U8, 255),
        (2**31, U32, S32, -(2**31)),
        (2**32 + 5, S64, S32, 5),
        (2**32 + 5, S64, U32, 5),
        (255, U8, S32, 255),
        (-(2**31), S32, S64, -(2**31)),
        (2**32 - 1, U32, S64, 2**32 - 1),
    ],
)
def test_integers_wrap(value: int, source: DType, target: DType, wanted: int) -> None:
    result = cast_array(np.array([value], source.numpy), target)
    assert result.dtype == target.numpy
    assert result.tolist() == [wanted]


def test_other_casts() -> None:
    assert cast_array(np.array([True, False]), U8).tolist() == [1, 0]
    assert cast_array(np.array([True, False]), F32).tolist() == [1.0, 0.0]
    assert cast_array(np.array([2**24 + 1], np.int32), F32).tolist() == [2.0**24]
    exact(cast_array(np.array([1e300, -1e300, -0.0, NAN]), F32), INF, -INF, -0.0, NAN)
    assert cast_array(np.array([0.1], np.float32), F64).item() == float(np.float32(0.1))


@given(st.floats(width=32), st.sampled_from(INTEGERS))
def test_casting_is_truncation_within_the_range(value: float, target: DType) -> None:
    info = np.iinfo(target.numpy)
    wanted = 0 if math.isnan(value) else math.trunc(max(min(value, 2.0**65), -(2.0**65)))
    result = cast_array(np.asarray(value, np.float32), target).item()
    assert result == max(info.min, min(info.max, wanted))


# --- level ----------------------------------------------------------------------------------------


def test_all_levels_survive_a_round_trip() -> None:
    levels = np.arange(256, dtype=np.float32)
    seen = levels * np.float32(INVERSE_255)
    exact(run("level", seen), *range(256))
    exact(run("level", run("level", seen) * np.float32(INVERSE_255)), *range(256))


def test_all_levels_of_16_bits_survive_a_round_trip() -> None:
    levels = np.arange(65536, dtype=np.float32)
    seen = levels * np.float32(INVERSE_65535)
    np.testing.assert_array_equal(run("level16", seen), levels)
    corners = np.array([np.nan, np.inf, -np.inf, -0.1, 1.1, 0.5], np.float32)
    exact(run("level16", corners), 0, 65535, 0, 0, 65535, 32768)


def test_level_in_the_corners() -> None:
    values = [NAN, INF, -INF, -0.0, 0.0, -1.0, 2.0, 1.0, 1e-30, 0.5]
    exact(
        run("level", np.array(values, np.float32)), 0, 255, 0, 0, 0, 0, 255, 255, 0, 128
    )  # 127.5 goes to the even neighbour


def test_level_rounds_halves_to_even() -> None:
    halves = [n + 0.5 for n in range(255)]
    scaled = np.array(halves, np.float32) / np.float32(255)
    on_the_half = scaled * np.float32(255) == np.array(halves, np.float32)
    assert on_the_half.sum() > 100  # most of them survive the division
    wanted = np.rint(np.array(halves))[on_the_half]
    exact(run("level", scaled[on_the_half]), *wanted)


@given(st.floats(width=32))
def test_level_is_a_whole_number_from_0_to_255(value: float) -> None:
    result = float(run("level", np.float32(value)))
    assert 0 <= result <= 255
    assert result == int(result)
    assert not math.copysign(1, result) < 0


# --- arithmetic -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_with_a_nan_the_second_operand_wins(dtype: DType) -> None:
    a = numbers(dtype, NAN, 1, NAN, 1, 2, -0.0, 0.0, INF, -INF)
    b = numbers(dtype, 1, NAN, NAN, 2, 1, 0.0, -0.0, NAN, NAN)
    exact(run("min", a, b), 1, NAN, NAN, 1, 1, 0.0, -0.0, NAN, NAN)
    exact(run("max", a, b), 1, NAN, NAN, 2, 2, 0.0, -0.0, NAN, NAN)


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_comparisons_with_nan_are_false_except_ne(dtype: DType) -> None:
    a, b = numbers(dtype, NAN, 1, NAN), numbers(dtype, 1, NAN, NAN)
    for op in COMPARES:
        assert run(op, a, b).tolist() == [op == "ne"] * 3


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_float_arithmetic_is_ieee(dtype: DType) -> None:
    big = np.finfo(dtype.numpy).max
    a, b = numbers(dtype, 1, -1, 0, big, INF, -0.0), numbers(dtype, 0, 0, 0, 0.5, INF, 0.0)
    exact(run("div", a, b), INF, -INF, NAN, INF, NAN, NAN)
    exact(run("add", a, b), 1, -1, 0, big, INF, 0.0)
    exact(run("sub", numbers(dtype, -0.0, 0.0), numbers(dtype, 0.0, 0.0)), -0.0, 0.0)
    exact(run("mul", numbers(dtype, -1, INF, big), numbers(dtype, 0, 0, 2)), -0.0, NAN, INF)
    exact(run("neg", numbers(dtype, 0, -0.0, INF)), -0.0, 0.0, -INF)
    exact(run("abs", numbers(dtype, -0.0, -INF, NAN)), 0.0, INF, NAN)


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_float_division_downwards(dtype: DType) -> None:
    a, b = numbers(dtype, 7, -7, 7, -7, 1, 0), numbers(dtype, 2, 2, -2, -2, 0, 0)
    exact(run("floordiv", a, b), 3, -4, -4, 3, INF, NAN)
    exact(run("mod", a[:4], b[:4]), 1, 1, -1, -1)
    assert np.isnan(run("mod", a[4:], b[4:])).all()
    # the formula, not fmod: at the end of a period it may give the period itself
    x = numbers(dtype, 0.7, 5.5, -0.1)
    y = numbers(dtype, 0.1, 2.5, 0.3)
    exact(run("mod", x, y), *(x - y * np.floor(x / y)))


@pytest.mark.parametrize("dtype", INTEGERS, ids=repr)
def test_integers_divided_by_zero_give_zero(dtype: DType) -> None:
    info = np.iinfo(dtype.numpy)
    a = numbers(dtype, 0, 1, 7, info.max, info.min)
    zero = np.zeros_like(a)
    exact(run("floordiv", a, zero), 0, 0, 0, 0, 0)
    exact(run("mod", a, zero), 0, 0, 0, 0, 0)


@pytest.mark.parametrize("dtype", SIGNED, ids=repr)
def test_the_smallest_integer_is_its_own_negative(dtype: DType) -> None:
    low = np.iinfo(dtype.numpy).min
    a, minus = numbers(dtype, low), numbers(dtype, -1)
    exact(run("floordiv", a, minus), low)
    exact(run("mod", a, minus), 0)
    exact(run("neg", a), low)
    exact(run("abs", a), low)
    exact(run("mul", a, minus), low)


@pytest.mark.parametrize("dtype", SIGNED, ids=repr)
def test_integer_division_goes_downwards_and_the_rest_follows_the_divisor(dtype: DType) -> None:
    a, b = numbers(dtype, 7, -7, 7, -7), numbers(dtype, 2, 2, -2, -2)
    exact(run("floordiv", a, b), 3, -4, -4, 3)
    exact(run("mod", a, b), 1, 1, -1, -1)


@pytest.mark.parametrize("dtype", INTEGERS, ids=repr)
def test_integers_wrap_in_arithmetic(dtype: DType) -> None:
    info = np.iinfo(dtype.numpy)
    one = numbers(dtype, 1)
    exact(run("add", numbers(dtype, info.max), one), info.min)
    exact(run("sub", numbers(dtype, info.min), one), info.max)
    exact(run("mul", numbers(dtype, info.max), numbers(dtype, 2)), numbers(dtype, -2)[0])
    if dtype.kind == "u":
        exact(run("neg", one), info.max)


@pytest.mark.parametrize("dtype", INTEGERS, ids=repr)
def test_shifts_out_of_range(dtype: DType) -> None:
    bits, info = dtype.bytes * 8, np.iinfo(dtype.numpy)
    counts = numbers(dtype, 0, 1, bits - 1, bits, bits + 1, info.max, -1)
    ones = np.ones_like(counts)
    top = numbers(dtype, 2 ** (bits - 1))[0]
    exact(run("shl", ones, counts), 1, 2, top, 0, 0, 0, 0)
    exact(run("shr", ones, counts), 1, 0, 0, 0, 0, 0, 0)
    high = np.full_like(counts, top)
    if dtype.kind == "u":
        exact(run("shr", high, counts), top, top // 2, 1, 0, 0, 0, 0)
    else:  # arithmetic: the sign fills up
        exact(run("shr", high, counts), top, top // 2, -1, -1, -1, -1, -1)


def test_bits_and_conditions() -> None:
    a, b = np.array([12], np.uint8), np.array([10], np.uint8)
    assert [run(op, a, b).item() for op in ("and", "or", "xor")] == [8, 14, 6]
    yes, no = np.array([True, True, False]), np.array([True, False, False])
    assert run("and", yes, no).tolist() == [True, False, False]
    assert run("or", yes, no).tolist() == [True, True, False]
    assert run("xor", yes, no).tolist() == [False, True, False]
    assert run("not", no).tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_rounding(dtype: DType) -> None:
    values = numbers(dtype, 0.5, 1.5, 2.5, -0.5, -1.5, -0.2, NAN, INF)
    exact(run("floor", values), 0, 1, 2, -1, -2, -1, NAN, INF)
    exact(run("ceil", values), 1, 2, 3, -0.0, -1, -0.0, NAN, INF)
    exact(run("trunc", values), 0, 1, 2, -0.0, -1, -0.0, NAN, INF)
    exact(run("round", values), 0, 2, 2, -0.0, -2, -0.0, NAN, INF)


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_mathematics_in_the_corners(dtype: DType) -> None:
    exact(run("sqrt", numbers(dtype, 4, 0, -0.0, -1, INF)), 2, 0, -0.0, NAN, INF)
    exact(run("log", numbers(dtype, 1, 0, -1, INF)), 0, -INF, NAN, INF)
    exact(run("exp", numbers(dtype, 0, -INF, INF, 1e9)), 1, 0, INF, INF)
    exact(run("tanh", numbers(dtype, 0, -0.0, INF, -INF)), 0, -0.0, 1, -1)
    assert np.isnan(run("sin", numbers(dtype, INF, -INF, NAN))).all()
    exact(run("atan2", numbers(dtype, 0, -0.0), numbers(dtype, 1, 1)), 0, -0.0)
    exact(run("pow", numbers(dtype, 2, 0, -8, 1), numbers(dtype, 3, 0, 0.5, NAN)), 8, 1, NAN, 1)


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_average(dtype: DType) -> None:
    def average(values: list[float], weights: list[float]) -> np.ndarray:
        return run("average", *(numbers(dtype, v) for v in [*values, *weights]))

    exact(average([1, 3], [1, 1]), 2)
    exact(average([1, 3, 100], [1, 3, 0]), 2.5)
    exact(average([5], [0.25]), 5)
    exact(average([1, 3], [-4, 2]), 3)  # a weight below zero counts as zero, and so does NaN
    exact(average([1, 3], [NAN, 2]), 3)
    exact(average([1, 3], [0, 0]), NAN)
    exact(average([NAN, 3], [0, 1]), NAN)


@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.floats(-1, 1, width=32)), min_size=1))
def test_an_average_lies_between_its_values(pairs: list[tuple[float, float]]) -> None:
    values, weights = ([np.float32(p[i]) for p in pairs] for i in (0, 1))
    result = float(run("average", *values, *weights))
    used = [v for v, w in zip(values, weights, strict=True) if w > 0]
    if used and min(w for w in weights if w > 0) > 1e-30:  # else the division may lose everything
        assert min(used) - 1e-5 <= result <= max(used) + 1e-5


def test_fma_rounds_once_in_f32() -> None:
    a = np.float32(1 + 2**-12)
    product = float(a) * float(a)  # 1 + 2**-11 + 2**-24: the last part is lost in f32
    assert run("fma", a, a, np.float32(-1 - 2**-11)).item() == product - 1 - 2**-11 == 2**-24
    assert run("add", run("mul", a, a), np.float32(-1 - 2**-11)).item() == 0.0


# --- element types and constants ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", BUFFER_DTYPES, ids=repr)
def test_dtypes_are_found_by_every_name(dtype: DType) -> None:
    for spec in (dtype, dtype.name, dtype.numpy, dtype.numpy.type, dtype.numpy.str):
        assert parse_dtype(spec) is dtype
    assert dtype.numpy.itemsize == dtype.bytes


@pytest.mark.parametrize("spec", ["f16", "bool", np.bool_, np.complex64, ">f4", None, 3, object()])
def test_other_dtypes_are_refused(spec: object) -> None:
    with pytest.raises(DTypeError) as caught:
        parse_dtype(spec)
    assert str(caught.value) == f"dtype: expected one of f32 f64 s32 s64 u32 u16 u8, got {spec!r}"


def test_constants_are_held_as_the_type_can() -> None:
    assert const(0.1, F32).attr == float(np.float32(0.1))
    assert const(1e300, F32).attr == INF
    assert const(1, F32).attr == 1.0
    assert type(const(1, F32).attr) is float
    assert type(const(True, BOOL).attr) is bool
    assert const(7, U8).attr == 7


def test_equal_keys_mean_equal_values() -> None:
    def key(value: float, dtype: DType) -> object:
        return const(value, dtype).key()

    assert key(1.0, F32) == key(1.0, F32)
    assert key(NAN, F32) == key(NAN, F32)
    assert key(0.0, F32) != key(-0.0, F32)
    assert key(1, S32) != key(1, U32)
    assert key(1, S32) != key(True, BOOL)
    a = const(1.0, F32)
    assert make("neg", a).key() == make("neg", a).key()
    assert make("neg", a).key() != make("neg", const(1.0, F32)).key()  # by identity
    assert Node("param", F32, (), 0).key() != Node("param", F32, (), 1).key()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_do_not_depend_on_how_many_there_are(dtype: type) -> None:
    numbers = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, 0.5, -3], dtype)
    power = OPS["pow"].numpy
    assert power is not None
    bases, exponents = (a.ravel() for a in np.meshgrid(numbers, numbers))
    whole = power(bases, exponents)
    for base, exponent, wanted in zip(bases, exponents, whole, strict=True):
        for found in (
            power(base, exponent),
            power(np.full(3, base), exponent)[0],
            power(base, np.full((2, 2), exponent))[1, 1],
        ):
            np.testing.assert_array_equal(found, wanted)
            assert np.isnan(wanted) or np.signbit(found) == np.signbit(wanted)
    assert power(dtype(-np.inf), dtype(0.5)) == np.inf
