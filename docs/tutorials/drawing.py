"""Drawing

A clock that runs: smooth ink on a surface, text, a picture of it, a clip, and a window. `pip install 'dala-gpu[text,video]'`, and `window` for the last part.
"""

import math
import sys

import numpy as np

from dala import gpu, video

# ## A surface
#
# Calls return at once; a thread of the surface's own paints them in compiled code. `present` shows the frame, and what was drawn stays as the start of the next.

SIDE = 420
MIDDLE = SIDE / 2


def hand(surface, turn, length, width, color):
    """A line from the middle; turn is 0 at the top, 1 after a whole round."""
    angle = 2 * math.pi * turn
    end = MIDDLE + length * math.sin(angle), MIDDLE - length * math.cos(angle)
    surface.stroke_line(MIDDLE, MIDDLE, *end, color, width, cap="round")


def draw_clock(surface, seconds):
    surface.clear("#10131a")
    face = gpu.RadialGradient(MIDDLE, MIDDLE * 0.8, 230, ["#2b3a67", "#141a2e"])
    surface.fill_path(gpu.Path().ellipse(MIDDLE, MIDDLE, 195, 195), face)
    surface.stroke_ellipse(MIDDLE, MIDDLE, 195, 195, "#e8c872", 4)
    for hour in range(1, 13):
        angle = 2 * math.pi * hour / 12
        at = MIDDLE + 160 * math.sin(angle), MIDDLE - 160 * math.cos(angle)
        surface.draw_text(at[0] - 14, at[1] - 16, f"{hour:>2}", size=26, color="#f4efe0")
    hand(surface, seconds / 43_200, 90, 9, "#f4efe0")
    hand(surface, seconds / 3_600, 135, 6, "#f4efe0")
    hand(surface, seconds / 60, 150, 2.5, "tomato")
    surface.fill_ellipse(MIDDLE, MIDDLE, 7, 7, "#e8c872")
    surface.present()


with gpu.create_surface(SIDE, SIDE) as surface:
    draw_clock(surface, 10 * 3600 + 8 * 60 + 36)
    surface.save("clock.png")

# ![eight past ten](clock.png)
#
# ## Many at once
#
# Arrays draw ten thousand things in one call.

rng = np.random.default_rng(4)
with gpu.create_surface(640, 360) as surface:
    surface.clear("#0b0e17")
    discs = np.column_stack(
        [rng.uniform(0, 640, 4000), rng.uniform(0, 360, 4000), rng.gamma(1.2, 1.2, 4000)]
    )
    glow = np.column_stack([rng.integers(180, 256, (4000, 3)), rng.integers(60, 256, 4000)]).astype(
        np.uint8
    )
    surface.fill_discs(discs, glow)
    surface.present().wait()
    surface.save("stars.png")

# ![four thousand discs](stars.png)
#
# ## As a clip
#
# A surface is a picture; so is what it shows.

with gpu.create_surface(SIDE, SIDE) as surface, video.Writer("clock.mp4", fps=25) as out:
    for n in range(50):
        draw_clock(surface, 10 * 3600 + 8 * 60 + n)
        frame = np.frombuffer(surface.get_pixels(), np.uint8).reshape(SIDE, SIDE, 4)
        out.write(np.ascontiguousarray(frame[..., :3]))

# ![it runs](clock.mp4)
#
# ## In a window
#
# `show` opens a window and calls you for every frame; closing it ends the call, and so does a frame that returns `False`.
# `python docs/tutorials/drawing.py --window` shows it.


def tick(surface, seconds):
    draw_clock(surface, 10 * 3600 + 8 * 60 + seconds)
    return seconds < 3  # without this line, whoever looks at the window closes it


if "--window" in sys.argv:
    gpu.create_surface(SIDE, SIDE).show("a clock", frame=tick, on={"key_down": print})

# More: [surfaces](../surfaces.md), with sprites, layers, blend modes and shaders.
