"""Arithmetics on bytes: each is a class with its match, layout, cost and text, and a line in the catalogue.
What none of them takes is computed in f32 (emit/lanes.py).

base.py         what an arithmetic is
catalogue.py    all of them, in the order in which they are tried

extrema.py      minima and maxima of bytes
fixed.py        averages in 16-bit fixed point        taps.py          their taps in memory
tables.py       any function of one byte, as a look-up table
deep_tables.py  any function of one 16-bit level, as a look-up table
interleaved.py  f32 of colours of 16 bits, as they lie in memory
gain.py         levels plus a gain times differences  sums16.py        weighted sums of bytes in 16 bits
resampled.py    columns, then rows, as resize does    coefficients.py  where its taps begin; weights
dot.py          integer dot products                  dot_planes.py    those of planes
choice.py       one of two constants by a comparison  sums32.py        weighted sums of bytes in 32 bits
sampled.py      bilinear samples

In f32, where a sum is long:

wide.py         a loop over the taps of an average    roll.py        a loop over like terms that gather
"""
