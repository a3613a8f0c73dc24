"""Commands of ink as bytes: one function each, pure, as those of command.py."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from dala.colors import Color, rgba
from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.gpu.ink_fields import BLENDS, CAPS, FILTERS, JOINS, LAYER, RULES, STYLE
from dala.gpu.opcodes import FIXED, INK_VERSION, MAX_DASH, MAX_POINTS, Op
from dala.gpu.paint import Paint, finite_numbers, is_color, one_of, paint_bytes
from dala.gpu.path import Path

Rule: TypeAlias = Literal["nonzero", "evenodd"]
Join: TypeAlias = Literal["miter", "round", "bevel"]
Cap: TypeAlias = Literal["butt", "round", "square"]
Filter: TypeAlias = Literal["bilinear", "nearest"]
Blend: TypeAlias = Literal[
    "over", "multiply", "screen", "overlay", "darken", "lighten", "add", "difference", "exclusion",
    "hard_light", "erase",
]  # fmt: skip
_CAP_NUMBERS = {name: number for number, name in enumerate(CAPS)}
_line, _ellipse, _circle = (
    FIXED[op].pack for op in (Op.STROKE_LINE, Op.FILL_ELLIPSE, Op.STROKE_CIRCLE)
)
_STROKE_LINE, _FILL_ELLIPSE, _STROKE_CIRCLE = (
    int(op) for op in (Op.STROKE_LINE, Op.FILL_ELLIPSE, Op.STROKE_CIRCLE)
)


def _dashes(dash: Sequence[float]) -> list[float]:
    """Lengths drawn and left out in turn: an odd number of them, twice."""
    try:
        lengths = list(dash)
    except TypeError:
        raise ArgumentError(f"stroke_path: expected a list of dashes, got {dash!r}") from None
    return lengths * 2 if len(lengths) % 2 else lengths


def _sized(op: Op, body: bytes) -> bytes:
    return struct.pack("<BI", op, len(body)) + body


def as_path(path: object, who: str) -> Path:
    """A path, an SVG text, or points (N, 2)."""
    if isinstance(path, Path):
        return path
    if isinstance(path, str):
        return Path(path)
    try:
        return Path.polyline(path, closed=True)
    except (TypeError, ValueError) as error:
        if isinstance(error, ShapeError | ParameterError):
            raise
        raise ArgumentError(f"{who}: expected a Path, SVG path text or points (N, 2)") from error


def encode_ink_version(version: int = INK_VERSION) -> bytes:
    """Which version of ink's opcodes the commands behind it are written for.

    >>> from dala.gpu import command
    >>> command.encode_ink_version().hex()
    '4001000000'
    """
    return FIXED[Op.INK_VERSION].pack(Op.INK_VERSION, version)


def encode_fill_path(path: Path | str, paint: Paint, rule: Rule = "nonzero") -> bytes:
    """A path, filled.

    >>> from dala.gpu import command
    >>> len(command.encode_fill_path("M0 0 L8 0 L0 8 Z", "red"))
    82
    """
    number = one_of(rule, RULES, "rule")
    body = bytes([number]) + paint_bytes(paint) + bytes(as_path(path, "fill_path"))
    return _sized(Op.FILL_PATH, body)


def encode_stroke_path(
    path: Path | str,
    paint: Paint,
    width: float = 1.0,
    join: Join = "miter",
    cap: Cap = "butt",
    dash: Sequence[float] = (),
    *,
    dash_offset: float = 0.0,
    miter_limit: float = 4.0,
) -> bytes:
    """What a pen of some width leaves along a path.

    >>> from dala.gpu import command
    >>> len(command.encode_stroke_path("M0 0 L8 0", "red", 3, dash=[4, 2]))
    95
    """
    lengths = _dashes(dash)
    finite_numbers((width, miter_limit, dash_offset, *lengths), "stroke_path")
    if width < 0 or miter_limit < 1:
        raise ParameterError(
            f"stroke_path: widths are not negative, miter limits 1 or more; got {width}, {miter_limit}"
        )
    if len(lengths) > MAX_DASH or any(d < 0 for d in lengths) or (lengths and not any(lengths)):
        raise ParameterError(
            f"stroke_path: up to {MAX_DASH} dashes, not negative, not all zero; got {dash!r}"
        )
    joins, caps = one_of(join, JOINS, "join"), one_of(cap, CAPS, "cap")
    style = STYLE.pack(width, miter_limit, dash_offset, joins, caps, len(lengths))
    style += struct.pack(f"<{len(lengths)}f", *lengths)
    return _sized(Op.STROKE_PATH, style + paint_bytes(paint) + bytes(as_path(path, "stroke_path")))


def encode_fill_polygon(points: object, paint: Paint, rule: Rule = "nonzero") -> bytes:
    """A polygon with corners (N, 2).

    >>> from dala.gpu import command
    >>> len(command.encode_fill_polygon([[0, 0], [8, 0], [0, 8]], "red"))
    34
    """
    if not is_color(paint):
        return encode_fill_path(Path.polyline(points, closed=True), paint, rule)
    table = np.asarray(points, np.float64)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ShapeError(f"fill_polygon: expected points (N, 2), got {table.shape}")
    if not (np.abs(table) < 3e38).all() or len(table) > MAX_POINTS:
        raise ParameterError(f"fill_polygon: expected up to {MAX_POINTS} finite points")
    number = one_of(rule, RULES, "rule")
    return _sized(Op.FILL_POLYGON, bytes([number]) + rgba(paint) + table.astype("<f4").tobytes())


def encode_stroke_line(
    x1: float, y1: float, x2: float, y2: float, paint: Paint, width: float = 1.0, cap: Cap = "butt"
) -> bytes:
    """A line of some width.

    >>> from dala.gpu import command
    >>> len(command.encode_stroke_line(0, 0, 8, 8, "red", 3))
    26
    """
    if not is_color(paint):
        return encode_stroke_path(Path().move_to(x1, y1).line_to(x2, y2), paint, width, cap=cap)
    finite_numbers((x1, y1, x2, y2, width), "stroke_line")
    if width < 0:
        raise ParameterError(f"stroke_line: a width is not negative, got {width}")
    number = _CAP_NUMBERS.get(cap)
    if number is None:
        number = one_of(cap, CAPS, "cap")
    return _line(_STROKE_LINE, x1, y1, x2, y2, width, number, rgba(paint))


def encode_fill_ellipse(
    cx: float, cy: float, rx: float, ry: float, paint: Paint, rotation: float = 0.0
) -> bytes:
    """An ellipse about (cx, cy), turned clockwise by degrees.

    >>> from dala.gpu import command
    >>> len(command.encode_fill_ellipse(5, 5, 4, 2, "red"))
    29
    """
    if not is_color(paint):
        return encode_fill_path(Path().ellipse(cx, cy, rx, ry, rotation=rotation), paint)
    finite_numbers((cx, cy, rx, ry, rotation), "fill_ellipse")
    turned = math.radians(rotation)
    cos, sin = (math.cos(turned), math.sin(turned)) if rotation else (1.0, 0.0)
    axes = rx * cos, rx * sin, -ry * sin, ry * cos
    return _ellipse(_FILL_ELLIPSE, cx, cy, *axes, rgba(paint))


def encode_stroke_ellipse(
    cx: float, cy: float, rx: float, ry: float, paint: Paint, width: float = 1.0, rotation: float = 0.0
) -> bytes:  # fmt: skip
    """The outline of an ellipse, of some width.

    >>> from dala.gpu import command
    >>> len(command.encode_stroke_ellipse(5, 5, 4, 4, "red", 2))
    21
    """
    if rx != ry or not is_color(paint):
        path = Path().ellipse(cx, cy, rx, ry, rotation=rotation)
        return encode_stroke_path(path, paint, width)
    finite_numbers((cx, cy, rx, width), "stroke_ellipse")
    if width < 0:
        raise ParameterError(f"stroke_ellipse: a width is not negative, got {width}")
    return _circle(_STROKE_CIRCLE, cx, cy, rx, width, rgba(paint))


def encode_push_transform(a: float, b: float, c: float, d: float, e: float, f: float) -> bytes:
    """Ink behind it goes through a matrix first: x' = a·x + c·y + e, y' = b·x + d·y + f.

    >>> from dala.gpu import command
    >>> len(command.encode_push_transform(1, 0, 0, 1, 10, 20))
    25
    """
    finite_numbers((a, b, c, d, e, f), "push_transform")
    return FIXED[Op.PUSH_TRANSFORM].pack(Op.PUSH_TRANSFORM, a, b, c, d, e, f)


def encode_pop_transform() -> bytes:
    """Take back the last transform.

    >>> from dala.gpu import command
    >>> command.encode_pop_transform().hex()
    '48'
    """
    return bytes([Op.POP_TRANSFORM])


def encode_push_layer(
    opacity: float = 1.0,
    blend: Blend = "over",
    clip: Path | str | None = None,
    rule: Rule = "nonzero",
) -> bytes:
    """What is drawn behind it goes onto a layer of its own.

    >>> from dala.gpu import command
    >>> command.encode_push_layer(0.5, "multiply").hex()
    '49070000000000003f010000'
    """
    finite_numbers((opacity,), "push_layer")
    if not 0 <= opacity <= 1:
        raise ParameterError(f"push_layer: an opacity is 0..1, got {opacity}")
    mode, number = one_of(blend, BLENDS, "blend"), one_of(rule, RULES, "rule")
    body = LAYER.pack(opacity, mode, clip is not None, number)
    return _sized(Op.PUSH_LAYER, body + (bytes(as_path(clip, "clip")) if clip is not None else b""))


def encode_pop_layer() -> bytes:
    """Put the last layer onto what is below it.

    >>> from dala.gpu import command
    >>> command.encode_pop_layer().hex()
    '4a'
    """
    return bytes([Op.POP_LAYER])


def encode_draw_sprite(
    sprite_id: int,
    x: float,
    y: float,
    *,
    scale: float | tuple[float, float] = 1.0,
    rotation: float = 0.0,
    anchor: tuple[float, float] = (0.5, 0.5),
    opacity: float = 1.0,
    tint: Color | None = None,
    flip: Literal["x", "y", "xy"] | None = None,
    filter: Filter = "bilinear",
) -> bytes:
    """A sprite with its anchor at (x, y), turned clockwise by degrees.

    >>> from dala.gpu import command
    >>> len(command.encode_draw_sprite(7, 10.5, 20, rotation=30, tint="gold"))
    62
    """
    wide, high = scale if isinstance(scale, tuple | list) else (scale, scale)
    return _picture(
        Op.DRAW_SPRITE, sprite_id, x, y, (wide, high), rotation, anchor, opacity, tint, flip, filter,
        (0, 0, 0, 0),
    )  # fmt: skip


def encode_draw_picture(
    image_id: int,
    x: float,
    y: float,
    w: float,
    h: float,
    *,
    rotation: float = 0.0,
    opacity: float = 1.0,
    crop: Sequence[int] | None = None,
    tint: Color | None = None,
    flip: Literal["x", "y", "xy"] | None = None,
    filter: Filter = "bilinear",
) -> bytes:
    """An image, or the part ``crop`` (x, y, w, h) of it, on a rectangle that is turned about its middle.

    >>> from dala.gpu import command
    >>> len(command.encode_draw_picture(7, 10.5, 20, 64, 64, crop=(0, 0, 32, 32)))
    62
    """
    part = tuple(crop) if crop is not None else (0, 0, 0, 0)
    if len(part) != 4 or (crop is not None and (part[2] < 1 or part[3] < 1)):
        raise ParameterError(f"draw_image: crop is x, y, w, h with an area, got {crop!r}")
    finite_numbers((x, y, w, h), "draw_image")
    return _picture(
        Op.DRAW_PICTURE, image_id, x + w / 2, y + h / 2, (w, h), rotation, (0.5, 0.5), opacity, tint,
        flip, filter, part,
    )  # fmt: skip


def _picture(
    op: Op, identity: int, x: float, y: float, scale: Sequence[float], rotation: float,
    anchor: Sequence[float], opacity: float, tint: Color | None, flip: str | None, filter: str,
    crop: Sequence[int],
) -> bytes:  # fmt: skip
    who = op.name.lower()
    finite_numbers((x, y, *scale, rotation, *anchor, opacity), who)
    if not 0 <= opacity <= 1:
        raise ParameterError(f"{who}: an opacity is 0..1, got {opacity}")
    if flip not in (None, "x", "y", "xy"):
        raise ParameterError(f"{who}: flip is 'x', 'y' or 'xy', got {flip!r}")
    wide = -scale[0] if flip and "x" in flip else scale[0]
    high = -scale[1] if flip and "y" in flip else scale[1]
    turned, whole = math.radians(rotation), 2 if op is Op.DRAW_PICTURE else 0
    cos, sin = math.cos(turned), math.sin(turned)
    *color, alpha = rgba(tint) if tint is not None else b"\xff\xff\xff\xff"
    shade = bytes([*color, round(alpha * opacity)])
    # flipped about its own middle: the anchor stays where it is in the picture that is seen
    ax = 1 - anchor[0] if wide < 0 else anchor[0]
    ay = 1 - anchor[1] if high < 0 else anchor[1]
    try:
        return FIXED[op].pack(
            op, x, y, wide * cos, wide * sin, -high * sin, high * cos, ax, ay,
            identity, shade, one_of(filter, FILTERS, "filter") | whole, *crop,
        )  # fmt: skip
    except struct.error as error:
        raise ParameterError(f"{who}: {error} in {(identity, *crop)}") from error
