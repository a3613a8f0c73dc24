"""Ctrl-C leaves no lock locked: what CPython makes of loops inside ``with lock``.

CPython 3.12 and 3.13 leave a conditional jump back to a loop's head out of the ``with`` (or ``try``) around
the loop (python/cpython#130279). Just there they look whether a signal has come, and an exception of its
handler then goes past ``__exit__``: the lock stays locked, and whoever needs it next waits for good.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import dala

SOURCES = Path(dala.__file__).parent
A_LOCK = re.compile(
    r"lock$|lock\(\)$|changed$|turn$|using$|compiling$|stacks$|registry$|painting$|native$"
)
MADE = re.compile(r"threading\.(R?Lock|Condition)\(")
ANOTHER_FUNCTION = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp,
)  # fmt: skip


def loops_under_locks(source: str) -> Iterator[int]:
    """Lines of loops inside of ``with lock`` that jump back under a condition."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.With):
            entered = [ast.unparse(item.context_expr) for item in node.items]
            if any(A_LOCK.search(name) for name in entered):
                yield from (n.lineno for n in within(node) if jumps_back_conditionally(n))


def within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ANOTHER_FUNCTION):
            yield child
            yield from within(child)


def jumps_back_conditionally(node: ast.AST) -> bool:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
        return any(part.ifs for part in node.generators)
    if isinstance(node, ast.For):
        return isinstance(node.body[-1], ast.If) or any(
            isinstance(n, ast.Continue) for n in within(node)
        )
    return isinstance(node, ast.While)


def test_no_loop_stands_inside_of_a_lock() -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{line}"
        for path in sorted(SOURCES.rglob("*.py"))
        for line in loops_under_locks(path.read_text())
    ]
    assert not found, f"put the loop into a function that is called there: {found}"


def test_such_loops_are_found() -> None:
    source = """
with self._lock:
    while x:
        y()
    for a in b:
        if a:
            c()
    for a in b:
        c()
    d = [a for a in b if a]
    e = [a for a in b]
with open(path) as file:
    while file.read():
        pass
"""
    assert list(loops_under_locks(source)) == [3, 5, 10]


def locks_of_threading(source: str) -> Iterator[str]:
    """Names that a lock of ``threading`` is given to, and that stand in a ``with``."""
    tree = ast.parse(source)
    entered = {
        ast.unparse(item.context_expr)
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        for item in node.items
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and MADE.match(ast.unparse(node.value)):
            yield from ({ast.unparse(target) for target in node.targets} & entered)


def test_what_stands_in_a_with_is_of_dala_locks() -> None:
    found = {
        f"{path.relative_to(SOURCES).as_posix()}: {name}"
        for path in sorted(SOURCES.rglob("*.py"))
        for name in locks_of_threading(path.read_text(encoding="utf-8"))
    }
    assert found == {"video/source.py: self._lock"}, "dala.locks says why not"


def test_locks_of_threading_are_found() -> None:
    source = "a = threading.Lock()\nb = threading.Condition()\nc = locks.lock()\n"
    assert sorted(locks_of_threading(f"{source}with a, c:\n    pass\nwith b:\n    pass")) == [
        "a",
        "b",
    ]
    assert list(locks_of_threading(f"{source}a.acquire()")) == []
