"""Help that fits 80 columns: what typer's boxes say, without the boxes, the same with every typer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from dala.cli.video_flags import VIDEOS

OPTIONS = "Options"
_PIPE = re.compile(r"-\.[a-z0-9]+")  # stdout as a file of that ending; the last of the names


class Group(TyperGroup):
    """``dala`` itself: its help lists the commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from dala.cli.screen import say, say_columns, say_heading

        _begin(self, ctx)
        say_heading("Commands")
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        say_columns([(n, _first_line(c.help)) for n, c in found if c and not c.hidden])
        say()
        _show_options(self, ctx)
        _end(self)


class Command(TyperCommand):
    """A command: its help lists arguments and options. ``-.webm`` is stdout, and no option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options, literal = _until_literal(args)
        takers = {o for p in self.get_params(ctx) if _takes_value(p) for o in p.opts}
        before = ["", *options]  # the word before each
        places = [
            n for n, w in enumerate(options) if _PIPE.fullmatch(w) and before[n] not in takers
        ]
        if places:
            rest = [w for n, w in enumerate(options) if n not in places]
            args = [*rest, "--", *literal, *(options[n] for n in places)]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _begin(self, ctx)
        _show_options(self, ctx)
        _end(self)


def _takes_value(parameter: Any) -> bool:
    """Whether the word behind it is its value, whatever that begins with."""
    return parameter.param_type_name == "option" and not (parameter.is_flag or parameter.count)


def _until_literal(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before ``--``, and those behind it."""
    end = args.index("--") if "--" in args else len(args)
    return list(args[:end]), list(args[end + 1 :])


def _begin(command: Any, ctx: Any) -> None:
    from dala.cli.screen import say, say_columns, say_heading

    arguments = [p for p in command.get_params(ctx) if p.param_type_name == "argument"]
    words = [*(_name(a) for a in arguments), "[OPTIONS]"]
    if isinstance(command, TyperGroup):
        words = ["[OPTIONS]", "COMMAND"]
    say_heading(f"Usage: {' '.join([ctx.command_path, *words])}")
    say(" ".join((command.help or "").split()))
    say()
    if arguments:
        say_columns([(_name(a), a.help or "") for a in arguments])
        say()


def _show_options(command: Any, ctx: Any) -> None:
    from dala.cli.screen import say, say_columns, say_heading

    panels: dict[str, list[tuple[str, str]]] = {}
    for p in command.get_params(ctx):
        if p.param_type_name == "option" and not p.hidden:
            title = getattr(p, "rich_help_panel", None) or OPTIONS
            panels.setdefault(title, []).append(_describe(p, title))
    for title, rows in panels.items():
        say_heading(title)
        say_columns(rows)
        say()


def _describe(option: Any, title: str) -> tuple[str, str]:
    """``--crf N`` and its help; of a filter, the values that may follow are part of the text."""
    names = ", ".join(sorted([*option.opts, *option.secondary_opts], key=len))
    text = option.help or ""
    if title not in (OPTIONS, VIDEOS):
        return names, f"{text} {option.metavar if '=' in option.metavar else ''}".strip()
    if not option.is_flag:
        names += f" {_name(option)}"
        if option.default is not None:
            text += f" ({option.default})"
    return names, text


def _name(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _first_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _end(command: Any) -> None:
    from dala.cli.screen import say

    if command.epilog:
        say(command.epilog.rstrip())
