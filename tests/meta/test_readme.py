"""The code of README and pages runs, in order, as a reader would type it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [
    README,
    ROOT / "docs" / "surfaces.md",
    ROOT / "docs" / "media.md",
    ROOT / "docs" / "text.md",
    ROOT / "docs" / "video.md",
]
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> list[tuple[int, str]]:
    """Line and code of every block marked ``python``; ``python no-run`` is left out, ``python needs av``
    where there is no such module.
    """
    found = []
    for match in FENCE.finditer(text):
        kind, *needs = match["info"].split() or [""]
        if kind == "python" and (not needs or (needs[0] == "needs" and find_spec(needs[1]))):
            found.append((text.count("\n", 0, match.start("code")) + 1, match["code"]))
    return found


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\n```python no-run\ny\n```\n```sh\nls\n```\n```python\nz\n```\n"
    assert blocks(text) == [(3, "x = 1\n"), (12, "z\n")]
    assert blocks("```\nx\n```\n") == []
    assert blocks("```python needs nothing_such\nx\n```\n") == []
    assert blocks("```python needs re\nx\n```\n") == [(2, "x\n")]


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    code = blocks(text)
    assert code or " needs " in text, f"{page.name} has no ```python block"
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "readme"}
    for line, block in code:
        # on its own lines, so that a traceback points into the README
        exec(compile("\n" * (line - 1) + block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)\s#]+)", text)
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert missing == []


def test_the_numbers_are_the_measured_ones() -> None:
    command = [sys.executable, str(README.parent / "bench" / "readme.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
