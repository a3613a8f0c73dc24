"""A document → a scene. Every problem has its place; ``load`` raises the first, ``check`` lists all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dala.errors import DalaError, SceneFileError, suggest
from dala.scene.files.parameters import chosen, declared, filled
from dala.scene.files.places import Problems, TooManyProblems, place
from dala.scene.files.sources import Allowed, Finder, Sources, check_allowed
from dala.scene.files.text import FORMAT, SPELLED, VERSION, read_document
from dala.scene.nodes.kinds import read_color
from dala.scene.nodes.media import Held
from dala.scene.nodes.property import NodeType
from dala.scene.nodes.tables import CONTAINERS, TYPES
from dala.scene.scene import Scene
from dala.scene.times import seconds_of

MOST_NODES = 10_000
DEEPEST = 8  # scenes in files of scenes
TOP = (
    "$schema",
    "format",
    "version",
    "about",
    "width",
    "height",
    "fps",
    "background",
    "parameters",
    "nodes",
)
WORDS = ("text", "file")  # parameters whose values are their user's words


def load(path: str | os.PathLike[str], *, sources: Allowed = "folder", **parameters: Any) -> Scene:
    """A scene from a JSON file; paths in it are relative to the file. Parameters are those of a template.

    A file may come from a stranger: it names nothing outside its own folder, no camera, no screen and no
    address, else SceneSourceError says where, before any of them is opened. ``sources="any"`` allows all of
    them. What you give as a parameter is your own word, and allowed.

    >>> import json, pathlib, tempfile
    >>> from dala import scene
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "card.json")
    ...     _ = file.write_text(json.dumps({
    ...         "format": "dala.scene", "version": 1, "width": 64, "height": 36,
    ...         "parameters": {"title": {"type": "text", "default": "Hello"}},
    ...         "nodes": [{"type": "text", "name": "title", "text": {"$param": "title"}}]}))
    ...     scene.load(file, title="Hi").node("title").text
    'Hi'
    """
    found = Sources.of(Path(path), check_allowed(sources))
    return from_document(read_document(path), found, parameters)


def check(
    path: str | os.PathLike[str], *, sources: Allowed = "folder", **parameters: Any
) -> list[SceneFileError]:
    """All that is wrong with a scene's file; nothing if it can be loaded with the same arguments.

    >>> from dala import scene
    >>> [str(problem) for problem in scene.check("missing.json")]
    ['missing.json: No such file or directory']
    """
    reader = _Reader(Sources.of(Path(path), check_allowed(sources)), 0)
    try:
        reader.read(read_document(path), parameters)
    except SceneFileError as error:
        return [*reader.problems.found, error]
    except DalaError as error:
        return [*reader.problems.found, SceneFileError(str(error))]
    finally:
        reader.close()
    return reader.problems.found


def from_document(
    document: Any, sources: Sources, parameters: Mapping[str, Any] | None = None, depth: int = 0
) -> Scene:
    """A scene from a document that may name those sources."""
    reader = _Reader(sources, depth)
    try:
        made = reader.read(document, parameters or {})
    except BaseException:
        reader.close()
        raise
    if reader.problems.found:
        reader.close()
        raise reader.problems.found[0]
    assert made is not None
    return made


class _Reader:
    """One document being read."""

    def __init__(self, sources: Sources, depth: int) -> None:
        self.problems = Problems()
        self._sources, self._depth = sources, depth
        self._scene: Scene | None = None
        self._later: list[tuple[dict[str, Any], str, int | None]] = []
        self._count = 0

    def close(self) -> None:
        """What was made of it is not needed."""
        if self._scene is not None:
            self._scene.close()

    def read(self, document: Any, parameters: Mapping[str, Any]) -> Scene | None:
        """The scene; problems are collected."""
        try:
            return self._read(document, parameters)
        except TooManyProblems:
            return self._scene

    def _read(self, document: Any, parameters: Mapping[str, Any]) -> Scene | None:
        if not isinstance(document, dict):
            raise SceneFileError(f"expected an object, got {type(document).__name__}")
        if self._depth > DEEPEST:
            raise SceneFileError(f"files of scenes within files of scenes: at most {DEEPEST} deep")
        if document.get("format") != FORMAT or document.get("version") != VERSION:
            raise SceneFileError(
                f'expected "format": "{FORMAT}" and "version": {VERSION}, got '
                f"{document.get('format')!r} and {document.get('version')!r}"
            )
        for key in document:
            if key not in TOP:
                self.problems.add(f"a scene has no {key!r}{suggest(key, TOP)}", place("", key))
        known = declared(document, self.problems)
        values = chosen(known, parameters, self.problems)
        used: dict[str, str] = {}
        whole = {
            k: filled(v, values, place("", k), self.problems, used)
            for k, v in document.items()
            if k != "parameters"
        }
        own = {name for name in parameters if known[name]["type"] in WORDS}
        said = frozenset(where for where, name in used.items() if name in own)
        self._sources = replace(self._sources, said=self._sources.said | said)
        before = len(self.problems.found)
        whole = Finder(self._sources, self.problems).node(whole, "")
        if len(self.problems.found) > before:
            return None  # before anything is opened
        self._scene = self._canvas(whole)
        if self._scene is None:
            return None
        self._nodes(whole.get("nodes", []), "/nodes", None)
        for given, where, target in self._later:
            self._add(given, where, target)
        return self._scene

    def _canvas(self, whole: Mapping[str, Any]) -> Scene | None:
        made = None
        fps, rate = whole.get("fps", 60), seconds_of(60, "fps")
        with self.problems.at("/fps"):
            said = seconds_of(fps, "fps")
            if 0 < said <= 1000:
                rate = said
            else:
                self.problems.add(f"expected frames a second up to 1000, got {fps!r}", "/fps")
        with self.problems.at("/background"):
            read_color(whole.get("background", "transparent"), "background")
            with self.problems.at(""):
                made = Scene(
                    whole.get("width"),  # type: ignore[arg-type]
                    whole.get("height"),  # type: ignore[arg-type]
                    target_fps=rate,
                    background=whole.get("background", "transparent"),
                )
        return made

    # -- nodes -------------------------------------------------------------------------------------

    def _nodes(self, given: Any, where: str, parent: int | None) -> None:
        if not isinstance(given, list):
            self.problems.add(f"expected a list of nodes, got {type(given).__name__}", where)
            return
        for n, one in enumerate(given):
            self._node(one, place(where, n), parent)

    def _node(self, given: Any, where: str, parent: int | None) -> None:
        self._count += 1
        if self._count > MOST_NODES:
            raise SceneFileError(f"a scene's file has at most {MOST_NODES} nodes", where=where)
        kind = given.get("type") if isinstance(given, dict) else given
        if not isinstance(given, dict) or not isinstance(kind, str) or kind not in TYPES:
            near = suggest(str(kind), TYPES)
            self.problems.add(
                f"expected a node with a type of {', '.join(TYPES)}; got {kind!r}{near}", where
            )
            return
        if given["type"] in ("transition", "animation") or given.get("input") is not None:
            self._later.append((given, where, parent))  # they name others, which may come later
        else:
            self._add(given, where, parent)

    def _add(self, given: Mapping[str, Any], where: str, parent: int | None) -> None:
        """A node and what is written within it."""
        assert self._scene is not None
        kind = TYPES[given["type"]]
        inner = {key: given[key] for key in ("nodes", "animations", "effects") if key in given}
        rest = {k: v for k, v in given.items() if k not in inner and k != "type"}
        before = len(self.problems.found)
        props = self._props(kind, rest, where)
        if parent is not None and "parent" in kind.properties:
            props["parent"] = parent
        number: int | None = None
        if len(self.problems.found) == before:
            with self.problems.at(where):
                number = self._scene.add_read(kind.name, props)
        if "nodes" in inner and kind.name not in CONTAINERS:
            self.problems.add(
                f"a node of type {kind.name!r} has no nodes in it", place(where, "nodes")
            )
        elif "nodes" in inner:
            self._nodes(inner["nodes"], place(where, "nodes"), number)
        if number is not None:
            self._within(inner, "animations", "animation", "target", number, where)
            self._within(inner, "effects", "effect", "input", number, where)

    def _within(
        self, inner: Mapping[str, Any], key: str, kind: str, names: str, number: int, where: str
    ) -> None:
        rows = inner.get(key, [])
        if not isinstance(rows, list):
            self.problems.add(f"expected a list of {key}", place(where, key))
            return
        for n, row in enumerate(rows):
            at = place(place(where, key), n)
            self._count += 1
            if not isinstance(row, dict):
                self.problems.add(f"expected an object, got {row!r}", at)
            elif self._count > MOST_NODES:
                raise SceneFileError(f"a scene's file has at most {MOST_NODES} nodes", where=at)
            else:
                self._later.append(({**row, "type": kind, names: number}, at, None))

    def _props(self, kind: NodeType, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Canonical values; what is wrong is a problem at its own place."""
        found: dict[str, Any] = {}
        known = {name: row for name, row in kind.properties.items() if row.in_files}
        for key, value in given.items():
            name = SPELLED.get(key, key)
            at = place(where, key)
            if name not in known or key in SPELLED.values():
                near = suggest(key, known)
                self.problems.add(f"a node of type {kind.name!r} has no property {key!r}{near}", at)
                continue
            with self.problems.at(at):
                found[name] = self._value(known[name].kind, name, value, at)
        for name, row in known.items():
            if row.required and name not in given:
                self.problems.add(f"{name} is missing: {row.help}", where)
        return found

    def _value(self, kind: Any, name: str, value: Any, at: str) -> Any:
        if name == "scene":
            return self._scene_within(value, at)
        try:
            return kind.load(value, "")
        except DalaError as error:
            raise SceneFileError(str(error).removeprefix(": ")) from None

    def _scene_within(self, value: Any, at: str) -> Held:
        """A scene in its place, or in a file of its own."""
        depth = self._depth + 1
        if isinstance(value, str):
            beside = self._sources.beside(value, at)
            return Held(from_document(read_document(value), beside, {}, depth), value)
        return Held(from_document(value, self._sources.within(at), {}, depth))
