"""LLVM: its language, and its compiler.

text.py      text being written: types, constants, fresh names
spelling.py  each op of the table
isa.py       instructions named by what they do, and what they are spelled out
mathlib.py   exp, log, sin, … on f32 vectors
jit.py       text → machine code, cached by content; the machine it is for
"""
