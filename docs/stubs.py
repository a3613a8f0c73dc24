"""Write src/dala/media/functions.pyi from the functions that are made of the kernels' declarations.

python docs/stubs.py            the file
python docs/stubs.py --check    only compare it; exit 1 if it is out of date
"""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path

from dala.media import functions

TARGET = Path(__file__).parents[1] / "src" / "dala" / "media" / "functions.pyi"
HEAD = '''\
"""One function for each image kernel of the catalogue. Written by docs/stubs.py; do not edit."""

import os
from typing import Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from dala.media.files.photo import Photo
from dala.media.pictures import Channels

Image = TypeVar("Image")
Raw = TypeVar("Raw", bytes, bytearray, memoryview)

'''


def stub() -> str:
    """The whole file."""
    names = filled([f'"{name}"' for name in functions.__all__])
    made = [describe(getattr(functions, name)) for name in functions.__all__]
    return f"{HEAD}__all__ = [\n{names},\n]\n\n" + "\n".join(made)


def describe(function: Callable[..., object]) -> str:
    """A function for pictures that know their size, and, where there are such, for bytes."""
    found = inspect.signature(function)
    doc = textwrap.indent(
        f'"""{inspect.getdoc(function)}\n"""\n', "    ", lambda line: line != "\n"
    )
    plain = define(function.__name__, found) + f"\n{doc}"
    if found.return_annotation != "Image":
        return plain
    raw = define(function.__name__, for_bytes(found)) + " ...\n"
    path = define(function.__name__, for_paths(found))
    return f"@overload\n{path} ...\n@overload\n{plain}@overload\n{raw}"


def for_paths(found: inspect.Signature) -> inspect.Signature:
    """A file's picture, which comes back with all that belongs to it."""
    first, *rest = found.parameters.values()
    path = first.replace(annotation="str | os.PathLike[str]")
    return inspect.Signature([path, *rest], return_annotation="Photo")


def for_bytes(found: inspect.Signature) -> inspect.Signature:
    """The size by position; for its names there is the other form."""
    _, *rest = found.parameters.values()
    size_words = ("width", "height", "image_size")
    rest = [p for p in rest if p.kind is not p.KEYWORD_ONLY or p.name not in size_words]
    sides = ("image_width", "image_height")
    first = [Parameter("data", Parameter.POSITIONAL_ONLY, annotation="Raw")]
    first += [Parameter(side, Parameter.POSITIONAL_ONLY, annotation="int") for side in sides]
    return inspect.Signature([*first, *rest], return_annotation="Raw")


def define(name: str, found: inspect.Signature) -> str:
    """``def …:``, with arguments in as few lines as they fit into."""
    parts: list[str] = []
    before = None
    for p in found.parameters.values():
        if before is p.POSITIONAL_ONLY is not p.kind:
            parts.append("/")
        if before is not p.KEYWORD_ONLY is p.kind:
            parts.append("*")
        parts.append(f"{p.name}: {p.annotation}{default_of(p)}")
        before = p.kind
    return f"def {name}(\n{filled(parts)}\n) -> {found.return_annotation}:"


def filled(words: list[str]) -> str:
    """Words with commas in lines of at most 100 columns; a word stays whole."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > 94:
            lines.append("")
        lines[-1] += f" {word}," if lines[-1] else f"{word},"
    return textwrap.indent("\n".join(lines), "    ").removesuffix(",")


def default_of(p: Parameter) -> str:
    if p.default is p.empty:
        return ""
    return f" = {json.dumps(p.default) if isinstance(p.default, str) else repr(p.default)}"


def main() -> None:
    if "--check" not in sys.argv:
        TARGET.write_text(stub(), encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != stub():
        raise SystemExit(f"{TARGET.name} is out of date: run python docs/stubs.py")


if __name__ == "__main__":
    main()
