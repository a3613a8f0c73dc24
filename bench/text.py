"""Text side by side: a paragraph on a frame of 1920 × 1080, drawn again and again.

    python bench/text.py

Pillow and Skia draw their own font at the same size; OpenCV has no fonts but strokes. All but Pillow draw
into an array in place. A row is the best of many runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from dala import text

WORDS = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut "
)
PARAGRAPH = (WORDS * 4)[:356]  # 300 glyphs with ink
SIZE, WIDTH, ROUNDS = 28, 1200, 100


def best_us(run: Callable[[], object]) -> float:
    """Microseconds, the best of many."""
    run()
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times) * 1e6


def rows() -> list[tuple[str, float]]:
    frame = np.zeros((1080, 1920, 4), np.uint8)
    frame[..., 3] = 255
    made = text.layout(PARAGRAPH, size=SIZE, max_width=WIDTH)
    lines = [line.text for line in made.lines]
    options = {"size": SIZE, "max_width": WIDTH}
    jobs: dict[str, Callable[[], object]] = {
        "dala, a layout painted from the cache": lambda: text.paint(frame, made, (100, 100)),
        "dala, text.draw of a string in place": lambda: text.draw(
            frame, PARAGRAPH, (100, 100), in_place=True, **options
        ),
        "dala, with outline and shadow": lambda: text.paint(
            frame, made, (100, 100), outline="black", shadow=True
        ),
        "dala, laid out anew": _new_layouts(),
    }
    found = [(name, best_us(job)) for name, job in jobs.items()]
    found += _pillow(lines) + _skia(frame, lines) + _opencv(frame, lines)
    return found


def _new_layouts() -> Callable[[], object]:
    count = iter(range(10**9))
    return lambda: text.layout(f"{PARAGRAPH}{next(count)}", size=SIZE, max_width=WIDTH)


def _pillow(lines: list[str]) -> list[tuple[str, float]]:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGBA", (1920, 1080))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(SIZE)
    return [
        ("Pillow", best_us(lambda: pen.multiline_text((100, 100), "\n".join(lines), font=font)))
    ]


def _skia(frame: np.ndarray, lines: list[str]) -> list[tuple[str, float]]:
    if not find_spec("skia"):
        return []
    import skia

    surface = skia.Surface(frame)
    font, paint = (
        skia.Font(skia.Typeface(), SIZE),
        skia.Paint(AntiAlias=True, Color=skia.ColorWHITE),
    )
    blobs = [skia.TextBlob.MakeFromString(line, font) for line in lines]

    def run() -> None:
        with surface as canvas:
            for row, blob in enumerate(blobs):
                canvas.drawTextBlob(blob, 100, 130 + row * 34, paint)

    return [("Skia, blobs made before", best_us(run))]


def _opencv(frame: np.ndarray, lines: list[str]) -> list[tuple[str, float]]:
    if not find_spec("cv2"):
        return []
    import cv2

    def run() -> None:
        for row, line in enumerate(lines):
            place = (100, 130 + row * 34)
            cv2.putText(
                frame,
                line,
                place,
                cv2.FONT_HERSHEY_SIMPLEX,
                0.9,
                (255, 255, 255, 255),
                1,
                cv2.LINE_AA,
            )

    return [("OpenCV, strokes", best_us(run))]


def main() -> None:
    for name, microseconds in rows():
        print(f"{name:40} {microseconds:10.1f} µs")


if __name__ == "__main__":
    main()
