"""The fonts of this machine: the usual folders, looked through once.

Nothing is asked of fontconfig: it is not everywhere, and the folders are known.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dala.errors import FontNotFoundError, suggest
from dala.once import OnceByKey, once
from dala.text.fontfile import face_offsets, partial_face
from dala.text.harfbuzz import harfbuzz

ENDINGS = (".ttf", ".otf", ".ttc", ".otc")
NAMING = ("head", "name", "OS/2", "fvar", "STAT", "post")  # tables that say what a font is
MOST_FILES = 5_000
DEEPEST = 6  # folders in folders
GENERIC = {
    "sans-serif": ("Noto Sans", "DejaVu Sans", "Helvetica Neue", "Segoe UI", "Arial", "Liberation Sans"),
    "serif": ("Noto Serif", "DejaVu Serif", "Times New Roman", "Times", "Georgia", "Liberation Serif"),
    "monospace": ("Noto Sans Mono", "DejaVu Sans Mono", "Menlo", "Consolas", "Courier New",
                  "Liberation Mono"),
    "emoji": ("Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji", "Twemoji"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FontFace:
    """A font of this machine.

    >>> from dala import text
    >>> all(face.family and face.path.exists() for face in text.fonts())
    True
    """

    family: str
    weight: int  # 400 is regular, 700 bold; of a variable font the one it begins with
    italic: bool
    path: Path
    index: int = 0  # in a collection
    variable: bool = False  # its weight can be chosen


def font_folders() -> list[Path]:
    """Where fonts lie on Linux, macOS and Windows, those of the user first."""
    home = Path.home()
    if sys.platform == "darwin":
        return [home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        own = [Path(local) / "Microsoft/Windows/Fonts"] if local else []
        return [*own, Path(os.environ.get("WINDIR", r"C:\Windows")) / "Fonts"]
    data = os.environ.get("XDG_DATA_HOME") or home / ".local/share"
    shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    folders = [Path(data) / "fonts", home / ".fonts"]
    return folders + [Path(folder) / "fonts" for folder in shared.split(":") if folder]


def fonts() -> tuple[FontFace, ...]:
    """The fonts of this machine, by family and weight; looked for once in a process.

    >>> from dala import text
    >>> families = {face.family for face in text.fonts()}
    """
    return _index()


@once
def _index() -> tuple[FontFace, ...]:
    files = [file for folder in font_folders() for file in font_files(folder)]
    faces = [face for file in files[:MOST_FILES] for face in faces_of(file)]
    return tuple(sorted(faces, key=lambda f: (f.family.lower(), f.italic, f.weight, str(f.path))))


def font_files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Font files in a folder and in those within."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:  # not there, or not ours to read
        return
    for entry in entries:
        if entry.name.lower().endswith(ENDINGS) and entry.is_file():
            yield Path(entry.path)
        elif depth < DEEPEST and entry.is_dir(follow_symlinks=False):
            yield from font_files(Path(entry.path), depth + 1)


def faces_of(path: Path) -> list[FontFace]:
    """What a file holds; a damaged one holds nothing."""
    found = []
    try:
        for index in range(len(face_offsets(path))):
            face = _describe(partial_face(path, index, NAMING), path, index)
            found += [face] if face else []
    except (OSError, struct.error):
        return found
    return found


def _describe(face: Any, path: Path, index: int) -> FontFace | None:
    hb = harfbuzz()
    names = hb.OTNameIdPredefined
    family = face.get_name(names.TYPOGRAPHIC_FAMILY) or face.get_name(names.FONT_FAMILY)
    if not family or family.startswith("."):  # those are private to macOS
        return None
    font = hb.Font(face)
    weight = font.get_style_value(hb.StyleTag.WEIGHT)
    italic = font.get_style_value(hb.StyleTag.ITALIC) or font.get_style_value(
        hb.StyleTag.SLANT_ANGLE
    )
    variable = any(axis.tag == "wght" for axis in face.axis_infos)
    return FontFace(family, round(min(max(weight, 1), 1000)), bool(italic), path, index, variable)


def find_face(family: str, weight: int, italic: bool) -> FontFace:
    """The face of a family that is nearest to a weight and a slant."""
    wanted = [family.lower()]
    for name in GENERIC.get(family.lower(), ()):
        wanted.append(name.lower())
    for name in wanted:
        faces = [face for face in fonts() if face.family.lower() == name]
        if faces:
            return nearest(faces, weight, italic)
    families = {face.family for face in fonts()}
    raise FontNotFoundError(
        f"no font of this machine is called {family!r}{suggest(family, families)}; text.fonts() lists "
        "them, and Font.load takes files, too"
    )


def nearest(faces: list[FontFace], weight: int, italic: bool) -> FontFace:
    """Of one family: first the slant, then the weight; a variable font has every weight."""

    def distance(face: FontFace) -> tuple[bool, float]:
        return face.italic != italic, 0 if face.variable else abs(face.weight - weight)

    return min(faces, key=distance)


_opened: OnceByKey[tuple[Path, int], Any] = OnceByKey(512)


def _open_characters(face: FontFace) -> Any:
    """HarfBuzz's font of the tables of characters alone; nothing if the file is gone."""

    def open_font() -> Any:
        try:
            return harfbuzz().Font(partial_face(face.path, face.index, ("cmap", "head", "maxp")))
        except (
            OSError,
            struct.error,
            IndexError,
        ):  # it was there when the folders were looked through
            return None

    return _opened.get((face.path, face.index), open_font)


def can_show(face: FontFace, codes: tuple[int, ...]) -> bool:
    """Whether a font has glyphs for all of these code points; only its tables of characters are read."""
    font = _open_characters(face)
    return font is not None and all(font.get_nominal_glyph(code) is not None for code in codes)


def covered_codes(face: FontFace) -> list[int]:
    """All code points that a font has."""
    font = _open_characters(face)
    return [] if font is None else [code for code in font.face.unicodes if code < 0x110000]
