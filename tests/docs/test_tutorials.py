"""Tutorials and the solutions of exercises run, and both sides of the tables for newcomers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from processes import environment
from screen import virtual_screen

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATE = DOCS / "generate"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))
SOLUTIONS = sorted((DOCS / "tutorials" / "solutions").glob("*.py"))
NEEDS_WEIGHTS = ("model",)
PATIENCE_S = 300

screen = pytest.fixture(virtual_screen)


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a generator by its name; afterwards none of them is left among the modules."""
    monkeypatch.syspath_prepend(str(GENERATE))
    before = set(sys.modules)

    def load(name: str) -> ModuleType:
        return __import__(name)

    yield load
    for name in set(sys.modules) - before:
        if (GENERATE / f"{name}.py").exists():
            del sys.modules[name]


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
def test_both_sides_of_a_table_run(section: str) -> None:
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
    rows = re.findall(r"^\| [^|]+ \| (`[^`]+`) \| (`[^`]+`)", part, re.MULTILINE)
    assert len(rows) >= 5
    for row in rows:
        for cell in row:
            exec(cell.strip("`"), known)
