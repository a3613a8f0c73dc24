"""Your own kernel

A filter that nobody has: written as a Python function, looked into, given parameters, fused with others, and given away as text.
"""

import numpy as np
from skimage import data

import dala
from dala import compute, media

photo = data.astronaut()

# ## One pixel
#
# A kernel says what **one** pixel is. `src[0, 0]` is the pixel of the source at the same place, `src[dx, dy]` a neighbour; values are 0..1. This one
# takes the difference of two neighbours for the slope of a surface, and lets light fall on it from the left top.


@dala.kernel
def relief(src):
    p = src[0, 0]
    slope = luma(src[-1, -1]) - luma(src[1, 1])
    return (p.rgb * 0.35 + rgb(0.5, 0.5, 0.5) * 0.65 + slope * 1.5).with_alpha(p.a)


media.save(media.apply_filter(photo, relief), "relief.jpg")

# ![a relief](relief.jpg)
#
# The words `luma` and `rgb` are there without an import; [the page on the language](../language.md) has all of them. dala called `relief` once, with symbols
# instead of pixels, and compiled what it did: 16 pixels at a time on all cores, or as a shader.
#
# ## Parameters
#
# `dala.param` gives a parameter a range, a default and a line of help. It is a run-time value: moving it never recompiles. `dala.static` ones are known when
# the kernel is compiled; loops can run to them.


@dala.kernel
def ink(
    src,
    amount: float = dala.param(1.0, min=0, max=1, help="0 keeps the photo."),
    fineness: float = dala.param(90.0, min=10, max=400, help="Hatches over the picture."),
    reach: int = dala.static(2, min=1, max=6, help="How far edges look."),
):
    p = src[0, 0]
    dark = 1.0 - luma(p)
    edge = 0.0
    for k in range(1, reach + 1):  # unrolled
        edge += abs(luma(src[k, 0]) - luma(src[-k, 0])) + abs(luma(src[0, k]) - luma(src[0, -k]))
    stripes = fract((x + y) / width * fineness)
    hatch = smoothstep(0.0, 0.35, stripes - dark * 1.3 + 0.15)
    paper = rgb(0.98, 0.95, 0.88) * clamp(hatch - edge / reach * 2.0, 0.0, 1.0)
    line = mix(rgb(0.1, 0.12, 0.25), paper, clamp(hatch - edge, 0.0, 1.0))
    return mix(p.rgb, line, amount).with_alpha(p.a)


media.save(media.apply_filter(photo, ink), "ink.jpg")

# ![drawn with ink](ink.jpg)
#
# ## Looking inside
#
# `debug_kernel` shows every named value at a pixel, with the line it stands in.

rgba = np.dstack([photo, np.full(photo.shape[:2], 255, np.uint8)])
seen = dala.debug_kernel(ink, [rgba], at=(230, 120))
print(seen)
assert "hatch" in str(seen)

# ## Fused with others
#
# In a chain, your kernel melts into the pass like one of dala's own.

chain = [("denoise", {"strength": 0.4}), (ink, {"fineness": 140.0}), ("vignette", {})]
with media.start_pipeline(512, 512) as pipeline:
    print(pipeline.explain(chain))
    drawn = media.process_frame(pipeline, photo, chain)
media.save(drawn, "chain.jpg")

# ![denoised, hatched more finely, with a vignette](chain.jpg)
#
# ## As text
#
# The same language as text is parsed and never executed, so that a kernel may come from a file, a user or a stranger.

compute.register(
    "old_screen",
    """
def old_screen(src, lines: float = 3.0):
    p = src[0, 0]
    glow = 0.75 + 0.25 * sin(y * 2.0 * pi / lines)
    green = rgb(0.25, 1.0, 0.45) * luma(p) * glow
    return green.with_alpha(p.a)
""",
)
media.save(media.apply_filter(photo, "old_screen", lines=4.0), "screen.jpg")

# ![an old screen](screen.jpg)
#
# Where to go: [the kernel language](../language.md), [performance](../performance.md), and [an exercise](exercises.md#a-kernel).
