"""The fields of ink's commands: what they are on the wire, and what is wrong with those that are malformed.

    paint        kind, spread (u8), stops (u16), colour, six f32, an image's id (u64); stops: f32, colour
    path         how many verbs, how many points (u32), the points (two f32 each), the verbs (u8)
    FILL_PATH    rule (u8), paint, path
    STROKE_PATH  width, miter limit, dash offset (f32), join, cap (u8), dashes (u16), f32 each; paint, path
    FILL_POLYGON rule (u8), colour, points
    PUSH_LAYER   opacity (f32), blend mode, whether a path clips it, rule (u8); the path if so

``raster/ink/checks.py`` decides the same in machine code.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from dala.gpu.opcodes import INK_VERSION, MAX_DASH, MAX_POINTS, MAX_STOPS, Op

RULES = ("nonzero", "evenodd")
JOINS = ("miter", "round", "bevel")
CAPS = ("butt", "round", "square")
SPREADS = ("pad", "repeat", "reflect")
EXTENDS = (*SPREADS, "none")
BLENDS = (
    "over", "multiply", "screen", "overlay", "darken", "lighten", "add", "difference", "exclusion",
    "hard_light", "erase",
)  # fmt: skip
FILTERS = ("bilinear", "nearest")
KINDS = ("color", "linear", "radial", "conic", "pattern")
PAINT = struct.Struct("<BBH4s6fQ")
STYLE = struct.Struct("<3fBBH")
LAYER = struct.Struct("<f3B")
COUNTS = struct.Struct("<2I")
_POINTS_OF = np.array([1, 1, 2, 3, 0], np.int64)  # by verb


def body_fields(op: Op, body: bytes) -> tuple[Any, ...]:
    """The fields of a command that tells its size; ValueError says what is wrong."""
    if op is Op.FILL_POLYGON:
        return _polygon(body)
    if op is Op.PUSH_LAYER:
        opacity, mode, clip, rule = LAYER.unpack(_head(body, LAYER.size))
        _require(0 <= opacity <= 1, f"opacity is 0..1, got {opacity}")
        _require(mode < len(BLENDS), f"blend mode {mode}; there are {len(BLENDS)}")
        _require(clip < 2 and rule < 2, "whether there is a clip, and its rule, are 0 or 1")
        rest = body[LAYER.size :]
        _require(bool(clip) or not rest, f"{len(rest)} bytes behind a layer without a clip")
        return (opacity, mode, clip, rule, *(_path(rest) if clip else ()))
    if op is Op.FILL_PATH:
        _require(bool(body) and body[0] < 2, "a rule is 0 (nonzero) or 1 (evenodd)")
        paint, at = _paint(body, 1)
        return (body[0], paint, *_path(body[at:]))
    style, at = _style(body)
    paint, at = _paint(body, at)
    return (style, paint, *_path(body[at:]))


def body_bytes(op: Op, fields: Sequence[Any]) -> bytes:
    """The same as bytes."""
    if op is Op.FILL_POLYGON:
        return bytes([fields[0]]) + bytes(fields[1]) + bytes(fields[2])
    if op is Op.PUSH_LAYER:
        return LAYER.pack(*fields[:4]) + (path_bytes(*fields[4:]) if fields[2] else b"")
    first = bytes([fields[0]]) if op is Op.FILL_PATH else bytes(fields[0])
    return first + bytes(fields[1]) + path_bytes(*fields[2:])


def path_bytes(verbs: bytes, points: bytes) -> bytes:
    """A path: verbs, and the points' floats."""
    return COUNTS.pack(len(verbs), len(points) // 8) + points + verbs


def pattern_id(paint: bytes) -> int:
    """The image that a paint shows."""
    return int(PAINT.unpack_from(paint)[-1])


def fixed_reason(op: Op, fields: Sequence[Any]) -> str:
    """What is wrong with the fields of a command of fixed size, or nothing."""
    if op is Op.INK_VERSION:
        return "" if fields[0] <= INK_VERSION else f"version {fields[0]}; this is {INK_VERSION}"
    if not all(np.isfinite(f) for f in fields if isinstance(f, float)):
        return "a coordinate is not a finite number"
    if op is Op.STROKE_LINE and (fields[4] < 0 or fields[5] >= len(CAPS)):
        return f"width {fields[4]}, cap {fields[5]}; widths are not negative, caps are 0..2"
    if op is Op.STROKE_CIRCLE and fields[3] < 0:
        return f"a width is not negative, got {fields[3]}"
    if op in (Op.DRAW_SPRITE, Op.DRAW_PICTURE) and fields[10] > 3:
        return f"filter is 0 (bilinear) or 1 (nearest), plus 2 for whole axes; got {fields[10]}"
    return ""


def _require(fine: bool, reason: str) -> None:
    if not fine:
        raise ValueError(reason)


def _head(body: bytes, size: int, at: int = 0) -> bytes:
    _require(len(body) - at >= size, f"truncated: {size} bytes expected, {len(body) - at} are left")
    return body[at : at + size]


def _finite(data: bytes) -> bool:
    return bool(np.isfinite(np.frombuffer(data, "<f4")).all())


def _polygon(body: bytes) -> tuple[Any, ...]:
    _head(body, 5)
    points = body[5:]
    _require(body[0] < 2, "a rule is 0 (nonzero) or 1 (evenodd)")
    _require(len(points) % 8 == 0, f"{len(points)} bytes are not points of 8 each")
    _require(len(points) <= MAX_POINTS * 8, f"more than {MAX_POINTS} points")
    _require(_finite(points), "a coordinate is not a finite number")
    return body[0], body[1:5], points


def _style(body: bytes) -> tuple[bytes, int]:
    width, limit, _, join, cap, dashes = STYLE.unpack(_head(body, STYLE.size))
    _require(_finite(body[:12]), "a width, limit or offset is not a finite number")
    _require(width >= 0, f"a width is not negative, got {width}")
    _require(limit >= 1, f"a miter limit is 1 at the least, got {limit}")
    _require(join < len(JOINS) and cap < len(CAPS), f"join {join}, cap {cap}; they are 0..2")
    _require(
        dashes <= MAX_DASH and dashes % 2 == 0, f"{dashes} dashes; an even number to {MAX_DASH}"
    )
    data = _head(body, dashes * 4, STYLE.size)
    lengths = np.frombuffer(data, "<f4")
    _require(_finite(data) and bool((lengths >= 0).all()), "dashes are not negative")
    _require(not dashes or bool((lengths > 0).any()), "dashes are not all zero")
    end = STYLE.size + dashes * 4
    return body[:end], end


def _paint(body: bytes, at: int) -> tuple[bytes, int]:
    kind, spread, stops, *_ = PAINT.unpack(_head(body, PAINT.size, at))
    _require(kind < len(KINDS), f"paint {kind}; there are {len(KINDS)}")
    _require(stops <= MAX_STOPS, f"{stops} stops; {MAX_STOPS} at the most")
    _require(_finite(body[at + 8 : at + 32]), "a paint's number is not finite")
    end = at + PAINT.size + stops * 8
    table = np.frombuffer(
        _head(body, stops * 8, at + PAINT.size), [("at", "<f4"), ("rgba", "u1", 4)]
    )
    if KINDS[kind] in ("color", "pattern"):
        _require(stops == 0, f"a {KINDS[kind]} has no stops")
        _require(spread < (8 if kind else 1), f"spread {spread}")
    else:
        offsets = table["at"]
        _require(stops > 0 and spread < len(SPREADS), f"{stops} stops, spread {spread}")
        rises = bool(
            (offsets[:1] >= 0).all() and (np.diff(offsets) >= 0).all() and offsets[-1] <= 1
        )
        _require(rises, "stops go from 0 to 1, none before the one ahead of it")
    return body[at:end], end


def _path(data: bytes) -> tuple[bytes, bytes]:
    verbs, points = COUNTS.unpack(_head(data, COUNTS.size))
    _require(verbs <= MAX_POINTS and points <= MAX_POINTS, f"more than {MAX_POINTS} points")
    size = COUNTS.size + points * 8 + verbs
    _require(len(data) == size, f"a path of {size} bytes expected, {len(data)} are there")
    middle = COUNTS.size + points * 8
    numbers, kinds = data[COUNTS.size : middle], np.frombuffer(data[middle:], np.uint8)
    _require(bool((kinds < len(_POINTS_OF)).all()), "verbs are 0..4")
    _require(verbs == 0 or kinds[0] == 0, "a path begins with a move")
    _require(int(_POINTS_OF[kinds].sum()) == points, "the verbs need another number of points")
    _require(_finite(numbers), "a coordinate is not a finite number")
    return data[middle:], numbers
