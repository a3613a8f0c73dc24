"""Writes src/dala/text/unicode/properties.bin from Unicode's files (Debian: unicode-data).

    python tools/unicode_tables.py [/usr/share/unicode] [--check]

Every code point gets a record: bidi class, line breaking class (LB1 resolved), grapheme class, script and
flags. Different records are numbered; the numbers lie in a table of two stages.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dala.text.unicode.tables import (
    BIDI,
    BLOCK,
    CURSIVE,
    EMOJI,
    EMOJI_PRESENTATION,
    FILE,
    GRAPHEME,
    IGNORABLE,
    LAST,
    LINE,
)

CURSIVE_SCRIPTS = {
    "Adlm", "Arab", "Chrs", "Mand", "Mani", "Mong", "Nkoo", "Ougr", "Phag", "Phlp", "Rohg", "Sogd", "Syrc",
}  # fmt: skip


def rows(path: Path) -> Iterator[list[str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if content := line.partition("#")[0].strip():
            yield [part.strip() for part in content.split(";")]


def span(text: str) -> slice:
    first, _, last = text.partition("..")
    return slice(int(first, 16), int(last or first, 16) + 1)


def values(path: Path, default: str) -> list[str]:
    """The value of every code point; the ``@missing`` lines first, then what is said of each."""
    found = [default] * (LAST + 1)
    longer = {"Left_To_Right": "L", "Right_To_Left": "R", "Arabic_Letter": "AL",
              "European_Terminator": "ET", "Prefix_Numeric": "PR", "Ideographic": "ID"}  # fmt: skip
    lines = path.read_text(encoding="utf-8").splitlines()
    missing = [line.partition("@missing:")[2] for line in lines if "@missing:" in line]
    for line in missing:
        where, value = (part.strip() for part in line.split(";"))
        if value in longer:
            place = span(where)
            found[place] = [longer[value]] * (place.stop - place.start)
    for where, value, *_ in rows(path):
        place = span(where)
        found[place] = [value] * (place.stop - place.start)
    return found


def members(path: Path, name: str) -> set[int]:
    found: set[int] = set()
    for where, value, *_ in rows(path):
        if value == name:
            place = span(where)
            found.update(range(place.start, place.stop))
    return found


def line_classes(data: Path, pictographs: set[int]) -> list[str]:
    """LB1, and the distinctions of LB30 and LB30b."""
    classes = values(data / "extracted" / "DerivedLineBreak.txt", "XX")
    general = values(data / "extracted" / "DerivedGeneralCategory.txt", "Cn")
    widths = values(data / "EastAsianWidth.txt", "N")
    for code, name in enumerate(classes):
        if name in ("AI", "SG", "XX"):
            name = "AL"
        elif name == "SA":
            name = "CM" if general[code] in ("Mn", "Mc") else "AL"
        elif name == "CJ":
            name = "NS"
        elif name in ("OP", "CP") and widths[code] in ("F", "W", "H"):
            name += "W"
        if code in pictographs and general[code] == "Cn":
            assert name == "ID", hex(code)
            name = "IDX"
        classes[code] = name
    return classes


def make(data: Path) -> bytes:
    emoji = data / "emoji" / "emoji-data.txt"
    pictographs = members(emoji, "Extended_Pictographic")
    presented = members(emoji, "Emoji_Presentation")
    ignorable = members(data / "DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
    bidi = values(data / "extracted" / "DerivedBidiClass.txt", "L")
    line = line_classes(data, pictographs)
    graphemes = values(data / "auxiliary" / "GraphemeBreakProperty.txt", "Other")
    names = {
        long: short
        for kind, short, long, *_ in rows(data / "PropertyValueAliases.txt")
        if kind == "sc"
    }
    scripts = [names[s] for s in values(data / "Scripts.txt", "Unknown")]
    records: dict[tuple[str, str, str, str, int], int] = {}
    numbers = np.zeros(LAST + 1, "<u2")
    for code in range(LAST + 1):
        grapheme = "Extended_Pictographic" if code in pictographs else graphemes[code]
        flags = EMOJI * (code in pictographs) + EMOJI_PRESENTATION * (code in presented)
        flags += IGNORABLE * (code in ignorable) + CURSIVE * (scripts[code] in CURSIVE_SCRIPTS)
        record = (BIDI[bidi[code]], LINE[line[code]], GRAPHEME[grapheme], scripts[code], flags)
        numbers[code] = records.setdefault(record, len(records))
    different, first = np.unique(numbers.reshape(-1, BLOCK), axis=0, return_inverse=True)
    head = {
        "version": version(data),
        "records": list(records),
        "brackets": list(brackets(data)),
    }
    stages = first.reshape(-1).astype("<u2").tobytes() + different.astype("<u2").tobytes()
    text = json.dumps(head, separators=(",", ":")).encode()
    return zlib.compress(text + b"\n" + stages, 9)


def brackets(data: Path) -> Iterator[tuple[int, int]]:
    """Opening and closing brackets; the closing one in canonical form."""
    for code, pair, kind in rows(data / "BidiBrackets.txt"):
        if kind == "o":
            closer = int(pair, 16)
            yield int(code, 16), 0x3009 if closer == 0x232A else closer


def version(data: Path) -> str:
    first = (data / "LineBreak.txt").read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# LineBreak-").removesuffix(".txt")


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    packed = make(Path(words[0] if words else "/usr/share/unicode"))
    if "--check" in sys.argv:
        return 0 if zlib.decompress(packed) == zlib.decompress(FILE.read_bytes()) else 1
    FILE.write_bytes(packed)
    print(f"{FILE}: {len(packed)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
