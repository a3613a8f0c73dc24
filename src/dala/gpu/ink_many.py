"""Many shapes of ink of one kind, from arrays: rows of numbers → bytes, without a loop in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.colors import rgba_array
from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.gpu.ink_command import Cap, Filter, encode_fill_polygon
from dala.gpu.ink_fields import CAPS, FILTERS
from dala.gpu.opcodes import FIXED, Op
from dala.gpu.paint import one_of

Array = npt.NDArray[Any]


def encode_fill_discs(discs: object, colors: object) -> bytes:
    """Discs (N, 3): cx, cy, radius.

    >>> from dala.gpu import command
    >>> len(command.encode_fill_discs([[5, 5, 3], [9, 9, 2.5]], "red"))
    58
    """
    table = _floats(discs, 3, "fill_discs")
    nothing = np.zeros(len(table), np.float32)
    radius = table[:, 2]
    return _ellipses(table[:, :2], (radius, nothing, nothing, radius), colors)


def encode_fill_ellipses(ellipses: object, colors: object, rotation: object = 0.0) -> bytes:
    """Ellipses (N, 4): cx, cy, rx, ry; turned by degrees, one for all or (N).

    >>> from dala.gpu import command
    >>> len(command.encode_fill_ellipses([[5, 5, 3, 2]], "red", 45))
    29
    """
    table = _floats(ellipses, 4, "fill_ellipses")
    angle = np.radians(_column(rotation, len(table), "fill_ellipses"))
    cos, sin, rx, ry = np.cos(angle), np.sin(angle), table[:, 2], table[:, 3]
    return _ellipses(table[:, :2], (rx * cos, rx * sin, -ry * sin, ry * cos), colors)


def _ellipses(centres: Array, axes: tuple[Array, ...], colors: object) -> bytes:
    layout = [("op", "u1"), ("at", "<f4", 2), ("axes", "<f4", 4), ("color", "u1", 4)]
    record = np.empty(len(centres), layout)
    assert record.itemsize == FIXED[Op.FILL_ELLIPSE].size
    record["op"], record["at"] = Op.FILL_ELLIPSE, centres
    for i, axis in enumerate(axes):
        record["axes"][:, i] = axis
    record["color"] = rgba_array(colors, len(centres))
    return record.tobytes()


def encode_stroke_circles(circles: object, colors: object, width: object = 1.0) -> bytes:
    """Outlines of circles (N, 3): cx, cy, radius; of one width or (N).

    >>> from dala.gpu import command
    >>> len(command.encode_stroke_circles([[5, 5, 3]], "red", 2))
    21
    """
    table = _floats(circles, 3, "stroke_circles")
    record = np.empty(len(table), [("op", "u1"), ("c", "<f4", 3), ("w", "<f4"), ("color", "u1", 4)])
    record["op"], record["c"], record["w"] = Op.STROKE_CIRCLE, table, _widths(width, len(table))
    record["color"] = rgba_array(colors, len(table))
    return record.tobytes()


def encode_stroke_lines(
    lines: object, colors: object, width: object = 1.0, cap: Cap = "butt"
) -> bytes:
    """Lines (N, 4): x1, y1, x2, y2; of one width or (N).

    >>> from dala.gpu import command
    >>> len(command.encode_stroke_lines([[0, 0, 5, 5]], "red", 3))
    26
    """
    table = _floats(lines, 4, "stroke_lines")
    layout = [("op", "u1"), ("p", "<f4", 4), ("w", "<f4"), ("cap", "u1"), ("color", "u1", 4)]
    record = np.empty(len(table), layout)
    record["op"], record["p"], record["w"] = Op.STROKE_LINE, table, _widths(width, len(table))
    record["cap"] = one_of(cap, CAPS, "cap")
    record["color"] = rgba_array(colors, len(table))
    return record.tobytes()


def encode_fill_polygons(polygons: object, colors: object) -> bytes:
    """Polygons of K corners each (N, K, 2), or a list of arrays (K, 2).

    >>> from dala.gpu import command
    >>> len(command.encode_fill_polygons([[[0, 0], [8, 0], [0, 8]]], "red"))
    34
    """
    if isinstance(polygons, list | tuple) and len({len(p) for p in polygons}) > 1:
        rgba = np.broadcast_to(rgba_array(colors, len(polygons)), (len(polygons), 4))
        parts = zip(polygons, rgba.tolist(), strict=True)
        return b"".join(encode_fill_polygon(points, tuple(color)) for points, color in parts)
    table = np.asarray(polygons, np.float32)
    if table.size == 0:
        return b""
    if table.ndim != 3 or table.shape[2] != 2:
        raise ShapeError(f"fill_polygons: expected an array (N, K, 2), got {table.shape}")
    _check_finite(table, "fill_polygons")
    count = table.shape[1]
    layout = [
        ("op", "u1"), ("size", "<u4"), ("rule", "u1"), ("color", "u1", 4), ("p", "<f4", (count, 2)),
    ]  # fmt: skip
    record = np.empty(len(table), layout)
    record["op"], record["size"], record["rule"] = Op.FILL_POLYGON, 5 + count * 8, 0
    record["p"], record["color"] = table, rgba_array(colors, len(table))
    return record.tobytes()


def encode_draw_sprites(
    ids: object,
    positions: object,
    *,
    scale: object = 1.0,
    rotation: object = 0.0,
    anchor: tuple[float, float] = (0.5, 0.5),
    opacity: object = 1.0,
    tints: object = "white",
    filter: Filter = "bilinear",
) -> bytes:
    """Sprites by their ids (N) at positions (N, 2); everything else for all, or (N).

    >>> from dala.gpu import command
    >>> len(command.encode_draw_sprites(7, [[1, 2], [3, 4]], rotation=[0, 45]))
    124
    """
    who = "draw_sprites"
    places = _floats(positions, 2, who)
    count = len(places)
    numbers = np.broadcast_to(np.asarray(ids), count)
    if numbers.dtype.kind not in "iu" and count:
        raise ArgumentError(f"{who}: ids are whole numbers, got {numbers.dtype}")
    if count and int(numbers.min()) < 0:
        raise ParameterError(f"{who}: ids are not negative")
    angle, size = np.radians(_column(rotation, count, who)), _column(scale, count, who)
    seen = _column(opacity, count, who)
    if count and (seen.min() < 0 or seen.max() > 1):
        raise ParameterError(f"{who}: an opacity is 0..1")
    layout = [
        ("op", "u1"), ("at", "<f4", 2), ("axes", "<f4", 4), ("anchor", "<f4", 2), ("id", "<u8"),
        ("tint", "u1", 4), ("filter", "u1"), ("crop", "<u4", 4),
    ]  # fmt: skip
    record = np.zeros(count, layout)
    assert record.itemsize == FIXED[Op.DRAW_SPRITE].size
    record["op"], record["at"], record["anchor"], record["id"] = (
        Op.DRAW_SPRITE,
        places,
        anchor,
        numbers,
    )
    cos, sin = np.cos(angle) * size, np.sin(angle) * size
    for i, axis in enumerate((cos, sin, -sin, cos)):
        record["axes"][:, i] = axis
    record["tint"] = rgba_array(tints, count)
    record["tint"][:, 3] = np.rint(record["tint"][:, 3] * seen).astype(np.uint8)
    record["filter"] = one_of(filter, FILTERS, "filter")
    return record.tobytes()


def _floats(values: object, columns: int, who: str) -> Array:
    try:
        table = np.asarray(values, np.float32)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{who}: expected an array (N, {columns}): {error}") from error
    if table.size == 0:
        return np.zeros((0, columns), np.float32)
    if table.ndim != 2 or table.shape[1] != columns:
        raise ShapeError(f"{who}: expected an array (N, {columns}), got {table.shape}")
    _check_finite(table, who)
    return table


def _check_finite(table: Array, who: str) -> None:
    if not np.isfinite(table).all():
        raise ParameterError(f"{who}: expected finite numbers; some are not")


def _column(values: object, count: int, who: str) -> Array:
    column = np.asarray(values, np.float64)
    if column.shape not in ((), (count,)):
        raise ShapeError(f"{who}: expected one number or ({count}), got {column.shape}")
    _check_finite(column, who)
    return np.broadcast_to(column, count)


def _widths(width: object, count: int) -> Array:
    widths = _column(width, count, "stroke")
    if count and widths.min() < 0:
        raise ParameterError(f"a width is not negative, got {widths.min()}")
    return widths
