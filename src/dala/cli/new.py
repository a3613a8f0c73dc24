"""``dala new``: files to begin from. What is written runs, and is never written over something.

kernel NAME     NAME.py: a kernel, a picture before and after
scene NAME      NAME.py: a title over shapes that move, as frames
project NAME    a folder: a kernel, a script that uses it, a test, pyproject.toml
"""

from __future__ import annotations

import keyword
from pathlib import Path

from dala.cli.mistakes import Failed, UsageMistake

KERNEL = '''"""The filter NAME: python NAME.py photo.jpg out.jpg"""

import sys

import dala
from dala import media
from dala.language import luma, mix, rgb  # for editors; a kernel knows its words anyway


@dala.kernel
def NAME(src, amount: float = dala.param(0.8, min=0, max=1, help="0 keeps the photo.")):
    p = src[0, 0]  # the pixel at this position, 0..1; src[1, 0] is its right neighbour
    shade = mix(rgb(0.1, 0.1, 0.4), rgb(1.0, 0.8, 0.5), luma(p))
    return mix(p.rgb, shade, amount).with_alpha(p.a)


def main():
    if len(sys.argv) == 3:
        media.apply_filter(sys.argv[1], NAME).save(sys.argv[2])
        return
    pattern = media.test_pattern(640, 360)
    media.save(media.apply_filter(pattern, NAME), "NAME.png")
    print(dala.debug_kernel(NAME, [pattern], at=(100, 50)))


if __name__ == "__main__":
    main()
'''
SCENE = '''"""The scene NAME: python NAME.py writes NAME.png"""

from dala import media, scene


def make():
    stage = scene.Scene(640, 360, background="#101828")
    ball = stage.add_shape("ellipse", position=(40, 200), size=(80, 80), fill="tomato")
    stage.animate(ball, "position", to=(520, 200), duration_ms=2000, easing="ease_in_out")
    title = stage.add_text("NAME", position=(320, 90), anchor=(0.5, 0.5), font_size=64)
    stage.animate(title, "opacity", from_=0, to=1, duration_ms=1000)
    return stage


def main():
    with make() as stage:
        media.save(stage.render(1.0).to_array(), "NAME.png")  # any time, in seconds


if __name__ == "__main__":
    main()
'''
TEST = """import numpy as np
from NAME import NAME

from dala import media


def test_zero_keeps_the_picture():
    picture = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
    assert (media.apply_filter(picture, NAME, amount=0.0) == picture).all()


def test_it_changes_the_picture():
    grey = np.full((24, 32, 3), 128, np.uint8)
    assert (media.apply_filter(grey, NAME, amount=1.0) != grey).any()
"""
PROJECT = """[project]
name = "NAME"
version = "0.1.0"
requires-python = ">=3.10"
dependencies = ["dala-gpu[image]"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""
README = """# NAME

    pip install 'dala-gpu[image]' pytest
    python NAME.py photo.jpg out.jpg
    pytest
"""
FILES = {
    "kernel": {"NAME.py": KERNEL},
    "scene": {"NAME.py": SCENE},
    "project": {
        "NAME/NAME.py": KERNEL,
        "NAME/test_NAME.py": TEST,
        "NAME/pyproject.toml": PROJECT,
        "NAME/README.md": README,
    },
}


def make_new(kind: str, name: str, folder: Path = Path()) -> None:
    """Write the files of a kind under a name."""
    if kind not in FILES:
        raise UsageMistake(f"dala new kernel, scene or project, not {kind!r}")
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageMistake(f"{name!r} is no name for a Python file; letters, digits and _")
    if kind != "scene":
        _refuse_taken(name)
    files = {folder / path.replace("NAME", name): text for path, text in FILES[kind].items()}
    for path in files:
        if path.exists():
            raise Failed(f"{path} exists; nothing was written")
    from dala.cli.screen import say

    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAME", name), encoding="utf-8")
        say(str(path))
    first = next(iter(files))
    say(f"python {first}", "dim")


def _refuse_taken(name: str) -> None:
    """A kernel of the catalogue keeps its name."""
    from dala import compute

    if name in compute.kernels():
        raise UsageMistake(f"{name!r} is a kernel of dala's; choose another name")


def complete_kinds(incomplete: str) -> list[str]:
    """For the Tab key."""
    return [kind for kind in FILES if kind.startswith(incomplete)]
