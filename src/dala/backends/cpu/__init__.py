"""The CPU device: a FusedPass becomes LLVM text, machine code, and a few threads over bands of rows.

rows.py      which rows each body computes when, and how many are held
emit.py      the whole native function of a pass
lanes.py     one body's expressions on vectors of pixels or elements
spelling.py  each op of the table in LLVM
mathlib.py   exp, log, sin, … on f32 vectors
jit.py       text → machine code, cached by content
launch.py    arguments, bands, threads
device.py    the contract
"""
