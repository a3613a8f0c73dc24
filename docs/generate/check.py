"""Look at the built site: every link leads somewhere, and no page loads anything from elsewhere.

python docs/generate/check.py site
"""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOUND_BY_SEARCH = ("blur", "mix", "out of memory")
LOADED = {("img", "src"), ("script", "src"), ("video", "src"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """The links, the names of places, and what the browser loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.foreign: list[str] = []
        self.feed(text)

    def has(self, place: str) -> bool:
        return not place or place in self.names

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        self.names |= {given[k] for k in ("id", "name") if given.get(k)}
        for key in ("href", "src"):
            value = given.get(key, "")
            loaded = (tag, key) in LOADED or (
                tag == "link" and "stylesheet" in given.get("rel", "")
            )
            if loaded and urlsplit(value).scheme in ("http", "https"):
                self.foreign.append(value)
            elif value and not urlsplit(value).scheme:
                self.links.append(value)


def check(site: Path) -> list[str]:
    """What is wrong with it, one line each."""
    pages = {p: Page(p.read_text(encoding="utf-8")) for p in sorted(site.rglob("*.html"))}
    wrong = [f"{p.name}: loads {a}" for p, page in pages.items() for a in page.foreign]
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if link.startswith("/"):
                continue  # the page for what is not found, of servers
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{path.relative_to(site)}: {link} leads nowhere")
            elif target in pages and not pages[target].has(unquote(address.fragment)):
                wrong.append(f"{path.relative_to(site)}: no place {link}")
    return wrong + missing_words(site)


def missing_words(site: Path) -> list[str]:
    """What readers search for and would not find."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    texts = [f"{d['title']} {d['text']}".lower() for d in index["docs"]]
    return [f"search finds no {w!r}" for w in FOUND_BY_SEARCH if not any(w in t for t in texts)]


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    wrong = check(site)
    if wrong:
        raise SystemExit("\n".join(wrong))
    files = [p for p in site.rglob("*") if p.is_file()]
    size = sum(p.stat().st_size for p in files) / 2**20
    print(
        f"{len(list(site.rglob('*.html')))} pages, {size:.1f} MB; no dead link, nothing from elsewhere"
    )


if __name__ == "__main__":
    main()
