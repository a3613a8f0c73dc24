"""Declared parameters: type, default, range and one line of help.

The CLI, the docs and every other face of a kernel are derived from these declarations.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dala.errors import ParameterError, suggest
from dala.language.tables import Loader, NoTableError, Table, load_table

ParamType = Literal["float", "int", "bool", "str", "array"]
Numbers = tuple[float | int, ...]
ParamValue = float | int | bool | str | Numbers | Table | None
FLOAT_BITS = 1023  # larger whole numbers have no float
MODERATE = 2.0**1000  # finite, and a float even if it is a whole number
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a kernel.

    ``static`` parameters are compile-time values: each value is its own specialisation. All others
    are run-time values, and changing them never recompiles. A default of None means "derived": the
    kernel computes it from the other parameters. With a ``length`` the value is so many numbers (a
    colour, a matrix row by row), and ``min`` and ``max`` hold for each. The value of an ``array`` is a
    whole array, read like an image (see ``array_param``).

    >>> Param("strength", "float", 0.5, min=0, max=1, help="How much.").check("demo", 0.7)
    0.7
    """

    name: str
    type: ParamType = "float"
    default: ParamValue = REQUIRED
    min: float | None = None
    max: float | None = None
    help: str = ""
    static: bool = False
    choices: tuple[str, ...] = ()
    finite: bool = True
    length: int = 0
    load: Loader | None = None
    pixels: bool = False  # a length in pixels: in a look it follows the picture's size
    # numbers of these types in this range fit as they are
    _plain: tuple[builtins.type, ...] = field(default=(), init=False, repr=False, compare=False)
    _range: tuple[float, float] = field(default=(0, 0), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.default, tuple):
            object.__setattr__(self, "length", len(self.default))
        if self.type in ("float", "int") and not self.length:
            object.__setattr__(self, "_plain", (int,) if self.type == "int" else (float, int))
            low = -MODERATE if self.min is None else max(self.min, -MODERATE)
            high = MODERATE if self.max is None else min(self.max, MODERATE)
            object.__setattr__(self, "_range", (low, high))
        if self.type not in ("float", "int", "bool", "str", "array"):
            raise ParameterError(
                f"{self.name}: type must be float, int, bool, str or array, got {self.type!r}"
            )
        if self.load is not None and self.type != "array":
            raise ParameterError(f"{self.name}: only an array has a loader, got {self.type}")
        given = self.default is not REQUIRED and self.default is not None
        if self.type == "array" and (self.static or given):
            raise ParameterError(
                f"{self.name}: an array is a run-time value and its default is None"
            )
        if self.type in ("bool", "str") and not self.static:
            object.__setattr__(self, "static", True)  # they steer the tracing, so they must be
        if not self.name.isidentifier():
            raise ParameterError(f"a parameter's name must be an identifier, got {self.name!r}")
        if self.default is not REQUIRED and self.default is not None:
            object.__setattr__(self, "default", self._accept("the default of ", self.default))

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def check(self, kernel: str, value: object) -> ParamValue:
        """``value`` as this parameter's Python type, or a ParameterError that says what fits."""
        if type(value) in self._plain:
            low, high = self._range
            if low <= value <= high:  # type: ignore[operator]
                return value  # type: ignore[return-value]
        if value is None and self.default is None:
            return None
        return self._accept(f"{kernel}: ", value)

    def _accept(self, where: str, value: object) -> ParamValue:
        if self.type == "array":
            return self._accept_array(where, value)
        fitting = self._fit(value)
        if fitting is None:
            shown = _shorten(value)
            raise ParameterError(f"{where}{self.name} must be {self.describe()}, got {shown}")
        return fitting

    def _accept_array(self, where: str, value: object) -> Table:
        try:
            return load_table(self.load, value)
        except NoTableError:
            words, shown = self.describe(), _shorten(value)
            raise ParameterError(f"{where}{self.name} must be {words}, got {shown}") from None
        except OSError as error:
            reason = error.strerror or error
            raise ParameterError(f"{where}{self.name}: cannot read {value!s}: {reason}") from error
        except ValueError as error:
            raise ParameterError(f"{where}{self.name}: {error}") from error

    def _fit(self, value: object) -> ParamValue:
        """``value`` as this parameter's Python type; None if it does not fit."""
        if self.length:
            return self._fit_numbers(value)
        if self.type == "str":
            fits = isinstance(value, str) and (not self.choices or value in self.choices)
            return str(value) if fits else None
        if isinstance(value, bool | np.bool_):
            return bool(value) if self.type == "bool" else None
        if self.type == "bool":
            return None
        if isinstance(value, int | np.integer):
            return self._fit_number(int(value))
        if isinstance(value, float | np.floating):
            return self._fit_number(float(value))
        return None

    def _fit_numbers(self, value: object) -> Numbers | None:
        if isinstance(value, np.ndarray):
            value = value.reshape(-1).tolist()
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            return None
        flat = [n for row in value for n in (row if isinstance(row, Sequence) else (row,))]
        if len(flat) != self.length:
            return None
        fitted: list[float | int] = []
        for number in flat:
            if isinstance(number, bool | np.bool_) or not isinstance(
                number, int | float | np.number
            ):
                return None
            fitting = self._fit_number(number.item() if isinstance(number, np.number) else number)
            if fitting is None:
                return None
            fitted.append(fitting)
        return tuple(fitted)

    def _fit_number(self, number: float | int) -> float | int | None:
        if isinstance(number, int):
            if self.type == "float" and number.bit_length() > FLOAT_BITS:
                return None
        elif not math.isfinite(number):
            if self.finite or self.type == "int":
                return None
        elif self.type == "int":
            if not number.is_integer():
                return None
            number = int(number)
        below = self.min is not None and not number >= self.min
        above = self.max is not None and not number <= self.max
        return None if below or above else number

    def describe(self) -> str:
        """What fits, in words: ``a whole number in 0..100``."""
        if self.type == "array":
            return "an array or a path" if self.load else "an array"
        if self.choices:
            return "one of " + ", ".join(repr(c) for c in self.choices)
        if self.length:
            return f"{self.length} numbers, each {replace(self, length=0, default=REQUIRED).describe()}"
        words = {
            "float": "a number",
            "int": "a whole number",
            "bool": "True or False",
            "str": "text",
        }
        low, high = self.min, self.max
        if low is not None and high is not None:
            return f"{words[self.type]} in {low:g}..{high:g}"
        if low is not None:
            return f"{words[self.type]} from {low:g} up"
        if high is not None:
            return f"{words[self.type]} up to {high:g}"
        return (
            ("a finite number" if self.finite else "a number")
            if self.type == "float"
            else words[self.type]
        )


