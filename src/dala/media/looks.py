"""Looks: chains of filters with a name, in files that anybody can write.

Wherever filters are expected, a look's name or the path of its file will do, alone or in a list:
``media.apply_filters(photo, "cinematic")``. What a file looks like stands in lookfile.py.
"""

from __future__ import annotations

import os
from pathlib import Path

from dala.errors import LookError, suggest
from dala.media.chain import Chain, Filters, Step, further_inputs
from dala.media.lookfile import ENDING, find_look, read_look, shipped, word_of, write_look

__all__ = ["about", "load", "names", "save"]


def names() -> list[str]:
    """The looks that come with dala.

    >>> from dala.media import looks
    >>> "noir" in looks.names()
    True
    """
    return list(shipped())


def load(name: str | os.PathLike[str]) -> Chain:
    """A look as a chain: a shipped one by its name, any other by its path.

    >>> from dala.media import looks
    >>> looks.load("noir").at(0.5).strength
    0.5
    """
    return Chain.of(_path(name))


def about(name: str | os.PathLike[str]) -> str:
    """What a look's file says about it, in the comment on top.

    >>> from dala.media import looks
    >>> looks.about("noir")
    'Black and white with deep shadows.'
    """
    return read_look(_path(name)).about


def save(path: str | os.PathLike[str], filters: Filters, about: str = "") -> Path:
    """Write filters as a look's file (``.look``) and return its path.

    >>> import tempfile
    >>> from dala.media import looks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = looks.save(f"{folder}/mine.look", [("blur", {"radius": 2}), "sepia"], "Old and soft.")
    ...     print(path.read_text(), end="")
    ...     looks.load(path)
    # Old and soft.
    blur radius=2
    sepia
    <dala chain: blur radius=2 → sepia>
    """
    target = Path(os.path.abspath(path))
    if target.suffix != ENDING:
        raise LookError(f"a look's file ends in {ENDING}, got {target.name!r}")
    chain = Chain.of(filters)
    if chain.strength < 1:
        raise LookError("a look's file holds filters, no strength; save the chain without .at(…)")
    write_look(target, about, lines_of(chain, target.parent))
    return target


def lines_of(chain: Chain, folder: Path) -> list[str]:
    """The filters of a chain as a look's file in ``folder`` has them."""
    return [_line(step, folder) for step in chain.steps]


def files_of(chain: Chain) -> set[str]:
    """The files that a chain reads: further pictures, tables of colours."""
    named = (
        os.path.abspath(given)
        for step in chain.steps
        for name, given in step.params.items()
        if _may_be_a_file(step, name) and isinstance(given, str | os.PathLike)
    )
    return {path for path in named if os.path.isfile(path)}


def _may_be_a_file(step: Step, name: str) -> bool:
    tables = (p.name for p in step.kernel.params if p.type == "array")
    return name in further_inputs(step.kernel) or name in tables


def _line(step: Step, folder: Path) -> str:
    words = []
    for name, given in step.params.items():
        if _may_be_a_file(step, name):
            value = Path(given) if isinstance(given, str) else given
        else:
            value = step.values[name]
        if value is not None:
            words.append(word_of(name, value, folder))
    return " ".join([step.name, *words])


def _path(name: str | os.PathLike[str]) -> Path:
    path = find_look(name)
    if path is None:
        hint = suggest(os.fspath(name), shipped())
        raise LookError(f"no look is named {name!r}{hint or '; there are ' + ', '.join(shipped())}")
    return path
