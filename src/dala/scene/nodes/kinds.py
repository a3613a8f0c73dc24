"""What a property's value may be. A kind reads what a caller or a file gives into one canonical frozen
value, writes it for a file, describes it as JSON schema, and says how it is mixed while it is animated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dala.colors import NAMES, rgba
from dala.errors import ArgumentError, ParameterError, suggest
from dala.scene.animation.easing import EASINGS, Easing, read_easing
from dala.scene.animation.mixing import Way
from dala.scene.nodes.looks import Border, Box, Gradient, Outline, Rgba, Shadow
from dala.scene.times import milliseconds, planned, seconds_of, written

Read: TypeAlias = Callable[[Any, str], Any]
FARTHEST = 1_000_000.0  # pixels
LONGEST_TEXT = 65_536
MOST_POINTS = 100_000
MOST_STOPS = 64
_COLORS_BY_VALUE = {value: name for name, value in sorted(NAMES.items(), reverse=True)}


@dataclass(frozen=True)
class Kind:
    """How values of one kind are read, written, described and mixed."""

    says: str  # what is expected, for messages
    read: Read
    schema: Mapping[str, Any]
    way: Way = "switch"
    write: Callable[[Any], Any] = lambda value: value
    low: float = -math.inf
    high: float = math.inf
    of_file: Read | None = None  # where a file says it otherwise than a caller

    def load(self, value: Any, who: str) -> Any:
        """Read what stands in a file."""
        return (self.of_file or self.read)(value, who)

    def clamp(self, value: Any) -> Any:
        """A mixed value back into its range: springs overshoot."""
        if self.way in ("number", "whole"):
            return min(max(value, self.low), self.high)
        if self.way == "numbers" and value is not None:
            low, high = self.low, self.high
            if low == -math.inf and high == math.inf:
                return value
            return tuple([min(max(part, low), high) for part in value])
        return value

    def or_none(self) -> Kind:
        """The same, or nothing."""
        return replace(
            self,
            says=f"{self.says}, or nothing",
            read=lambda value, who: None if value is None else self.read(value, who),
            of_file=lambda value, who: None if value is None else self.load(value, who),
            write=lambda value: None if value is None else self.write(value),
            schema={"anyOf": [dict(self.schema), {"type": "null"}]},
        )


def _wrong(who: str, says: str, value: object) -> ArgumentError:
    return ArgumentError(f"{who}: expected {says}, got {_short(value)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _finite(value: Any, who: str, says: str) -> float:
    if isinstance(value, bool | np.bool_ | str | bytes) or not hasattr(value, "__float__"):
        raise _wrong(who, says, value)
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(who, says, value) from None
    if not math.isfinite(found):
        raise ParameterError(f"{who}: expected {says}, got {_short(value)}")
    return found


# -- numbers -----------------------------------------------------------------------------------------------


def number(low: float = -FARTHEST, high: float = FARTHEST) -> Kind:
    """A finite number within bounds."""
    says = f"a number from {low:g} to {high:g}"

    def read(value: Any, who: str) -> float:
        found = _finite(value, who, says)
        if not low <= found <= high:
            raise ParameterError(f"{who}: expected {says}, got {_short(value)}")
        return found

    schema = {"type": "number", "minimum": low, "maximum": high}
    return Kind(says, read, schema, "number", _plain, low, high)


def whole(low: int, high: int) -> Kind:
    """A whole number within bounds."""
    says = f"a whole number from {low} to {high}"

    def read(value: Any, who: str) -> int:
        found = _finite(value, who, says)
        if found != int(found) or not low <= found <= high:
            raise ParameterError(f"{who}: expected {says}, got {_short(value)}")
        return int(found)

    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Kind(says, read, schema, "whole", low=low, high=high)


def numbers(count: int, names: str, low: float = -FARTHEST, high: float = FARTHEST) -> Kind:
    """So many numbers: a place, a size."""
    says = f"{count} numbers {names} from {low:g} to {high:g}"

    def read(value: Any, who: str) -> tuple[float, ...]:
        if isinstance(value, str | bytes) or not hasattr(value, "__len__") or len(value) != count:
            raise _wrong(who, says, value)
        found = tuple(_finite(part, who, says) for part in value)
        if not all(low <= part <= high for part in found):
            raise ParameterError(f"{who}: expected {says}, got {_short(value)}")
        return found

    items = {"type": "number", "minimum": low, "maximum": high}
    schema = {"type": "array", "items": items, "minItems": count, "maxItems": count}
    return Kind(says, read, schema, "numbers", lambda v: [_plain(n) for n in v], low, high)


def _plain(value: float) -> int | float:
    """1.0 as 1."""
    return int(value) if value == int(value) else value


def read_scale(pair: Kind) -> Kind:
    """A scale: two numbers, or one for both."""

    def read(value: Any, who: str) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = (value, value)
        return pair.read(value, who)

    one = {"type": "number", "minimum": pair.low, "maximum": pair.high}
    return replace(pair, read=read, schema={"anyOf": [dict(pair.schema), one]})


# -- words -------------------------------------------------------------------------------------------------


def word(*choices: str) -> Kind:
    """One of a few words."""
    says = f"one of {', '.join(choices)}"

    def read(value: Any, who: str) -> str:
        if isinstance(value, str) and value in choices:
            return value
        close = suggest(str(value), choices)
        raise ParameterError(f"{who}: expected {says}; got {_short(value)}{close}")

    return Kind(says, read, {"enum": list(choices)})


def string(most: int = 4096) -> Kind:
    """A text that means something to a program: a name, a path."""
    says = f"text of at most {most} characters"

    def read(value: Any, who: str) -> str:
        if not isinstance(value, str):
            raise _wrong(who, says, value)
        if len(value) > most or "\0" in value:
            raise ParameterError(f"{who}: expected {says} and no NUL, got {len(value)}")
        return value

    return Kind(says, read, {"type": "string", "maxLength": most})


def _flag(value: Any, who: str) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise _wrong(who, "true or false", value)


FLAG = Kind("true or false", _flag, {"type": "boolean"})


# -- times -------------------------------------------------------------------------------------------------

TIME = Kind(
    "a time: whole microseconds, seconds as a float, a Fraction or a timedelta",
    planned,
    {
        "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d{1,15}/\d{1,15}$"}],
        "description": 'Seconds, or a fraction of seconds as text: "1001/30000".',
    },
    write=written,
    of_file=seconds_of,
)


def _written_ms(value: Fraction) -> int | float:
    return _plain(float(value * 1000))


MILLISECONDS = Kind(
    "milliseconds",
    milliseconds,
    {"type": "number", "minimum": 0},
    write=_written_ms,
)


# -- colours -----------------------------------------------------------------------------------------------


def read_color(value: Any, who: str) -> Rgba:
    """A colour as four whole numbers."""
    r, g, b, a = rgba(tuple(value) if isinstance(value, list) else value)
    return (r, g, b, a)


def write_color(value: Rgba) -> str:
    """A colour's name, or ``#rrggbb[aa]``."""
    plain = bytes(value)
    if plain in _COLORS_BY_VALUE:
        return _COLORS_BY_VALUE[plain]
    return "#" + (plain.hex() if value[3] != 255 else plain[:3].hex())


