"""Write docs/looks.md and its pictures: every shipped look on photos, before and after.

python docs/gallery.py            the page and the pictures (needs Pillow, scikit-image and scikit-learn)
python docs/gallery.py --check    only compare the page; exit 1 if it is out of date

Each photo is cut in two: the left half is as it came, the right half is filtered (as part of the whole).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dala import media
from dala.media.lookfile import find_look
from photos import PHOTOS, load_photo

HERE = Path(__file__).parent
HEIGHT = 340
LINE = 2  # pixels between before and after
SHOWN = {  # a portrait, a landscape, a thing, a night; which part of each
    "astronaut": np.s_[20:270, 110:310],
    "china": np.s_[:420, 40:376],
    "coffee": np.s_[:, 130:450],
    "rocket": np.s_[90:400, 180:440],
}


def page() -> str:
    """The looks as Markdown, with the lines of their files."""
    lines = [
        "# Looks",
        "",
        "Written by `docs/gallery.py` from the files in `src/dala/media/shipped`. Left half: the photo; "
        "right half: the look. They look alike at any size: lengths are written for a picture whose longer "
        "side has 512 pixels, and grow with larger ones. Their use and the format of the files: "
        "[media](media.md).",
        "",
    ]
    for name in media.looks.names():
        path = find_look(name)
        assert path is not None
        text = path.read_text(encoding="utf-8").splitlines()
        filters = [line for line in text if not line.startswith("#")]
        lines += [f"## {name}", "", media.looks.about(name), "", f"![{name}](looks/{name}.jpg)", ""]
        lines += ["```", *filters, "```", ""]
    lines.append(f"Photos: {'; '.join(PHOTOS[name] for name in SHOWN)}.\n")
    return "\n".join(lines)


def make_pictures() -> None:
    from PIL import Image

    folder = HERE / "looks"
    folder.mkdir(exist_ok=True)
    photos = [load_photo(name)[part] for name, part in SHOWN.items()]
    for name in media.looks.names():
        look = media.looks.load(name)
        gap = np.full((HEIGHT, 6, 3), 255, np.uint8)
        halves = [before_and_after(p, media.apply_filters(p, look)) for p in photos]
        sheet = np.concatenate([part for half in halves for part in (half, gap)][:-1], axis=1)
        Image.fromarray(sheet).save(
            folder / f"{name}.jpg", quality=80, optimize=True, progressive=True
        )
        print(name)


def before_and_after(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Half of each, at the height of the page's pictures."""
    joined = after.copy()
    middle = before.shape[1] // 2
    joined[:, :middle] = before[:, :middle]
    small = media.resize(joined, height=HEIGHT, interpolation="area")
    middle = small.shape[1] // 2
    small[:, middle - LINE // 2 : middle + LINE // 2] = 255
    return small


def main() -> None:
    target = HERE / "looks.md"
    if "--check" in sys.argv:
        if target.read_text(encoding="utf-8") != page():
            raise SystemExit("docs/looks.md is out of date: run python docs/gallery.py")
        return
    make_pictures()
    target.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
