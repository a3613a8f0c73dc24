"""The arithmetics of the CPU device. A stage that has none of these is computed in f32 (PLAIN)."""

from __future__ import annotations

from dala.ir.graph import Way

TABLE = Way("table")  # bytes to bytes, one at a time: look-up tables (tables.py)
FIXED = Way("fixed", alone=True)  # averages of levels in 16 bits (fixed.py)
GAIN = Way("gain", alone=True)  # levels plus a gain times differences, in 16 bits (gain.py)
# weights on bytes: integer dot products (dot.py), by the binary places of the weights
DOT = {Way(f"dot, {places} places", alone=True, beside=True): places for places in (15, 14, 13, 12)}
CHOICE = Way("choice", alone=True)  # one of two constants by comparing such sums (choice.py)
SAMPLED = Way("sampled", alone=True)  # bilinear samples of bytes in 16 bits (sampled.py)
# bytes mixed by columns, then rows, in 16 bits (resampled.py)
RESAMPLED = Way("resampled", alone=True)
EXTREMA = Way("extrema", alone=True)  # minima and maxima of bytes (extrema.py)
REPEATED = Way("repeated")  # rows that may be those of the row before (repeats.py)
