"""Options of captions."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

PANEL = "A text on the result"
option = partial(typer.Option, rich_help_panel=PANEL)

Text = Annotated[
    str | None,
    option(
        "--text",
        metavar="TEXT",
        help="Write it on every picture and frame; {frame}, {time} and {name} are filled in.",
    ),
]
TextAt = Annotated[
    str,
    option(
        metavar="PLACE", help="top-left, top, center, bottom, …; or the pixels x,y of its corner."
    ),
]
TextSize = Annotated[
    float | None,
    option(
        min=1,
        max=2048,
        metavar="PIXELS",
        help="Of the letters; a twentieth of the picture's height if not given.",
    ),
]
TextColor = Annotated[str, option(metavar="COLOR", help="A name, #rrggbb or #rrggbbaa.")]
TextFont = Annotated[str | None, option(metavar="FONT", help="A family of this machine or a file.")]
