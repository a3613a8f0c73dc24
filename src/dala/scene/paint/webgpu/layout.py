"""What Python and the shaders share: the words of a run, of a layer, and of a job.

A number of 64 bits is two words, the lower one first. The shaders declare the same structures
(records.wgsl, prepare.wgsl); the constants here stand before their text.
"""

from __future__ import annotations

import struct

TILE = 32  # pixels of a tile's side
ROWS = 8  # of threads in a workgroup: each paints the pixels of TILE / ROWS rows
THREADS = TILE * ROWS

# kinds of content
SOLID, STRAIGHT, SAMPLED, PLANAR = range(4)
# modes are those of ``layers.BLENDS``, in that order; behind them an adjustment, which is mixed in
OVER, ADD, SUBTRACT, MULTIPLY, SCREEN, OVERLAY, DARKEN, LIGHTEN, DIFFERENCE, SOFT_LIGHT, HARD_LIGHT = (
    range(11)
)  # fmt: skip
MIX = 11
# what a layer is: bits
OPAQUE, CLIPPED, HIDES = 1, 2, 4

# how the canvas begins
KEEP, FILL = 0, 1

# a run: width, height, start, background, layers, whether a video's planes are copied, two free words;
# black and nine factors of a planar output, two free words; up to eight boxes
MOST_BOXES = 8
HEAD = struct.Struct("<8I 12i 32i")
# a layer: kind, mode, opacity, bits; its box, the box in which it covers all, its clip; colour, radius,
# ramp, a free word; four distances (along x, along y, at 0); black and five factors of its YUV, two free
# words; then three planes
LAYER = struct.Struct("<4I 4i 4i 4i I3i 12q 8i" + 3 * "2I2i6q")
# a plane of it: where it begins (the number of its first pixel, or byte), pixels from row to row, its
# width and height; columns, rows

# a job: where it reads (in bytes), bytes from row to row, width, height; levels of both directions, where
# it writes (a word), words from row to row; columns and rows of the result, bytes of a pixel, whether
# pixels are multiplied by their alpha
JOB = struct.Struct("<12I")
JOB_SIDE = 16  # threads along both sides of a workgroup
MOST_JOBS = 4096  # of a dispatch
