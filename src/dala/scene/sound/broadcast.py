"""The sound of a scene that goes out live: what fails is silent and told, what is live is heard.

    files, samples ─ mixer ─┬─ ducked by those who are live ─┬─ sum ─ limiter ─ samples
    live sources ─ listeners ─ volume, pan ─ ducked ─────────┘

What is not live stays as it is in a file, sample by sample. What is live cannot be looked ahead at: it is
mixed for the samples that are asked for, once, in order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import DalaError
from dala.scene.sound.ducking import HEARD, HOLD, RAMP, STEP, Levels
from dala.scene.sound.live import Listener, LiveLimiter, LiveSound, LiveSoundStats
from dala.scene.sound.mixer import Mixer
from dala.scene.sound.scene import SceneLike, SceneSound, SoundNode, gain_of, is_never_heard
from dala.scene.sound.sounds import RATE, Sound, Waves, silence
from dala.scene.sound.voice import with_gain
from dala.video.places import place_of

Tell = Callable[[str, str], None]


class BroadcastSound(SceneSound):
    """A scene's sound as it is sent out, asked for in order."""

    def __init__(self, scene: SceneLike, tell: Tell) -> None:
        super().__init__(scene)
        self._tell = tell
        self._live: dict[int, _LiveVoice] = {}
        self._live_version = -1
        self._limit = LiveLimiter()
        self._final: tuple[LiveSoundStats, ...] | None = None  # as it was when it was closed

    @property
    def stats(self) -> tuple[LiveSoundStats, ...]:
        """Of every live source that is heard, or was to the end."""
        live = self._live  # before the look at what is final: closing makes that first
        if self._final is not None:
            return self._final
        return tuple(voice.listener.stats for voice in live.values())

    def close(self) -> None:
        """Close all files, listen to nobody any more. Twice does nothing."""
        super().close()
        self._final = self.stats
        self._live, self._live_version = {}, -1

    def mix(self, begin: int, end: int) -> Waves:
        """The next samples; nothing that fails ends them."""
        try:
            mixer = self.mixer
            waves = mixer.mix(begin, end)
        except DalaError as error:  # a property, a function of the user's
            self._tell("sound", str(error))
            return silence(end - begin)
        description = self._scene.describe()
        self._find_live(description)
        if not self._live:
            return waves
        return self._limit.limit(self._with_live(waves, mixer, description, begin, end))

    def _find_live(self, description: Any) -> None:
        if description.version == self._live_version:
            return
        found: dict[int, _LiveVoice] = {}
        streams = getattr(self._scene, "streams", None)
        for node in description.nodes.values():
            if node.type != "video" or streams is None:
                continue
            sound = self._live_sound(streams, node)
            if sound is None:
                continue
            known = self._live.get(node.id)
            found[node.id] = known if known and known.sound is sound else _LiveVoice(sound)
        self._live, self._live_version = found, description.version

    def _live_sound(self, streams: Any, node: Any) -> LiveSound | None:
        if hasattr(getattr(node.stream, "of", None), "evaluated"):
            return None  # a scene: its own films are heard
        try:
            sound = getattr(streams.source(node), "sound", None)
        except DalaError as error:
            self._tell(str(node.props.get("name") or node.id), str(error))
            return None
        return sound if isinstance(sound, LiveSound) else None

    def _with_live(
        self, waves: Waves, mixer: Mixer, description: Any, begin: int, end: int
    ) -> Waves:
        heard = [
            (voice, node, voice.read(description, node, begin, end))
            for number, voice in self._live.items()
            for node in (description.nodes[number],)
        ]
        down = mixer.down(begin, end)
        lower: Levels | None = None
        for voice, node, own in heard:
            by = voice.ducks(own, float(node.duck)) if node.duck else None
            lower = by if lower is None else lower if by is None else lower * by
        total: npt.NDArray[Any] = waves if lower is None else waves * lower[:, None]
        for _, node, own in heard:
            gains = [level for level in (down, lower) if level is not None and not node.duck]
            total = total + own * np.prod(gains, axis=0)[:, None] if gains else total + own
        return np.asarray(total, np.float32)

    # -- what fails is silent --------------------------------------------------------------------------

    def _open(self, node: SoundNode, media: Any) -> Sound | None:
        name = str(node.props.get("name") or _name_of(media) or f"node {node.id}")
        try:
            sound = super()._open(node, media)
        except DalaError as error:
            self._tell(name, str(error))
            return None
        return None if sound is None else _Forgiving(sound, name, self._tell)


class _Forgiving:
    """A sound whose errors are silence; each is told once in a row."""

    def __init__(self, sound: Sound, name: str, tell: Tell) -> None:
        self._sound, self._name, self._tell = sound, name, tell
        self._said = ""

    @property
    def length(self) -> int | None:
        return self._sound.length

    def samples(self, begin: int, end: int) -> Waves:
        try:
            waves = self._sound.samples(begin, end)
        except DalaError as error:
            if str(error) != self._said:
                self._said = str(error)
                self._tell(self._name, f"its sound is silent: {error}")
            return silence(end - begin)
        self._said = ""
        return waves

    def close(self) -> None:
        self._sound.close()


class _LiveVoice:
    """A live source as a voice: how it is turned up and down, and how it turns others down."""

    def __init__(self, sound: LiveSound) -> None:
        self.sound = sound
        self.listener: Listener = sound.listen()
        self._left = 0  # samples that the others stay down
        self._share = 0.0  # 1: they are down

    def read(self, description: Any, node: Any, begin: int, end: int) -> Waves:
        """Its next samples, as loud as the node is; they are read wherever the node is in its time."""
        waves = self.listener.read(end - begin)
        if is_never_heard(description, node):
            return silence(len(waves))
        start, last = node.start or Fraction(0), node.end
        waves = with_gain(waves, begin, gain_of(description, node), start, last)
        first = min(max(int(start * RATE) - begin, 0), len(waves))
        stop = len(waves) if last is None else min(max(int(last * RATE) - begin, 0), len(waves))
        if first == 0 and stop == len(waves):
            return waves
        out = silence(len(waves))
        out[first:stop] = waves[first:stop]
        return out

    def ducks(self, waves: Waves, duck: float) -> Levels | None:
        """The gain of all others: down while it is heard and a little longer."""
        if float(np.abs(waves).max(initial=0.0)) > HEARD:
            self._left = HOLD * STEP
        before = self._share
        step = len(waves) / (RAMP * STEP)
        self._share = min(before + step, 1.0) if self._left > 0 else max(before - step, 0.0)
        self._left = max(self._left - len(waves), 0)
        if before == self._share == 0.0:
            return None
        return np.asarray(1 - duck * np.linspace(before, self._share, len(waves)), np.float64)


def _name_of(media: Any) -> str:
    return place_of(media).name if isinstance(media, str | os.PathLike) else ""
