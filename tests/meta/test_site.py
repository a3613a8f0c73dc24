"""The site without MkDocs: what its generators make is whole and true."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from site_generators import GENERATE, generators

from dala.language.interpret import EXPRESSIONS, OPERATORS, SIGNS, STATEMENTS
from dala.language.vocabulary import VOCABULARY

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))
generate = pytest.fixture(generators)


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
    assert "`rgba(1.0, 0.5, 0.25, 0.8)` = 1, 0.5, 0.25, 0.8" in text
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
    assert (
        "* `radius`: a whole number in 0..100. Reach of the window"
        in pages["reference/dala.media.md"]
    )


def test_the_navigation_lists_every_page(generate: Any) -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    written = [str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md") if p.parent != GENERATE]
    written += [f"tutorials/{p.stem}.md" for p in TUTORIALS]
    missing = [name for name in written if name.replace(os.sep, "/") not in nav]
    assert missing == [], "pages that nobody finds: list them under nav in mkdocs.yml"


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
    tab = '=== "theirs"\n\n    ```python no-run (theirs)\n    [x](../design/media.md)\n    ```'
    assert at("docs/a.md", tab) == tab.replace(" no-run (theirs)", "")


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
