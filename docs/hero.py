"""The picture of the README: four kernels of the gallery, before and after. python docs/hero.py"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
SHOWN = ("background_blur", "saturation", "split_tone", "hue")
WIDTH, HEIGHT, GAP = 560, 223, 8


def main() -> None:
    sheet = Image.new("RGB", (2 * WIDTH + GAP, 2 * HEIGHT + GAP), "white")
    for number, name in enumerate(SHOWN):
        with Image.open(HERE / "kernels" / f"{name}.jpg") as pair:
            small = pair.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        sheet.paste(small, (number % 2 * (WIDTH + GAP), number // 2 * (HEIGHT + GAP)))
    sheet.save(HERE / "hero.jpg", quality=84, optimize=True, progressive=True)


if __name__ == "__main__":
    main()
