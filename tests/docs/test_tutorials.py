"""Tutorials and the solutions of exercises run, and both sides of the tables for newcomers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import environment
from screen import virtual_screen
from site_generators import generators

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))
SOLUTIONS = sorted((DOCS / "tutorials" / "solutions").glob("*.py"))
NEEDS_WEIGHTS = ("model",)
PATIENCE_S = 300

screen = pytest.fixture(virtual_screen)
generate = pytest.fixture(generators)


def run(path: Path, folder: Path, *arguments: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path), *arguments], cwd=folder, capture_output=True,
        env=environment(**{**env, "PYTHONPATH": str(ROOT / "src")}), text=True, timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# -- tutorials, exercises -----------------------------------------------------------------------


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda p: p.stem)
def test_tutorials_run_and_make_what_they_show(path: Path, generate: Any, tmp_path: Path) -> None:
    text = generate("tutorials").page(path.read_text(encoding="utf-8"), path.name)
    shown = set(re.findall(rf'[("]{path.stem}/([\w.]+)[")]', text))
    if path.stem in NEEDS_WEIGHTS:
        return
    pytest.importorskip("av")
    run(path, tmp_path, DALA_DEVICE="cpu")
    assert shown and [name for name in shown if not (tmp_path / name).stat().st_size] == []


def test_prose_and_code_of_a_tutorial_are_told_apart(generate: Any) -> None:
    source = '"""A title\n\nAn introduction.\n"""\n\nx = 1\n\n# Prose,\n# two lines.\n\n'
    source += "# ![a](b.mp4)\n\ny = 2  # no prose\n"
    page = generate("tutorials").page(source, "t.py")
    assert page.startswith("# A title\n\nAn introduction.")
    assert "```python\nx = 1\n```\n\nProse,\ntwo lines." in page
    assert '<video src="t/b.mp4"' in page and "```python\ny = 2  # no prose\n```" in page


def test_every_exercise_has_its_solution() -> None:
    text = (DOCS / "tutorials" / "exercises.md").read_text(encoding="utf-8")
    linked = re.findall(r"^\[A solution\]\(solutions/(\w+)\.py\)$", text, re.MULTILINE)
    assert sorted(linked) == [p.stem for p in SOLUTIONS]


@pytest.mark.parametrize("path", [p for p in SOLUTIONS if p.stem != "window"], ids=lambda p: p.stem)
def test_solutions_run(path: Path, tmp_path: Path) -> None:
    run(path, tmp_path, DALA_DEVICE="cpu")


def test_the_window_of_the_exercise_bounces(screen: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "play.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(SOLUTIONS[0].parent)!r})\n"
        "import window\nball = window.main(frames=40)\nprint(ball.y > 60.0)\n"
    )
    assert run(script, tmp_path, **screen) == "True\n"


@pytest.mark.parametrize("page", ["surfaces.md", "tutorials/drawing.py"])
def test_the_windows_of_pages_open(page: str, screen: dict[str, str], tmp_path: Path) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    if page.endswith(".py"):
        run(DOCS / page, tmp_path, "--window", **screen)
        return
    found = re.findall(r"^```python needs a screen\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    script = tmp_path / "window.py"
    script.write_text(f"from dala import gpu\n{found[0]}print('closed')\n", encoding="utf-8")
    assert run(script, tmp_path, **screen) == "closed\n"


# -- coming from elsewhere -----------------------------------------------------------------------


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("section", ["OpenCV", "Pillow", "NumPy"])
def test_both_sides_of_a_table_do_the_same(section: str) -> None:
    import cv2
    from PIL import Image, ImageEnhance, ImageFilter, ImageOps

    text = (DOCS / "coming.md").read_text(encoding="utf-8")
    setup = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert setup is not None
    known: dict[str, Any] = {"cv2": cv2, "Image": Image, "ImageFilter": ImageFilter}
    known |= {"ImageEnhance": ImageEnhance, "ImageOps": ImageOps}
    exec(setup[1], known)  # the page is ours
    known["im"] = Image.fromarray(known["a"])
    part = text.split(f"\n## {section}")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| `([^`]+)` \| `([^`]+)`", part, re.MULTILINE)
    assert len(rows) >= 5
    for job, theirs, ours in rows:
        wanted, made = (levels(done(code, known)) for code in (theirs, ours))
        if wanted is not None and made is not None:
            assert wanted.shape == made.shape, job
            assert np.abs(wanted - made).mean() < OTHER_MEANING.get(job, SAME), job


SAME = 1.5  # levels, on average: borders, roundings and bells differ
OTHER_MEANING = {"contrast": 5, "posterize": 25}  # as the page says


def done(code: str, known: dict[str, Any]) -> Any:
    """What a line of the page comes to."""
    name, assigned, _ = code.partition(" = ")
    if not assigned:
        return eval(code, known)  # the page is ours
    exec(code, known)
    return known[name]


def levels(result: Any) -> Any:
    """Of a picture, grey ones as one plane; None of what is none, such as a command."""
    found = np.asarray(result)
    if found.dtype == object:
        return None
    grey = found.ndim == 3 and (found == found[..., :1]).all()
    return (found[..., 0] if grey else found).astype(float)


def code_of_dala(section: str) -> list[str]:
    """Pieces of code in the last column of a table, but those that only hint at what stands there."""
    text = (DOCS / "coming.md").read_text(encoding="utf-8")
    part = text.split(f"\n## {section}")[1].split("\n## ")[0]
    cells = re.findall(r"^\| [^|]+ \| [^|]+ \| (.+) \|$", part, re.MULTILINE)[1:]
    found = [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]
    return [code for code in found if "…" not in code]


def test_what_pygame_draws_dala_draws() -> None:
    from dala import gpu

    known: dict[str, Any] = {
        "gpu": gpu,
        "pixels": np.full((8, 8, 4), 200, np.uint8),
        "x": 9,
        "y": 5,
    }
    known |= {
        "circles": np.array([[20, 20, 9]]),
        "colors": np.array([[9, 9, 9, 255]], np.uint8),
    }
    found = [code for code in code_of_dala("pygame") if code not in ("once", "s.keys")]
    assert len(found) >= 10
    with gpu.create_surface(640, 360) as known["s"]:
        for code in found:
            exec(code, known)  # the page is ours
        known["s"].present().wait()
        assert np.frombuffer(known["s"].get_pixels(), np.uint8).max() == 255


def test_what_moviepy_makes_dala_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("av")
    from dala import video

    monkeypatch.chdir(tmp_path)
    for name in ("p.mp4", "p2.mp4"):
        with video.Writer(name, fps=10) as writer:
            for level in range(0, 240, 4):
                writer.write(np.full((64, 96, 3), level, np.uint8))
    known: dict[str, Any] = {
        "video": video,
        "p": "p.mp4",
        "p1": "p.mp4",
        "p2": "p2.mp4",
        "q": "q.mp4",
    }
    found = [code for code in code_of_dala("MoviePy") if code.startswith("video.")]
    assert len(found) >= 7
    for code in found:
        exec(code, known)  # the page is ours
        assert (tmp_path / ("clip.gif" if "clip.gif" in code else "q.mp4")).stat().st_size
