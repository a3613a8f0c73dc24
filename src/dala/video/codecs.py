"""Which encoder a file gets, and with which settings.

The settings are for pictures that come live or nearly so: x264 at ``veryfast`` encodes 1080p about three
times as fast as at its own ``medium``, for files some tenths larger at the same quality.
``preset="medium"`` is a word away.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dala.errors import ParameterError, VideoError, suggest
from dala.video.encoding import Encoding
from dala.video.library import load_av
from dala.video.pixels import PLAIN, Pixels, choose_format, pixels_of
from dala.video.targets import Target, target_of

ENCODERS = {
    "h264": ("libx264", "libopenh264", "h264_videotoolbox", "h264_mf"),
    "hevc": ("libx265", "hevc_videotoolbox", "hevc_mf"),
    "vp9": ("libvpx-vp9",),
    "av1": ("libsvtav1", "libaom-av1", "librav1e"),
    "prores": ("prores_ks", "prores"),
    "qtrle": ("qtrle",),
    "ffv1": ("ffv1",),
}
ALIASES = {"h265": "hevc", "x265": "hevc", "x264": "h264", "avc": "h264"}  # as people call them
AUDIO_ENCODERS = {
    "aac": ("aac",), "opus": ("libopus",), "mp3": ("libmp3lame",), "vorbis": ("libvorbis",),
    "flac": ("flac",), "ac3": ("ac3",), "alac": ("alac",),
}  # fmt: skip
# options for an encoder of that name; {} stands for what crf or preset says
_SETTINGS: dict[str, dict[str, str]] = {
    # else AVX-512 code reads memory that nobody has written, and no two encodings are alike
    "libx264": {"preset": "veryfast", "crf": "20", "x264-params": "cpu-independent=1"},
    "libx265": {"preset": "veryfast", "crf": "23", "x265-params": "log-level=none"},
    "libvpx-vp9": {"deadline": "good", "cpu-used": "5", "row-mt": "1", "crf": "31", "b:v": "0"},
    "libsvtav1": {"preset": "10", "crf": "32"},
    "libaom-av1": {"cpu-used": "8", "row-mt": "1", "crf": "32"},
    "prores_ks": {"profile": "hq"},
    "mjpeg": {"q:v": "2"},
    "libwebp": {"quality": "90"},
}
# what an encoder needs before it writes alpha
_ALPHA: dict[str, dict[str, str]] = {
    "prores_ks": {"profile": "4444"},
    "libvpx-vp9": {"auto-alt-ref": "0"},
}
_LISTS = ("x264-params", "x265-params")  # of options; of two for the same thing the last one counts
PRESETS = ("ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower",
           "veryslow", "placebo")  # fmt: skip
_PRESET_NAMES = {"libvpx-vp9": "cpu-used", "libaom-av1": "cpu-used"}  # others call it preset
_TAGS = {("mp4", "hevc"): "hvc1", ("mov", "hevc"): "hvc1"}  # Apple's players insist on it


@dataclass(frozen=True)
class Settings:
    """An encoder, the pixels it takes and its options; and the one for sound."""

    target: Target
    encoder: str
    pixel_format: str
    options: Mapping[str, str]
    tag: str | None
    bit_rate: int | None
    audio_encoder: str
    audio_chosen: bool  # by name, not because it is usual

    def with_options(self, options: Mapping[str, str]) -> Settings:
        """With more options for the encoder; those that a user gave count more."""
        usual = _SETTINGS.get(self.encoder, {})
        given = {k: v for k, v in self.options.items() if k not in options or v != usual.get(k)}
        return replace(self, options=_joined(_joined(self.options, options), given))

    @property
    def pixels(self) -> Pixels:
        """What the format can hold."""
        return pixels_of(self.pixel_format)

    @property
    def takes_rgba(self) -> bool:
        """Whether frames come as RGBA: with alpha, or because the encoder takes RGB."""
        return self.pixels.alpha or self.pixels.rgb


def choose_encoder(
    path: str | os.PathLike[str], encoding: Encoding, pixels: Pixels = PLAIN
) -> Settings:
    """The encoders for an output: those asked for, or the usual ones; and the format for such pixels."""
    target = target_of(path)
    asked = encoding.codec or target.codec
    family = ALIASES.get(asked, asked)
    encoder = find_encoder(family)
    options = dict(_SETTINGS.get(encoder, {}))
    if encoding.bit_rate is not None:
        options = {k: v for k, v in options.items() if k not in ("crf", "b:v")}
    if encoding.crf is not None:
        options["crf"] = f"{encoding.crf:g}"
    if encoding.preset is not None:
        _check_preset(encoder, encoding.preset)
        options[_PRESET_NAMES.get(encoder, "preset")] = str(encoding.preset)
    if target.kind == "network" and encoder == "libx264":
        options |= {"tune": "zerolatency", "g": "60"}  # whoever joins waits two seconds at most
    if encoder == "libsvtav1":
        os.environ.setdefault("SVT_LOG", "1")  # errors alone; else it writes to the terminal
    pixel_format = encoding.pixel_format or choose_format(encoder, target.format, pixels)
    if pixels_of(pixel_format).alpha:
        options |= _ALPHA.get(encoder, {})
    return Settings(
        target,
        encoder,
        pixel_format,
        _joined(options, encoding.options),
        _TAGS.get((target.format, family)),
        encoding.bit_rate,
        _audio_encoder(target.format, encoding.audio_codec),
        encoding.audio_codec is not None,
    )


def codec_for(
    path: str | os.PathLike[str], encoding: Encoding, pixels: Pixels, codec: str, *, hdr: bool
) -> Encoding:
    """With a codec, where nobody asked for one and the usual one would lose what its files can hold: alpha
    stays in a ``.mov``, and HDR is HEVC, because no player shows it in H.264.
    """
    target = target_of(path)
    if encoding.codec is not None or encoding.options or target.codec != "h264":
        return encoding  # an encoder's own options are options of the usual one
    words = (encoding.crf, encoding.preset, encoding.bit_rate, encoding.pixel_format)
    if pixels.alpha and target.format == "mov" and words == (None,) * len(words):
        return replace(encoding, codec="qtrle" if codec == "qtrle" else "prores")
    if hdr and target.kind == "file" and can_encode("libx265", "video"):
        return replace(encoding, codec="hevc")
    return encoding


def _check_preset(encoder: str, preset: str | int) -> None:
    """x264 and x265 say on the terminal what they do not know, and nothing of it to us."""
    if encoder in ("libx264", "libx265") and preset not in PRESETS:
        raise ParameterError(
            f"preset is one of {', '.join(PRESETS)} for {encoder}, got {preset!r}"
            f"{suggest(str(preset), PRESETS)}"
        )


def _joined(usual: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Both; where both say something of one option, the second counts."""
    lists = {k: f"{usual[k]}:{given[k]}" for k in _LISTS if k in usual and k in given}
    return {**usual, **given, **lists}


def find_encoder(
    family: str, kind: str = "video", families: Mapping[str, Sequence[str]] = ENCODERS
) -> str:
    """The first encoder of a family that this build of FFmpeg has, or the encoder of that very name."""
    for name in families.get(family, (family,)):
        if can_encode(name, kind):
            return name
    found = [f for f, names in families.items() if any(can_encode(n, kind) for n in names)]
    raise VideoError(
        f"no encoder for {family!r} ({kind}) in this build of FFmpeg{suggest(family, families)}; "
        f"it has {', '.join(found)}"
    )


def _audio_encoder(container: str, codec: str | None) -> str:
    if codec is None:  # looked for when there is sound to encode
        return "libopus" if container in ("webm", "whip") else "aac"
    return find_encoder(codec, "audio", AUDIO_ENCODERS)


def can_encode(name: str, kind: str) -> bool:
    """Whether this build of FFmpeg has that encoder."""
    av = load_av()
    try:
        found: Any = av.codec.Codec(name, "w")
    except av.codec.codec.UnknownCodecError:
        return False
    return bool(found.type == kind)
