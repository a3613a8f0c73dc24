"""The 24 opcodes, their fields, and the limits of what they may ask for."""

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


# Fields of the commands whose size is fixed, opcode included: B a byte, i and I 32 bits signed and
# unsigned, Q 64 bits, 4s a colour.
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
    }.items()
}
# Of these only the head is fixed: an id and a size before pixels; a count before commands.
HEADS: dict[Op, struct.Struct] = {
    Op.LOAD_SPRITE: struct.Struct("<BQ2I"),
    Op.LOAD_IMAGE: struct.Struct("<BQ2I"),
    Op.BATCH: struct.Struct("<BI"),
}

MAX_DEPTH = 8  # batches within batches
MAX_SIDE = 32_768  # pixels of a surface, an image, a sprite or a region, in one direction
MAX_PIXELS = 1 << 28  # of one of them: a GiB
