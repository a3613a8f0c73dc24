"""The methods of surfaces as functions, which say so if they are given something else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar, cast

from dala.errors import ArgumentError
from dala.gpu.drawing import Drawing
from dala.gpu.surface import Surface

Rest = ParamSpec("Rest")
Result = TypeVar("Result")
First = TypeVar("First")


def as_function(
    method: Callable[Concatenate[First, Rest], Result],
) -> Callable[Concatenate[First, Rest], Result]:
    """A method as a function of a surface, or of a recorder where that can do it too."""
    name = method.__name__

    @functools.wraps(method)
    def function(surface: First, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        if not isinstance(surface, Drawing):
            raise _no_surface(surface, name)
        return method(cast("First", surface), *args, **kwargs)

    return function


def surface_of(given: object, who: str) -> Surface:
    """The surface itself, or an error."""
    if not isinstance(given, Surface):
        raise _no_surface(given, who)
    return given


def _no_surface(given: object, who: str) -> ArgumentError:
    return ArgumentError(
        f"{who}: expected a surface (gpu.create_surface(640, 480)), got {type(given).__name__}"
    )
