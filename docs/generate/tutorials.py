"""Tutorials: Python files that run, and the pages made of them.

A tutorial is a file of docs/tutorials: its docstring is the introduction (the first line the title),
comments that stand alone are prose, all else is code. It writes its results into the folder it runs in.
When the site is built every tutorial is run, and what it wrote is what the page shows; one that needs
weights of models is not, and its pictures lie in docs/models.

    # Prose, in Markdown. `![a soft photo](soft.jpg)` shows what the code above has written.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tutorials"
EXAMPLES = ROOT / "examples"
NOT_RUN = ("model",)  # needs weights
PATIENCE_S = 240
OWN = re.compile(r"(!\[[^\]]*\]\()([\w.-]+\))")  # pictures that the tutorial has written
CLIP = re.compile(r"!\[([^\]]*)\]\(([^)]+\.(?:mp4|webm))\)")
SOLUTION = re.compile(r"^\[A solution\]\(solutions/(\w+)\.py\)$", re.MULTILINE)
SHOWN = [".jpg", ".png", ".webp", ".gif", ".mp4", ".webm"]
SURFACES = ROOT / "docs" / "surfaces"


def pages() -> dict[str, str | bytes]:
    """Every page, and every picture and clip that the tutorials made."""
    found: dict[str, str | bytes] = {}
    for path in sorted(FOLDER.glob("*.py")):
        found[f"tutorials/{path.stem}.md"] = page(path.read_text(encoding="utf-8"), path.name)
        if path.stem not in NOT_RUN:
            for name, data in run(path).items():
                found[f"tutorials/{path.stem}/{name}"] = data
    found["tutorials/examples.md"] = examples()
    return found


def run(path: Path) -> dict[str, bytes]:
    """What a tutorial writes, by name. It is run as a reader would run it, in a folder of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "DALA_DEVICE": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "error", str(path)], cwd=folder, env=env, capture_output=True,
            text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{path.name} failed:\n{done.stdout}{done.stderr}")
        files = sorted(p for p in Path(folder).iterdir() if p.suffix in SHOWN)
        return {p.name: p.read_bytes() for p in files}


def page(source: str, name: str) -> str:
    """The file as Markdown."""
    tree = ast.parse(source)
    intro = ast.get_docstring(tree) or ""
    first = tree.body[0].end_lineno or 0
    title, _, rest = intro.partition("\n")
    whole = f"[The whole file](#the-whole-file) runs as it stands: `python docs/tutorials/{name}`."
    blocks = split("\n".join(source.splitlines()[first:]))
    body = [text if kind == "prose" else f"```python\n{text}\n```" for kind, text in blocks]
    tail = f"## The whole file\n\n{folded(name, source)}"
    text = "\n\n".join([f"# {title.rstrip('.')}", rest.strip(), whole, *body, tail])
    folder = name.removesuffix(".py")
    return CLIP.sub(clip, OWN.sub(rf"\g<1>{folder}/\g<2>", text))


def clip(match: re.Match[str]) -> str:
    """A clip plays by itself, silently, over and over."""
    about, address = match[1], match[2]
    return (
        f'<video src="{address}" title="{about}" autoplay loop muted playsinline controls></video>'
    )


def split(source: str) -> list[tuple[str, str]]:
    """Prose and code in turns: a comment that stands alone at the margin, after an empty line, is prose."""
    found: list[tuple[str, list[str]]] = []
    for paragraph in re.split(r"\n{2,}", source.strip("\n")):
        lines = paragraph.splitlines()
        prose = bool(lines) and all(line == "#" or line.startswith("# ") for line in lines)
        if prose:
            found.append(("prose", ["\n".join(line[2:] for line in lines)]))
        elif found and found[-1][0] == "code":
            found[-1][1].append(paragraph)
        else:
            found.append(("code", [paragraph]))
    return [(kind, "\n\n".join(parts)) for kind, parts in found]


def with_solutions(markdown: str) -> str:
    """Links to solutions, as the solutions themselves, folded."""

    def show(match: re.Match[str]) -> str:
        source = (FOLDER / "solutions" / f"{match[1]}.py").read_text(encoding="utf-8")
        return folded("A solution", source)

    return SOLUTION.sub(show, markdown)


def folded(title: str, source: str) -> str:
    code = "\n".join(f"    {line}".rstrip() for line in source.rstrip().splitlines())
    return f'??? example "{title}"\n\n    ```python\n{code}\n    ```\n'


def examples() -> str:
    """The programs of examples/, with their pictures."""
    lines = [
        "# Examples",
        "",
        "Programs of the folder `examples/`; most open a window with `--window`.",
        "",
    ]
    for path in sorted(EXAMPLES.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        about = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
        lines += [
            f"## {path.stem} {{ #{path.stem.replace('_', '-')} }}",
            "",
            " ".join(about.split()),
            "",
        ]
        if (SURFACES / f"{path.stem}.png").exists():
            lines += [f"![{path.stem}](../surfaces/{path.stem}.png)", ""]
        lines += [folded(path.name, source), ""]
    return "\n".join(lines)
