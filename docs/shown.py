"""The gallery's own data: which photo shows a kernel, with which values, and how that call is written.

pictures.py makes the pictures of it, build.py the page.
"""

from __future__ import annotations

import json
import textwrap

# Which photo (or part of one, see pictures.py), and which values where the defaults would show little.
SHOWN: dict[str, tuple[str, dict[str, object]]] = {
    "background_blur": ("astronaut", {"radius": 24}),
    "beauty": ("face", {"strength": 1.0, "radius": 4}),
    "blend": ("astronaut", {"alpha": 1.0, "mode": "screen"}),
    "blur": ("coffee", {"radius": 8}),
    "brightness": ("rocket", {"value": 0.25}),
    "contrast": ("coins", {"value": 0.45}),
    "denoise": ("eyes", {"strength": 0.6}),
    "edge_detect": ("coins", {}),
    "exposure": ("hubble_deep_field", {"stops": 1.6}),
    "flip": ("coffee", {}),
    "gamma": ("rocket", {"value": 2.2}),
    "glow": ("against_the_sky", {"amount": 0.8, "radius": 20}),
    "grain": ("chelsea", {"amount": 0.16, "size": 2}),
    "grayscale": ("coffee", {}),
    "hdr": ("rocket", {"exposure": 2.5}),
    "hue": ("coffee", {"degrees": 130}),
    "invert": ("hubble_deep_field", {}),
    "median": ("coins", {"radius": 1}),
    "pixelate": ("head", {"size": 14}),
    "posterize": ("chelsea", {"levels": 4}),
    "rotate": ("coffee", {"degrees": 15}),
    "saturation": ("tower", {"value": 0.8}),
    "sepia": ("camera", {"intensity": 0.9}),
    "sharpen": ("eyes", {"amount": 0.3}),
    "split_tone": ("camera", {"shadows": (-0.08, 0.03, 0.2), "highlights": (0.16, 0.05, -0.16)}),
    "threshold": ("coins", {"value": 0.45}),
    "tone": ("chelsea", {"contrast": 1.0}),
    "vibrance": ("tower", {"value": 1.0}),
    "vignette": ("coffee", {"intensity": 1.0}),
    "warp_affine": ("brick", {"matrix": (0.9, 0.3, -20, -0.2, 0.9, 50)}),
    "warp_perspective": ("brick", {"matrix": (1, 0.2, 0, 0.05, 1.1, 0, 0.0003, 0.0022, 1)}),
    "white_balance": ("tower", {"temperature": 9500}),
}  # fmt: skip

# What the calls below speak of, at the head of the page.
NAMES = """
import numpy as np
from dala import compute, media

photo = media.test_pattern(400, 320)  # or an array, a PIL image, media.open("photo.jpg")
stars = sky = media.generate_noise(400, 320)
mask = np.zeros((320, 400), np.uint8)  # white where somebody is in front
mask[80:, 120:280] = 255
"""

FURTHER = {  # arguments beside the photo
    "background_blur": "mask", "background_replace": "mask, sky", "segmentation": "mask",
    "blend": "stars",
}  # fmt: skip
CALLS = {  # of those that are called in another way
    "crop": "media.crop(photo, x=90, y=40, width=240, height=200)",
    "generate_gradient": "media.generate_gradient(400, 320)",
    "generate_noise": "media.generate_noise(400, 320, seed=1)",
    "test_pattern": "media.test_pattern(400, 320)",
    "lut": 'media.lut(photo, np.random.default_rng(0).random((17, 17, 17, 3)))  # or "film.cube"',
    "resize": 'media.resize(photo, 50, 40, interpolation="area")',
    "nv12_to_rgba": "media.nv12_to_rgba(media.rgba_to_nv12(photo))",
    "yuv420p_to_rgba": "media.yuv420p_to_rgba(media.rgba_to_yuv420p(photo))",
}

TENSORS = """
from dala import compute

rows = compute.buffer(np.arange(12, dtype=np.float32).reshape(3, 4))
sums = compute.buffer_zeros((3,))
compute.run_kernel("reduce_sum", [rows], sums, {"axis": 1})
assert compute.read_list(sums) == [6.0, 22.0, 38.0]

same = compute.buffer_zeros((3, 4))
compute.run_kernel("softmax", [rows], same)
compute.run_kernel("elementwise_add", [rows, same], same)

best = compute.buffer_zeros((3, 2, 2))  # of each row the two largest, each with its position
compute.run_kernel("top_k", [rows], best)
assert best.read()[0].tolist() == [[3.0, 3.0], [2.0, 2.0]]

turned, product = compute.buffer_zeros((4, 3)), compute.buffer_zeros((3, 3))
compute.run_kernel("transpose", [rows], turned)
compute.run_kernel("matmul", [rows, turned], product)
"""


def call_of(name: str) -> str:
    """How the picture of an image kernel is made, as one would type it.

    >>> call_of("blur")
    'media.blur(photo, radius=8)'
    """
    if name in CALLS:
        return CALLS[name]
    values = [f"{key}={_written(value)}" for key, value in SHOWN.get(name, ("", {}))[1].items()]
    arguments = ", ".join(["photo", *([FURTHER[name]] if name in FURTHER else []), *values])
    return f"media.{name}({arguments})".replace("'", '"')


def _written(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)  # words in double quotes


def block(code: str) -> list[str]:
    """A piece of Python in Markdown."""
    return ["```python", *textwrap.dedent(code).strip().splitlines(), "```", ""]
