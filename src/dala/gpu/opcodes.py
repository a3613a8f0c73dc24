"""The 24 opcodes, and those of ink from 0x40 on; their fields, and the limits of what they may ask for."""

from __future__ import annotations

import struct
from enum import IntEnum


class Op(IntEnum):
    """What a command does; the first byte of it.

    >>> from dala.gpu import command
    >>> command.Op(0x0E).name
    'FILL_CIRCLE'
    """

    CLEAR = 0x01
    FILL_RECT = 0x02
    DRAW_LINE = 0x03
    BLIT = 0x04
    PRESENT = 0x05
    RESIZE = 0x06
    LOAD_SPRITE = 0x07
    REMOVE_SPRITE = 0x08
    DISPATCH_COMPUTE = 0x09
    READ_PIXELS = 0x0A
    LOAD_SHADER = 0x0B
    SET_UNIFORM = 0x0C
    DRAW_CIRCLE = 0x0D
    FILL_CIRCLE = 0x0E
    DRAW_TRIANGLE = 0x0F
    FILL_TRIANGLE = 0x10
    DRAW_ROUND_RECT = 0x11
    FILL_ROUND_RECT = 0x12
    SET_CLIP = 0x13
    RESET_CLIP = 0x14
    BATCH = 0x15
    IMAGE_BLIT = 0x16
    LOAD_IMAGE = 0x17
    REMOVE_IMAGE = 0x18
    INK_VERSION = 0x40
    FILL_PATH = 0x41
    STROKE_PATH = 0x42
    FILL_POLYGON = 0x43
    STROKE_LINE = 0x44
    FILL_ELLIPSE = 0x45
    STROKE_CIRCLE = 0x46
    PUSH_TRANSFORM = 0x47
    POP_TRANSFORM = 0x48
    PUSH_LAYER = 0x49
    POP_LAYER = 0x4A
    DRAW_SPRITE = 0x4B
    DRAW_PICTURE = 0x4C


INK = 0x40  # the first opcode of ink
INK_VERSION = 1  # of those opcodes: what was written for a later one is refused


# Fields of the commands whose size is fixed, opcode included: B a byte, i and I 32 bits signed and
# unsigned, Q 64 bits, f a float of 32 bits, 4s a colour. Floats of ink come first, and are finite.
FIXED: dict[Op, struct.Struct] = {
    op: struct.Struct("<B" + fields)
    for op, fields in {
        Op.CLEAR: "4s",
        Op.FILL_RECT: "4I4s",
        Op.DRAW_LINE: "4i4s",
        Op.BLIT: "Q2i",
        Op.PRESENT: "",
        Op.RESIZE: "2I",
        Op.REMOVE_SPRITE: "Q",
        Op.READ_PIXELS: "4I",
        Op.DRAW_CIRCLE: "2iI4s",
        Op.FILL_CIRCLE: "2iI4s",
        Op.DRAW_TRIANGLE: "6i4s",
        Op.FILL_TRIANGLE: "6i4s",
        Op.DRAW_ROUND_RECT: "5I4s",
        Op.FILL_ROUND_RECT: "5I4s",
        Op.SET_CLIP: "4IB",
        Op.RESET_CLIP: "",
        Op.IMAGE_BLIT: "Q2i2I",
        Op.REMOVE_IMAGE: "Q",
        Op.INK_VERSION: "I",
        Op.STROKE_LINE: "5fB4s",
        Op.FILL_ELLIPSE: "6f4s",
        Op.STROKE_CIRCLE: "4f4s",
        Op.PUSH_TRANSFORM: "6f",
        Op.POP_TRANSFORM: "",
        Op.POP_LAYER: "",
        Op.DRAW_SPRITE: "8fQ4sB4I",
        Op.DRAW_PICTURE: "8fQ4sB4I",
    }.items()
}
# Of these only the head is fixed: an id and a size before pixels; a count before commands.
HEADS: dict[Op, struct.Struct] = {
    Op.LOAD_SPRITE: struct.Struct("<BQ2I"),
    Op.LOAD_IMAGE: struct.Struct("<BQ2I"),
    Op.BATCH: struct.Struct("<BI"),
}
# Of ink, these tell the size of their fields first, in 32 bits (ink_fields.py has them).
SIZED = (Op.FILL_PATH, Op.STROKE_PATH, Op.FILL_POLYGON, Op.PUSH_LAYER)

MAX_DEPTH = 8  # batches within batches
MAX_SIDE = 32_768  # pixels of a surface, an image, a sprite or a region, in one direction
MAX_PIXELS = 1 << 28  # of one of them: a GiB
MAX_POINTS = 1 << 21  # of a path
MAX_STOPS = 256  # of a gradient
MAX_DASH = 32  # lengths of a dash pattern
