"""Makes the fonts that `dala.text` carries: Noto Sans, cut down to Latin, Greek and Cyrillic.

    python tools/default_font.py [/usr/share/fonts/truetype/noto]

The folder is that of Debian's `fonts-noto-core`. What is left out: other scripts (they have fonts of
their own), hints for small screens (dala paints outlines), and small capitals.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

TARGET = Path(__file__).parents[1] / "src/dala/text/fonts"
NAMES = ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf")
RANGES = (
    (0x20, 0x24F),  # Latin, with the letters of Europe, Vietnam, Africa
    (0x2B0, 0x36F),  # modifiers and combining marks
    (0x370, 0x52F),  # Greek, Cyrillic
    (0x1E00, 0x1FFF),  # Latin with two marks, polytonic Greek
    (0x2000, 0x206F),  # dashes, quotes, spaces
    (0x2070, 0x20BF),  # raised and lowered figures, currencies
    (0x2100, 0x218F),  # №, ™, fractions
    (0x2190, 0x22FF),  # arrows and operators, where there are any
    (0x25A0, 0x25FF),  # boxes, discs, ◌
    (0xFB00, 0xFB06),  # ligatures
    (0xFFFD, 0xFFFD),
)
FEATURES = [
    *("ccmp", "locl", "mark", "mkmk", "kern", "liga", "calt", "rlig"),
    *(
        "frac",
        "numr",
        "dnom",
        "ordn",
        "sups",
        "subs",
        "lnum",
        "onum",
        "pnum",
        "tnum",
        "case",
        "zero",
    ),
]


def cut(source: Path, target: Path) -> None:
    options = subset.Options(
        layout_features=FEATURES, hinting=False, name_IDs=[0, 1, 2, 3, 4, 5, 6, 7, 13, 14, 16, 17]
    )
    options.notdef_outline = True
    font = subset.load_font(str(source), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for a, b in RANGES for code in range(a, b + 1)])
    cutter.subset(font)
    subset.save_font(font, str(target), options)
    print(f"{target.name}: {target.stat().st_size:,} bytes of {source.stat().st_size:,}")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/fonts/truetype/noto")
    for name in NAMES:
        cut(folder / name, TARGET / name)


if __name__ == "__main__":
    main()
