"""A video

A clip made, graded, cut, titled and put beside its original. `pip install 'dala-gpu[video,text,image]'`.
"""

import numpy as np
from skimage import data

import dala
from dala import text, video

# ## A clip to work with
#
# Here it is a slow flight over a photo; yours is a file. The suffix chooses container and codec.

sky = data.hubble_deep_field()
with video.Writer("flight.mp4", fps=25) as writer:
    for n in range(75):
        left, top = 4 * n, 2 * n + 60
        writer.write(np.ascontiguousarray(sky[top : top + 360, left : left + 640]))
print(video.probe("flight.mp4"))

# ## Graded
#
# `transcode` decodes, filters and encodes at once. Frames stay in YUV and are converted inside the fused pass; every frame keeps its time, sound is copied
# packet by packet.

chain = [
    ("denoise", {"strength": 0.5}),
    ("exposure", {"stops": 1.1}),
    ("glow", {"amount": 0.6, "radius": 10}),
    ("vibrance", {"value": 0.7}),
]
report = video.transcode("flight.mp4", "graded.mp4", chain)
print(f"{report.frames} frames at {report.fps:.0f} a second")
print(report.plan)

# ![graded](graded.mp4)
#
# ## A filter that moves
#
# A kernel with a parameter `time` gets the time of each frame.


@dala.kernel
def curtain(src, time: float = dala.param(0.0)):
    p = src[0, 0]
    away = abs(x / width - 0.5) * 2.0
    shown = smoothstep(0.0, 0.15, time * 0.9 - away)
    return (p.rgb * shown).with_alpha(p.a)


video.transcode("graded.mp4", "opened.mp4", [curtain])

# ## A title, a part, a GIF
#
# `over=` gives a picture over every frame; cuts are exact to the frame and to the sample.

title = text.draw(np.zeros((360, 640, 4), np.uint8), "Deep field", "bottom", size=40, shadow=True)
video.transcode("opened.mp4", "titled.mp4", over=lambda moment: title)
video.transcode("titled.mp4", "part.gif", [("resize", {"width": 320})], start=0.5, end=1.5, fps=10)

# ![with its title](titled.mp4)
#
# ![a second of it](part.gif)
#
# ## Beside its original

video.side_by_side("flight.mp4", "titled.mp4", "compared.mp4", gap=4)

# ![before and after](compared.mp4)
