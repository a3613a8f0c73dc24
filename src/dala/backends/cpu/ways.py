"""The arithmetics of the CPU device. A stage that has none of these is computed in f32 (PLAIN)."""

from __future__ import annotations

from dala.ir.graph import Way

TABLE = Way("table")  # bytes to bytes, one at a time: look-up tables (tables.py)
FIXED = Way("fixed", alone=True)  # averages of levels in 16 bits (fixed.py)
GAIN = Way("gain", alone=True)  # levels plus a gain times differences, in 16 bits (gain.py)
DOT = Way(
    "dot", alone=True, beside=True
)  # constant weights on bytes: integer dot products (dot.py)
SAMPLED = Way("sampled", alone=True)  # bilinear samples of bytes in 16 bits (sampled.py)
EXTREMA = Way("extrema", alone=True)  # minima and maxima of bytes (extrema.py)
REPEATED = Way("repeated")  # rows that may be those of the row before (repeats.py)
