"""What of an input an output cannot hold, in a few words each."""

from __future__ import annotations

from dala.video.codecs import Settings
from dala.video.inputs import Input

_PQ, _HLG = 16, 18  # FFmpeg's numbers of the transfer functions of HDR


def losses(source: Input, settings: Settings) -> list[str]:
    """Alpha, bits and colour samples that the encoder's format has no place for."""
    has, gets, lost = source.pixels, settings.pixels, []
    format_ = settings.pixel_format
    if has.alpha and not gets.alpha:
        lost.append(
            f"alpha is seen on black ({format_} has none; .webm and prores in .mov hold it)"
        )
    if has.bits > 8:
        lost.append(f"{has.bits} bits become 8")
        if source.color.transfer in (_PQ, _HLG):
            lost[-1] += ", too few for HDR"
    if source.chroma in ("4:2:2", "4:4:4", "4:4:0") and source.format.kind != "rgba":
        lost.append(f"{source.chroma} colour becomes 4:2:0")
    return lost