_COLOR_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "description": "A CSS name, or #rrggbb or #rrggbbaa."},
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": 255},
            "minItems": 3,
            "maxItems": 4,
        },
    ]
}
COLOR = Kind("a colour", read_color, {"$ref": "#/$defs/color"}, "color", write_color)


def _parts(
    value: Mapping[str, Any], kind: str, known: Mapping[str, Kind], who: str
) -> dict[str, Any]:
    for key in value:
        if key not in known:
            raise ParameterError(
                f"{who}: a {kind} has no {key!r}{suggest(str(key), known)}; it has {', '.join(known)}"
            )
    return {key: known[key].read(part, f"{who}.{key}") for key, part in value.items()}


def record(name: str, made: type, known: Mapping[str, Kind], *, first: str = "color") -> Kind:
    """A value of several parts, which may be given as a mapping, or as its first part alone."""
    says = f"a {name}: {{{', '.join(known)}}} or a {first}"

    def read(value: Any, who: str) -> Any:
        if isinstance(value, made):
            value = {key: getattr(value, key) for key in known}
        if value is True:
            return made()
        if isinstance(value, Mapping):
            return made(**_parts(value, name, known, who))
        return made(**{first: known[first].read(value, who)})

    def write(value: Any) -> dict[str, Any]:
        found = {key: kind.write(getattr(value, key)) for key, kind in known.items()}
        return {key: part for key, part in found.items() if part is not None}

    parts = {
        "type": "object",
        "properties": {key: dict(kind.schema) for key, kind in known.items()},
        "additionalProperties": False,
    }
    if first == "width":
        parts["required"] = ["width"]
    schema = {"anyOf": [parts, dict(known[first].schema), {"const": True}]}
    if first == "width":
        schema["anyOf"].pop()
    return Kind(says, read, schema, write=write)


