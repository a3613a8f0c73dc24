"""Links between files of the repository, as links between pages of the site.

Pages of the site stand in docs/ and its folders; what stands elsewhere in the repository and is shown on
the site has a place there (``COPIED`` of hook.py). Sources are no pages: their links become plain words.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

LINK = re.compile(
    r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)"
)
FENCE = re.compile(r"^([ ]*)```.*?^\1```[ \t]*$", re.MULTILINE | re.DOTALL)  # within a tab, too
EXAMPLES = "examples/"
RUN = re.compile(
    r"^([ ]*```python) (?:no-run \(.+\)|needs [\w ]+)$", re.MULTILINE
)  # notes for tests


def rewrite(text: str, source: str, places: Mapping[str, str]) -> str:
    """``text`` of the file ``source`` (a path of the repository) with the links of the site."""
    target = place_of(source, places)
    assert target is not None, f"{source} is no page"

    def change(match: re.Match[str]) -> str:
        bang, label, path, anchor = match[1], match[2], match[3], match[4] or ""
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if whole.startswith(EXAMPLES) and whole.endswith(".py"):
            name = posixpath.basename(whole).removesuffix(".py").replace("_", "-")
            return f"[{label}]({relative('tutorials/examples.md', target)}#{name})"
        there = place_of(whole, places)
        if there is None:  # a source, a folder: a plain word
            return label
        return f"{bang}[{label}]({relative(there, target)}{anchor})"

    pieces, at = [], 0
    for fence in FENCE.finditer(text):
        pieces += [LINK.sub(change, text[at : fence.start()]), fence[0]]
        at = fence.end()
    pieces.append(LINK.sub(change, text[at:]))
    return RUN.sub(r"\1", "".join(pieces))


def place_of(path: str, places: Mapping[str, str]) -> str | None:
    """Where a file of the repository stands on the site."""
    if path in places:
        return places[path]
    if path == "README.md":
        return "index.md"
    if path.startswith("bench/results/") and path.endswith(".png"):
        return path.removeprefix("bench/")
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def relative(target: str, page: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page) or ".")
