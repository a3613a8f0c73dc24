"""The files that a scene is painted from, as those who open them find them.

By the kind of a property, not by what its words look like: a text that reads like a path is a text.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dala.errors import DalaError
from dala.media.lookfile import read_look
from dala.scene.files.sources import files_of, is_look_file
from dala.scene.nodes.media import is_scene
from dala.scene.nodes.node import Node
from dala.scene.subtitles.opening import is_text
from dala.text.font import is_path
from dala.text.system import font_files, font_folders
from dala.video.places import place_of


def files_shown(scene: Any) -> set[str]:
    """The files of a scene's nodes, links followed; those of scenes within it, too."""
    found: set[str] = set()
    for node in scene.nodes():
        for name, value in node.props.items():
            if is_scene(value):
                found |= files_shown(value.of)
            found.update(os.path.realpath(path) for path in _of_property(node, name, value))
    return {path for path in found if os.path.isfile(path)}


def fonts_behind(scene: Any) -> str | None:
    """What changes with the fonts of this machine, for a scene that shows letters: a family may be another
    file tomorrow, and what a font lacks comes from any other."""
    if not _has_letters(scene):
        return None
    digest = hashlib.sha256()
    for path in (file for folder in font_folders() for file in font_files(folder)):
        facts = path.stat()
        digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _has_letters(scene: Any) -> bool:
    return any(
        node.type in ("text", "subtitles")
        or any(is_scene(value) and _has_letters(value.of) for value in node.props.values())
        for node in scene.nodes()
    )


def _of_property(node: Node, name: str, value: Any) -> Iterator[str]:
    """The files in one property of a node, some of which may not exist."""
    if is_scene(value) and value.path is not None:
        yield value.path
    elif name == "params":
        for key in files_of(node.props.get("filter", node.props.get("kind"))) & value.keys():
            yield from _of_value("parameter", value[key])
    elif name == "keyframes":
        for _, keyed, *_ in value or ():
            yield from _animated(node, keyed)
    elif node.type == "animation" and name in ("from_", "to"):
        yield from _animated(node, value)
    else:
        yield from _of_value(name, value)


def _animated(node: Node, value: Any) -> Iterator[str]:
    is_parameter = node.property.startswith("params.")
    yield from _of_value("parameter" if is_parameter else node.property, value)


def _of_value(name: str, value: Any) -> Iterator[str]:
    if name == "text" and isinstance(value, tuple):
        for _, style in value:  # runs, which have fonts of their own
            yield from _of_value("font", dict(style).get("font"))
    elif not isinstance(value, str):
        return
    elif name in ("image", "stream", "source"):
        yield from _of_media(value)
    elif name == "filter" and is_look_file(value):
        yield value
        yield from _of_look(Path(value))
    elif (
        name == "parameter"
        or (name == "subtitles" and not is_text(value))
        or (name == "font" and is_path(value))
    ):
        yield value


def _of_media(word: str) -> Iterator[str]:
    """A file, or all pictures of a sequence; nothing of what is no file."""
    try:
        place = place_of(word)
    except DalaError:
        return  # there are no such pictures: who opens them says so
    if place.where == "file":
        yield place.url.removeprefix("file:")
    yield from place.files


def _of_look(path: Path) -> Iterator[str]:
    """The further pictures and tables of a look's filters."""
    for line in read_look(path).lines:
        names = files_of(line.name)
        for word in line.words:
            name, _, value = word.partition("=")
            if name in names:
                yield str(path.parent / value)
