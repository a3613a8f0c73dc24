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
PARALLEL = 1 << 14  # four corners of which opposite sides are parallel
NEAR = 1 << 9  # in a picture's record: its shape is smaller than that many pixels each way
NEAR_PIXELS = 128
PAINT_SHIFT = 16  # what is painted with: raster/ink/shades.py numbers them
REPLACES = 1 << 15  # ink on a surface that does not blend
REFERS, REFERS_LAST = 1 << 24, 1 << 25  # its own first word, or the last, is a place in the data

# a primitive, as offsets in bytes
PRIM_KIND, PRIM_FROM, PRIM_TO, PRIM_COLOR, PRIM_OWN, PRIM_BYTES = 0, 4, 8, 12, 16, 64
OWN_LAST = (
    44  # of its own words the last: where the record of its paint begins, or an image's table
)

# The cursor of somebody who gathers, as offsets of 64-bit words: where the next primitive goes, and the end
# of the block that it lies in; where the stretch's data begins, how many words there are, and room for how
# many; how many places in bins all of it takes.
PRIMS_AT, PRIMS_END, DATA, DATA_AT, DATA_END, BINNED = range(0, 48, 8)
# how tiles begin (with what the frame has, with the frame shown before, with a colour), and that colour
START, START_COLOR = 48, 56
KEEP, COPY, FILL = range(3)
# painting is of use only within all layers that are open
WITHIN_LEFT, WITHIN_TOP, WITHIN_RIGHT, WITHIN_BOTTOM = 64, 72, 80, 88
FULL, WANTED = 96, 104  # whether there was no room for a command; how many words of data it needs
INKED, LAYERED = 112, 120  # whether there is ink among the primitives, and whether there are layers
COUNTS, ACROSS = (
    128,
    136,
)  # how many of the stretch's primitives touch each bin; bins in a row of them
STRETCH, FIRST = 144, 152  # the stretch at hand, and the first one
MEMORY = 160
LOOKED, SAFE = (
    168,
    176,
)  # offsets of commands: up to where pieces were looked for; the end of a batch
PIECES, THREADS = 184, 192  # found, for so many threads: Python has them gathered
ALONE = 200  # whether nobody else takes blocks of memory meanwhile
CURSOR_BYTES = 208

# What becomes of commands: no room, done, Python is needed, pieces for several threads were found.
NO_ROOM, DONE, PYTHON, FOUND = range(4)

# Memory that all who gather share: the next stretch and the next blocks, on a cache line each; where they
# lie, and how many there are; bins, and where each stretch counts its own; pieces.
NEXT_STRETCH, NEXT_PRIMS, NEXT_DATA = 0, 64, 128
STRETCHES, PRIMS, PRIM_BLOCKS, WORDS, WORD_BLOCKS, COUNTERS, BINS, PIECE_TABLE = range(192, 256, 8)
TOTAL_PRIMS, TOTAL_WORDS = 256, 264
MEMORY_BYTES = 272
MOST_STRETCHES = 1024
BLOCK_PRIMS = 2048
BLOCK_WORDS = 1 << 16

# A stretch: primitives and their data, one behind the other, by one thread. Places of data in its
# primitives are counted from its own first word. Then which one comes next, and behind how much it goes.
S_PRIMS, S_COUNT, S_WORDS, S_WORD_COUNT, S_COUNTS, S_NEXT, S_FIRST, S_FIRST_WORD = range(0, 64, 8)
STRETCH_BYTES = 64

# A piece: commands that one thread gathers, by offsets, and how far it came; its stretches, what is there.
P_BEGIN, P_STOP, P_AT, P_FIRST, P_LAST, P_BINNED, P_INKED = range(0, 56, 8)
PIECE_BYTES = 64
MOST_PIECES = 64

# the first words of a frame's bins, for the shader
HEAD_WIDTH, HEAD_HEIGHT, HEAD_START, HEAD_COLOR, HEAD_DEPTH, HEAD_DEPTH_AFTER = range(6)
HEAD_WORDS = 8
MOST_BINNED = 1 << 22  # places in bins before what was gathered is painted
