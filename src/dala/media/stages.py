"""Small stages around and between filters. They are in no catalogue: nobody calls them by name."""

from __future__ import annotations

from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.pipelines import Pipeline
from dala.kernels.color import keep_alpha
from dala.language.kernel import make_kernel
from dala.language.parameter import param
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import luma, mix, rgb


def mix_with_original(
    before: Image, after: Image, amount: float = param(1.0, min=0, max=1)
) -> Value:
    """A filtered picture mixed with what it was made of, alpha too."""
    return mix(before[0, 0], after[0, 0], amount)


def swap_red_blue(src: Image) -> Vec:
    """BGRA as RGBA, and back."""
    p = src[0, 0]
    return rgb(p.b, p.g, p.r).with_alpha(p.a)


def on_black(src: Image) -> Vec:
    """What is seen of a picture on a black ground; opaque."""
    p = src[0, 0]
    return keep_alpha(p.rgb * p.a, p).with_alpha(1.0)


def to_grey(src: Image) -> Value:
    """The luma as an image of one channel."""
    return luma(src[0, 0])


MIX = make_kernel(mix_with_original, name="mix", domain="image")
SWAP = make_kernel(swap_red_blue, domain="image")
ON_BLACK = make_kernel(on_black, domain="image")
TO_GREY = make_kernel(to_grey, domain="image")


def fit_image(
    pipeline: Pipeline, image: Buffer, size: tuple[int, int], channels: int, *, swap: bool
) -> Buffer | Scratch:
    """A further image as a filter wants it: of this size, RGBA, and grey where the picture is."""
    fitting: Buffer | Scratch = image
    if swap and image.type.channels == 4:
        fitting = Scratch(image.type)
        pipeline.add({"kernel": SWAP, "inputs": [image], "output": fitting})
    if channels == 1 and image.type.channels == 4:
        grey = Scratch(array_type(image.shape[:2], image.dtype))
        pipeline.add({"kernel": TO_GREY, "inputs": [fitting], "output": grey})
        fitting = grey
    if fitting.shape[:2] != size:
        scaled = Scratch(array_type((*size, *fitting.shape[2:]), image.dtype))
        pipeline.add({"kernel": "resize", "inputs": [fitting], "output": scaled})
        fitting = scaled
    return fitting