_WIDTH = number(0, 256)
_OFFSET = numbers(2, "(x, y)", -256, 256).or_none()
_SOME = _WIDTH.or_none()


def _border() -> Kind:
    kind = record("border", Border, {"width": number(0, 1024), "color": COLOR}, first="width")

    def read(value: Any, who: str) -> Any:
        if isinstance(value, list | tuple) and len(value) == 2:
            value = {"width": value[0], "color": value[1]}
        if value is True or (isinstance(value, Mapping) and "width" not in value):
            raise ParameterError(f"{who}: a border has a width, e.g. (4, 'white')")
        return kind.read(value, who)

    return replace(kind, says="a border: a width, or (width, colour)", read=read)


BORDER = _border()
SHADOW = record("shadow", Shadow, {"color": COLOR, "offset": _OFFSET, "blur": _SOME})
BOX = record("box", Box, {"color": COLOR, "padding": _SOME, "radius": _SOME})
OUTLINE = record("outline", Outline, {"color": COLOR, "width": _SOME})


def _read_paint(value: Any, who: str) -> Rgba | Gradient:
    if isinstance(value, Gradient):
        value = {value.way: value.colors, "angle": value.angle}
    if not isinstance(value, Mapping):
        return read_color(value, who)
    ways = [key for key in ("linear", "radial", "conic") if key in value]
    if len(ways) != 1 or set(value) - {ways[0], "angle"}:
        raise ParameterError(
            f"{who}: a gradient is {{'linear': [colours], 'angle': 90}}, or radial or conic; "
            f"got {_short(dict(value))}"
        )
    colors = value[ways[0]]
    if (
        isinstance(colors, str)
        or not isinstance(colors, Sequence)
        or not 2 <= len(colors) <= MOST_STOPS
    ):
        raise ParameterError(
            f"{who}.{ways[0]}: expected 2 to {MOST_STOPS} colours, got {_short(colors)}"
        )
    angle = number(-36_000, 36_000).read(value.get("angle", 0), f"{who}.angle")
    found = tuple(read_color(color, f"{who}.{ways[0]}[{n}]") for n, color in enumerate(colors))
    return Gradient(found, angle, ways[0])  # type: ignore[arg-type]


def _write_paint(value: Rgba | Gradient) -> Any:
    if not isinstance(value, Gradient):
        return write_color(value)
    written_ = {value.way: [write_color(color) for color in value.colors]}
    return written_ | ({"angle": _plain(value.angle)} if value.angle else {})


PAINT = Kind(
    "a colour or a gradient", _read_paint, {"$ref": "#/$defs/paint"}, "color", _write_paint
)
_COLORS: dict[str, Any] = {
    "type": "array",
    "items": {"$ref": "#/$defs/color"},
    "minItems": 2,
    "maxItems": MOST_STOPS,
}
DEFINITIONS: dict[str, Any] = {
    "color": _COLOR_SCHEMA,
    "paint": {
        "anyOf": [
            {"$ref": "#/$defs/color"},
            *(
                {
                    "type": "object",
                    "properties": {way: _COLORS, "angle": {"type": "number"}},
                    "required": [way],
                    "additionalProperties": False,
                }
                for way in ("linear", "radial", "conic")
            ),
        ]
    },
}


