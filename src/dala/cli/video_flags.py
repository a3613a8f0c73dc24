"""The options of videos, which several commands share."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import typer

from dala.cli.videos import read_rate

VIDEOS = "Of videos"

Codec = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=VIDEOS,
        help="h264, hevc, vp9, av1, prores, ffv1, qtrle; by the ending if not given.",
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        rich_help_panel=VIDEOS,
        help="Begin there: 2.5 (seconds) or 1:02.5.",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="TIME", rich_help_panel=VIDEOS, help="End there; exact, with sound."
    ),
]
Fps = Annotated[
    Fraction | None,
    typer.Option(
        metavar="N",
        parser=read_rate,
        rich_help_panel=VIDEOS,
        help="Frames a second: 25, 29.97, 30000/1001; of pictures, how fast they come.",
    ),
]
Speed = Annotated[
    float,
    typer.Option(
        metavar="N", rich_help_panel=VIDEOS, help="2 is twice as fast, 0.5 half; with sound."
    ),
]
Crf = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=63,
        metavar="N",
        rich_help_panel=VIDEOS,
        help="Quality: lower is better and larger.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=VIDEOS,
        help="How long encoding may take: ultrafast … veryslow.",
    ),
]
Bitrate = Annotated[
    str | None,
    typer.Option(
        metavar="RATE", rich_help_panel=VIDEOS, help="Instead of --crf: 4M or 800k a second."
    ),
]
Sound = Annotated[
    str,
    typer.Option(
        "--audio",
        metavar="HOW",
        rich_help_panel=VIDEOS,
        help="copy, encode, none, or a FILE of sound.",
    ),
]
PixelFormat = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=VIDEOS,
        help="yuv420p, yuv420p10le, yuva420p …, as FFmpeg has them.",
    ),
]
Gif = Annotated[
    bool,
    typer.Option(
        "--gif", rich_help_panel=VIDEOS, help="A small GIF: at most 480 wide, 15 frames a second."
    ),
]
Conceal = Annotated[
    bool,
    typer.Option(
        "--conceal", rich_help_panel=VIDEOS, help="Of damaged ones: go on with what is left."
    ),
]
Tonemap = Annotated[
    bool,
    typer.Option("--tonemap", rich_help_panel=VIDEOS, help="Make SDR of HDR (PQ, HLG)."),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        rich_help_panel=VIDEOS,
        help="What the output cannot hold is an error, not a line.",
    ),
]
