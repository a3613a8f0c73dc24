"""Properties of all code points, in two stages: blocks of 128, and the different blocks.

A code point's properties are one of some hundred records. ``properties.bin`` is written by
``tools/unicode_tables.py`` from Unicode's own files, and read when a text is first looked at.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.once import once

FILE = Path(__file__).with_name("properties.bin")
BLOCK = 128
LAST = 0x10FFFF
REPLACEMENT = 0xFFFD
# One letter for each class, so that a text's classes are a string and rules can be regular expressions.
BIDI = {
    "L": "L", "R": "R", "AL": "A", "EN": "e", "ES": "s", "ET": "t", "AN": "a", "CS": "c", "NSM": "n",
    "BN": "b", "B": "B", "S": "S", "WS": "W", "ON": "O", "LRE": "1", "LRO": "2", "RLE": "3", "RLO": "4",
    "PDF": "5", "LRI": "6", "RLI": "7", "FSI": "8", "PDI": "9",
}  # fmt: skip
# Those of LB1 are resolved already; OPW and CPW are East Asian brackets, IDX is a reserved emoji.
LINE = {
    "BK": "k", "CR": "r", "LF": "f", "NL": "n", "CM": "m", "WJ": "w", "ZW": "z", "GL": "g", "SP": " ",
    "ZWJ": "j", "B2": "2", "BA": "b", "BB": "B", "HY": "-", "CB": "c", "CL": "]", "CP": ")", "EX": "!",
    "IN": "i", "NS": "s", "OP": "(", "QU": "q", "IS": ",", "NU": "0", "PO": "%", "PR": "$", "SY": "/",
    "AL": "a", "HL": "h", "ID": "I", "EB": "e", "EM": "M", "H2": "H", "H3": "T", "JL": "L", "JV": "V",
    "JT": "t", "RI": "R", "OPW": "[", "CPW": "}", "IDX": "X",
}  # fmt: skip
GRAPHEME = {
    "Other": "o", "CR": "r", "LF": "f", "Control": "c", "Extend": "e", "ZWJ": "z", "Prepend": "p",
    "SpacingMark": "s", "L": "L", "V": "V", "T": "T", "LV": "v", "LVT": "t",
    "Regional_Indicator": "R", "Extended_Pictographic": "x",
}  # fmt: skip
EMOJI, EMOJI_PRESENTATION, IGNORABLE, CURSIVE = 1, 2, 4, 8  # flags

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Tables:
    """The loaded tables."""

    version: str
    first: Array  # block number → which of the different blocks
    second: Array  # (different blocks, 128) → record
    bidi: Array  # record → letter, as bytes
    line: Array
    grapheme: Array
    script: tuple[str, ...]  # record → "Latn", "Zyyy", …
    flags: Array
    openers: dict[int, int]  # code point of an opening bracket → its closing one, canonical
    closers: dict[int, int]  # of a closing one → itself, canonical

    def records(self, codes: Array) -> Array:
        """The record of every code point."""
        found: Array = self.second[self.first[codes >> 7], codes & (BLOCK - 1)]
        return found


@once
def tables() -> Tables:
    """The tables, read once."""
    packed = FILE.read_bytes()
    head, _, rest = zlib.decompress(packed).partition(b"\n")
    facts = json.loads(head)
    bidi, line, grapheme, scripts, flags = zip(*facts["records"], strict=True)
    blocks = (LAST + 1) // BLOCK
    stages = np.frombuffer(rest, "<u2")
    return Tables(
        facts["version"],
        stages[:blocks].astype(np.intp),
        stages[blocks:].reshape(-1, BLOCK),
        _column(bidi),
        _column(line),
        _column(grapheme),
        tuple(scripts),
        np.array(flags, np.uint8),
        dict(facts["brackets"]),
        _closers(facts["brackets"]),
    )


def _column(classes: tuple[str, ...]) -> Array:
    return np.frombuffer("".join(classes).encode("ascii"), np.uint8)


def _closers(brackets: list[list[int]]) -> dict[int, int]:
    """Every closing bracket, and its canonical form: U+232A is U+3009."""
    found = {closer: closer for _, closer in brackets}
    return found | {0x232A: 0x3009}


def code_points(text: str) -> Array:
    """A text as numbers; a lone surrogate, which no font has, is the replacement character."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.intp)
    surrogates = (codes & ~0x7FF) == 0xD800
    return np.where(surrogates, REPLACEMENT, codes) if surrogates.any() else codes


def letters(column: Array, records: Array) -> str:
    """The classes of records as a string, one letter each."""
    return column[records].tobytes().decode("ascii")
