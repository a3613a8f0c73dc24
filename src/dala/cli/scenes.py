"""``dala scene``: files of scenes, checked; ``dala render``, ``dala play``: what they show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

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

AllowSources = Annotated[
    bool,
    typer.Option(
        "--allow-sources",
        help="The file may name files outside its folder, cameras, screens and addresses.",
    ),
]


@scene.command(cls=Command)
def check(source: Source, set_: Set = None, allow_sources: AllowSources = False) -> int:
    """What is wrong with a file, each with its place in the document."""
    from dala import scene as scenes
    from dala.cli.screen import complain, say

    allowed = sources_of(allow_sources)
    problems = scenes.check(source, sources=allowed, **parameters(set_))
    for problem in problems:
        complain(str(source), str(problem))
    if problems:
        return FAILED
    with scenes.load(source, sources=allowed, **parameters(set_)) as stage:
        ends = "without end" if stage.duration is None else f"{float(stage.duration):g} s"
        say(f"{source}: {stage.width}×{stage.height}, {len(stage.nodes())} nodes, {ends}")
    return 0


@scene.command(cls=Command)
def schema() -> None:
    """The JSON schema of scene files."""
    from dala import scene as scenes

    print(json.dumps(scenes.schema(), indent=1, ensure_ascii=False))


def sources_of(allow: bool) -> Literal["folder", "any"]:
    """What ``--allow-sources`` means to ``scene.load``."""
    return "any" if allow else "folder"


def parameters(given: Sequence[str] | None) -> dict[str, str]:
    """``title=Hello`` and the like."""
    found: dict[str, str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageMistake(f"--set is NAME=VALUE, got {one!r}")
        if name in ("path", "sources"):
            raise UsageMistake(f"--set {name}: no parameter of a scene has this name")
        found[name] = value
    return found


PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".avif")


def render_scene(
    source: Path, output: Path, span: tuple[float | None, float | None], fps: Fraction | None,
    given: Sequence[str] | None, *, allow_sources: bool, overwrite: bool, quiet: bool, resume: bool = False,
) -> None:  # fmt: skip
    """A scene into a video, or its picture at the first time of the span."""
    from dala import scene as scenes
    from dala.cli.bars import Bars
    from dala.cli.screen import say

    values = parameters(given)
    if output.exists() and not overwrite:
        raise Failed(f"{output} exists; --overwrite replaces it")
    start, end = span
    with scenes.load(source, sources=sources_of(allow_sources), **values) as stage:
        said = f"{source} → {output}  {stage.width}×{stage.height}"
        if output.suffix.lower() in PICTURES:
            if resume:
                raise UsageMistake(f"--resume goes on with a video; {output.name} is a picture")
            stage.render(start or 0.0).save(output)
            done = f"{said}, at {start or 0.0:g} s"
        else:
            with Bars(1, shown=not quiet) as bars:
                bars.begin(output.name)
                report = scenes.export(
                    stage, output, fps=fps, start=start, end=end, resume=resume,
                    progress=lambda p: bars.advance(p.frames, p.total_frames, p.fps),
                )  # fmt: skip
            done = f"{said}, {report.frames} frames"
    if not quiet:
        say(done)


def play_scene(
    source: Path, start: float, given: Sequence[str] | None, *, allow_sources: bool
) -> None:
    """A scene in a window, until it is closed or over."""
    from dala import scene as scenes

    allowed = sources_of(allow_sources)
    with scenes.load(source, sources=allowed, **parameters(given)) as stage:
        scenes.show(stage, title=source.name, start=start, end=stage.duration)
