"""The options of videos, which several commands share."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Annotated

import typer

from dala.cli.videos import read_rate

VIDEOS = "Of videos"
option = partial(typer.Option, rich_help_panel=VIDEOS)

Codec = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="h264, hevc, vp9, av1, prores, ffv1, qtrle; by the ending if not given.",
    ),
]
From = Annotated[
    str | None, option("--from", metavar="TIME", help="Begin there: 2.5 (seconds) or 1:02.5.")
]
To = Annotated[str | None, option("--to", metavar="TIME", help="End there; exact, with sound.")]
Fps = Annotated[
    Fraction | None,
    option(
        metavar="N",
        parser=read_rate,
        help="Frames a second: 25, 29.97, 30000/1001; of pictures, how fast they come.",
    ),
]
Speed = Annotated[float, option(metavar="N", help="2 is twice as fast, 0.5 half; with sound.")]
Crf = Annotated[
    float | None, option(min=0, max=63, metavar="N", help="Quality: lower is better and larger.")
]
Preset = Annotated[
    str | None, option(metavar="NAME", help="How long encoding may take: ultrafast … veryslow.")
]
Bitrate = Annotated[
    str | None, option(metavar="RATE", help="Instead of --crf: 4M or 800k a second.")
]
Sound = Annotated[
    str, option("--audio", metavar="HOW", help="copy, encode, none, or a FILE of sound.")
]
PixelFormat = Annotated[
    str | None, option(metavar="NAME", help="yuv420p, yuv420p10le, yuva420p …, as FFmpeg has them.")
]
Gif = Annotated[bool, option("--gif", help="A small GIF: at most 480 wide, 15 frames a second.")]
Conceal = Annotated[bool, option("--conceal", help="Of damaged ones: go on with what is left.")]
Tonemap = Annotated[bool, option("--tonemap", help="Make SDR of HDR (PQ, HLG).")]
Strict = Annotated[
    bool, option("--strict", help="What the output cannot hold is an error, not a line.")
]
