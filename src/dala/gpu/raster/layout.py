"""What Python and machine code share: the state of a canvas, records of pictures.

The state is a row of 64-bit words; each name here is the offset of one, in bytes.
"""

from __future__ import annotations

BACK, FRONT, STALE, WIDTH, HEIGHT = 0, 8, 16, 24, 32
LEFT, TOP, RIGHT, BOTTOM = 40, 48, 56, 64  # where painting is allowed: the clip, within the band
REPLACE = 72  # whether colours replace instead of blending
SPRITES, SPRITE_COUNT, IMAGES, IMAGE_COUNT = 80, 88, 96, 104  # tables of pictures, sorted by id
SIZES = 112  # of commands by opcode; 0 where a command tells its own
SCRATCH = 120  # room for one row of pixels, and as many positions
CLIPPED, CLIP_X, CLIP_Y, CLIP_W, CLIP_H = 128, 136, 144, 152, 160  # the clip as it was asked for
HALVES = 168  # half widths of small discs, by radius and row
BAND_TOP, BAND_BOTTOM = (
    176,
    184,
)  # the rows that are painted now: all, or some while others do the rest
BORDER = 192  # the address behind the band's last pixel: what lies there may be somebody else's
WORK, COMMANDS, UPPER, LOWER = (
    200,
    208,
    216,
    224,
)  # what is foreseen: picoseconds, how many, which rows
# Ink (raster/ink) is compiled when it is first drawn: until then these addresses are 0, and only the first
# part of the state is copied for a band.
COPIED = 232  # bytes of the state that are in use
FORESEE_INK, DRAW_INK = 240, 248  # addresses of functions of (state, opcode, fields)
PLAIN_BYTES = 256  # of the state, without ink
SURVEY_INK = 496
UNCOUNTED = 504  # whether nobody asks how much work ink is: a GPU paints it
PAINT_INK = 256  # the address of the part that does gradients, patterns, blend modes
ARENA, ARENA_BYTES, ARENA_AT = 264, 272, 280  # geometry that was foreseen, and how far it was used
NEED, NEED_BYTES = 288, 296  # why Python is called, and for how much memory
CIRCLE = 304  # cosines and sines of a whole turn
CELLS, CELL_COUNT, EDGES = 312, 320, 328  # scratch of a thread: sums of areas, edges of one shape
MATRIX = 336  # six floats: x' = a·x + c·y + e, y' = b·x + d·y + f
TRANSFORMS, LOST_TRANSFORMS = (
    384,
    392,
)  # how many are pushed; and pushed beyond what there is room for
LAYERS, LOST_LAYERS, LAYER_TABLE, LAYER_ROOM = 400, 408, 416, 424
BASE = 432  # the frame, while a layer is painted
SEEN_TRANSFORMS, SEEN_LAYERS = 440, 448  # the same within a batch that is surveyed
EMIT_LIMIT = 456  # where the memory for edges ends
HALF_WIDTH, ARC_COS, ARC_SIN = 464, 472, 480  # of the stroke at hand: floats; an arc's step
LAYER_INK = 488  # the address of the function that paints layers
# a layer's memory: pixels, and how much of each is seen
LAYER_PIXELS, LAYER_MASK, LAYER_RECORD = 0, 8, 16
MATRICES = 512
MAX_TRANSFORMS, MAX_LAYERS = 64, 32
LAYER_STACK = MATRICES + MAX_TRANSFORMS * 48
# a layer that is open: what to do with it when it ends, and where
OPACITY, MODE, MASKED, OPEN_LEFT, OPEN_TOP, OPEN_RIGHT, OPEN_BOTTOM = range(0, 56, 8)
LAYER_BYTES = 56
STATE_BYTES = LAYER_STACK + MAX_LAYERS * LAYER_BYTES
SMALL = 64  # radii below this are looked up
ROOM = 16  # pixels: the longest vector, which may be read behind a picture, and written in scratch

# what threads share that paint bands of the same commands: the next band, how many there are and how high,
# the rows they cover, then what ``paint_band`` takes
NEXT, BANDS, BAND_ROWS, FIRST_ROW, END_ROW, STATE, DATA, BEGIN, STOP = range(0, 72, 8)

# a picture: an id and where its pixels are
ID, PIXELS, STRIDE, PICTURE_WIDTH, PICTURE_HEIGHT = 0, 8, 16, 24, 32
PICTURE_BYTES = 40
