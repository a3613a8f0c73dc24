"""A fused pass as the text of one native function.

function.py      the function: bands, rows, loops
pass_context.py  a pass for those who write text: arguments, scratch memory, tables
body_context.py  a body for those who write text: its sections and addresses
body.py          one body: its arithmetic chosen, its vectors read, buffered and stored
lanes.py         expressions on vectors of pixels or elements
gathers.py       reads at computed positions
pixels.py        how elements lie in memory, and are read and written by vectors
packing.py       levels in f32 → pixels of bytes
channels.py      large functions that channels have in common, as a loop
row_select.py    a choice between two rows, made by address
prefetch.py      memory brings what is read next
"""
