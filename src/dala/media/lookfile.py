"""The files of looks: one filter per line, as one would type it.

    # Teal shadows, warm lights.
    contrast value=0.1
    white_balance temperature=7000 tint=-0.05
    lut lut="my grade.cube"

A line is a filter's name and its parameters; ``#`` begins a comment, and the comment on top says what the
look is. Several numbers are separated by commas (``color=0,177,64``), text with spaces is quoted, paths
are relative to the file. Nothing in a file is executed.
"""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dala.errors import LookError, ParameterError, suggest
from dala.language.kernel import Kernel
from dala.language.parameter import Param
from dala.media.further import MASK_MODELS

FOLDER = Path(__file__).with_name("shipped")
ENDING = ".look"
MOST_BYTES = 1 << 20
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Line(NamedTuple):
    """One filter as it stands in a file."""

    number: int
    name: str
    words: tuple[str, ...]  # key=value


class LookFile(NamedTuple):
    """A file, read but not yet checked against the kernels."""

    path: Path
    about: str
    lines: tuple[Line, ...]


@functools.cache
def shipped() -> dict[str, Path]:
    """The looks that come with dala, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob(f"*{ENDING}"))}


def find_look(name: str | os.PathLike[str]) -> Path | None:
    """The file of a look: a shipped one by its name, any other by its path."""
    if isinstance(name, str) and name in shipped():
        return shipped()[name]
    path = Path(name)
    names_a_file = path.suffix == ENDING or len(path.parts) > 1 or not isinstance(name, str)
    return path if names_a_file else None


def read_look(path: Path) -> LookFile:
    """A look's file as lines; says what is wrong in which line."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise LookError(f"cannot read the look {str(path)!r}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise LookError(f"{path.name}: a look is text in UTF-8, and this is not") from error
    if len(raw) > MOST_BYTES:
        raise LookError(f"{path.name}: a look is a few lines of text, and this is over 1 MiB")
    lines, about = [], []
    for number, line in enumerate(text.splitlines(), 1):
        words = _split(path, number, line)
        if words:
            lines.append(Line(number, words[0], tuple(words[1:])))
        elif not lines and line.lstrip().startswith("#"):
            about.append(line.lstrip(" \t#").rstrip())
    return LookFile(path, " ".join(about).strip(), tuple(lines))


def _split(path: Path, number: int, line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise LookError(f"{path.name}, line {number}: {str(error).lower()}") from error


def parse_params(
    kernel: Kernel, images: Sequence[str], words: Sequence[str], folder: Path | None = None
) -> dict[str, object]:
    """``["radius=3", "sigma=1.5"]`` as values of a kernel's parameters; ``images`` are its further inputs.

    What a value must be is checked later, with all others; here it only becomes a number or a path.
    """
    known = {p.name: p for p in kernel.params}
    found: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ParameterError(f"{kernel.name}: expected parameter=value, got {word!r}")
        if name in found:
            raise ParameterError(f"{kernel.name}: {name} is given twice")
        if name in images:
            path = _path(text, folder)
            found[name] = text if text in MASK_MODELS and not path.exists() else path
        elif name in known:
            found[name] = _value(kernel, known[name], text, folder)
        else:
            listed = [*known, *images]
            hint = suggest(name, listed)
            raise ParameterError(
                f"{kernel.name}: unknown parameter {name!r}; "
                f"it takes: {', '.join(listed) or 'none'}{hint}"
            )
    return found


def _path(text: str, folder: Path | None) -> Path:
    return Path(text) if folder is None else folder / text


def _value(kernel: Kernel, p: Param, text: str, folder: Path | None) -> object:
    if p.type == "array":
        return _path(text, folder)
    if p.type == "str":
        return text
    if p.type == "bool":
        truth = _TRUTH.get(text.lower())
        if truth is None:
            raise ParameterError(f"{kernel.name}: {p.name} must be true or false, got {text!r}")
        return truth
    try:
        numbers = [float(part) if p.type == "float" else _whole(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"{kernel.name}: {p.name} must be {p.describe()}, got {text!r}"
        ) from None
    return tuple(numbers) if p.length or len(numbers) > 1 else numbers[0]


def _whole(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        return float(text)  # 3.0 will do; 3.5 is refused with the range


def write_look(path: Path, about: str, lines: Sequence[str]) -> None:
    """Write a look's file under a temporary name and move it into place."""
    text = "\n".join([*(f"# {line}".rstrip() for line in about.splitlines()), *lines, ""])
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise LookError(f"cannot write the look {str(path)!r}: {reason}") from error


def word_of(name: str, value: object, folder: Path) -> str:
    """``radius=3``, as a file in ``folder`` has it: the opposite of ``parse_params``."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, int | float):
        text = repr(value)
    elif isinstance(value, tuple):
        text = ",".join(map(repr, value))
    elif isinstance(value, os.PathLike):
        whole = Path(os.path.abspath(value))
        inside = whole.is_relative_to(folder)
        text = (whole.relative_to(folder) if inside else whole).as_posix()
    elif isinstance(value, str):
        text = value
    else:
        raise LookError(
            f"{name}: a look's file holds numbers, words and paths, not {type(value).__name__}; "
            "save it to a file of its own and give its path"
        )
    return f"{name}={shlex.quote(text)}"
