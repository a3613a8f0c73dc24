"""A scene → a document. Defaults are left out; animations and effects stand within their node."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from dala.errors import DalaError, SceneFileError
from dala.scene.description import Description
from dala.scene.files.places import place
from dala.scene.files.sources import files_of, is_look_file
from dala.scene.files.text import FORMAT, SPELLED, VERSION
from dala.scene.nodes.kinds import write_color
from dala.scene.nodes.media import is_scene
from dala.scene.nodes.node import Node
from dala.scene.nodes.targets import target_of
from dala.scene.times import written
from dala.text.font import is_path

_BACK = {name: word for word, name in SPELLED.items()}
_FILES = ("image", "stream", "source", "subtitles")
_NAMES = ("input", "target", "a", "b")


class Described(Protocol):
    """What is written of a scene."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def target_fps(self) -> Fraction: ...
    @property
    def background(self) -> tuple[int, int, int, int]: ...
    def describe(self) -> Description: ...


def save(scene: Described, path: str | os.PathLike[str]) -> Path:
    """Write a scene as JSON; paths are relative to the file where they can be.

    >>> import tempfile
    >>> from dala import scene
    >>> stage = scene.Scene(640, 360)
    >>> title = stage.add_text("Hello", name="title", position=(20, 10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scene.load(scene.save(stage, f"{folder}/title.json")).node("title").text
    'Hello'
    """
    target = Path(path)
    text = json.dumps(
        to_document(scene, target.parent), ensure_ascii=False, indent=1, allow_nan=False
    )
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise SceneFileError(error.strerror or str(error), where=str(target)) from error
    finally:
        beside.unlink(missing_ok=True)
    return target


def to_document(scene: Described, folder: Path | None = None) -> dict[str, Any]:
    """A scene as a document."""
    description = scene.describe()
    writer = _Writer(description, folder)
    return {
        "format": FORMAT,
        "version": VERSION,
        "width": scene.width,
        "height": scene.height,
        "fps": written(scene.target_fps),
        "background": write_color(scene.background),
        "nodes": writer.nodes(None, "/nodes"),
    }


class _Writer:
    def __init__(self, description: Description, folder: Path | None) -> None:
        self._nodes = description.nodes
        self._folder = folder
        taken = {node.name for node in self._nodes.values()}
        used = {node.props.get(key) for node in self._nodes.values() for key in _NAMES}
        self._names: dict[int, str] = {}
        for number, node in self._nodes.items():
            name = node.name
            if name is None and number in used:
                name = f"node {number}"
                while name in taken:
                    name += "'"
            if name is not None:
                self._names[number] = name
                taken.add(name)

    def nodes(self, parent: int | None, where: str) -> list[dict[str, Any]]:
        """The nodes of a group, in order; at the top also those that are nowhere."""
        found: list[dict[str, Any]] = []
        for node in self._nodes.values():
            within = node.type == "animation" or (node.type == "effect" and node.input is not None)
            if not within and node.props.get("parent") == parent:
                found.append(self._node(node, place(where, len(found))))
        return found

    def _node(self, node: Node, where: str) -> dict[str, Any]:
        made = {"type": node.type, **self._props(node, where)}
        for key, kind, names in (
            ("animations", "animation", "target"),
            ("effects", "effect", "input"),
        ):
            rows = [
                n for n in self._nodes.values() if n.type == kind and n.props.get(names) == node.id
            ]
            if rows:
                made[key] = [self._within(row, names, place(where, key)) for row in rows]
        children = self.nodes(node.id, place(where, "nodes"))
        return {**made, "nodes": children} if children else made

    def _within(self, node: Node, names: str, where: str) -> dict[str, Any]:
        made = self._node(node, where)
        return {key: value for key, value in made.items() if key not in ("type", names)}

    def _props(self, node: Node, where: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        defaults = node.table.defaults
        for name, row in node.table.properties.items():
            value = self._names.get(node.id) if name == "name" else node.props[name]
            if not row.in_files or (value == defaults[name] and not row.required):
                continue
            key = _BACK.get(name, name)
            try:
                found[key] = self._value(name, value, row.kind.write)
            except SceneFileError:
                raise
            except DalaError as error:
                raise SceneFileError(str(error), where=place(where, key)) from None
        if node.type == "animation":
            self._animated(node, found)
        if node.type == "effect" and "params" in found:
            for key in files_of(found["filter"]) & found["params"].keys():
                if isinstance(found["params"][key], str):
                    found["params"][key] = self._relative(found["params"][key])
        return found

    def _animated(self, node: Node, found: dict[str, Any]) -> None:
        """Values of an animation, as its target's property writes them."""
        write = target_of(self._nodes[node.target], node.property).kind.write
        for key in ("from", "to"):
            if key in found:
                found[key] = self._named(node.property, write(node.props[SPELLED.get(key, key)]))
        if "keyframes" in found:
            found["keyframes"] = [
                [
                    written(at),
                    self._named(node.property, write(value)),
                    *([easing.name] if easing else []),
                ]
                for at, value, easing in node.keyframes
            ]

    def _value(self, name: str, value: Any, write: Any) -> Any:
        if name in _NAMES and value is not None:
            return self._names[value]
        if is_scene(value):
            if value.path is not None:
                return self._relative(value.path)
            return to_document(value.of, self._folder)
        written_ = write(value)
        return self._named(name, written_)

    def _named(self, name: str, value: Any) -> Any:
        """A value with the files in it as the document names them."""
        if name == "text" and isinstance(value, list):
            return [
                [text, {key: self._named(key, part) for key, part in style.items()}]
                for text, style in value
            ]
        if not isinstance(value, str):
            return value
        is_file = (
            name in _FILES
            or (name == "font" and is_path(value))
            or (name == "filter" and is_look_file(value))
        )
        return self._relative(value) if is_file else value

    def _relative(self, path: str) -> str:
        if self._folder is None or not Path(path).is_file():
            return path
        try:
            return Path(path).resolve().relative_to(self._folder.resolve()).as_posix()
        except ValueError:
            return str(Path(path).resolve())
