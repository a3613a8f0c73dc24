"""What a person sees: aligned columns, colours in a terminal, plain lines in a pipe.

Answers go to stdout, progress and errors to stderr, so that ``dala … | jq`` and ``2>/dev/null`` do what
one expects. NO_COLOR is honoured by rich.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

Row = tuple[str, ...]
GAP = 2  # columns between columns


def out() -> Console:
    """Where answers go. Made anew, because tests replace sys.stdout."""
    return _console(stderr=False)


def err() -> Console:
    """Where progress and errors go."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    console.soft_wrap = not console.is_terminal  # a pipe gets whole lines
    return console


def say(text: str = "", style: str = "") -> None:
    """One line of the answer; never parsed as markup."""
    out().print(Text(text, style=style))


def complain(who: str, what: str) -> None:
    """An error: one line on stderr."""
    err().print(complaint(who, what), soft_wrap=True)


def complaint(who: str, what: str) -> Text:
    """An error's line."""
    return Text.assemble((f"{who}: ", "bold red"), " ".join(what.split()))


def note_of(line: str) -> Text:
    """What is worth knowing, and no mistake."""
    return Text.assemble(("note: ", "yellow"), line)


def say_note(line: str) -> None:
    """The same, on its own."""
    err().print(note_of(line), soft_wrap=True)


def say_json(data: object) -> None:
    """The answer for a script."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def say_heading(text: str) -> None:
    say(text, "bold")


def say_columns(rows: Sequence[Row], *, styles: Sequence[str] = ("cyan",), indent: int = 2) -> None:
    """Rows whose columns are aligned; in a terminal the last one is wrapped within its column, and
    name=value stands out."""
    if not rows:
        return
    fixed = range(max(len(row) for row in rows) - 1)
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in fixed]
    console = out()
    for row in rows:
        line, used = Text(" " * indent), indent
        for k, cell in enumerate(row[:-1]):
            line.append(cell, styles[k] if k < len(styles) else "")
            line.append(" " * (widths[k] + GAP - len(cell)))
            used += widths[k] + GAP
        line.append(_wrapped(console, row[-1], used))
        line.rstrip()
        line.highlight_regex(r"\b[a-z_]+=\S+", "green")
        console.print(line)


def _wrapped(console: Console, text: str, used: int) -> str:
    """Text for the rest of a line: wrapped in a terminal, as it is in a pipe (for grep)."""
    room = console.width - used
    if not console.is_terminal or room < 16:
        return text
    parts = [p for line in text.splitlines() for p in textwrap.wrap(line, room) or [""]]
    return ("\n" + " " * used).join(parts)
