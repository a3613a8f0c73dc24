"""A kernel's signature: which arguments are inputs, and what its parameters are.

read_arguments(function)   name, annotation and default of every argument
count_inputs(...)          how many of them, from the left, are arrays
complete_param(...)        one parameter from its declaration, annotation and default
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from dala.errors import DalaError, KernelError
from dala.language.interpret import Argument, TextFunction
from dala.language.parameter import (
    REQUIRED,
    Param,
    ParamType,
    ParamValue,
    declared,
    guess_type,
)
from dala.language.tables import TRIAL

_TYPES: dict[str, ParamType] = {"float": "float", "int": "int", "bool": "bool", "str": "str"}


def read_arguments(function: Callable[..., object]) -> tuple[Argument, ...]:
    """Every argument of a kernel's function, as its signature declares it."""
    if isinstance(function, TextFunction):
        return function.arguments
    found = []
    for p in inspect.signature(function).parameters.values():
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise KernelError(
                f"kernel {getattr(function, '__name__', '?')!r}: *args and **kwargs are not allowed"
            )
        word = None if p.annotation is inspect.Parameter.empty else _word(p.annotation)
        default = REQUIRED if p.default is inspect.Parameter.empty else p.default
        found.append(Argument(p.name, word, default))
    return tuple(found)


def _word(annotation: object) -> str:
    """``float`` for ``float | None``, ``Image`` for ``values.Image``."""
    plain = isinstance(annotation, type) and not get_args(annotation)
    text = annotation.__name__ if plain else str(annotation)  # type: ignore[attr-defined]
    return text.split("|")[0].strip().rpartition(".")[2]


def count_inputs(kernel: str, arguments: Sequence[Argument], given: Mapping[str, object]) -> int:
    """How many arguments are inputs: those marked so, and those without annotation and default."""
    marks = [_is_input(a) and a.name not in given for a in arguments]
    count = sum(marks)
    for argument, mark in zip(arguments[count:], marks[count:], strict=True):
        if mark:
            raise KernelError(
                f"kernel {kernel!r}: input {argument.name!r} stands after a parameter; "
                "put the inputs first"
            )
    return count


def _is_input(argument: Argument) -> bool:
    if argument.annotation in ("Image", "Tensor"):
        return declared(argument.default) is None  # an array parameter is no input
    return argument.annotation is None and argument.default is REQUIRED


def complete_param(kernel: str, argument: Argument, given: Param | str | None) -> Param:
    """One parameter from its declaration, its annotation and its default."""
    word = argument.annotation or ""
    type_ = _TYPES.get(word.removeprefix("Static[").removesuffix("]"))
    default: Any = argument.default
    if word and type_ is None and default is REQUIRED and given is None:
        raise KernelError(
            f"kernel {kernel!r}: {argument.name} is annotated {word!r}; inputs are Image or Tensor, "
            f"parameters {', '.join(_TYPES)}"
        )
    draft = declared(default)
    try:
        if isinstance(given, Param):  # it wins; only a default may come from the signature
            inherits = given.required and draft is None and default is not REQUIRED
            return replace(given, default=default) if inherits else given
        if draft is not None:
            element = word.removeprefix("tuple[").partition(",")[0]  # of several numbers
            return draft.complete(argument.name, type_ or _TYPES.get(element))
        static = word.startswith("Static[")
        return Param(argument.name, type_ or guess_type(default), default, static=static)
    except DalaError as error:
        raise KernelError(f"kernel {kernel!r}: {error}") from error


def trial_value(param: Param) -> ParamValue:
    """A value for the first trace, before anybody has given one."""
    if not param.required:
        return param.default
    if param.type == "array":
        return TRIAL
    if param.type == "str":
        return param.choices[0] if param.choices else ""
    if param.type == "bool":
        return False
    low = -math.inf if param.min is None else param.min
    high = math.inf if param.max is None else param.max
    number = min(max(1.0, low), high)
    if param.type == "int":
        number = math.ceil(number)
    return (number,) * param.length if param.length else number
