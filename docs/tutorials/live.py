"""Live

Frames that come and never stop: a pipeline that keeps its code and memory, values that move without a recompile, and work that overlaps.
A camera is one line (`video.Reader(0, latest=True)`); here a made source stands in for it.
"""

import numpy as np
from skimage import data

from dala import media, video

# ## A source
#
# With a camera: `source = (frame.rgb for frame in video.Reader(0, latest=True))`. `latest=True` keeps the newest frame alone, so that nothing lags behind.

coffee = data.coffee()


def source(count=60):
    for n in range(count):
        yield np.roll(coffee, 6 * n, axis=1)[20:380, 20:580]


# ## A pipeline for frames
#
# `start_pipeline` makes buffers and code once. New **values** are numbers in the next launch; a new **chain** is compiled beside the running one with
# `background=True`, and takes over when it is ready: nothing stutters.

with (
    media.start_pipeline(560, 360, background=True) as pipeline,
    video.Writer("live.mp4", fps=30) as out,
):
    for n, frame in enumerate(source()):
        warmth = 6500 + 2500 * np.sin(n / 10)
        chain = [
            ("white_balance", {"temperature": float(warmth)}),
            ("saturation", {"value": 0.3}),
            ("vignette", {"intensity": 0.5}),
        ]
        out.write(media.process_frame(pipeline, frame, chain))

# ![the light turns warm and cool](live.mp4)
#
# ## Overlapping
#
# `process_frame` waits for its result. `submit` returns once the pixels are copied: while one frame is computed, the next is on its way in and the one before
# on its way out. In an async program `await` it.

with media.start_pipeline(560, 360) as pipeline:
    waiting = []
    for frame in source(12):
        waiting.append(pipeline.submit(frame, "cinematic"))
        if len(waiting) == 3:
            waiting.pop(0).wait()
    last = [each.wait() for each in waiting][-1]
media.save(last, "last.jpg")

# ![the last frame, in the look cinematic](last.jpg)
#
# ## In a window
#
# On the command line a camera, a look and keys that turn filters on are one line; `--record` writes what is shown, `--to` sends it on:
#
# ```sh
# dala live --source camera --look stream
# dala live --source camera --background-blur radius=20 --record me.mp4
# ```
