"""ONNX files, read without protobuf: bytes → messages → a checked graph.

wire.py      fields of a protobuf message      tensors.py   numbers in a tensor message
messages.py  ONNX's messages                   graph.py     what a file becomes
read.py      the way from bytes to a Model     order.py     nodes in order; cycles refused
"""
