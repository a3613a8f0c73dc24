"""A sheet of text: scripts of the world, emoji, styles, outlines, shadows, gradients, wrapped lines.

    python examples/lettering.py [--out lettering.png]

What is shown depends on the fonts of the machine: what none of them has is a box, and the log says so.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from dala import text

SIZE = (1280, 900)
SCRIPTS = [
    ("Latin", "Hamburgefonstiv, office, AVATAR"),
    ("Greek", "Γειά σου Κόσμε"),
    ("Cyrillic", "Здравствуй, мир"),
    ("Arabic", "السلام عليكم ورحمة الله (123)"),
    ("Hebrew", "שָׁלוֹם עולם 2026"),
    ("Devanagari", "नमस्ते दुनिया, क्षत्रिय"),
    ("Bengali", "ওহে বিশ্ব, স্বাগতম"),
    ("Tamil", "வணக்கம் உலகம்"),
    ("Thai", "สวัสดีชาวโลก ที่นี่"),
    ("Hangul", "안녕하세요 세계"),
    ("Han", "你好，世界。漢字"),
    ("Kana", "こんにちは カタカナ"),
    ("Emoji", "👨‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ 1️⃣ ☺︎"),
]
LONG = (
    "A paragraph is broken where Unicode allows it, and both directions meet in one line: "
    "السلام עולם. Lines are aligned or justified, and what does not fit ends in an ellipsis."
)


def draw_sheet() -> npt.NDArray[np.uint8]:
    """The sheet as RGB."""
    down = np.linspace(0, 1, SIZE[1])[:, None, None]
    ground = np.array([28, 34, 52]) * (1 - down) + np.array([62, 44, 70]) * down
    sheet = np.broadcast_to(ground, (SIZE[1], SIZE[0], 3)).astype(np.uint8)
    names = text.layout(
        "\n".join(name for name, _ in SCRIPTS), size=22, line_height=2.6, align="end"
    )
    text.paint(sheet, names, (40, 30), color="#9fb0d0")
    for row, (_, words) in enumerate(SCRIPTS):
        text.draw(sheet, words, (190, 34 + row * 57.2), size=34, in_place=True)
    _draw_styles(sheet)
    return sheet


def _draw_styles(sheet: npt.NDArray[np.uint8]) -> None:
    x = 740
    gold = text.Gradient(["#fff6c0", "gold", "#b06000"])
    text.draw(sheet, "Gradient", (x, 30), size=76, color=gold, shadow=True, in_place=True)
    text.draw(sheet, "Outline", (x, 140), size=64, color="white",
              outline=text.Outline("crimson", 5), in_place=True)  # fmt: skip
    text.draw(sheet, "a box behind", (x + 8, 244), size=30, background="teal", in_place=True)
    runs = [("bold ", {"weight": 700}), ("italic ", {"italic": True}), ("large ", {"size": 52}),
            ("gold", {"color": "gold"})]  # fmt: skip
    text.draw(sheet, runs, (x, 300), size=30, in_place=True)
    text.draw(
        sheet, "spaced letters", (x, 376), size=26, letter_spacing=7, color="#a0e0ff", in_place=True
    )
    for row, align in enumerate(("start", "center", "justify")):
        text.draw(sheet, LONG, (x, 430 + row * 142), size=20, max_width=480, align=align,
                  max_lines=3 if align == "center" else None, color="#e8e8f4", in_place=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("lettering.png"))
    options = parser.parse_args()
    Image.fromarray(draw_sheet()).save(options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
