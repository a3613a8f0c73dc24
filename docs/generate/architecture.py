"""The house: packages as rooms in the layers that `make lint` holds them to, lines for who imports whom.

Everything is read from the sources: layers from pyproject.toml, imports and first sentences with ``ast``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "dala"
WIDTH, ROW, BOX, GAP = 760, 74, 44, 16
HELPERS = (
    "errors",
    "threads",
    "once",
    "leaving",
    "closing",
    "png",
    "forking",
    "locks",
    "colors",
    "_version",
)


def layers() -> list[list[str]]:
    """Rooms by layer, the uppermost first; files that serve all of them are left out."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^layers = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    rows = [re.findall(r"dala\.(\w+)", line) for line in re.findall(r'"([^"]+)"', listed[1])]
    found = [[room for room in row if room not in HELPERS] for row in rows]
    return [row for row in found if row]


def imports() -> Counter[tuple[str, str]]:
    """How many files of a room import another room."""
    rooms = {room for row in layers() for room in row}
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(SOURCES.rglob("*.py")):
        room = path.relative_to(SOURCES).parts[0]
        if room in rooms:
            found.update((room, other) for other in imported(path) & rooms - {room})
    return found


def imported(path: Path) -> set[str]:
    """The packages of dala that one file names, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "dala":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dala."):
            names.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {a.name.split(".")[1] for a in node.names if a.name.startswith("dala.")}
    return names


def direct(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The lines that do not follow from two others; the table has all of them."""
    reached = set(edges)
    for _ in edges:
        more = {(a, d) for a, b in reached for c, d in edges if b == c} - reached
        if not more:
            break
        reached |= more
    return {
        (a, d)
        for a, d in edges
        if not any((a, b) in reached and (b, d) in reached for _, b in edges)
    }


def sentence(room: str) -> str:
    """The first sentence of a package's docstring."""
    text = (SOURCES / room / "__init__.py").read_text(encoding="utf-8")
    found = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    return " ".join(found.split()).rstrip(".").replace("``", "`")


def places() -> dict[str, tuple[float, float, float]]:
    """Left, top and width of every room."""
    found = {}
    for k, row in enumerate(layers()):
        wide = min(220.0, (WIDTH - GAP) / len(row) - GAP)
        left = (WIDTH - len(row) * wide - (len(row) - 1) * GAP) / 2
        for n, room in enumerate(row):
            found[room] = (left + n * (wide + GAP), GAP + k * ROW, wide)
    return found


def drawing() -> str:
    """The import graph as SVG; the page's own colours, so it fits light and dark."""
    rooms, edges = places(), imports()
    height = GAP + len(layers()) * ROW
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" class="house" xmlns="http://www.w3.org/2000/svg">',
        "<title>Packages of dala, and who imports whom</title>",
    ]
    for above, below in sorted(direct(set(edges))):
        parts.append(line(rooms[above], rooms[below], above, below, edges[above, below]))
    for room, (left, top, wide) in rooms.items():
        middle = left + wide / 2
        parts.append(
            f'<g><rect x="{left:.0f}" y="{top}" width="{wide:.0f}" height="{BOX}" rx="8"/>'
            f'<text x="{middle:.0f}" y="{top + BOX / 2 + 5:.0f}">{room}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def line(
    a: tuple[float, float, float], b: tuple[float, float, float], above: str, below: str, count: int
) -> str:
    """A curve from the lower edge of a room to the upper edge of another; rows between are passed aside."""
    x0, y0, x1, y1 = a[0] + a[2] / 2, a[1] + BOX, b[0] + b[2] / 2, b[1]
    rows = (b[1] - a[1]) / ROW
    side = 0.0 if rows <= 1 else (38 * rows + 60) * (1 if hash_of(above + below) % 2 else -1)
    bend = f"C{x0 + side:.0f},{y0 + 24:.0f} {x1 + side:.0f},{y1 - 24:.0f}"
    thick = min(0.6 + count**0.5 / 2, 4)
    title = f"<title>{above} imports {below} in {count} files</title>"
    way = f"M{x0:.0f},{y0:.0f} {bend} {x1:.0f},{y1:.0f}"
    return f'<path d="{way}" stroke-width="{thick:.1f}">{title}</path>'


def hash_of(text: str) -> int:
    return sum(text.encode())


def pages() -> dict[str, str]:
    edges = imports()
    table = ["| package | | uses | is used by |", "|---|---|---|---|"]
    for row in layers():
        for room in row:
            uses = ", ".join(f"`{b}`" for (a, b) in sorted(edges) if a == room)
            used = ", ".join(f"`{a}`" for (a, b) in sorted(edges) if b == room)
            table.append(f"| `dala.{room}` | {sentence(room)} | {uses or '–'} | {used or '–'} |")
    text = (ROOT / "docs" / "architecture.txt").read_text(encoding="utf-8")
    return {
        "architecture.md": text.replace("DRAWING", drawing()).replace("TABLE", "\n".join(table))
    }
