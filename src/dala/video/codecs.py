"""Which encoder a file gets, and with which settings.

The settings are for pictures that come live or nearly so: x264 at ``veryfast`` encodes 1080p about three
times as fast as at its own ``medium``, for files some tenths larger at the same quality.
``preset="medium"`` is a word away.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dala.errors import VideoError, suggest
from dala.video.encoding import Encoding
from dala.video.library import load_av

# suffix → FFmpeg's name of the container, and the codec that players of such files expect
CONTAINERS = {
    ".mp4": ("mp4", "h264"), ".m4v": ("mp4", "h264"), ".mov": ("mov", "h264"),
    ".mkv": ("matroska", "h264"), ".webm": ("webm", "vp9"), ".ts": ("mpegts", "h264"),
}  # fmt: skip
ENCODERS = {
    "h264": ("libx264", "libopenh264", "h264_videotoolbox", "h264_mf"),
    "hevc": ("libx265", "hevc_videotoolbox", "hevc_mf"),
    "vp9": ("libvpx-vp9",),
    "av1": ("libsvtav1", "libaom-av1", "librav1e"),
    "prores": ("prores_ks", "prores"),
}
AUDIO_ENCODERS = {
    "aac": ("aac",), "opus": ("libopus",), "mp3": ("libmp3lame",), "vorbis": ("libvorbis",),
    "flac": ("flac",),
}  # fmt: skip
# options for an encoder of that name; {} stands for what crf or preset says
_SETTINGS: dict[str, dict[str, str]] = {
    "libx264": {"preset": "veryfast", "crf": "20"},
    "libx265": {"preset": "veryfast", "crf": "23", "x265-params": "log-level=none"},
    "libvpx-vp9": {"deadline": "good", "cpu-used": "5", "row-mt": "1", "crf": "31", "b:v": "0"},
    "libsvtav1": {"preset": "10", "crf": "32"},
    "libaom-av1": {"cpu-used": "8", "row-mt": "1", "crf": "32"},
    "prores_ks": {"profile": "hq"},
}
_PRESET_NAMES = {"libvpx-vp9": "cpu-used", "libaom-av1": "cpu-used"}  # others call it preset
_PIXELS = {"prores_ks": "yuv422p10le", "prores": "yuv422p10le"}  # others take yuv420p
_TAGS = {("mp4", "hevc"): "hvc1", ("mov", "hevc"): "hvc1"}  # Apple's players insist on it
_MUXER = {"mp4": {"movflags": "+faststart"}, "mov": {"movflags": "+faststart"}}


@dataclass(frozen=True)
class Settings:
    """An encoder, the pixels it takes and its options; and the one for sound."""

    encoder: str
    pixel_format: str
    options: Mapping[str, str]
    tag: str | None
    bit_rate: int | None
    audio_encoder: str


def container_for(path: str) -> str:
    """FFmpeg's name of the container that a file's suffix asks for."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in CONTAINERS:
        known = ", ".join(CONTAINERS)
        raise VideoError(
            f"{path}: expected a name that ends in {known}{suggest(suffix, CONTAINERS)}"
        )
    return CONTAINERS[suffix][0]


def muxer_options(container: str) -> dict[str, str]:
    """What the container gets: mp4 begins with its index, so that it plays while it is loaded."""
    return dict(_MUXER.get(container, {}))


def choose_encoder(path: str, encoding: Encoding) -> Settings:
    """The encoders for a file: those asked for, or the usual ones of its container."""
    container = container_for(path)
    family = encoding.codec or CONTAINERS[os.path.splitext(path)[1].lower()][1]
    encoder = find_encoder(family)
    options = dict(_SETTINGS.get(encoder, {}))
    if encoding.bit_rate is not None:
        options = {k: v for k, v in options.items() if k not in ("crf", "b:v")}
    if encoding.crf is not None:
        options["crf"] = f"{encoding.crf:g}"
    if encoding.preset is not None:
        options[_PRESET_NAMES.get(encoder, "preset")] = str(encoding.preset)
    if encoder == "libsvtav1":
        os.environ.setdefault("SVT_LOG", "1")  # errors alone; else it writes to the terminal
    return Settings(
        encoder,
        encoding.pixel_format or _PIXELS.get(encoder, "yuv420p"),
        {**options, **encoding.options},
        _TAGS.get((container, family)),
        encoding.bit_rate,
        _audio_encoder(container, encoding.audio_codec),
    )


def find_encoder(
    family: str, kind: str = "video", families: Mapping[str, Sequence[str]] = ENCODERS
) -> str:
    """The first encoder of a family that this build of FFmpeg has, or the encoder of that very name."""
    for name in families.get(family, (family,)):
        if _can_encode(name, kind):
            return name
    found = [f for f, names in families.items() if any(_can_encode(n, kind) for n in names)]
    raise VideoError(
        f"no encoder for {family!r} ({kind}) in this build of FFmpeg{suggest(family, families)}; "
        f"it has {', '.join(found)}"
    )


def _audio_encoder(container: str, codec: str | None) -> str:
    if codec is None:  # looked for when there is sound to encode
        return "libopus" if container == "webm" else "aac"
    return find_encoder(codec, "audio", AUDIO_ENCODERS)


def _can_encode(name: str, kind: str) -> bool:
    av = load_av()
    try:
        found: Any = av.codec.Codec(name, "w")
    except av.codec.codec.UnknownCodecError:
        return False
    return bool(found.type == kind)
