"""Coverage: the exact area of every pixel that lies within edges, by sums along rows.

Functions of the rasteriser's language (language.py). A row of cells holds differences: the sum of all cells
up to a pixel is the signed area of it that lies right of edges, 2¹⁹ for a whole pixel that is wound round
once (an edge that rises takes away what one that falls gives). An edge changes only the cells it passes and
the next one, so the work is that of the outline, and the sums are taken a vector at a time (sweep.py).

An edge is cut at the rows' borders, and there its x is rounded to 1/512 pixel, always from its own ends: so
bands and strips cut it alike, and two edges that are the same there and back leave nothing behind.
"""

from __future__ import annotations

from dala.gpu.raster.ink.cut import HALF, LAID, MOST, ROWS_AT, cut_pieces, lay_edge
from dala.gpu.raster.ink.edges import (
    AREA_BOTTOM,
    AREA_LEFT,
    AREA_RIGHT,
    AREA_TOP,
    EDGE_BYTES,
    measure,
)
from dala.gpu.raster.ink.scratch import EDGES_BYTES
from dala.gpu.raster.ink.sweep import sweep_color, sweep_cover
from dala.gpu.raster.layout import (
    BACK,
    BORDER,
    BOTTOM,
    CELL_COUNT,
    CELLS,
    EDGES,
    LEFT,
    PAINT_INK,
    REPLACE,
    RIGHT,
    ROOM,
    TOP,
    WIDTH,
)
from dala.gpu.raster.words import (
    ask_for,
    call_at,
    floor,
    load64,
    load_s32,
    store32,
    store64,
    truncate,
    udiv,
)

# what is painted, as the part for paints takes it: where, how many, and the coverage there
SPAN_X, SPAN_Y, SPAN_SKIP, SPAN_COUNT, SPAN_ROWS, SPAN_COVER, SPAN_STRIDE = range(0, 56, 8)
SPAN_KIND, SPAN_PAINT, SPAN_PIXEL = 56, 64, 72
SPAN_BYTES = 128  # they lie before the cells
AREA_BEFORE = 384  # and so does the rectangle of a shape's own edges
COLOR = 0  # the kind of a paint that is one
ASKED_BYTES = 1 << 14


def fill_edges(
    s: int, edges: int, end: int, left: int, top: int, right: int, bottom: int, rule: int,
    kind: int, paint: int, record: int, pixel: int,
) -> None:  # fmt: skip
    """What lies within edges, in a colour, or in a paint of another kind, with its fields at ``paint``."""
    top, bottom = max(top, load64(s + TOP)), min(bottom, load64(s + BOTTOM))
    if top >= bottom or right <= load64(s + LEFT) or left >= load64(s + RIGHT):
        return
    stride = ((right - left + 1 + ROOM) & -ROOM) * 4
    high = udiv(load64(s + CELL_COUNT) * 4, stride)
    while top < bottom:
        rows = min(high, bottom - top)
        ask_for_rows(s, left, top, right, rows)
        add_edges(s, edges, end, left, top, top + rows, stride)
        if kind == COLOR and load64(s + REPLACE) == 0:
            skip, count = max(load64(s + LEFT) - left, 0), min(right, load64(s + RIGHT)) - left
            to = load64(s + BACK) + (top * load64(s + WIDTH) + left) * 4
            step, border = load64(s + WIDTH) * 4, load64(s + BORDER)
            sweep_color(to, step, skip, count, rows, border, pixel, load64(s + CELLS), stride, rule)
        else:
            span = load64(s + CELLS) - SPAN_BYTES
            store64(span + SPAN_KIND, kind)
            store64(span + SPAN_PAINT, paint)
            store64(span + SPAN_PIXEL, pixel)
            paint_cells(s, left, top, right, rows, stride, rule, record)
        top += rows


def ask_for_rows(s: int, left: int, top: int, right: int, rows: int) -> None:
    """A small shape's pixels come while its edges are added up: they lie anywhere in a frame that is larger
    than caches, and waiting for them took a quarter of a disc's time."""
    wide, step = (right - left) * 4, load64(s + WIDTH) * 4
    row = load64(s + BACK) + (top * load64(s + WIDTH) + left) * 4
    if wide * rows <= ASKED_BYTES:
        for y in range(rows):
            line = (row + y * step) & -64
            while line < row + y * step + wide:
                ask_for(line)
                line += 64


