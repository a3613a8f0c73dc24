"""What `mkdocs build` calls: pages that nobody writes by hand, and links that lead out of docs/.

    hook.py          this: which page comes from where
    reference.py     the API, from docstrings and types
    words.py         the kernel language, from its own words (examples.py, language.md)
    architecture.py  the import graph as a drawing
    tutorials.py     runnable files → pages, with what they made
    links.py         links of the repository → links of the site
    images.py        the sizes of images; clips that may stand still
    check.py         the built site: dead links, resources from elsewhere

Nothing of this is written into the repository. All but this file know nothing of MkDocs; the tests use
them without it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))

import architecture
import images
import links
import reference
import tutorials
import words

ROOT = Path(__file__).parents[2]
COPIED = {  # pages of the repository that the site shows, too
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{f"design/{p.name}": f"design/{p.name}" for p in sorted((ROOT / "design").glob("*.md"))},
    **{
        f"bench/results/{p.name}": f"results/{p.name}"
        for p in sorted((ROOT / "bench" / "results").glob("*.md"))
    },
}
FIRST = {  # what a search should find before the rest
    "kernels.md": 4, "language.md": 3, "troubleshooting.md": 4, "start.md": 2,
    "changelog.md": 0.3,
}  # fmt: skip
PICTURES = sorted((ROOT / "bench" / "results").glob("*.png"))


def on_files(files: Files, *, config: Any) -> Files:
    """Add what is generated."""

    def add(path: str, content: str | bytes) -> None:
        files.append(File.generated(config, path, content=content))

    for source, target in COPIED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        add(target, links.rewrite(text, source, COPIED))
    for picture in PICTURES:
        add(f"results/{picture.name}", picture.read_bytes())
    for made in (reference, words, architecture, tutorials):
        for path, content in made.pages().items():
            add(path, content)
    return files


def on_page_markdown(markdown: str, *, page: Any, **_more: Any) -> str:
    """Links of a page in docs/ that leave it, and its rank in a search."""
    inside = page.file.src_uri.startswith(("design/", "results/"))
    page.meta["search"] = {"boost": FIRST.get(page.file.src_uri, 0.5 if inside else 1)}
    if page.file.generated_by:
        return markdown
    markdown = tutorials.with_solutions(markdown)
    return links.rewrite(markdown, f"docs/{page.file.src_uri}", COPIED)


def on_page_content(html: str, *, page: Any, config: Any, **_more: Any) -> str:
    """A page as HTML."""
    folder = (Path(config.docs_dir) / page.file.dest_uri).parent  # pages lie as in docs/

    def size_of(address: str) -> tuple[int, int] | None:
        path = folder / address
        if path.suffix == ".svg" or not path.is_file():
            return None
        with Image.open(path) as opened:
            return opened.size

    return images.settle(html, size_of)
