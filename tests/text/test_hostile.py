"""Fonts and texts of strangers: typed errors or pictures, never a crash, in bounded time.

HarfBuzz checks every table before it reads it, and is fuzzed day and night by its makers; it is trusted not
to crash, and tested here. What it makes of a damaged font is not trusted: sizes and places are bounded.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from processes import environment

from dala import text
from dala.errors import DalaError
from dala.text.unicode.bidi import resolve_levels

CASES = 500

# In a process of its own, so that a crash is a failure of this test and not the end of all others.
MANGLE = """
    import json, random, sys
    import numpy as np
    from dala import text
    from dala.errors import DalaError, UnsupportedError
    from dala.text.font import CARRIED, Font
    from made_fonts import color_font, plain_font, variable_font

    latin = (CARRIED / "NotoSans-Regular.ttf").read_bytes()
    fonts = [plain_font(), variable_font(), color_font(0), color_font(1), latin]
    counts = {"refused": 0, "drawn": 0}
    largest = 0
    for case in range(%d):
        chance = random.Random(case)
        data = bytearray(fonts[case %% len(fonts)])
        if case %% 3 == 0:
            del data[chance.randrange(len(data)):]
        else:
            for _ in range(chance.choice((1, 8, 64))):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        frame = np.zeros((60, 200, 4), np.uint8)
        try:
            font = Font(bytes(data), 0, chance.choice((400, 900)), chance.random() < 0.3, "mangled")
            size = chance.choice((12, 40, 200))
            made = text.layout("AV fi A\\u0301 Hamburg 123", font, size, max_width=150)
            text.paint(frame, made, (3, 3), outline="red" if case %% 7 == 0 else None)
            tiles = text.rasterise(made)
            largest = max([largest, *(tile.tile.pixels.nbytes for tile in tiles)])
            for index in range(len(made.text)):
                made.caret(index)
        except UnsupportedError:
            raise  # something is not installed
        except DalaError:
            counts["refused"] += 1
        else:
            counts["drawn"] += 1
    print(json.dumps({**counts, "largest": largest}))
"""


def test_five_hundred_damaged_fonts() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(MANGLE % CASES)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["refused"] + seen["drawn"] == CASES
    assert seen["refused"] >= 20 and seen["drawn"] >= 100
    assert seen["largest"] <= 200 * 200 * 2 * 16 * 16 * 4


@pytest.mark.parametrize("size", [1, 3.7, 500, 2048])
def test_sizes_at_the_edge(size: float) -> None:
    frame = np.zeros((64, 64, 3), np.uint8)
    text.paint(frame, text.layout("W", size=size), (0, 0))
    (tile,) = text.rasterise(text.layout("W", size=size))
    assert max(tile.tile.pixels.shape) <= 1.2 * size + 3


TEXTS = {
    "isolates": "\u2068" * 5000 + "א",
    "brackets": "([{" * 2000 + "א" + "}])" * 2000,
    "marks": "a" + "\u0301" * 5000,
    "joiners": "👩\u200d" * 2000,
    "spaces": " " * 5000 + "a",
    "controls": "".join(map(chr, range(32))) * 50,
    "surrogates": "\ud800\udfff" * 500,
    "non-characters": "\uffff\ufffe\U0010ffff" * 300,
    "overrides": "\u202e\u202d" * 2000 + "x",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_strange_texts(kind: str) -> None:
    made = text.layout(TEXTS[kind], size=10, max_width=100, max_lines=50)
    frame = np.zeros((50, 100), np.uint8)
    text.paint(frame, made, (0, 0))
    assert len(made.lines) <= 50


def test_levels_of_long_paragraphs_take_one_pass() -> None:
    """Work is counted, not timed: a rule that looks back over all of the text would take minutes."""
    for classes in (
        "8" * 60_000 + "R",
        "W" * 60_000 + "R",
        "3" * 60_000 + "L",
        "t" * 60_000 + "e" + "R",
    ):
        assert len(resolve_levels(classes, 0)) == len(classes)


def test_numbers_that_are_none() -> None:
    made = text.layout("A")
    for x, y in ((float("nan"), 0), (0, float("inf")), ("a", 0)):
        with pytest.raises(DalaError):
            made.hit(x, y)  # type: ignore[arg-type]
        with pytest.raises(DalaError):
            text.rasterise(made, (x, y))  # type: ignore[arg-type]
