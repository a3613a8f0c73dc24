"""How a file is encoded, as one value for whatever writes files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypedDict

from dala.errors import ArgumentError, ParameterError, suggest


@dataclass(frozen=True)
class Encoding:
    """How a file is encoded. What is left out is what players of such files expect.

    ``codec`` is ``h264``, ``hevc``, ``vp9``, ``av1``, ``prores`` or the name of an encoder, ``crf`` its
    quality (less is better), ``bit_rate`` bits per second instead, ``preset`` how long it may take.
    ``audio_codec`` (``aac``, ``opus``, ``mp3``, ``vorbis``, ``flac``) is for sound that is encoded anew.
    ``options`` go to the encoder as they are. Whoever takes an encoding also takes its parts by
    themselves, which count more: ``transcode(src, dst, encoding=small, crf=30)``.

    >>> import numpy as np
    >>> from dala import video
    >>> lossless = video.Encoding("ffv1")
    >>> with video.Writer("frames.mkv", encoding=lossless) as writer:
    ...     writer.write(np.full((48, 64, 3), 80, np.uint8))
    >>> video.probe("frames.mkv").codec
    'ffv1'
    """

    codec: str | None = None
    crf: float | None = None
    preset: str | int | None = None
    bit_rate: int | None = None
    pixel_format: str | None = None
    audio_codec: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("codec", "pixel_format", "audio_codec"):
            self._check(name, "a word", isinstance(getattr(self, name), str))
        self._check("crf", "a number", _is_number(self.crf, float))
        self._check("preset", "a word or a number", isinstance(self.preset, str | int))
        self._check("bit_rate", "bits per second", _is_number(self.bit_rate, int))
        self._check("options", "a dict of words", isinstance(self.options, Mapping))
        object.__setattr__(self, "options", dict(self.options or {}))  # the caller's may change

    def _check(self, name: str, wanted: str, fits: bool) -> None:
        value = getattr(self, name)
        if value is not None and not fits:
            raise ParameterError(f"{name} is {wanted}, got {value!r}")


class Words(TypedDict, total=False):
    """The parts of an Encoding, each by itself."""

    codec: str | None
    crf: float | None
    preset: str | int | None
    bit_rate: int | None
    pixel_format: str | None
    audio_codec: str | None
    options: Mapping[str, str] | None


def with_words(encoding: Encoding | None, words: Mapping[str, object]) -> Encoding:
    """What was given as a value, changed by what was given by itself; None says nothing."""
    if encoding is not None and not isinstance(encoding, Encoding):
        raise ArgumentError(
            f"encoding is a video.Encoding, such as Encoding({encoding!r}), got {encoding!r}"
        )
    known = [part.name for part in fields(Encoding)]
    for word in words:
        if word not in known:
            listed = ", ".join(known)
            raise ArgumentError(
                f"no argument {word!r}{suggest(word, known)}; of an encoding: {listed}"
            )
    given = {word: value for word, value in words.items() if value is not None}
    return replace(encoding or Encoding(), **given)  # type: ignore[arg-type]  # it checks them


def _is_number(value: object, kind: type) -> bool:
    """A whole number above 0 for ``int``, any from 0 up for ``float``."""
    if isinstance(value, bool) or not isinstance(value, int | kind):
        return False
    return value >= (kind is int)  # type: ignore[operator]
