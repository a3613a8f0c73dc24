"""The encoder that keeps what an input holds; and what of it an output cannot hold, in a few words each."""

from __future__ import annotations

import os
from dataclasses import replace

from dala.media.stages import ON_BLACK
from dala.video.codecs import Settings, choose_encoder, codec_for
from dala.video.device import Middle, before
from dala.video.encoding import Encoding
from dala.video.hdr import (
    check_tonemap,
    has_mastering,
    is_hdr,
    mastering_options,
    tonemap_stage,
)
from dala.video.inputs import Input


def settle(
    dst: str | os.PathLike[str], wanted: Encoding, source: Input, *, tonemap: bool
) -> Settings:
    """The encoder for what the input holds; the input is told how many bits of it are read."""
    pixels = source.pixels
    if tonemap:
        check_tonemap(source.color, source.name)
        pixels = replace(pixels, bits=8)
    hdr = is_hdr(source.color) and not tonemap
    wanted = codec_for(dst, wanted, pixels, source.codec, hdr=hdr)
    settings = choose_encoder(dst, wanted, pixels)
    if tonemap or settings.pixels.bits > 8:
        source.keep_bits()
    if hdr:
        settings = settings.with_options(mastering_options(source.first, settings.encoder))
    return settings


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


def made_plain(
    source: Input, *, tonemap: bool, drops_alpha: bool, after: Middle | None = None
) -> Middle | None:
    """What is done to a picture first where an output has no place for its light or its alpha: HDR becomes
    SDR, what is transparent is seen on black."""
    if drops_alpha and source.pixels.alpha:
        after = before(ON_BLACK, {}, after)
    return tonemap_stage(source.color, after) if tonemap else after
