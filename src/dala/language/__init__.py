"""The kernel language: what a person writes, and how it becomes IR.

values.py      Scalar, Vec, Image, Tensor: the symbols a kernel computes with
vocabulary.py  floor, where, mix, x, y, … : the words a kernel may use
parameter.py   declared parameters: type, default, range, one line of help
trace.py       running a kernel's function once, on symbols
text.py        kernel text: parsed and interpreted, never executed
kernel.py      Kernel, the decorator, specialisation for given arrays
registry.py    kernels by name
"""
