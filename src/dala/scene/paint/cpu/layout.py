"""What Python and machine code share: records of layers and planes, what a run is given, a thread's memory.

All are rows of 64-bit words; each name is the offset of one, in bytes.
"""

from __future__ import annotations

# a layer: kinds of content; the last two are sampled
SOLID, STRAIGHT, SAMPLED, PLANAR = 0, 1, 2, 3
KIND, LEFT, TOP, RIGHT, BOTTOM = range(0, 40, 8)  # the box that is painted
OPACITY, RADIUS, RAMP, ALIGNED, MODE = range(40, 80, 8)
OPAQUE = 80  # whether no pixel of the content is translucent
CLIPPED, CLIP_LEFT, CLIP_TOP, CLIP_RIGHT, CLIP_BOTTOM = range(88, 128, 8)
FROM_LEFT, FROM_RIGHT, FROM_TOP, FROM_BOTTOM = 128, 152, 176, 200  # each (along x, along y, at 0)
COLOR = 224
BLACK, LUMA, RED_V, GREEN_U, GREEN_V, BLUE_U = range(232, 280, 8)
FIRST_PLANE = 280
# a plane of it: its memory, and where it is read
PIXELS, STRIDE, WIDTH, HEIGHT, LEVEL_X, LEVEL_Y = range(0, 48, 8)
COLUMNS, ROWS = 48, 72
PLANE_BYTES = 96
LAYER_BYTES = FIRST_PLANE + 3 * PLANE_BYTES

# a run: the next band, how many, their height, the rows in all; the canvas; the layers
NEXT, BANDS, BAND_ROWS, FIRST_ROW, END_ROW = range(0, 40, 8)
CANVAS, CANVAS_STRIDE, FILL, BACKGROUND, BOX_LEFT, BOX_RIGHT, TABLE, LAYERS = range(40, 104, 8)
# offsets in a thread's memory
SUMS_AT, REDUCED_AT, REDUCED_STRIDE, LERPED_AT, SAMPLES_AT, SAMPLES_STRIDE = range(104, 152, 8)
PIXELS_AT, COVER_AT, TAPS_AT, TAPS_STRIDE = range(152, 184, 8)
# planar output: where in a thread's memory a band is painted (0: on the canvas); addresses and strides;
# black and factors; whether the lowest layer's planes are copied where no other layer is
BAND_AT, OUT_Y, OUT_U, OUT_V, OUT_Y_STRIDE, OUT_C_STRIDE = range(184, 232, 8)
OUT_BLACK, COPIED = 232, 312
RUN_WORDS = 40

# a thread's memory begins with: rows that are reduced already (one more than the number), spans of a row
KNOWN = 0  # three planes, two rows each
OUTER_LEFT, OUTER_RIGHT, INNER_LEFT, INNER_RIGHT = range(48, 80, 8)
FRACTION = 80  # of the row that was sampled last
BASE = 88  # the address of the canvas's pixel (0, 0), whether it is there or not
RANGE_LEFT, RANGE_RIGHT = 96, 104  # the columns of the layer at hand that are painted
THREAD_BYTES = 128
PAD = 128  # bytes around rows, for vectors that reach over their ends