# -- text, paths, points -----------------------------------------------------------------------------------


def _freeze_text(value: Any, who: str) -> Any:
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise ParameterError(f"{who}: at most {LONGEST_TEXT} characters, got {len(value)}")
        return value
    if not isinstance(value, list | tuple) or len(value) > 4096:
        raise _wrong(who, "text, or runs of [text, {style}]", value)
    runs = []
    for n, run in enumerate(value):
        run = (run, {}) if isinstance(run, str) else run
        if (
            not isinstance(run, list | tuple)
            or len(run) != 2
            or not isinstance(run[0], str)
            or not isinstance(run[1], Mapping | tuple)
        ):
            raise _wrong(f"{who}[{n}]", "a run like ['gold', {'color': 'gold'}]", run)
        runs.append((run[0], tuple(sorted(_freeze_style(dict(run[1]), f"{who}[{n}]").items()))))
    if sum(len(text) for text, _ in runs) > LONGEST_TEXT:
        raise ParameterError(f"{who}: at most {LONGEST_TEXT} characters")
    return tuple(runs)


_STYLE: dict[str, Kind] = {
    "font": string(),
    "size": number(1, 2048),
    "color": COLOR,
    "weight": whole(1, 1000),
    "italic": FLAG,
    "letter_spacing": number(-1000, 1000),
    "language": string(35),
}


def _freeze_style(style: Mapping[str, Any], who: str) -> dict[str, Any]:
    return _parts(style, "run's style", _STYLE, who)


def _write_text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return [[text, {key: _STYLE[key].write(part) for key, part in style}] for text, style in value]


TEXT = Kind(
    "text, or runs of [text, {style}]",
    _freeze_text,
    {
        "anyOf": [
            {"type": "string", "maxLength": LONGEST_TEXT},
            {
                "type": "array",
                "maxItems": 4096,
                "items": {
                    "type": "array",
                    "prefixItems": [
                        {"type": "string"},
                        {
                            "type": "object",
                            "properties": {key: dict(kind.schema) for key, kind in _STYLE.items()},
                            "additionalProperties": False,
                        },
                    ],
                    "minItems": 2,
                    "maxItems": 2,
                },
            },
        ]
    },
    write=_write_text,
)


def _read_points(value: Any, who: str) -> tuple[tuple[float, float], ...]:
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        raise _wrong(who, "points [[x, y], …]", value)
    if len(value) > MOST_POINTS:
        raise ParameterError(f"{who}: at most {MOST_POINTS} points, got {len(value)}")
    table = np.asarray(value, np.float64) if len(value) else np.zeros((0, 2))
    if table.ndim != 2 or table.shape[1] != 2 or not (np.abs(table) <= FARTHEST).all():
        raise _wrong(who, "points [[x, y], …] of finite numbers", value)
    return tuple((float(x), float(y)) for x, y in table)


POINTS = Kind(
    "points [[x, y], …]",
    _read_points,
    {
        "type": "array",
        "maxItems": MOST_POINTS,
        "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    },
    write=lambda points: [[_plain(x), _plain(y)] for x, y in points],
)


# -- animation ---------------------------------------------------------------------------------------------

EASING = Kind(
    "an easing like 'ease_out' or 'steps(4)'",
    lambda value, who: read_easing(value),
    {"type": "string", "examples": [*EASINGS][:7], "maxLength": 200},
    write=lambda easing: easing.name,
)


def _read_repeat(value: Any, who: str) -> int | None:
    if value is None or value == "forever" or value == math.inf:
        return None
    return int(whole(1, 1_000_000).read(value, who))


REPEAT = Kind(
    "a count from 1, or 'forever'",
    _read_repeat,
    {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1_000_000}, {"const": "forever"}]},
    write=lambda count: "forever" if count is None else count,
)

__all__ = ["Easing", "Kind"]
