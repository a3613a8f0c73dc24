"""How a pass is laid out on the GPU: blocks per invocation, tiles per workgroup, margins of buffered
values.

A pass of one body is a grid of blocks. A pass whose bodies buffer values for each other runs tile by
tile: each workgroup computes the buffered values of its tile and of the margins that later bodies reach
into, in workgroup memory, body after body. The planner asks what fits, and cuts the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dala.backends.webgpu.half import are_half
from dala.ir.dtypes import U8
from dala.ir.graph import Access, Gather, accesses, gathered_sources, walk
from dala.ir.rewrite import LEVELS
from dala.plan.capabilities import Capabilities
from dala.plan.fuse import Body, FusedPass


@dataclass(frozen=True, slots=True)
class Tuning:
    """Sizes chosen by measurement; bench/gpu.py varies them."""

    threads: int = 128  # per workgroup
    workgroup: tuple[int, int] = (64, 4)  # of a pass without buffered values
    stencil_workgroup: tuple[int, int] = (
        32,
        4,
    )  # … that reads neighbours: more registers, fewer threads
    point_columns: int = 4  # pixels of a block: point-wise, from wide arrays
    point_rows: int = 1
    stencil_columns: int = 4  # … reading neighbours, from wide arrays
    stencil_rows: int = 2
    strip_rows: int = 4  # … of one column, where rows do not begin on a word
    tile_column_rows: int = 4  # of a column that fills a tile
    half_rows: int = 6  # … in half precision
    half: bool = False  # whether u8 images may be computed in half precision (half.py)
    tile_columns: tuple[int, ...] = (128, 256)  # of a tile with its margins
    tile_rows: tuple[int, ...] = (6, 4, 2)  # of a tile without them
    most_nodes: int = 6000  # of one block, all of its pixels together


Form = Literal["packed", "half", "f32"]
FORM_BYTES = {"packed": 1, "half": 2, "f32": 4}  # of a channel


@dataclass(frozen=True, slots=True)
class Margins:
    """How far beyond its tile a body's values are needed."""

    left: int = 0
    right: int = 0
    top: int = 0
    bottom: int = 0


@dataclass(frozen=True, slots=True)
class TiledBody:
    """One body of a tiled pass."""

    body: Body
    margins: Margins
    columns: int  # of a block
    rows: int
    form: Form  # of what it buffers
    padded: bool  # beyond the left and right border it has what is at the border


@dataclass(frozen=True, slots=True)
class Tile:
    """A workgroup's part of the image, and its bodies."""

    width: int
    height: int
    bodies: tuple[TiledBody, ...]
    bytes: int  # of workgroup memory


@dataclass(frozen=True, slots=True)
class TileMemory(Capabilities):
    """What a GPU can do in one pass: tiles of workgroup memory."""

    tuning: Tuning = Tuning()
    most_bytes: int = 16_384  # of workgroup memory

    def has_room_for(self, work: FusedPass) -> bool:
        if len(work.bodies) == 1 or is_linear(work):
            return True
        return choose_tile(work, self.tuning, self.most_bytes) is not None


def reach(body: Body, source: int | None = None) -> Margins:
    """How far a body reads around a pixel."""
    found = [a for a in accesses(body.roots) if source is None or a.source == source]
    return Margins(
        max((-a.dx for a in found if a.dx < 0), default=0),
        max((a.dx for a in found if a.dx > 0), default=0),
        max((-a.dy for a in found if a.dy < 0), default=0),
        max((a.dy for a in found if a.dy > 0), default=0),
    )


def find_margins(bodies: Sequence[Body], first: int) -> list[Margins]:
    """For each body, the margins its readers need; left and right in whole groups of four."""
    found = [Margins() for _ in bodies]
    for reader in reversed(range(len(bodies))):
        for number in range(reader):
            if not any(a.source == first + number for a in accesses(bodies[reader].roots)):
                continue
            here, own = reach(bodies[reader], first + number), found[reader]
            known = found[number]
            found[number] = Margins(
                max(known.left, _in_fours(own.left + here.left)),
                max(known.right, _in_fours(own.right + here.right)),
                max(known.top, own.top + here.top),
                max(known.bottom, own.bottom + here.bottom),
            )
    return found


