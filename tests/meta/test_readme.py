"""The code of README and pages runs, in order, as a reader would type it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_files import Net

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
ELSEWHERE = ("models.md",)  # needs weights: tests/ml runs it where they are
WRITTEN = sorted(p for p in DOCS.rglob("*.md") if p.name not in ELSEWHERE)
PAGES = [README, *(p for p in WRITTEN if "```python" in p.read_text(encoding="utf-8"))]
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=indent)```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


def blocks(text: str) -> list[tuple[int, str]]:
    """Line and code of every block marked ``python``; ``python no-run (why)`` is left out, ``python needs
    av`` where there is no such module. ``needs a screen``: tests/docs runs it on a virtual one.
    """
    found = []
    for match in FENCE.finditer(text):
        kind, *needs = match["info"].split() or [""]
        if kind == "python" and (not needs or (needs[0] == "needs" and find_spec(needs[1]))):
            line = text.count("\n", 0, match.start("code")) + 1
            found.append((line, textwrap.dedent(match["code"])))
    return found


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\n```python no-run (y)\ny\n```\n```sh\nls\n```\n```python\nz\n```\n"
    assert blocks(text) == [(3, "x = 1\n"), (12, "z\n")]
    assert blocks("```\nx\n```\n") == []
    assert blocks("```python needs nothing_such\nx\n```\n") == []
    assert blocks("```python needs re\nx\n```\n") == [(2, "x\n")]
    assert blocks('=== "tab"\n\n    ```python\n    x\n    ```\n') == [(4, "x\n")]
    assert len(PAGES) > 12


def test_what_does_not_run_says_why() -> None:
    notes = [
        n for page in PAGES for n in re.findall(r"```python no-run(.*)", page.read_text("utf-8"))
    ]
    assert 0 < len(notes) < 5 and all(re.fullmatch(r" \(.{5,}\)", note) for note in notes)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    code = blocks(text)
    monkeypatch.chdir(tmp_path)
    if page.name == "networks.md":
        (tmp_path / "classifier.onnx").write_bytes(classifier())
    namespace: dict[str, Any] = {"__name__": "readme"}
    for line, block in code:
        # on its own lines, so that a traceback points into the README
        exec(compile("\n" * (line - 1) + block, str(page), "exec"), namespace)


def classifier() -> bytes:
    """A network for the page on networks: the mean colour, times a matrix."""
    net = Net()
    mean = net.add("ReduceMean", net.input("image", (1, 224, 224, 3)), axes=[1, 2], keepdims=0)
    weights = np.random.default_rng(0).random((3, 1000), np.float32)
    net.output(net.add("MatMul", mean, net.constant(weights)), 2)
    return net.bytes()


@pytest.mark.parametrize("page", [README, *WRITTEN], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)\s#]+)", text)
    start = DOCS if page.parent.name == "generate" else page.parent
    paths = {t: Path(os.path.normpath(start / t)) for t in targets}
    missing = [t for t, path in paths.items() if not path.exists() and path not in made()]
    assert missing == []


def made() -> set[Path]:
    """Pages that the site makes when it is built."""
    names = ["language.md", "architecture.md", "changelog.md", "contributing.md", "security.md"]
    names += [f"design/{p.name}" for p in (ROOT / "design").glob("*.md")]
    names += [f"results/{p.name}" for p in (ROOT / "bench" / "results").glob("*.md")]
    names += [f"tutorials/{p.stem}.md" for p in (DOCS / "tutorials").glob("*.py")]
    names += ["tutorials/examples.md", "reference/index.md", "reference/dala.errors.md"]
    names += ["reference/dala.scene.md"]
    return {DOCS / name for name in names}


def test_the_numbers_are_the_measured_ones() -> None:
    command = [sys.executable, str(README.parent / "bench" / "readme.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
