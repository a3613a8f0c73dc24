"""Kinds of values that stand for media: pictures, streams, scenes, filters and their parameters."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dala.errors import ArgumentError, ParameterError
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import Param
from dala.media.chain import Chain
from dala.scene.nodes.kinds import Kind, string
from dala.scene.subtitles.opening import is_text, read_subtitles

MOST_PARAMETERS = 64
LONGEST_PATH = 4096
LONGEST_SUBTITLES = 1 << 20  # characters of a text; a file may be longer


@dataclass(frozen=True, eq=False)
class Held:
    """An object that a node holds and no file can: an array, a stream, a scene. Equal to itself only."""

    of: Any
    path: str | None = None  # the file it came from

    def __repr__(self) -> str:
        return f"<{type(self.of).__name__}>"


def _read_media(value: Any, who: str) -> Any:
    """A path or address stays text; an object is held."""
    if isinstance(value, Held):
        return value
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        if not value or len(value) > LONGEST_PATH or "\0" in value:
            raise ParameterError(f"{who}: expected a path of 1 to {LONGEST_PATH} characters")
        return value
    if isinstance(value, bool | int | float | None):
        raise ArgumentError(f"{who}: expected a path, a picture or a stream, got {value!r}")
    return Held(value)


def _write_media(value: Any) -> str:
    if isinstance(value, Held):
        raise ArgumentError(
            f"holds {type(value.of).__name__}, which no file can; save it and give its path"
        )
    return str(value)


MEDIA = Kind(
    "a path, an address, a picture or a stream",
    _read_media,
    {"type": "string", "minLength": 1, "maxLength": LONGEST_PATH},
    write=_write_media,
)


class SceneLike(Protocol):
    """What a scene shows to the scene that it is in."""

    @property
    def evaluated(self) -> tuple[Any, Any]:
        """Its description and its streams."""

    @property
    def duration(self) -> Fraction | None:
        """How long it lasts."""


def is_scene(value: Any) -> bool:
    """Whether a held object is a scene."""
    return isinstance(value, Held) and hasattr(value.of, "evaluated")


def _read_scene(value: Any, who: str) -> Held:
    held = value if isinstance(value, Held) else Held(value)
    if not is_scene(held):
        raise ArgumentError(
            f"{who}: expected a Scene; scene.load(path) reads one from a file; got {value!r}"
        )
    return held


SCENE = Kind(
    "a scene",
    _read_scene,
    {"anyOf": [{"type": "string", "description": "A scene's file."}, {"$ref": "#"}]},
)


def _read_image(value: Any, who: str) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value  # an image that was loaded into the scene
    return _read_media(value, who)


IMAGE = Kind(
    "a path, a picture, or the number of a loaded image",
    _read_image,
    MEDIA.schema,
    write=_write_media,
)


def _read_subtitles(value: Any, who: str) -> Any:
    """A path or a text stays text; cues are held."""
    if isinstance(value, Held):
        return value
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        try:
            return Held(read_subtitles(value))
        except ArgumentError as error:
            raise ArgumentError(f"{who}: {error}") from None
    if is_text(value):
        return string(LONGEST_SUBTITLES).read(value, who)
    return _read_media(value, who)


SUBTITLES = Kind(
    "a path of subtitles, their text, or cues",
    _read_subtitles,
    {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_SUBTITLES,
        "description": "A file of SRT, WebVTT or ASS; of more than one line it is such a text itself.",
    },
    write=_write_media,
)


def _read_filter(value: Any, who: str) -> Any:
    """A kernel's name, a look's, or a kernel."""
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, Kernel | str):
        return value if isinstance(value, Kernel) else string(LONGEST_PATH).read(value, who)
    raise ArgumentError(f"{who}: expected a filter's or look's name or a kernel, got {value!r}")


FILTER = Kind(
    "a filter's name, a look's name or file, or a kernel",
    _read_filter,
    {"type": "string", "minLength": 1, "maxLength": LONGEST_PATH},
    write=lambda value: value.name if isinstance(value, Kernel) else value,
)


class Params(dict[str, Any]):
    """Parameters that nobody changes; they can be compared."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted((name, repr(value)) for name, value in self.items())))


def _read_params(value: Any, who: str) -> Params:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ArgumentError(f"{who}: expected parameters {{name: value}}, got {value!r}")
    if len(value) > MOST_PARAMETERS:
        raise ParameterError(f"{who}: expected at most {MOST_PARAMETERS}, got {len(value)}")
    return Params({name: tuple(v) if isinstance(v, list) else v for name, v in value.items()})


def _write_params(value: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, np.generic):
            part = part.item()
        if not isinstance(part, str | int | float | bool | tuple | None):
            raise ArgumentError(f"holds {type(part).__name__} as {name!r}, which no file can")
        found[name] = list(part) if isinstance(part, tuple) else part
    return found


PARAMS = Kind(
    "parameters {name: value}",
    _read_params,
    {"type": "object", "maxProperties": MOST_PARAMETERS},
    write=_write_params,
)


@functools.lru_cache(64)
def filter_of(filter_: str | Kernel) -> str | Kernel:
    """A kernel's text as a kernel; it is parsed, never executed. Anything else as it is."""
    if isinstance(filter_, str) and filter_.lstrip().startswith("def "):
        return make_kernel(filter_)
    return filter_


def check_filter(filter_: str | Kernel, params: Mapping[str, Any]) -> None:
    """Refuse what ``dala.media`` would refuse, now and not while a frame is painted."""
    found = filter_of(filter_)
    Chain.of([(found, dict(params))] if params else found)


def parameter_of(filter_: str | Kernel, name: str) -> Param | None:
    """A parameter that a filter declares; a look has none."""
    chain = Chain.of([filter_of(filter_)])
    if len(chain.steps) != 1:
        return None
    return next((p for p in chain.steps[0].kernel.params if p.name == name), None)
