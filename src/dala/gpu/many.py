"""Many primitives of one kind, from arrays: rows of numbers → bytes, without a loop in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.colors import rgba_array
from dala.errors import ArgumentError, ParameterError, ShapeError
from dala.gpu.clipped import clip_round_rect
from dala.gpu.opcodes import FIXED, HEADS, Op

Array = npt.NDArray[Any]
_TYPES = {"i": "<i4", "I": "<u4"}


def encode_fill_rects(rects: object, colors: object) -> bytes:
    """Rectangles (N, 4): x, y, w, h.

    >>> from dala.gpu import command
    >>> command.encode_fill_rects([[1, 2, 3, 4]], "red").hex()
    '0201000000020000000300000004000000ff0000ff'
    """
    table = _numbers(rects, 4, "fill_rects")
    for position, size in ((0, 2), (1, 3)):
        outside = np.minimum(table[:, position], 0)
        if outside.any():  # the wire is unsigned: clipped, as fill_rect does
            table = table.copy()
            left = np.maximum(table[:, size] + outside, 0)
            table[:, size] = np.minimum(
                table[:, size], left
            )  # a negative size stays, to be refused
            table[:, position] -= outside
    return _encode(Op.FILL_RECT, table, colors, "4I")


def encode_draw_lines(lines: object, colors: object) -> bytes:
    """Lines (N, 4): x1, y1, x2, y2.

    >>> from dala.gpu import command
    >>> command.encode_draw_lines([[1, 2, 3, 4]], "red").hex()
    '0301000000020000000300000004000000ff0000ff'
    """
    return _encode(Op.DRAW_LINE, _numbers(lines, 4, "draw_lines"), colors, "4i")


def encode_draw_circles(circles: object, colors: object) -> bytes:
    """Outlines of circles (N, 3): cx, cy, radius.

    >>> from dala.gpu import command
    >>> command.encode_draw_circles([[1, 2, 3]], "red").hex()
    '0d010000000200000003000000ff0000ff'
    """
    return _encode(Op.DRAW_CIRCLE, _numbers(circles, 3, "draw_circles"), colors, "2iI")


def encode_fill_circles(circles: object, colors: object) -> bytes:
    """Discs (N, 3): cx, cy, radius.

    >>> from dala.gpu import command
    >>> command.encode_fill_circles([[1, 2, 3]], "red").hex()
    '0e010000000200000003000000ff0000ff'
    """
    return _encode(Op.FILL_CIRCLE, _numbers(circles, 3, "fill_circles"), colors, "2iI")


def encode_draw_triangles(triangles: object, colors: object) -> bytes:
    """Outlines of triangles (N, 6): x1, y1, x2, y2, x3, y3.

    >>> from dala.gpu import command
    >>> command.encode_draw_triangles([[0, 0, 4, 0, 0, 4]], "red").hex()
    '0f000000000000000004000000000000000000000004000000ff0000ff'
    """
    return _encode(Op.DRAW_TRIANGLE, _numbers(triangles, 6, "draw_triangles"), colors, "6i")


def encode_fill_triangles(triangles: object, colors: object) -> bytes:
    """Triangles (N, 6): x1, y1, x2, y2, x3, y3.

    >>> from dala.gpu import command
    >>> command.encode_fill_triangles([[0, 0, 4, 0, 0, 4]], "red").hex()
    '10000000000000000004000000000000000000000004000000ff0000ff'
    """
    return _encode(Op.FILL_TRIANGLE, _numbers(triangles, 6, "fill_triangles"), colors, "6i")


def encode_draw_round_rects(rects: object, colors: object) -> bytes:
    """Outlines of rounded rectangles (N, 5): x, y, w, h, radius.

    >>> from dala.gpu import command
    >>> command.encode_draw_round_rects([[1, 2, 9, 8, 3]], "red").hex()
    '110100000002000000090000000800000003000000ff0000ff'
    """
    return _encode_round_rects(Op.DRAW_ROUND_RECT, rects, colors)


def encode_fill_round_rects(rects: object, colors: object) -> bytes:
    """Rounded rectangles (N, 5): x, y, w, h, radius.

    >>> from dala.gpu import command
    >>> command.encode_fill_round_rects([[1, 2, 9, 8, 3]], "red").hex()
    '120100000002000000090000000800000003000000ff0000ff'
    """
    return _encode_round_rects(Op.FILL_ROUND_RECT, rects, colors)


def _encode_round_rects(op: Op, rects: object, colors: object) -> bytes:
    table = _numbers(rects, 5, op.name.lower() + "s")
    rgba = np.broadcast_to(rgba_array(colors, len(table)), (len(table), 4))
    parts, done = [], 0
    for i in np.flatnonzero((table[:, 0] < 0) | (table[:, 1] < 0)).tolist():
        # what begins outside is sent as its rows, in its place
        parts.append(_encode(op, table[done:i], rgba[done:i], "5I"))
        _check_range(table[i, 2:], "I", op.name.lower() + "s")
        rows = clip_round_rect(*table[i].tolist(), filled=op is Op.FILL_ROUND_RECT)
        parts.append(HEADS[Op.BATCH].pack(Op.BATCH, len(rows)))
        parts.append(encode_fill_rects(rows, tuple(rgba[i].tolist())))
        done = i + 1
    return b"".join([*parts, _encode(op, table[done:], rgba[done:], "5I")])


def encode_blits(ids: object, positions: object) -> bytes:
    """Sprites by their ids (N), at positions (N, 2).

    >>> from dala.gpu import command
    >>> command.encode_blits([7], [[-1, 2]]).hex()
    '040700000000000000ffffffff02000000'
    """
    places = _numbers(positions, 2, "blits")
    numbers = np.asarray(ids)
    if numbers.size == 0:
        numbers = numbers.astype(np.uint64)  # of an empty list NumPy makes floats
    if numbers.ndim == 0:
        numbers = np.broadcast_to(numbers, len(places))
    if numbers.shape != (len(places),) or numbers.dtype.kind not in "iu":
        raise ShapeError(f"blits: expected {len(places)} whole ids, got {numbers.shape}")
    if numbers.size and int(numbers.min()) < 0:
        raise ParameterError("blits: ids are not negative")
    _check_range(places, "i", "blits")
    record = np.empty(len(places), [("op", "u1"), ("id", "<u8"), ("at", "<i4", 2)])
    record["op"], record["id"], record["at"] = Op.BLIT, numbers, places
    return record.tobytes()


def _numbers(values: object, columns: int, who: str) -> Array:
    """Rows of whole numbers, as an array (N, columns)."""
    try:
        table = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ShapeError(f"{who}: expected an array (N, {columns}): {error}") from error
    if table.size == 0:
        return np.zeros((0, columns), np.int64)
    if table.ndim != 2 or table.shape[1] != columns:
        raise ShapeError(f"{who}: expected an array (N, {columns}), got {table.shape}")
    if table.dtype.kind not in "iu":
        raise ArgumentError(f"{who}: expected whole numbers, got {table.dtype}; round them first")
    if table.dtype == np.uint64 and int(table.max()) >= 2**63:
        raise ParameterError(f"{who}: a number is out of range: {table.max()}")
    return table.astype(np.int64) if table.dtype.kind == "u" else table


def _check_range(table: Array, kind: str, who: str) -> None:
    low, high = (-(2**31), 2**31 - 1) if kind == "i" else (0, 2**32 - 1)
    if table.size and (table.dtype.itemsize > 4 or low == 0):
        least, most = int(table.min()), int(table.max())
        if least < low or most > high:
            wrong = least if least < low else most
            raise ParameterError(f"{who}: numbers are {low}..{high} here, got {wrong}")


def _encode(op: Op, table: Array, colors: object, fields: str) -> bytes:
    """One command per row; ``fields`` are runs of one kind, as struct spells them: ``2iI``."""
    who = op.name.lower() + "s"
    layout: list[Any] = [("op", "u1")]
    column, digits = 0, ""
    columns: list[tuple[str, slice]] = []
    for letter in fields:
        if letter.isdigit():
            digits += letter
            continue
        count = int(digits or 1)
        part = slice(column, column + count)
        _check_range(table[:, part], letter, who)
        layout.append((f"f{column}", _TYPES[letter], (count,)))
        columns.append((f"f{column}", part))
        column, digits = column + count, ""
    record = np.empty(len(table), [*layout, ("color", "u1", 4)])
    assert record.itemsize == FIXED[op].size
    record["op"] = op
    for name, part in columns:
        record[name] = table[:, part]
    record["color"] = rgba_array(colors, len(table))
    return record.tobytes()
