"""The CPU device: a FusedPass becomes LLVM text, machine code, and a few threads over bands of rows.

prepare.py   a kernel's program in the CPU's own arithmetic, before fusion
rows.py      which rows each body computes when, how many are held, in which form
emit.py      the native function of a pass: bands, rows, arguments
body.py      one body: where its rows are read, held and stored
lanes.py     expressions on vectors of pixels or elements
spelling.py  each op of the table in LLVM
channels.py  large functions that channels have in common, as a loop over the channels
mathlib.py   exp, log, sin, … on f32 vectors
fixed.py     averages of bytes in 16-bit fixed point
gain.py      levels plus a gain times differences, in 16 bits
tables.py    point-wise chains of bytes as one look-up table
jit.py       text → machine code, cached by content
launch.py    arguments, bands: how a pass is called
pool.py      native threads that help, pool_code.py: what they do, cores.py: how many, parking.py: how they
             sleep, native_threads.py: how they are started, bands.py: plain loops for them
device.py    the contract
"""
