"""The intermediate representation: small, typed, immutable, scalar.

dtypes.py    the six element types (and bool)
ops.py       THE op table: arity, type rule, NumPy meaning, tolerance
graph.py     Node, Stage, Program
rewrite.py   the ordered list of exact rewrites: fold, simplify, share
verify.py    what a well-formed program is
printer.py   the stable text form
arrays.py    shape and element type of a buffer
library.py   whole-array operations: the second table of meaning
planes.py    the planes of a video frame
merge.py     graphs of one form, laid over each other
contract.py  a multiply and an add as one operation
linear.py    expressions as sums of loads times uniform weights
bounds.py    between which numbers a uniform value lies
patterns.py  what a stage is, for devices with several arithmetics
channels.py  functions that are alike but for the channel they read
"""
