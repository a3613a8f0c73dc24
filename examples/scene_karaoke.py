"""Karaoke: each syllable turns to gold when it is sung."""

from __future__ import annotations

from random import Random

from dala.scene import Scene
from scene_parts import main

AT = 2.9
# when a line begins, and its syllables; the last one is twice as long
SONG = [
    (0.5, ["Twin", "kle, ", "twin", "kle, ", "lit", "tle ", "star"]),
    (4.2, ["How ", "I ", "won", "der ", "what ", "you ", "are"]),
]
SYLLABLE = 0.4  # seconds


def make() -> Scene:
    """Two lines of a song."""
    stage = Scene(1280, 720, target_fps=30, background="black")
    stage.add_shape(size=(1280, 720), fill={"radial": ["#4b1d6b", "#12061f"]})
    chance = Random(3)  # the same sky every time
    for n in range(40):  # stars
        place = chance.uniform(0, 1280), chance.uniform(0, 420)
        star = stage.add_shape("ellipse", size=(4, 4), position=place, anchor=(0.5, 0.5))
        stage.animate(
            star, "opacity", 0.2, 1, 600 + 37 * n, repeat="forever", alternate=True, at=0.0
        )
    for n, (begin, syllables) in enumerate(SONG):
        text = "".join(syllables)
        look = {
            "position": (640, 520 + 90 * n),
            "anchor": (0.5, 0.5),
            "font_size": 64,
            "font_weight": 700,
        }
        stage.add_text(text, outline="#000000c0", **look)
        sung = stage.add_text(text, color="gold", outline="#000000c0", reveal=0, **look)
        time, count, keys = begin, 0, {begin: 0.0}
        for word in syllables:
            length = SYLLABLE * (2 if word is syllables[-1] else 1)
            time, count = round(time + length, 3), count + len(word)
            keys[time] = count / len(text)
        stage.keyframes(sung, "reveal", keys)
    return stage


if __name__ == "__main__":
    main(make, AT, "karaoke")
