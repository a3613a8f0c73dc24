"""A scene

Layers over time: pictures, shapes and text that move, with transitions and effects. A picture is a pure function of the description and the time, so it is the
same in whatever order you ask. `pip install 'dala-gpu[image,text,video]'`.
"""

from skimage import data

from dala import media, scene, video

# ## A stage and what is on it
#
# Nodes are descriptions with properties: position, size, opacity, anchor, z-order. `add_…` gives a number to speak of them by.

stage = scene.Scene(640, 360, background="#101828")
photo = stage.add_image(data.coffee(), position=(0, 0), size=(640, 360), fit="cover")
bar = stage.add_shape("rect", position=(0, 270), size=(640, 90), fill=(0, 0, 0, 150))
title = stage.add_text("Morning", position=(32, 290), font_size=44)

media.save(stage.render(0).to_array()[..., :3].copy(), "still.jpg")

# ![the first frame](still.jpg)
#
# ## Motion
#
# `animate` goes from one value to another; `keyframes` through several. Times are exact.

stage.animate(bar, "opacity", from_=0, to=1, duration_ms=600)
stage.animate(
    title, "position", from_=(-260, 290), to=(32, 290), duration_ms=900, easing="ease_out"
)
ball = stage.add_shape("ellipse", position=(560, 300), size=(36, 36), fill="tomato")
stage.keyframes(
    ball, "position", {0.0: (560, -40), 0.8: (560, 300), 1.2: (560, 250), 1.6: (560, 300)}
)

# ## An effect
#
# Any filter, on one node or on everything below it.

stage.add_effect("vignette", input=photo, params={"intensity": 0.8})

with video.Writer("scene.mp4", fps=25) as out:
    for n in range(50):
        out.write(stage.render(n / 25).to_array()[..., :3].copy())
stage.close()

# ![two seconds of it](scene.mp4)
