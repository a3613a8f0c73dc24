"""The kernel language: what a person writes, and how it becomes IR.

budget.py      what one trace collects, and how much it may
scalars.py     Scalar and Vec: the numbers a kernel computes with
operators.py   Python's operators on them
values.py      Image, Tensor: what they are read from
vocabulary.py  floor, where, mix, x, y, … : the words a kernel may use
parameter.py   declared parameters: type, default, range, one line of help
tables.py      arrays given as parameters, loaded once
quote.py       diagnostics: what is wrong, and the user's own line
text.py        kernel text: parsed and checked, never executed
interpret.py   kernel text: one walk over the checked tree, on symbols
signature.py   which arguments are inputs, and what the parameters are
trace.py       running a kernel's function once, on symbols
kernel.py      Kernel: a declared function
specialized.py a kernel made ready for given arrays
registry.py    kernels by name
decorator.py   @kernel and register: how a function or text enters
"""
