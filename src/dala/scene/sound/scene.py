"""The voices of a scene: every node with sound becomes one; its automation is the node's own properties."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from dala import locks
from dala.errors import VideoError
from dala.scene.sound.arrays import ArraySound
from dala.scene.sound.files import SoundFile, has_sound
from dala.scene.sound.gains import Level
from dala.scene.sound.mixer import Mixer
from dala.scene.sound.sounds import RATE, Sound, Waves, cut
from dala.scene.sound.voice import Gain, Voice
from dala.scene.sources.timemap import TimeMap
from dala.video.places import place_of

MEDIA = {
    "video": "stream",
    "audio": "source",
    "scene": "scene",
}  # where a type of node has its sound


class SoundNode(Protocol):
    """What is needed of a node."""

    @property
    def id(self) -> int: ...
    @property
    def type(self) -> str: ...
    @property
    def props(self) -> Mapping[str, Any]: ...


class Described(Protocol):
    """What is needed of a description."""

    @property
    def nodes(self) -> Mapping[int, Any]: ...
    @property
    def version(self) -> int: ...
    def value(self, node: Any, name: str, time: Fraction) -> Any: ...


class SceneLike(Protocol):
    """What is needed of a scene."""

    def describe(self) -> Any: ...


class SceneSound:
    """A scene's sound; nodes that come, go or change are heard from the next block on.

    It is a sound itself: that of a scene within another.
    """

    length: int | None = None

    def __init__(self, scene: SceneLike, *, limiter: bool = True) -> None:
        self._scene = scene
        self._limiter = limiter
        self._sounds: dict[int, tuple[Any, Sound | None]] = {}
        self._mixer: tuple[int, Mixer] | None = None
        self._lock = locks.lock()

    @property
    def mixer(self) -> Mixer:
        """The mixer of the scene as it is now."""
        description = self._scene.describe()
        with self._lock:
            if self._mixer is None or self._mixer[0] != description.version:
                voices = voices_of(description, self._sound_of, self._shown_for)
                self._mixer = description.version, Mixer(voices, limiter=self._limiter)
                self._forget(description.nodes)
            return self._mixer[1]

    def mix(self, begin: int, end: int) -> Waves:
        """Samples of the scene at 48 kHz."""
        return self.mixer.mix(begin, end)

    def samples(self, begin: int, end: int) -> Waves:
        """The same, for a scene around it; before 0 there is silence."""
        first = min(max(begin, 0), end)
        waves = self.mix(first, max(end, first))
        if first == begin:
            return waves
        return cut(waves, begin, end, first)

    def close(self) -> None:
        """Close all files. Twice does nothing."""
        with self._lock:
            self._mixer = None
            self._close_all()

    def _close_all(self) -> None:
        for _, sound in self._sounds.values():
            if sound is not None:
                sound.close()
        self._sounds.clear()

    def _sound_of(self, node: SoundNode) -> Sound | None:
        media = node.props[MEDIA[node.type]]
        known = self._sounds.get(node.id)
        if known is not None and known[0] == media:
            return known[1]
        sound = self._open(node, getattr(media, "of", media))
        if known is not None and known[1] is not None:
            known[1].close()
        self._sounds[node.id] = media, sound
        return sound

    def _open(self, node: SoundNode, media: Any) -> Sound | None:
        return open_sound(media, required=node.type == "audio")

    def _shown_for(self, node: SoundNode) -> Fraction | None:
        """How long its pictures last: with them the sound begins again in a loop."""
        media = node.props[MEDIA[node.type]]
        if hasattr(getattr(media, "of", None), "describe"):
            length: Fraction | None = media.of.duration
            return length
        streams = getattr(self._scene, "streams", None)
        if node.type != "video" or streams is None:
            return None
        shown: Fraction | None = streams.source(node).duration
        return shown

    def _forget(self, nodes: Mapping[int, Any]) -> None:
        for number in [n for n in self._sounds if n not in nodes]:
            _, sound = self._sounds.pop(number)
            if sound is not None:
                sound.close()


def open_sound(media: Any, *, required: bool = False) -> Sound | None:
    """The sound of what a node shows or plays; None where it has none."""
    if hasattr(media, "describe") and hasattr(media, "render"):
        return SceneSound(media, limiter=False)
    if hasattr(media, "samples") and hasattr(media, "length"):
        given: Sound = media
        return given
    if isinstance(media, str | os.PathLike):
        place = place_of(media)
        is_file = place.where == "file" and os.path.isfile(place.url.removeprefix("file:"))
        if is_file and (required or has_sound(place.url.removeprefix("file:"))):
            return SoundFile(place.url.removeprefix("file:"))
        if required:
            raise VideoError(f"{place.name}: expected a file with sound")
        return None
    if required:
        samples, rate = media if isinstance(media, tuple) and len(media) == 2 else (media, RATE)
        return ArraySound(samples, rate)
    return None


def voices_of(
    description: Described,
    sound_of: Callable[[Any], Sound | None],
    shown_for: Callable[[Any], Fraction | None] = lambda node: None,
) -> list[Voice]:
    """A voice for every node that has a sound, in the order of the nodes."""
    voices = []
    for node in description.nodes.values():
        if node.type not in MEDIA or (is_never_heard(description, node)):
            continue
        sound = sound_of(node)
        if sound is not None:
            voices.append(_voice(description, node, sound, shown_for))
    return voices


def is_never_heard(description: Described, node: Any) -> bool:
    """Whether a node is mute all the time."""
    moves = _animated(description, node)
    return bool(node.props["mute"]) and "mute" not in moves


def _voice(
    description: Described, node: Any, sound: Sound, shown_for: Callable[[Any], Fraction | None]
) -> Voice:
    props = node.props
    looped = props["loop"] and props["source_end"] is None
    return Voice(
        sound,
        start=props["start"] or Fraction(0),
        end=props["end"],
        times=times_of(props, sound, shown_for(node) if looped else None),
        gain=gain_of(description, node),
        duck=float(props["duck"]),
        name=str(props.get("name") or node.id),
    )


def gain_of(description: Described, node: Any) -> Gain:
    """How loud a node is, and where."""
    return Gain(
        volume=_volume(description, node),
        pan=_level(description, node, "pan"),
        fade_in=node.props["fade_in_ms"],
        fade_out=node.props["fade_out_ms"],
    )


def times_of(props: Mapping[str, Any], sound: Sound, shown: Fraction | None = None) -> TimeMap:
    """The part of its source that a node plays, and how fast; ``shown``: how long its pictures last."""
    start, end = props["source_start"], props["source_end"]
    length = None if sound.length is None else Fraction(sound.length, RATE)
    if props["loop"] and end is None:
        end = length if shown is None else shown
    loop = bool(props["loop"]) and end is not None and end > start
    return TimeMap(start, end, Fraction(repr(props["speed"])), loop, props["pauses"])


def _animated(description: Described, node: Any) -> set[str]:
    tracks = getattr(description, "tracks", {})
    return {target.name for target, _ in tracks.get(node.id, ())}


def _level(description: Described, node: Any, name: str) -> Level:
    if name not in _animated(description, node):
        return float(node.props[name])
    return lambda time: float(description.value(node, name, time))


def _volume(description: Described, node: Any) -> Level:
    """Its volume, 0 while it is mute."""
    volume = _level(description, node, "volume")
    if "mute" not in _animated(description, node):
        return volume

    def heard(time: Fraction) -> float:
        if description.value(node, "mute", time):
            return 0.0
        return volume(time) if callable(volume) else volume

    return heard
