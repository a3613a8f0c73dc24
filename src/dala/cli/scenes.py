"""``dala scene``: files of scenes, checked; ``dala render``: what they show, as pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dala.cli.help import Command, Group
from dala.cli.mistakes import FAILED, Failed, UsageMistake

scene = typer.Typer(name="scene", cls=Group, help="Files of scenes: check them; their schema.")

Source = Annotated[
    Path, typer.Argument(metavar="FILE", help="A scene's file (JSON).", show_default=False)
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of a template; several times."),
]


@scene.command(cls=Command)
def check(source: Source, set_: Set = None) -> int:
    """What is wrong with a file, each with its place in the document."""
    from dala import scene as scenes
    from dala.cli.screen import complain, say

    problems = scenes.check(source, **parameters(set_))
    for problem in problems:
        complain(str(source), str(problem))
    if problems:
        return FAILED
    with scenes.load(source, **parameters(set_)) as stage:
        ends = "without end" if stage.duration is None else f"{float(stage.duration):g} s"
        say(f"{source}: {stage.width}×{stage.height}, {len(stage.nodes())} nodes, {ends}")
    return 0


@scene.command(cls=Command)
def schema() -> None:
    """The JSON schema of scene files."""
    from dala import scene as scenes

    print(json.dumps(scenes.schema(), indent=1, ensure_ascii=False))


def parameters(given: Sequence[str] | None) -> dict[str, str]:
    """``title=Hello`` and the like."""
    found: dict[str, str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageMistake(f"--set is NAME=VALUE, got {one!r}")
        found[name] = value
    return found


def render_picture(
    source: Path, output: Path, at: float, given: Sequence[str] | None, *, overwrite: bool
) -> None:
    """A scene at a time into a picture's file."""
    from dala import scene as scenes
    from dala.cli.screen import say

    values = parameters(given)
    if output.exists() and not overwrite:
        raise Failed(f"{output} exists; --overwrite replaces it")
    with scenes.load(source, **values) as stage:
        stage.render(at).save(output)
        say(f"{source} → {output}  {stage.width}×{stage.height}, at {at:g} s")
