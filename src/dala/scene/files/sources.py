"""The files that a document names: found from its own folder, refused elsewhere unless its user allows it.

A document may come from a stranger. By default it names nothing outside its folder, no camera, no screen
and no address; what its user gives as a parameter is the user's own word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dala.errors import DalaError, ParameterError, SceneSourceError
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel, kernel_names
from dala.media.further import MASK_MODELS
from dala.media.lookfile import find_look, read_look
from dala.media.step import find_filter, further_inputs
from dala.scene.files.places import Problems, place
from dala.scene.nodes.media import LONGEST_PATH, filter_of
from dala.scene.subtitles.opening import is_text
from dala.text.font import is_path
from dala.video.places import place_of

Allowed: TypeAlias = Literal["folder", "any"]
HOW = 'load(path, sources="any") allows it, on the command line --allow-sources'
_WORDS = (
    (re.compile(r"camera(:|$)|/dev/video"), "a camera"),
    (re.compile(r"screen(:|$)"), "a screen"),
    (re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE), "an address"),
)
_PATTERN = re.compile(r"testsrc2?(=|$)")


def check_allowed(sources: object) -> Allowed:
    """What a caller may say."""
    if sources == "folder" or sources == "any":
        return sources
    raise ParameterError(f"sources is 'folder' or 'any', got {sources!r}")


@dataclass(frozen=True)
class Sources:
    """Where a document's files are, and whether it may name them."""

    folder: Path  # of the document: paths are relative to it
    root: Path | None  # of the first document, links followed: nothing is outside; None allows all
    said: frozenset[str] = field(default=frozenset())  # places where the user's own words stand

    @classmethod
    def of(cls, path: Path, allowed: Allowed) -> Sources:
        """Those of a document that is loaded."""
        folder = Path(os.path.abspath(path.parent))
        return cls(folder, folder.resolve() if allowed == "folder" else None)

    @classmethod
    def anywhere(cls, folder: Path) -> Sources:
        """Those of a document that was made here, of a scene that is there already."""
        return cls(Path(os.path.abspath(folder)), None)

    def beside(self, path: str, where: str) -> Sources:
        """Those of a document in a file of its own, named at a place of this one."""
        folder = Path(path).parent
        if (
            self.root is not None and where in self.said
        ):  # the user named it: its folder is the limit
            return Sources(folder, folder.resolve())
        return Sources(folder, self.root)

    def within(self, where: str) -> Sources:
        """Those of a document that stands at a place of this one."""
        inner = [one.removeprefix(where) for one in self.said if one.startswith(f"{where}/")]
        return Sources(self.folder, self.root, frozenset(inner))

    def media(self, word: str, where: str) -> str:
        """A file, pictures, or what is no file."""
        what = next((says for pattern, says in _WORDS if pattern.match(word)), None)
        if what is not None:
            if self._limits(where):
                raise SceneSourceError(f"{what} ({word!r}) is no file in its folder; {HOW}")
            return word
        if _PATTERN.match(word):
            return word
        found = self.file(word, where)
        if self._limits(where) and not os.path.lexists(found):
            for picture in _pictures(found):  # any of them may be a link
                self._refuse_outside(picture, word)
        return found

    def file(self, word: str, where: str) -> str:
        """A file of any kind."""
        found = str(self.folder / word)
        if self._limits(where):
            self._refuse_outside(found, word)
        return found

    def subtitles(self, word: str, where: str) -> str:
        """A file of subtitles; their text stays."""
        return word if is_text(word) else self.file(word, where)

    def font(self, word: str, where: str) -> str:
        """A font's file; a family stays a word."""
        return self.file(word, where) if is_path(word) else word

    def filter(self, word: str, where: str) -> str:
        """A look's file, with the files that it names; a filter's name or text stays."""
        if not is_look_file(word):
            return word
        found = self.file(word, where)
        if self._limits(where):
            self._look(Path(found))
        return found

    def parameter(self, word: str, where: str) -> str:
        """A further picture or table of a filter; a model's name stays."""
        if word in MASK_MODELS and not (self.folder / word).exists():
            return word
        return self.file(word, where)

    def _look(self, path: Path) -> None:
        for line in read_look(path).lines:
            names = files_of(line.name)
            for word in line.words:
                name, _, value = word.partition("=")
                if name in names:
                    self._refuse_outside(str(path.parent / value), f"{path.name}: {value}")

    def _limits(self, where: str) -> bool:
        return self.root is not None and where not in self.said

    def _refuse_outside(self, path: str, word: str) -> None:
        assert self.root is not None
        try:
            inside = Path(path).resolve().is_relative_to(self.root)
        except (OSError, RuntimeError):  # links that lead to themselves
            inside = False
        if not inside:
            raise SceneSourceError(f"{word!r} is outside the folder of the scene's file; {HOW}")


