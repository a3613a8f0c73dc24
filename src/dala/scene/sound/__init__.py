"""Sound of a scene: 48 kHz, two channels, f32; a sample depends on the description and its number alone.

    sounds.py       what has samples                          arrays.py    a user's; files.py: a file's
    resampling.py   other rates → 48 kHz; other speeds        voice.py     a sound in a scene: when, how
    gains.py        automation, fades, pan                    ducking.py   voices that turn others down
    limiter.py      never above full scale                    mixer.py     voices → samples, block by block
    scene.py        the voices of a description       live.py      what comes when it comes, at our pace
    broadcast.py    the sound of a scene that goes out live: what fails is silent

    file ─ decode ─ 48 kHz ─ trims, speed, pauses ─ volume, fades, pan ─ ducking ─ sum ─ limiter ─ samples

All of it is computed in blocks that begin at fixed samples, each by itself. So whoever asks for 1 sample or
for 100,000, in whatever order, gets the same ones.
"""

from __future__ import annotations

from dala.scene.sound.arrays import ArraySound
from dala.scene.sound.files import SoundFile
from dala.scene.sound.mixer import Mixer
from dala.scene.sound.scene import SceneSound, voices_of
from dala.scene.sound.sounds import RATE, Sound
from dala.scene.sound.voice import Gain, Voice

__all__ = [
    "RATE",
    "ArraySound",
    "Gain",
    "Mixer",
    "SceneSound",
    "Sound",
    "SoundFile",
    "Voice",
    "voices_of",
]
