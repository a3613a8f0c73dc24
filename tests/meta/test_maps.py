"""A reader finds her way: every package says what is in it, and no file leads back to the one before."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src"
PACKAGES = sorted(path.parent for path in (SOURCE / "dala").rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_package_names_all_of_its_files(package: Path) -> None:
    map_ = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    names = [p.name for p in package.glob("*.py") if p.name != "__init__.py"]
    names += [p.name for p in package.iterdir() if (p / "__init__.py").exists()]
    assert not [name for name in sorted(names) if name not in map_]


def test_every_folder_of_tests_has_its_question() -> None:
    text = (TESTS / "README.md").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/*.py")}
    assert sorted(name for name in folders if f"`{name}`" not in text) == []


def test_what_wgpu_keeps_private_is_used_in_one_file() -> None:
    parts = re.compile(
        r"wgpu_native import|\._internal\b|\._poll_(?:wait|func)\b|_get_proxy_stack|\._map_state\b"
    )
    users = {
        str(file.relative_to(SOURCE))
        for file in (SOURCE / "dala").rglob("*.py")
        if parts.search(file.read_text(encoding="utf-8"))
    }
    assert users == {"dala/backends/webgpu/wgpu_private.py"}


def imports_of(module: str, file: Path, known: set[str]) -> set[str]:
    """The modules of dala that a file imports, now or later, for whatever reason."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name in known and name != module}


def modules() -> dict[str, set[str]]:
    files = {}
    for file in (SOURCE / "dala").rglob("*.py"):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return {name: imports_of(name, file, set(files)) for name, file in files.items()}


def find_circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, or none."""
    done: set[str] = set()

    def follow(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if circle := follow(other, [*path, name]):
                return circle
        done.add(name)
        return []

    for name in sorted(graph):
        if circle := follow(name, []):
            return circle
    return []


def test_no_file_is_imported_by_what_it_imports() -> None:
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert find_circle(modules()) == []
