"""ONNX's operators as layers. A row is a function of the builder, the node and its inputs.

arithmetic.py   element by element      pictures.py   convolutions, pooling, resizing
shaping.py      moving elements         whole.py      over whole axes
control.py      loops and branches      attributes.py   what nodes say
table.py        all of them
"""
