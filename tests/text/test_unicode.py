"""Our bidi, line breaks and clusters against Unicode's own test files: all cases."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dala.text.unicode.bidi import paragraph_level, reset_levels, resolve_levels, visual_order
from dala.text.unicode.graphemes import grapheme_starts
from dala.text.unicode.linebreak import MUST, line_breaks
from dala.text.unicode.scripts import scripts_of
from dala.text.unicode.tables import BIDI, FILE, code_points, letters, tables

DATA = Path("/usr/share/unicode")
ROOT = Path(__file__).parents[2]
REMOVED = frozenset("b12345")  # by rule X9
IS_REMOVED = re.compile("[b1-5]")


def rows(name: str) -> Iterator[str]:
    """The cases of a test file, if it is of the version that our tables are of."""
    path = DATA / name
    if not path.exists():
        if os.environ.get("DALA_REQUIRE_TEXT"):
            pytest.fail(f"{path} is missing: apt-get install unicode-data")
        pytest.skip("Unicode's test files are not here (Debian: unicode-data)")
    lines = path.read_text(encoding="utf-8").splitlines()
    stem = Path(name).stem
    version = lines[0].removeprefix(f"# {stem}-").removesuffix(".txt")
    if version != tables().version:
        pytest.skip(f"{name} is of Unicode {version}, our tables are of {tables().version}")
    return (line for line in lines if line and line[0] != "#")


def break_cases(name: str) -> Iterator[tuple[str, list[bool]]]:
    for line in rows(name):
        words = line.partition("#")[0].split()
        yield "".join(chr(int(w, 16)) for w in words[1::2]), [w == "÷" for w in words[2::2]]


def test_every_line_break() -> None:
    wrong, count = [], 0
    for text, wanted in break_cases("auxiliary/LineBreakTest.txt"):
        count += 1
        found = line_breaks(tables().records(code_points(text)))
        if [kind > 0 for kind in found] != wanted:
            wrong.append(text)
    assert not wrong and count > 7000


def test_every_grapheme_cluster() -> None:
    wrong, count = [], 0
    for text, wanted in break_cases("auxiliary/GraphemeBreakTest.txt"):
        count += 1
        starts = {*grapheme_starts(tables().records(code_points(text))), len(text)}
        if [index in starts for index in range(1, len(text) + 1)] != wanted:
            wrong.append(text)
    assert not wrong and count > 500


def test_every_bidi_character_case() -> None:
    known = tables()
    bidi = {code: chr(letter) for code, letter in enumerate(
        known.bidi[known.records(np.arange(0x3100))].tolist())}  # fmt: skip
    wrong, count = [], 0
    for line in rows("BidiCharacterTest.txt"):
        words, direction, base_text, level_text, order_text = line.split(";")
        codes = [int(w, 16) for w in words.split()]
        classes = "".join([bidi[c] if c < 0x3100 else of_one(c) for c in codes])
        base = paragraph_level(classes) if direction == "2" else int(direction)
        levels = resolve_levels(classes, base, codes)
        reset_levels(levels, classes, base)
        kept = [i for i, letter in enumerate(classes) if letter not in REMOVED]
        shown = [str(levels[i]) for i in kept]
        order = [kept[place] for place in visual_order([levels[i] for i in kept])]
        count += 1
        if (
            str(base) != base_text
            or shown != [w for w in level_text.split() if w != "x"]
            or order != [int(w) for w in order_text.split()]
        ):
            wrong.append(line)
    assert not wrong and count > 90_000


def of_one(code: int) -> str:
    return letters(tables().bidi, tables().records(np.array([code])))


@pytest.mark.parametrize("half", [0, 1])
def test_every_bidi_class_case(half: int) -> None:
    """Each line at each level it is meant for; as the first letter decides, too."""
    wanted: list[int] = []
    wrong, count = [], 0
    for number, line in enumerate(rows("BidiTest.txt")):
        if line[0] == "@":
            key, _, value = line.partition(":")
            if key == "@Levels":
                wanted = [int(w) for w in value.split() if w != "x"]
            continue
        if number % 2 != half:
            continue
        words, _, bits_text = line.partition(";")
        classes = "".join([BIDI[w] for w in words.split()])
        bits = int(bits_text, 16)
        bases = {paragraph_level(classes)} if bits & 1 else set()
        bases |= {0} if bits & 2 else set()
        bases |= {1} if bits & 4 else set()
        for base in bases:
            levels = resolve_levels(classes, base)
            reset_levels(levels, classes, base)
            if IS_REMOVED.search(classes):
                pairs = zip(classes, levels, strict=True)
                levels = [level for letter, level in pairs if letter not in REMOVED]
            count += 1
            if levels != wanted:
                wrong.append((line, base))
    assert not wrong and count > 250_000


def test_the_tables_are_what_the_script_makes() -> None:
    list(rows("auxiliary/LineBreakTest.txt"))  # skips where the files are of another version
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "unicode_tables.py", "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tables_are_small_and_know_every_code_point() -> None:
    assert FILE.stat().st_size < 16_000
    every = tables().records(np.arange(0x110000))
    assert len(every) == 0x110000
    assert letters(tables().bidi, tables().records(code_points("aא٣"))) == "LRa"


def test_scripts_take_in_what_is_common() -> None:
    found = scripts_of(tables().records(code_points("(α, β) 漢字。א")))
    assert found == ["Grek"] * 7 + ["Hani"] * 3 + ["Hebr"]


def test_lone_surrogates_and_line_ends() -> None:
    codes = code_points("a\ud800b")
    assert codes.tolist() == [0x61, 0xFFFD, 0x62]
    assert line_breaks(tables().records(code_points("a\nb")))[1] == MUST
    assert line_breaks(tables().records(code_points(""))) == []


def test_deep_embeddings_end() -> None:
    """Beyond 125 levels nothing goes deeper, and nothing takes long."""
    classes = "3" * 500 + "7" * 500 + "L" + "9" * 500 + "5" * 500
    levels = resolve_levels(classes, 0)
    assert max(levels) <= 126
    assert visual_order([]) == []
