"""From a program to a sweep over rows.

prepare.py   a kernel's program in the CPU's own arithmetic, before fusion
counted.py   colours counted in levels rather than 0..1, where f32 remains
sweep.py     what is decided about a fused pass: its bodies, and the rows they buffer
rows.py      the decisions: who computes which rows when, how many are buffered, in which form
columns.py   what several pixels need of a column, computed once
repeats.py   rows that are the same as the row before
planes.py    which buffered images lie plane by plane
interleave.py  which bodies leave the channels of pixels side by side
deep.py      rows of 16-bit levels: buffered as levels, or in 16 bits
cost.py      how much work a pass is
"""
