"""Five filters of one's own on a photo: each a few lines, and as fast as those of the catalogue.

    python examples/own_filters.py [PHOTO] [--out FOLDER]

Nothing here is known to dala beforehand. What a filter *is* decides how it is computed: weights on pixels
are integer dot products, a strength times differences goes through 16 bits, the largest of nine is found on
bytes. ``bench/own_kernels.py`` times them beside the catalogue and OpenCV.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image as Picture

import dala
from dala import compute
from dala.language import Image, Value, Vec, average, luma, max, mix, rgb

PHOTO = Path(__file__).parent / "assets" / "astronaut.jpg"


@dala.kernel
def unsharp_mask(src: Image, amount: float = dala.param(0.8, min=0, max=4)) -> Vec:
    """What a soft copy lacks, added again."""
    p = src[0, 0]
    edges = src[-1, 0] + src[1, 0] + src[0, -1] + src[0, 1]
    corners = src[-1, -1] + src[1, -1] + src[-1, 1] + src[1, 1]
    soft = (p * 4.0 + edges * 2.0 + corners) / 16.0
    return (p.rgb + (p.rgb - soft.rgb) * amount).with_alpha(p.a)


@dala.kernel
def emboss(src: Image, strength: float = dala.param(1.0, min=0, max=4)) -> Vec:
    """As if pressed into paper, lit from the upper left."""
    relief = src[1, 1].rgb - src[-1, -1].rgb
    return (relief * strength + 0.5).with_alpha(src[0, 0].a)


@dala.kernel
def two_inks(src: Image, amount: float = dala.param(1.0, min=0, max=1)) -> Vec:
    """Printed in dark blue and cream; an amount of 0 is the photo."""
    p = src[0, 0]
    shade = mix(rgb(0.1, 0.1, 0.4), rgb(1.0, 0.8, 0.5), luma(p))
    return mix(p.rgb, shade, amount).with_alpha(p.a)


@dala.kernel
def soft_down(src: Image) -> Value:
    """Blurred up and down alone, as if the camera had nodded."""
    return average([src[0, d] for d in (-2, -1, 0, 1, 2)], [1.0, 4.0, 6.0, 4.0, 1.0])


@dala.kernel
def brightest(src: Image) -> Vec:
    """The brightest of nine pixels: lights grow."""
    around = [src[dx, dy].rgb for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    return max(*around).with_alpha(src[0, 0].a)


FILTERS = (unsharp_mask, emboss, two_inks, soft_down, brightest)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("photo", nargs="?", type=Path, default=PHOTO)
    parser.add_argument("--out", type=Path, default=Path("demo_output"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with Picture.open(options.photo) as opened:
        photo = compute.from_array(opened.convert("RGBA"))
    result = compute.buffer_zeros(photo.shape, "u8")
    for kernel in FILTERS:
        compute.run_kernel(kernel, [photo], result)
        path = options.out / f"{kernel.name}.png"
        Picture.fromarray(result.read()).save(path)
        print(path)


if __name__ == "__main__":
    main()
