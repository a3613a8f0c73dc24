"""The catalogue: every built-in kernel, one family per file.

color.py        grayscale, brightness, contrast, saturation, hue, white_balance, sepia, invert
light.py        exposure, gamma, hdr, vignette
grade.py        tone, split_tone, vibrance, grain, glow
stylize.py      threshold, posterize, pixelate
blend.py        blend
mask.py         chroma_key, background_replace, background_blur
blur.py         blur
edges.py        edge_detect, sharpen
denoise.py      denoise, beauty
median.py       median
geometry.py     crop, flip, rotate, warp_affine, warp_perspective
resize.py       resize (halves.py: to the same size, to half, to double)
generate.py     generate_gradient, generate_noise, test_pattern
elementwise.py  arithmetic and activations on tensors
linear.py       matmul, transpose, reshape, reductions, argmax, softmax
nn.py           layer_norm, conv2d, preprocess
lut.py          lut (lutfile.py: arrays, .cube files and pictures of tables)
yuv.py          yuv420p_to_rgba, nv12_to_rgba, rgba_to_yuv420p, rgba_to_nv12

declare.py      how a kernel enters the catalogue
"""

from dala.kernels import (
    blend,
    blur,
    color,
    denoise,
    edges,
    elementwise,
    generate,
    geometry,
    grade,
    light,
    linear,
    lut,
    mask,
    median,
    nn,
    resize,
    stylize,
    yuv,
)

__all__ = [
    "blend",
    "blur",
    "color",
    "denoise",
    "edges",
    "elementwise",
    "generate",
    "geometry",
    "grade",
    "light",
    "linear",
    "lut",
    "mask",
    "median",
    "nn",
    "resize",
    "stylize",
    "yuv",
]
