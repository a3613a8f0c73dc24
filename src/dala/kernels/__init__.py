"""The catalogue: every built-in kernel, one family per file.

color.py        grayscale, brightness, contrast, invert
filters.py      blur, sharpen
geometry.py     resize
generate.py     generate_gradient
elementwise.py  arithmetic and activations on tensors
linear.py       matmul, transpose, reshape, reductions, softmax
"""

from dala.kernels import color, elementwise, filters, generate, geometry, linear

__all__ = ["color", "elementwise", "filters", "generate", "geometry", "linear"]