def param(
    default: ParamValue = REQUIRED,
    *,
    min: float | None = None,
    max: float | None = None,
    help: str = "",
    finite: bool = True,
    length: int = 0,
    pixels: bool = False,
) -> Any:
    """Declare a run-time parameter, as the default of a kernel function's argument.

    A tuple as default, or a ``length``, declares that many numbers (a colour, a matrix). ``pixels`` says
    that it is a length in the picture, which in a look follows the picture's size.

    >>> import dala
    >>> @dala.kernel
    ... def dim(src, amount: float = dala.param(0.5, min=0, max=1, help="How dark.")):
    ...     p = src[0, 0]
    ...     return (p.rgb * (1 - amount)).with_alpha(p.a)
    >>> dim.params[0].max
    1
    """
    declared = {"default": default, "min": min, "max": max, "help": help}
    return _Declared({**declared, "finite": finite, "length": length, "pixels": pixels})


def static(
    default: ParamValue = REQUIRED,
    *,
    min: float | None = None,
    max: float | None = None,
    help: str = "",
    choices: Sequence[str] = (),
    pixels: bool = False,
) -> Any:
    """Declare a compile-time parameter: each value is a specialisation of its own.

    >>> import dala
    >>> @dala.kernel
    ... def shift(src, by: int = dala.static(1, min=0, max=64, help="Columns.")):
    ...     return src[by, 0]
    >>> shift.params[0].static
    True
    """
    declared = {"default": default, "min": min, "max": max, "help": help}
    return _Declared({**declared, "choices": tuple(choices), "static": True, "pixels": pixels})


def array_param(default: None = REQUIRED, *, load: Loader | None = None, help: str = "") -> Any:
    """Declare a parameter that is a whole array: a look-up table, a curve, a map of weights.

    The kernel sees an Image of four channels, to read at computed positions. ``load`` makes it from
    what was given, an array (lists become one) or a path; it returns an array that is an image, or
    that and a word, which the kernel finds in ``.kind`` while it is traced. Without ``load`` the array
    itself is the image: (rows, columns, 4), (rows, columns, 3), (rows, columns) or (columns,), of
    floats or bytes. The same content is loaded, and copied to a device, only once.

    >>> import dala
    >>> from dala import compute
    >>> @dala.kernel
    ... def curve(src, points=dala.array_param(help="Tones, from dark to light.")):
    ...     p = src[0, 0]
    ...     tone = points.sample(luma(p) * (points.width - 1), 0).r
    ...     return rgb(tone, tone, tone).with_alpha(p.a)
    >>> grey = compute.buffer([[[0.25] * 4]])
    >>> compute.run_kernel(curve, [grey], grey, {"points": [1.0, 0.5, 0.0]})
    >>> compute.read_list(grey)
    [0.75, 0.75, 0.75, 0.25]
    """
    return _Declared({"type": "array", "default": default, "help": help, "load": load})


@dataclass(frozen=True, slots=True)
class _Declared:
    """What param(), static() and array_param() return; the decorator completes it with name and type."""

    fields: Mapping[str, Any]

    def complete(self, name: str, type_: ParamType | None) -> Param:
        if "type" in self.fields:
            return Param(name, **self.fields)
        guess = "str" if self.fields.get("choices") else guess_type(self.fields["default"])
        return Param(name, type_ or guess, **self.fields)


def guess_type(default: object) -> ParamType:
    """The type of a parameter that is not annotated; numbers are floats, even whole ones."""
    if isinstance(default, bool):
        return "bool"
    return "str" if isinstance(default, str) else "float"


def _shorten(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python refuses to print very long numbers
        shown = "a very large number"
    return shown if len(shown) <= 60 else shown[:57] + "..."


def declared(default: object) -> _Declared | None:
    """The declaration behind an argument's default, if it is one."""
    return default if isinstance(default, _Declared) else None


def bind_params(
    kernel: str, params: Mapping[str, Param], given: Mapping[str, object] | None
) -> dict[str, ParamValue]:
    """Every parameter with its checked value or default; unknown and missing ones are refused."""
    if given is None:
        given = {}
    elif type(given) is not dict and not isinstance(given, Mapping):
        raise ParameterError(f"{kernel}: params must be a dict, got {type(given).__name__}")
    for name in given:
        if name not in params:
            listed = ", ".join(params) or "none"
            hint = suggest(str(name), params)
            raise ParameterError(f"{kernel}: unknown parameter {name!r}; it takes: {listed}{hint}")
    bound: dict[str, ParamValue] = {}
    for name, p in params.items():
        if name in given:
            bound[name] = p.check(kernel, given[name])
        elif p.default is REQUIRED:
            raise ParameterError(f"{kernel}: parameter {name!r} is missing; give {p.describe()}")
        else:
            bound[name] = p.default
    return bound
