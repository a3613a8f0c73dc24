"""Shapes of few edges: four corners at most, which fit into the primitive itself.

Functions of the rasteriser's language (raster/language.py). Lines, triangles and turned pictures are such.
Edges without height were left out when they were made, as they have no area: so an edge may begin beside
where the one before ended, and both are corners.
"""

from __future__ import annotations

from dala.gpu.raster.ink.edges import EDGE_BYTES
from dala.gpu.raster.words import load_u32, store32

CORNERS = 4


def put_loop(own: int, edges: int, count: int) -> int:
    """The corners as a primitive's first words; 0 if they are too many, or do not close."""
    corners, at, end = 0, edges, edges + count * EDGE_BYTES
    while at < end:
        if corners > 0 and load_u32(own + corners * 8 - 4) != load_u32(at + 4):
            return 0
        corners = put_corner(own, put_corner(own, corners, at), at + 8)
        if corners > CORNERS + 1:
            return 0
        at += EDGE_BYTES
    last = own + corners * 8 - 8
    if load_u32(last + 4) != load_u32(own + 4):
        return 0
    if load_u32(last) == load_u32(own):
        corners -= 1
    if corners > CORNERS:
        return 0
    while corners < CORNERS:  # no edge: it ends where it begins
        copy_corner(own + corners * 8, own)
        corners += 1
    return 1


def put_corner(own: int, corners: int, at: int) -> int:
    """Another one, unless it is the last once more; how many there are."""
    to = own + corners * 8
    if corners > 0 and load_u32(to - 8) == load_u32(at) and load_u32(to - 4) == load_u32(at + 4):
        return corners
    copy_corner(to, at)
    return corners + 1


def copy_corner(to: int, at: int) -> None:
    store32(to, load_u32(at))
    store32(to + 4, load_u32(at + 4))
