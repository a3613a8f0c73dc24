"""What the pages tell to type is understood."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from dala.cli.app import app
from dala.cli.flags import Flag, chain_of, split_flags

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "cli.md", ROOT / "docs" / "text.md"]
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ABSENT = ("lut", "blend")  # their files are not here


def commands() -> list[str]:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    lines = [line for block in FENCE.findall(text) for line in block.splitlines()]
    return [line for line in lines if line.startswith("dala ")]


def test_there_are_some() -> None:
    assert len(commands()) > 8


@pytest.mark.parametrize("line", commands())
def test_what_is_typed_is_understood(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    group = typer.main.get_command(app)
    with group.make_context("dala", list(words), resilient_parsing=words[0].startswith("-")):
        pass  # an unknown command or option is an error
    if words[0].startswith("-"):
        return
    command = group.get_command(typer.Context(group), words[0])  # type: ignore[attr-defined]
    with command.make_context(words[0], words[1:]):
        pass
    flags: list[Flag] = [f for f in split_flags(words[1:])[1] if f.name not in ABSENT]
    assert len(chain_of(flags).steps) >= len(flags)  # a look is several


def test_the_pages_of_the_command_line_lead_somewhere() -> None:
    page = PAGES[1]
    targets = re.findall(r"\]\((?!https?:|#)([^)\s#]+)", page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []
