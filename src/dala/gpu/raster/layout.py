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
STATE_BYTES = 256
SMALL = 64  # radii below this are looked up
ROOM = 16  # pixels: the longest vector, which may be read behind a picture, and written in scratch

# what threads share that paint bands of the same commands: the next band, how many there are and how high,
# the rows they cover, then what ``paint_band`` takes
NEXT, BANDS, BAND_ROWS, FIRST_ROW, END_ROW, STATE, DATA, BEGIN, STOP = range(0, 72, 8)

# a picture: an id and where its pixels are
ID, PIXELS, STRIDE, PICTURE_WIDTH, PICTURE_HEIGHT = 0, 8, 16, 24, 32
PICTURE_BYTES = 40