def fill_own(s: int, edges: int, end: int, kind: int, paint: int, record: int, pixel: int) -> None:
    """Edges that a thread made for itself, filled."""
    if end > edges:
        area = load64(s + CELLS) - AREA_BEFORE
        measure(edges, end, area)
        left, top = load64(area + AREA_LEFT), load64(area + AREA_TOP)
        right, bottom = load64(area + AREA_RIGHT), load64(area + AREA_BOTTOM)
        fill_edges(s, edges, end, left, top, right, bottom, 0, kind, paint, record, pixel)


def paint_cells(
    s: int, left: int, top: int, right: int, rows: int, stride: int, rule: int, record: int
) -> None:  # fmt: skip
    """Cells as coverage, handed to the part for paints."""
    cells = load64(s + CELLS)
    sweep_cover(cells, stride, rows, rule)
    span = cells - SPAN_BYTES
    store64(span + SPAN_X, left)
    store64(span + SPAN_Y, top)
    store64(span + SPAN_SKIP, max(load64(s + LEFT) - left, 0))
    store64(span + SPAN_COUNT, min(right, load64(s + RIGHT)) - left)
    store64(span + SPAN_ROWS, rows)
    store64(span + SPAN_COVER, cells)
    store64(span + SPAN_STRIDE, stride)
    call_at(load64(s + PAINT_INK), s, span, record)


def add_edges(s: int, edges: int, end: int, left: int, top: int, bottom: int, stride: int) -> None:
    """Edges into the cells of rows top … bottom − 1, as far as they are there."""
    first, last, pieces, count = top << 9, bottom << 9, load64(s + EDGES) + EDGES_BYTES, 0
    while edges < end:
        y0, y1 = load_s32(edges + 4), load_s32(edges + 12)
        row, behind = max(min(y0, y1), first) >> 9, (min(max(y0, y1), last) + 511) >> 9
        while row < behind:
            lay_edge(edges, row, pieces, count)
            count += min(behind - row, LAID)
            row += LAID
            if count >= MOST:
                add_pieces(s, pieces, count, left, top, stride)
                count = 0
        edges += EDGE_BYTES
    if count > 0:
        add_pieces(s, pieces, count, left, top, stride)


def add_pieces(s: int, pieces: int, count: int, left: int, top: int, stride: int) -> None:
    """Edges that are laid, cut and added up."""
    cut_pieces(pieces, count, left, top, stride)
    cells, place = load64(s + CELLS), pieces + ROWS_AT
    for _ in range(count):
        p = load_s32(place)
        if p < 0:
            add_long(cells - 1 - p, pieces)
        else:
            add_areas(cells + p, pieces)
        pieces += EDGE_BYTES
        place += 4


def add_areas(p: int, areas: int) -> None:
    store32(p, load_s32(p) + load_s32(areas))
    store32(p + 4, load_s32(p + 4) + load_s32(areas + 4))
    store32(p + 8, load_s32(p + 8) + load_s32(areas + 8))
    store32(p + 12, load_s32(p + 12) + load_s32(areas + 12))


def add_long(p: int, piece: int) -> None:
    """A piece across several cells, each with its share of the height."""
    x0, x1 = load_s32(piece), load_s32(piece + 4)
    high, way = load_s32(piece + 8), load_s32(piece + 12)
    rate = high * 1.0 / (x1 - x0)
    border, done = ((x0 >> 9) + 1) << 9, 0
    start = x0 & 511
    while border < x1:
        reached = nearest(rate * (border - x0))
        add_cell(p, (reached - done) * way, start + 512)
        start, done = 0, reached
        border += 512
        p += 4
    add_cell(p, (high - done) * way, start + x1 - (border - 512))


def add_cell(p: int, high: int, right: int) -> None:
    """So much of a cell's height, and twice how far right within it: the rest belongs to the next one."""
    part = high * right
    store32(p, load_s32(p) + high * 1024 - part)
    store32(p + 4, load_s32(p + 4) + part)


def nearest(v: float) -> int:
    """A quotient of whole numbers up to 2²⁴, rounded, and a half always upwards: it is nearer than 2⁻²⁵ to
    one only if it is one, and was computed to 2⁻²⁷. So those who divide whole numbers get the same."""
    return truncate(floor(v + HALF))
