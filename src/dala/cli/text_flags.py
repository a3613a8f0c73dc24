"""Options of captions."""

from __future__ import annotations

from typing import Annotated

import typer

PANEL = "A text on the result"

Text = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="TEXT",
        rich_help_panel=PANEL,
        help="Write it on every picture and frame; {frame}, {time} and {name} are filled in.",
    ),
]
TextAt = Annotated[
    str,
    typer.Option(
        metavar="PLACE",
        rich_help_panel=PANEL,
        help="top-left, top, center, bottom, …; or the pixels x,y of its corner.",
    ),
]
TextSize = Annotated[
    float | None,
    typer.Option(
        min=1,
        max=2048,
        metavar="PIXELS",
        rich_help_panel=PANEL,
        help="Of the letters; a twentieth of the picture's height if not given.",
    ),
]
TextColor = Annotated[
    str,
    typer.Option(metavar="COLOR", rich_help_panel=PANEL, help="A name, #rrggbb or #rrggbbaa."),
]
TextFont = Annotated[
    str | None,
    typer.Option(metavar="FONT", rich_help_panel=PANEL, help="A family of this machine or a file."),
]