def _in_fours(n: int) -> int:
    return -(-n // 4) * 4


def choose_tile(work: FusedPass, tuning: Tuning, most_bytes: int) -> Tile | None:
    """The tile that measured best of those whose buffered values fit; None if none fits.

    Margins should be a third of a row at most. A tile is as high as one strip, or higher where values are
    buffered for others that are buffered, too; with more margins above and below than rows, two passes are
    faster.
    """
    margins = find_margins(work.bodies, len(work.reads))
    around = max(m.left + m.right for m in margins)
    halves = any(are_half(b.buffered) for b in work.bodies)
    strip = tuning.half_rows if halves else tuning.tile_column_rows
    nested = max(m.top + m.bottom for m in margins)
    heights = [h for h in tuning.tile_rows if nested <= h and (nested or h <= strip)]
    wide = [c for c in tuning.tile_columns if 3 * around <= c] or [tuning.tile_columns[-1]]
    for columns in dict.fromkeys((*wide, *tuning.tile_columns)):
        for height in heights:
            if columns - around < 32:
                continue
            tile = _lay_out(work, margins, columns - around, height, tuning)
            if tile.bytes <= most_bytes:
                return tile
    return None


def _lay_out(
    work: FusedPass, margins: Sequence[Margins], width: int, height: int, tuning: Tuning
) -> Tile:
    first = len(work.reads)
    laid = []
    size = 0
    for body, margin in zip(work.bodies, margins, strict=True):
        inside = any(a.source >= first for a in accesses(body.roots))
        form = _form_of(body)
        columns = 4 if inside or not body.buffered else 1
        rows = 1 if columns == 4 else _strip_rows(body, height + margin.top + margin.bottom, tuning)
        laid.append(TiledBody(body, margin, columns, rows, form, padded=columns == 1))
        if body.buffered:
            area = (width + margin.left + margin.right) * (height + margin.top + margin.bottom)
            size += area * len(body.buffered) * FORM_BYTES[form]
    return Tile(width, height, tuple(laid), size)


def _form_of(body: Body) -> Form:
    if len(body.levels) == 4:
        return "packed"
    return "half" if are_half(body.buffered) else "f32"


def _strip_rows(body: Body, height: int, tuning: Tuning) -> int:
    """Rows of a strip: as many as divide the region without making the shader too long."""
    nodes = count_nodes(body)
    most = tuning.half_rows if are_half(body.buffered) else tuning.tile_column_rows
    for rows in range(min(most, height), 1, -1):
        if height % rows == 0 and rows * nodes <= tuning.most_nodes:
            return rows
    return 1


def count_nodes(body: Body) -> int:
    """The length of a body's code, for one pixel; two halves are one."""
    nodes = list(walk(body.roots))
    return len(nodes) // 2 if any(n.op == "half" for n in nodes) else len(nodes)


def block_of(work: FusedPass, wide: bool, tuning: Tuning) -> tuple[int, int]:
    """Columns and rows of a block of a pass with one body."""
    (body,) = work.bodies
    around = reach(body)
    nodes = max(1, count_nodes(body))
    if gathered_sources(body.roots) or _has_float_pixels(work):
        columns, rows = 1, 2
    elif not wide:
        columns, rows = 1, tuning.strip_rows
    elif around == Margins():
        columns, rows = tuning.point_columns, tuning.point_rows
    else:
        columns, rows = tuning.stencil_columns, tuning.stencil_rows
    if wide and any(a.type.dtype in LEVELS and a.type.channels == 1 for a in work.writes):
        columns = max(columns, 4)  # levels in one word belong to one invocation
    while rows > 1 and nodes * columns * rows > tuning.most_nodes:
        rows //= 2
    return columns, rows


def _has_float_pixels(work: FusedPass) -> bool:
    arrays = (*work.reads, *work.writes)
    return any(a.type.dtype != U8 and a.type.channels == 4 for a in arrays)


def is_linear(work: FusedPass) -> bool:
    """Whether a pass is the same for every element, wherever it stands."""
    if work.domain == "tensor":
        return True
    nodes = [n for b in work.bodies for n in walk(b.roots)]
    moved = any(isinstance(n.attr, Access) and (n.attr.dx or n.attr.dy) for n in nodes)
    placed = any(n.op == "coord" or isinstance(n.attr, Gather) for n in nodes)
    return len(work.bodies) == 1 and not moved and not placed
