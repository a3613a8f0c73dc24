"""What layers mean, and how an ONNX graph becomes layers.

table.py         kinds of layers: shape, NumPy, tolerance      program.py   layers on values
elementwise.py   steps, element by element                     windows.py   convolutions, pooling
moves.py         moving elements                               sums.py      over whole axes
builder.py       a program being built; folding                operators/   ONNX's operators as layers
lower.py         the list from a model to a program            fuse.py      layers made fewer, join.py:
                 what feeds a layer is made where that reads it
"""
