"""What of an input an output cannot hold, in a few words each."""

from __future__ import annotations

from dala.video.codecs import Settings
from dala.video.hdr import has_mastering, is_hdr, mastering_options
from dala.video.inputs import Input


def losses(source: Input, settings: Settings, tonemap: bool = False) -> list[str]:
    """Alpha, bits and colour samples that the encoder's format has no place for."""
    has, gets, lost = source.pixels, settings.pixels, []
    format_ = settings.pixel_format
    if has.alpha and not gets.alpha:
        lost.append(
            f"alpha is seen on black ({format_} has none; .webm and prores in .mov hold it)"
        )
    kept = min(source.bits, gets.bits)
    if has.bits > kept and not tonemap:
        lost.append(f"{has.bits} bits become {kept}")
        if kept == 8 and is_hdr(source.color):
            lost[-1] += ", too few for HDR (tonemap makes SDR of it)"
    if source.chroma in ("4:2:2", "4:4:4", "4:4:0") and source.format.kind != "rgba":
        lost.append(f"{source.chroma} colour becomes 4:2:0")
    if (
        has_mastering(source.first)
        and not tonemap
        and not mastering_options(source.first, settings.encoder)
    ):
        lost.append(f"{settings.encoder} writes nothing about the mastering display")
    return lost