def _pictures(path: str) -> tuple[str, ...]:
    try:
        return place_of(path).files
    except DalaError:
        return ()  # there are none: who opens them says so


def is_look_file(word: str) -> bool:
    """Whether a filter is the file of a look: no filter's name, no kernel's text, no look of dala's own."""
    return not word.lstrip().startswith("def ") and find_look(word) == Path(word)


def files_of(filter_: object) -> frozenset[str]:
    """The parameters of a filter that are files."""
    if not isinstance(filter_, str):
        return frozenset()
    try:
        found = filter_of(filter_)
        kernel = found if isinstance(found, Kernel) else find_filter(found)
    except DalaError:
        return frozenset()  # who uses it says what is wrong
    return frozenset([*further_inputs(kernel), *_tables(kernel)])


def _tables(kernel: Kernel) -> list[str]:
    return [p.name for p in kernel.params if p.type == "array"]


# -- a document's places -------------------------------------------------------------------------------

Find: TypeAlias = Callable[[str, str], str]


class Finder:
    """Puts the files that a document names where its properties can open them."""

    def __init__(self, sources: Sources, problems: Problems) -> None:
        self._sources, self._problems = sources, problems
        self._finds: dict[str, Find] = {
            "image": sources.media, "stream": sources.media, "source": sources.media,
            "scene": sources.file, "font": sources.font, "filter": sources.filter,
            "subtitles": sources.subtitles,
        }  # fmt: skip

    def node(self, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        """A node, or a whole document, and all that is written within it."""
        made = {key: self._property(key, value, place(where, key)) for key, value in given.items()}
        if isinstance(params := given.get("params"), dict):
            names = files_of(given.get("filter", given.get("kind")))
            at, find = place(where, "params"), self._sources.parameter
            made["params"] = params | {
                key: self._word(params[key], place(at, key), find) for key in names & params.keys()
            }
        if "property" in given:
            made |= self._animation(given, where)
        for key in ("nodes", "animations", "effects"):
            if isinstance(rows := given.get(key), list):
                at = place(where, key)
                made[key] = [
                    self.node(row, place(at, n)) if isinstance(row, dict) else row
                    for n, row in enumerate(rows)
                ]
        return made

    def _word(self, value: Any, at: str, find: Find) -> Any:
        if not isinstance(value, str) or not value or len(value) > LONGEST_PATH or "\0" in value:
            return value  # what it must be is checked with its kind
        with self._problems.at(at):
            return find(value, at)
        return value

    def _property(self, name: str, value: Any, at: str) -> Any:
        if name in self._finds:
            return self._word(value, at, self._finds[name])
        return self._text(value, at) if name == "text" else value

    def _text(self, value: Any, at: str) -> Any:
        """Runs of text have fonts of their own."""
        if isinstance(value, list):
            return [self._text(part, place(at, n)) for n, part in enumerate(value)]
        if isinstance(value, dict) and "font" in value:
            font = self._word(value["font"], place(at, "font"), self._sources.font)
            return {**value, "font": font}
        return value

    def _animation(self, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        name = str(given["property"]).removeprefix("params.")
        made: dict[str, Any] = {
            key: self._animated(name, given[key], place(where, key))
            for key in ("from", "to")
            if key in given
        }
        if isinstance(keys := given.get("keyframes"), list):
            at = place(where, "keyframes")
            made["keyframes"] = [
                [key[0], self._animated(name, key[1], place(place(at, n), 1)), *key[2:]]
                if isinstance(key, list) and len(key) > 1
                else key
                for n, key in enumerate(keys)
            ]
        return made

    def _animated(self, name: str, value: Any, at: str) -> Any:
        if name in self._finds or name == "text" or not isinstance(value, str):
            return self._property(name, value, at)
        tables = {table for kernel in kernel_names() for table in _tables(find_kernel(kernel))}
        return self._word(value, at, self._sources.parameter) if name in tables else value
