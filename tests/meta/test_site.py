"""The site without MkDocs: what its generators make is whole and true; tutorials and solutions run."""

from __future__ import annotations

import os
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

from dala.language.interpret import EXPRESSIONS, OPERATORS, SIGNS, STATEMENTS
from dala.language.vocabulary import VOCABULARY

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATE = DOCS / "generate"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))
SOLUTIONS = sorted((DOCS / "tutorials" / "solutions").glob("*.py"))
NEEDS_WEIGHTS = ("model",)
MINUTES = 300  # seconds of patience

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
        env=environment(**{**env, "PYTHONPATH": str(ROOT / "src")}), text=True, timeout=MINUTES,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# -- the kernel language -----------------------------------------------------------------------


def test_every_word_of_the_language_has_an_example(generate: Any) -> None:
    examples = generate("examples")
    grouped = [word for group in examples.GROUPS.values() for word in group]
    assert sorted(grouped) == sorted(VOCABULARY)
    assert set(examples.WORDS) == set(VOCABULARY)
    shown = [e for e in examples.WORDS.values() if e.number or e.picture or e.tensor]
    assert len(shown) == len(VOCABULARY)
    assert set(examples.CONSTRUCTS) == {k.__name__ for k in (*STATEMENTS, *EXPRESSIONS)}


@pytest.mark.usefixtures("registry")
def test_the_page_of_the_language_computes_what_it_shows(generate: Any) -> None:
    words = generate("words")
    pages = words.pages()
    text = pages["language.md"]
    assert "`mix(2.0, 6.0, 0.25)` = 3" in text and "`round(2.5)` = 2" in text
    assert "= [[0, 1, 2], [10, 11, 12]]" in text and "`(-7) // 2` = -4" in text
    for symbol in (words.SYMBOLS[k.__name__] for k in (*OPERATORS, *SIGNS)):
        assert f"`{symbol}".replace("|", "\\|") in text
    assert "<!--" not in text and "import" in words.refusal(words.examples.REFUSED[0])
    pictures = re.findall(r"\(language/(\w+)\.png\)", text)
    assert len(pictures) > 25
    for name in pictures:
        assert pages[f"language/{name}.png"].startswith(b"\x89PNG"), name


# -- the reference, the architecture ------------------------------------------------------------


def test_the_reference_has_every_public_name(generate: Any) -> None:
    reference = generate("reference")
    pages = reference.pages()
    recorded = (ROOT / "tests" / "meta" / "api.txt").read_text(encoding="utf-8").splitlines()
    names = {re.match(r"(?:class )?([\w.]+)", line)[1] for line in recorded}  # type: ignore[index]
    missing = []
    for name in names:
        module, _, last = name.rpartition(".")
        page = pages.get(f"reference/{module}.md")
        if page is not None and not name.startswith("dala.__") and f"# {last} {{" not in page:
            missing.append(name)
    modules = {
        f"dala.{n}"
        for n in ("compute", "errors", "fleet", "gpu", "media", "ml", "text", "video", "scene")
    }
    modules |= {"dala.gpu.command", "dala.media.looks", "dala.media.annotate"}
    assert set(missing) <= modules
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [p for p in pages if p not in nav] == []


def test_the_navigation_lists_every_page(generate: Any) -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    written = [str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md") if p.parent != GENERATE]
    written += [f"tutorials/{p.stem}.md" for p in TUTORIALS]
    assert [name for name in written if name.replace(os.sep, "/") not in nav] == []


def test_the_drawing_has_every_package_and_its_lines_point_down(generate: Any) -> None:
    architecture = generate("architecture")
    rooms = architecture.places()
    packages = {p.parent.name for p in (ROOT / "src" / "dala").glob("*/__init__.py")}
    assert set(rooms) == packages
    edges = architecture.imports()
    assert all(rooms[above][1] < rooms[below][1] for above, below in edges)
    assert ("media", "compute") in edges and ("compute", "media") not in edges
    direct = architecture.direct({("a", "b"), ("b", "c"), ("a", "c")})
    assert direct == {("a", "b"), ("b", "c")}
    text = architecture.pages()["architecture.md"]
    assert text.count("<rect") == len(packages) and "DRAWING" not in text


def test_links_lead_to_pages_of_the_site(generate: Any) -> None:
    links = generate("links")
    places = {"design/media.md": "design/media.md", "bench/results/peers.md": "results/peers.md"}

    def at(source: str, text: str) -> str:
        return str(links.rewrite(text, source, places))

    assert at("docs/media.md", "[m](../design/media.md#a)") == "[m](design/media.md#a)"
    assert at("design/media.md", "[k](../docs/kernels.md)") == "[k](../kernels.md)"
    assert at("docs/a.md", "[p](../examples/plot.py)") == "[p](tutorials/examples.md#plot)"
    assert at("docs/a.md", "[s](../src/dala/png.py)") == "s"
    assert at("docs/a.md", "![p](../bench/results/peers.png)") == "![p](results/peers.png)"
    code = "```python needs av\n[x](../design/media.md)\n```"
    assert at("docs/a.md", code) == code.replace(" needs av", "")


def test_dead_links_and_foreign_resources_are_found(generate: Any, tmp_path: Path) -> None:
    check = generate("check")
    (tmp_path / "search").mkdir()
    index = '{"docs": [{"title": "blur and mix", "text": "out of memory"}]}'
    (tmp_path / "search" / "search_index.json").write_text(index)
    (tmp_path / "b.html").write_text("<p id=here>")
    (tmp_path / "a.html").write_text("<a href=b.html#here></a><a href='https://x.org'></a>")
    assert check.check(tmp_path) == []
    (tmp_path / "a.html").write_text(
        "<a href=c.html></a><a href=b.html#there></a><script src='https://x.org/a.js'></script>"
    )
    (tmp_path / "search" / "search_index.json").write_text('{"docs": []}')
    assert len(check.check(tmp_path)) == 3 + len(check.FOUND_BY_SEARCH)


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
