"""The CPU device: a FusedPass becomes LLVM text, machine code, and a few threads over bands of rows.

    program ─ schedule/prepare ─ plan ─ FusedPass ─ schedule/rows ─ emit/ ─ llvm/jit ─ run/launch ─ threads

analysis/    what an expression is: bounds, linear sums, samples, separable weights
arithmetic/  computing bodies on bytes: a class for each arithmetic, with its match, layout, cost and text
schedule/    which arithmetic, which rows when, what is buffered in which form
emit/        a pass as text: loops, addresses, reads, pixels
llvm/        text, ops and functions in LLVM's language, and text → machine code
run/         arguments, bands, threads: how machine code is called
device.py    the contract
"""
