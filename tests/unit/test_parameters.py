"""Declared parameters: what fits, and the exact words for what does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dala
from dala.errors import DalaError, KernelError, ParameterError
from dala.language.parameter import REQUIRED, Param, ParamType, bind_params
from dala.language.signature import trial_value

AMOUNT = Param("amount", "float", 0.5, min=0, max=1)
RADIUS = Param("radius", "int", 3, min=0, max=100)
SHARP = Param("sharp", "bool", False)
MODE = Param("mode", "str", "linear", choices=("nearest", "linear"))
FREE = Param("free")
WHOLE = Param("whole", "int")
TEXT = Param("text", "str")
OPEN = Param("open", finite=False)


def refusal(param: Param, value: object) -> str:
    with pytest.raises(ParameterError) as caught:
        param.check("demo", value)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


# --- what fits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("param", "value", "wanted"),
    [
        (AMOUNT, 0.25, 0.25),
        (AMOUNT, 0, 0),
        (AMOUNT, 1, 1),
        (AMOUNT, np.float32(0.5), 0.5),
        (AMOUNT, np.float64(0.25), 0.25),
        (AMOUNT, np.float16(0.125), 0.125),
        (AMOUNT, np.longdouble(0.25), 0.25),
        (AMOUNT, np.int64(1), 1),
        (AMOUNT, np.uint8(0), 0),
        (FREE, -1e300, -1e300),
        (FREE, 2**62 + 1, 2**62 + 1),  # exact, for s64 tensors
        (OPEN, math.inf, math.inf),
        (RADIUS, 7, 7),
        (RADIUS, 7.0, 7),
        (RADIUS, np.float32(7), 7),
        (RADIUS, np.uint8(7), 7),
        (RADIUS, np.int64(100), 100),
        (RADIUS, -0.0, 0),
        (WHOLE, -(10**30), -(10**30)),
        (SHARP, True, True),
        (SHARP, np.True_, True),
        (SHARP, np.False_, False),
        (MODE, "nearest", "nearest"),
        (MODE, np.str_("linear"), "linear"),
        (TEXT, "", ""),
    ],
)
def test_what_fits_comes_back_as_a_python_value(
    param: Param, value: object, wanted: object
) -> None:
    result = param.check("demo", value)
    assert result == wanted
    assert type(result) is type(wanted)


def test_nan_fits_where_numbers_need_not_be_finite() -> None:
    result = OPEN.check("demo", math.nan)
    assert isinstance(result, float)
    assert math.isnan(result)
    assert OPEN.check("demo", np.float32(-np.inf)) == -math.inf


def test_none_fits_only_where_it_is_the_default() -> None:
    derived = Param("sigma", "float", None, min=0.01)
    assert derived.check("demo", None) is None
    assert derived.check("demo", 2.0) == 2.0
    assert not derived.required
    assert refusal(AMOUNT, None) == "demo: amount must be a number in 0..1, got None"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_fits_a_free_number(value: float) -> None:
    assert FREE.check("demo", value) == value


@given(st.integers(), st.integers(-50, 50), st.integers(0, 100))
def test_a_range_is_closed(value: int, low: int, length: int) -> None:
    param = Param("n", "int", min=low, max=low + length)
    if low <= value <= low + length:
        assert param.check("demo", value) == value
    else:
        assert refusal(param, value).startswith(f"demo: n must be a whole number in {low}..")


# --- what does not --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-0.001, 1.001, 2, -5, 1e300, np.float32(1.5)])
def test_out_of_range(value: object) -> None:
    assert refusal(AMOUNT, value) == f"demo: amount must be a number in 0..1, got {value!r}"


EVERYWHERE: list[object] = [
    "0.5",
    b"1",
    [],
    [1],
    (1,),
    {},
    1j,
    np.complex64(1),
    object,
    Fraction(1),
]


@pytest.mark.parametrize("value", [*EVERYWHERE, True, np.False_, None, Decimal(1), np.array(1)])
@pytest.mark.parametrize("param", [AMOUNT, RADIUS, FREE, WHOLE, OPEN], ids=lambda p: p.name)
def test_no_number(param: Param, value: object) -> None:
    assert refusal(param, value) == f"demo: {param.name} must be {param.describe()}, got {value!r}"


@pytest.mark.parametrize("value", [*EVERYWHERE, 0, 1, 0.0, None, np.int8(1)])
def test_no_bool(value: object) -> None:
    assert refusal(SHARP, value) == f"demo: sharp must be True or False, got {value!r}"


@pytest.mark.parametrize("value", [*EVERYWHERE[1:], "cubic", "Linear", "", 1, True, None])
def test_no_choice(value: object) -> None:
    assert refusal(MODE, value) == f"demo: mode must be one of 'nearest', 'linear', got {value!r}"


@pytest.mark.parametrize("value", [*EVERYWHERE[1:], 1, True, None])
def test_no_text(value: object) -> None:
    assert refusal(TEXT, value) == f"demo: text must be text, got {value!r}"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_finite(value: float) -> None:
    assert refusal(FREE, value) == f"demo: free must be a finite number, got {value!r}"
    assert refusal(AMOUNT, value) == f"demo: amount must be a number in 0..1, got {value!r}"
    assert refusal(RADIUS, value) == f"demo: radius must be a whole number in 0..100, got {value!r}"
    loose = Param("n", "int", finite=False)
    assert refusal(loose, value) == f"demo: n must be a whole number, got {value!r}"


def test_nan_is_in_no_range() -> None:
    low = Param("n", min=0, finite=False)
    assert refusal(low, math.nan) == "demo: n must be a number from 0 up, got nan"
    assert low.check("demo", math.inf) == math.inf


def test_broken_whole_numbers() -> None:
    assert refusal(RADIUS, 2.5) == "demo: radius must be a whole number in 0..100, got 2.5"
    assert refusal(WHOLE, 1e-9) == "demo: whole must be a whole number, got 1e-09"


def test_numbers_too_large_for_a_float() -> None:
    message = refusal(FREE, 10**400)
    assert message.startswith("demo: free must be a finite number, got 1000000")
    assert message.endswith("...")
    assert len(message) < 110
    assert refusal(FREE, 10**5000) == (
        "demo: free must be a finite number, got a very large number"
    )
    assert FREE.check("demo", 2**1023 - 1) == 2**1023 - 1


def test_a_long_value_is_shortened() -> None:
    message = refusal(AMOUNT, "x" * 1000)
    assert message == f"demo: amount must be a number in 0..1, got '{'x' * 56}..."


@pytest.mark.parametrize(
    ("param", "words"),
    [
        (Param("n", "float"), "a finite number"),
        (Param("n", "float", finite=False), "a number"),
        (Param("n", "float", min=0.5), "a number from 0.5 up"),
        (Param("n", "float", max=-1), "a number up to -1"),
        (Param("n", "float", min=-1, max=1.5), "a number in -1..1.5"),
        (Param("n", "int"), "a whole number"),
        (Param("n", "int", min=1, max=65_536), "a whole number in 1..65536"),
        (Param("n", "int", min=1), "a whole number from 1 up"),
        (Param("n", "bool"), "True or False"),
        (Param("n", "str"), "text"),
        (Param("n", "str", choices=("a", "b")), "one of 'a', 'b'"),
    ],
)
def test_what_fits_in_words(param: Param, words: str) -> None:
    assert param.describe() == words


# --- declarations ---------------------------------------------------------------------------------


def test_texts_and_switches_are_compile_time_values() -> None:
    assert SHARP.static
    assert MODE.static
    assert not AMOUNT.static
    assert Param("radius", "int", 3, static=True).static


def test_defaults_are_checked_and_converted() -> None:
    assert Param("n", "int", 3.0).default == 3
    assert type(Param("n", "int", np.int8(3)).default) is int
    assert Param("n").required
    assert Param("n").default is REQUIRED
    assert repr(REQUIRED) == "required"


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (
            lambda: Param("n", "float", 5, min=0, max=1),
            "the default of n must be a number in 0..1, got 5",
        ),
        (
            lambda: Param("n", "int", "many"),
            "the default of n must be a whole number, got 'many'",
        ),
        (
            lambda: Param("mode", "str", "c", choices=("a", "b")),
            "the default of mode must be one of 'a', 'b', got 'c'",
        ),
        (
            lambda: Param("n", "double"),  # type: ignore[arg-type]
            "n: type must be float, int, bool, str or array, got 'double'",
        ),
        (
            lambda: Param("two words"),
            "a parameter's name must be an identifier, got 'two words'",
        ),
    ],
)
def test_a_wrong_declaration(declare: object, message: str) -> None:
    assert callable(declare)
    with pytest.raises(ParameterError) as caught:
        declare()
    assert str(caught.value) == message


def test_param_and_static_declare_in_a_signature() -> None:
    @dala.kernel(name="declared_everywhere")
    def declared(
        src,
        amount: float = dala.param(0.5, min=0, max=1, help="How much."),
        count: int = dala.param(min=1),
        radius: int = dala.static(3.0, max=9, help="Reach."),
        soft: bool = dala.static(True),
        switch=dala.static(False),  # noqa: B008
        mode: str = dala.static("a", choices=("a", "b")),
        kind=dala.static(choices=("x", "y")),  # noqa: B008
        sigma: float | None = dala.param(None, min=0.1),
        limit=dala.param(2, finite=False),  # noqa: B008
    ):
        return src[radius, 0]

    assert declared.params == (
        Param("amount", "float", 0.5, min=0, max=1, help="How much."),
        Param("count", "int", min=1),
        Param("radius", "int", 3, max=9, help="Reach.", static=True),
        Param("soft", "bool", True, static=True),
        Param("switch", "bool", False, static=True),
        Param("mode", "str", "a", choices=("a", "b"), static=True),
        Param("kind", "str", choices=("x", "y"), static=True),
        Param("sigma", "float", None, min=0.1),
        Param("limit", "float", 2, finite=False),
    )
    dala.compute.unregister("declared_everywhere")


@pytest.mark.parametrize(
    ("default", "message"),
    [
        (
            dala.param(5, min=0, max=1),
            "kernel 'wrong': the default of n must be a number in 0..1, got 5",
        ),
        (dala.param("5"), "kernel 'wrong': the default of n must be a finite number, got '5'"),
        (dala.static(True), "kernel 'wrong': the default of n must be a finite number, got True"),
        ([1], "kernel 'wrong': the default of n must be a finite number, got [1]"),
    ],
)
def test_a_wrong_default_names_kernel_and_parameter(default: object, message: str) -> None:
    def wrong(src, n: float = default):  # type: ignore[assignment]
        return src[0, 0] * n

    with pytest.raises(KernelError) as caught:
        dala.kernel(wrong)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "param",
    [
        Param("n"),
        Param("n", min=2.5),
        Param("n", max=-3),
        Param("n", min=-8, max=-4),
        Param("n", "int"),
        Param("n", "int", min=-3),
        Param("n", "int", min=2.5, max=9),
        Param("n", "int", max=0),
        Param("n", "bool"),
        Param("n", "str"),
        Param("n", "str", choices=("b", "c")),
        Param("n", "float", None),
        Param("n", "int", 7),
    ],
)
def test_the_value_of_the_first_trace_fits(param: Param) -> None:
    value = trial_value(param)
    assert param.check("demo", value) == value


@pytest.mark.parametrize("type_", ["float", "int"])
@pytest.mark.parametrize("limits", [(None, None), (-1, 1), (0, None), (None, 2.5), (-math.inf, 3)])
@pytest.mark.parametrize("finite", [True, False])
def test_a_plain_number_is_taken_as_it_would_be_after_a_closer_look(
    type_: ParamType, limits: tuple[float | None, float | None], finite: bool
) -> None:
    param = Param("p", type_, min=limits[0], max=limits[1], finite=finite)
    large = [2.0**999, 2.0**1000, 2.0**1001, 1.7e308, math.inf, math.nan]
    whole = [0, 1, 2, 3, 2**62, 2**999, 2**1000, 2**1001, 2**1023, 2**1024]
    small = [0.0, -0.0, 0.5, 1.0, 2.5, 2.6, 5e-324]
    others = [True, False, None, "1", np.float32(1), np.int64(1), np.bool_(True), (1,)]
    for value in [*large, *whole, *small, *(-n for n in [*large, *whole, *small]), *others]:
        quick = outcome(lambda v=value: param.check("demo", v))
        assert quick == outcome(lambda v=value: param._accept("demo: ", v))


def outcome(call: Callable[[], object]) -> tuple[type, str]:
    try:
        found = call()
    except ParameterError as error:
        return ParameterError, str(error)
    return type(found), repr(found)


# --- binding --------------------------------------------------------------------------------------

DECLARED = (AMOUNT, RADIUS, SHARP, MODE)
NAMED = {p.name: p for p in DECLARED}


def unbound(given: object, params: tuple[Param, ...] = DECLARED) -> str:
    with pytest.raises(ParameterError) as caught:
        bind_params("demo", {p.name: p for p in params}, given)  # type: ignore[arg-type]
    assert isinstance(caught.value, DalaError)
    return str(caught.value)


@pytest.mark.parametrize("given", [None, {}])
def test_defaults_fill_in(given: dict[str, object] | None) -> None:
    assert bind_params("demo", NAMED, given) == {
        "amount": 0.5,
        "radius": 3,
        "sharp": False,
        "mode": "linear",
    }


def test_given_values_win_in_the_order_of_the_declaration() -> None:
    bound = bind_params("demo", NAMED, {"mode": "nearest", "radius": np.int16(5)})
    assert list(bound) == ["amount", "radius", "sharp", "mode"]
    assert bound == {"amount": 0.5, "radius": 5, "sharp": False, "mode": "nearest"}
    assert type(bound["radius"]) is int


def test_unknown_parameters() -> None:
    assert unbound({"raduis": 3}) == (
        "demo: unknown parameter 'raduis'; it takes: amount, radius, sharp, mode; "
        "did you mean 'radius'?"
    )
    assert unbound({"zzz": 3}) == (
        "demo: unknown parameter 'zzz'; it takes: amount, radius, sharp, mode"
    )
    assert unbound({"a": 1}, ()) == "demo: unknown parameter 'a'; it takes: none"
    assert unbound({3: 1}, (AMOUNT,)) == "demo: unknown parameter 3; it takes: amount"


def test_missing_parameters() -> None:
    assert unbound({}, (FREE,)) == "demo: parameter 'free' is missing; give a finite number"
    assert unbound(None, (AMOUNT, Param("n", "int", min=1, max=9))) == (
        "demo: parameter 'n' is missing; give a whole number in 1..9"
    )


def test_a_wrong_value_is_refused_by_its_parameter() -> None:
    assert unbound({"radius": 101}) == ("demo: radius must be a whole number in 0..100, got 101")


@pytest.mark.parametrize("given", [[("radius", 3)], "radius", 3, {"radius"}])
def test_parameters_are_given_in_a_dict(given: object) -> None:
    assert unbound(given) == f"demo: params must be a dict, got {type(given).__name__}"
