"""What of an input an output cannot hold, in a few words each."""

from __future__ import annotations

from dala.video.codecs import Settings
from dala.video.hdr import has_mastering, is_hdr, mastering_options
from dala.video.inputs import Input


def losses(source: Input, settings: Settings, tonemap: bool = False) -> list[str]:
    """Alpha, bits and colour samples that the encoder's format has no place for."""
    has, gets, lost = source.pixels, settings.pixels, []
    if has.alpha and not gets.alpha:
        lost.append("alpha (seen on black; .webm, and prores or qtrle in .mov, hold it)")
    kept = min(source.bits, gets.bits)
    if has.bits > kept and not tonemap:
        hint = (
            "; too few for HDR, tonemap makes SDR of it"
            if kept == 8 and is_hdr(source.color)
            else ""
        )
        lost.append(f"{has.bits} bits ({kept} are kept{hint})")
    if source.chroma in ("4:2:2", "4:4:4", "4:4:0") and source.format.kind != "rgba":
        lost.append(f"{source.chroma} colour (4:2:0 is kept)")
    mastered = has_mastering(source.first) and not tonemap
    if mastered and not mastering_options(source.first, settings.encoder):
        lost.append("the mastering display's metadata")
    return lost
