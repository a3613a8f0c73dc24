"""Which pixel format an encoder gets: the one that keeps what the pictures have and costs the least."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from dala.errors import VideoError, suggest
from dala.video.library import load_av

_NO_ALPHA = ("libx265",)  # lists formats with alpha, and leaves it out
_ALPHA_HOLDERS = {"libvpx-vp9": ("webm", "matroska")}  # elsewhere its alpha has no place
_FIXED = {"libwebp": "bgra", "gif": "pal8"}
_LEAST = 3  # components of a colour


@dataclass(frozen=True)
class Pixels:
    """What pictures hold: alpha, bits for each value, RGB instead of YUV."""

    alpha: bool = False
    bits: int = 8
    rgb: bool = False


PLAIN = Pixels()


@functools.cache
def pixels_of(name: str) -> Pixels:
    """Of one of FFmpeg's formats. Palettes may hold alpha."""
    try:
        layout = load_av().VideoFormat(name, 64, 64)
    except ValueError as error:
        known = load_av().codec.Codec("ffv1", "w").video_formats or ()
        names = [f.name for f in known]
        raise VideoError(
            f"no pixel format {name!r}{suggest(name, names)}; yuv420p and yuv420p10le are the usual ones"
        ) from error
    return _pixels(layout)


def choose_format(encoder: str, container: str, wanted: Pixels) -> str:
    """The name of the format for an encoder."""
    if encoder in _FIXED:
        return _FIXED[encoder]
    formats: list[Any] = list(load_av().codec.Codec(encoder, "w").video_formats or ())
    usable = [f for f in formats if len(f.components) >= _LEAST and not f.has_palette]
    if encoder in _NO_ALPHA or container not in _ALPHA_HOLDERS.get(encoder, (container,)):
        usable = [f for f in usable if not _pixels(f).alpha] or usable
    if not usable:
        return "yuv420p"  # it does not tell
    # opaque RGB has always been written as 4:2:0; what is lossless keeps RGB with alpha as it is
    rgb = encoder == "tiff" or (encoder == "ffv1" and wanted.rgb and wanted.alpha)
    return str(min(usable, key=lambda f: _cost(f, wanted, rgb)).name)


def _cost(layout: Any, wanted: Pixels, rgb: bool) -> tuple[object, ...]:
    """First what would be lost, then what would be held for nothing. Equal ones stay in their order."""
    has = _pixels(layout)
    return (
        wanted.alpha and not has.alpha,
        max(0, wanted.bits - has.bits),
        has.alpha and not wanted.alpha,
        has.bits - wanted.bits,
        has.rgb != rgb,
        not has.rgb and chroma_of(layout) != "4:2:0",
    )


def _pixels(layout: Any) -> Pixels:
    alpha = layout.has_palette or any(c.is_alpha for c in layout.components)
    bits = 8 if layout.has_palette else max((c.bits for c in layout.components), default=8)
    return Pixels(alpha, bits, bool(layout.is_rgb or layout.has_palette))


def chroma_of(layout: Any) -> str:
    """``4:2:0``, ``4:2:2``, ``4:4:4`` …, by how large the planes of colour are; ``RGB``, ``grey``."""
    if layout.is_rgb or layout.has_palette:
        return "RGB"
    if len(layout.components) < _LEAST:
        return "grey"
    wide, high = layout.chroma_width(64), layout.chroma_height(64)
    return {(32, 32): "4:2:0", (32, 64): "4:2:2", (64, 64): "4:4:4", (64, 32): "4:4:0",
            (16, 64): "4:1:1", (16, 16): "4:1:0"}.get((wide, high), "4:2:0")  # fmt: skip
