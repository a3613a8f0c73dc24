"""The sound of an exported file: mixed and encoded; or one file's packets, where nothing is mixed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Literal

from dala.scene.sound import RATE, SceneSound, SoundFile, Voice
from dala.scene.sound.mixer import Mixer
from dala.video.codecs import Settings
from dala.video.output import Output
from dala.video.parts import Track
from dala.video.samples import Samples
from dala.video.sound import Copied, other_sound
from dala.video.sound import SoundFile as Packets

Audio = Literal["auto", "encode", "none"]
CLOSE = Fraction(1, 20)  # seconds: so far may a film's end lie before its sound's


class Mixed:
    """The scene's mix from ``start`` to ``end``, encoded."""

    def __init__(
        self, mixer: Mixer, settings: Settings, encoder: Output, start: Fraction, end: Fraction
    ) -> None:
        self.notes: list[str] = []
        self._mixer = mixer
        self._samples = Samples(True, settings)
        self._samples.begin(encoder)
        self._first = round(start * RATE)
        self._total = round((end - start) * RATE)
        self._written = 0

    def until(self, time: Fraction) -> None:
        """Write what is heard before that time of the file."""
        wanted = min(round(time * RATE), self._total)
        if wanted > self._written:
            begin = self._first + self._written
            self._samples.write(self._mixer.mix(begin, self._first + wanted), RATE)
            self._written = wanted

    def finish(self) -> None:
        """Write what is left."""
        self.until(Fraction(self._total, RATE))
        self._samples.finish()

    def close(self) -> None:
        """Its files are the scene's."""


class Passed:
    """The packets of the one file that is heard, as they are."""

    def __init__(self, packets: Packets, encoder: Output) -> None:
        self._packets = packets
        self._way, self.notes = other_sound(encoder, packets)
        self.is_copy = isinstance(self._way, Copied)

    def until(self, time: Fraction) -> None:
        """Write what is heard before that time of the file."""
        for packet in self._packets.until(time):
            self._way.take(packet)

    def finish(self) -> None:
        """Write what is left."""
        self.until(Fraction(1 << 40))
        self._way.finish()

    def close(self) -> None:
        """Close the file."""
        self._packets.close()


def track_of(
    sound: SceneSound,
    audio: Audio,
    settings: Settings,
    encoder: Output,
    start: Fraction,
    end: Fraction,
) -> Track | None:
    """The way that the scene's sound takes; None where it has none, or the file holds none."""
    if audio == "none" or not settings.target.holds_sound:
        return None
    mixer = sound.mixer
    if not mixer.voices:
        return None
    path = _single_file(mixer.voices, start, end)
    if path is not None and audio == "auto" and not settings.audio_chosen:
        return Passed(Packets(path), encoder)
    return Mixed(mixer, settings, encoder, start, end)


def _single_file(voices: tuple[Voice, ...], start: Fraction, end: Fraction) -> Path | None:
    """The file whose whole sound is heard, unchanged and alone; None: something is to be mixed."""
    if len(voices) != 1 or start != 0:
        return None
    voice = voices[0]
    sound, last = voice.sound, voice.last
    whole = isinstance(sound, SoundFile) and sound.begins_at_zero
    if not whole or last is None or not voice.gain.is_unity or voice.start != 0:
        return None
    assert isinstance(sound, SoundFile)
    times, length = voice.times, Fraction(sound.length or 0, RATE)
    plain = times.start == 0 and times.speed == 1 and not times.loop and not times.pauses
    uncut = last >= length - CLOSE and end >= length - CLOSE
    return Path(sound.path) if plain and uncut else None
