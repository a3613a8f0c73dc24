"""What machine code, Python and the shader share: primitives, and the words that say where things are.

A primitive is 16 words of 32 bits. The first four are the same for all: kind and flags, the pixels it may
touch (two corners, 16 bits each), a colour. The other twelve are its own (gather.py and ink.py write them,
wgsl/ reads them).
"""

from __future__ import annotations

TILE = 16  # pixels each way: what a workgroup paints, one pixel for each of its 256 threads
BIN = 128  # pixels each way: primitives are sorted into bins, from which each tile takes its own

RECT, DISC, LINE, TRIANGLE, SPRITE, IMAGE, PUSH, POP, EDGES, ELLIPSE, LOOP = range(11)
FIRST_INK = PUSH  # kinds from here on need the shader with ink
# flags, in the same word as the kind
SOLID = 1 << 8  # the colour, or the picture, replaces what is there
OUTLINE = 1 << 9  # of a disc: its border only
WIDE = 1 << 10  # numbers whose products need 64 bits
FAR_X, FAR_Y = (
    1 << 11,
    1 << 12,
)  # of a disc: its middle lies beyond 2³¹, so right of every pixel, or below
STEEP, LEFTWARD, UPWARD, OPEN = (
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
)  # a line; open: without its last pixel
TABLES = 1 << 11  # an image whose columns and rows are in a table
EVENODD, MASKED, BUCKETS = 1 << 11, 1 << 12, 1 << 13  # edges; they have lists for rows of tiles
PAINT_SHIFT = 16  # what is painted with: raster/ink/shades.py numbers them
REPLACES = 1 << 15  # ink on a surface that does not blend

# a primitive, as offsets in bytes
PRIM_KIND, PRIM_FROM, PRIM_TO, PRIM_COLOR, PRIM_OWN, PRIM_BYTES = 0, 4, 8, 12, 16, 64
OWN_RECORD = 44  # of its own words, the last: where the record of what ink is painted with begins

# What machine code is given, as offsets of 64-bit words: where primitives go, and from where on there is
# no room for another command's; the same for words of data; how many places in bins they take so far.
PRIMS, PRIMS_AT, PRIMS_END, DATA, DATA_AT, DATA_END, BINNED = range(0, 56, 8)
# how tiles begin (with what the frame has, with the frame shown before, with a colour), and that colour
START, START_COLOR = 56, 64
KEEP, COPY, FILL = range(3)
# painting is of use only within all layers that are open
WITHIN_LEFT, WITHIN_TOP, WITHIN_RIGHT, WITHIN_BOTTOM = 72, 80, 88, 96
FULL, WANTED = (
    104,
    112,
)  # whether there was no room for a command; and how many words of data it needs
INKED, LAYERED = 120, 128  # whether there is ink among the primitives, and whether there are layers
BLOCK_BYTES = 136

# the first words of a frame's bins, for the shader
HEAD_WIDTH, HEAD_HEIGHT, HEAD_START, HEAD_COLOR, HEAD_DEPTH, HEAD_DEPTH_AFTER = range(6)
HEAD_WORDS = 8
MOST_BINNED = 1 << 22  # places in bins before what was gathered is painted
