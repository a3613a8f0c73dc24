"""Ctrl-C skips no cleaning up: what CPython makes of loops inside of ``with`` and of ``try … finally``.

CPython 3.12 to 3.14 leave a conditional jump back to a loop's head out of the ``with`` or ``try`` around
the loop (python/cpython#130279; 3.14 mended ``while`` alone). Just there they look whether a signal has
come, and an exception of its handler then goes past ``__exit__`` and ``finally``: a lock stays locked for
good, a part of a file stays behind. So such a loop stands in a function of its own, called from there.
"""

from __future__ import annotations

import ast
import dis
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import dala

SOURCES = Path(dala.__file__).parent
SKIPS = (3, 12) <= sys.version_info < (3, 15)
# Whose end may be left out: errors only get another name there, or a file that is forgotten is closed.
HARMLESS = re.compile(r"^(ffmpeg_errors|([\w.]+\.)?open)\(")
# Signals come to the main thread. These are only called on threads of their own.
ELSEWHERE = {
    "fleet/local.py": "_serve",
    "scene/sources/ahead.py": "_serve",
    "scene/sources/live.py": "_read_all",
    "video/latest.py": "_run",
}
MADE = re.compile(r"threading\.(R?Lock|Condition)\(")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
PLAIN_ENDS = (  # of a loop's body: from there it jumps back without a condition
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Pass, ast.Raise, ast.For,
    ast.With, ast.Try,
)  # fmt: skip


def loops_with_an_end_to_come(source: str, elsewhere: str = "") -> Iterator[Any]:
    """Loops that jump back under a condition, with something around them that must not be left out."""
    for whole in ast.walk(ast.parse(source)):
        if isinstance(whole, (ast.Module, *FUNCTIONS)) and getattr(whole, "name", "-") != elsewhere:
            for guard in within([whole]):
                yield from filter(jumps_back, guarded_by(guard))


def within(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Everything below them, but what is in other functions."""
    for node in nodes:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, FUNCTIONS):
                yield child
                yield from within([child])


def guarded_by(node: ast.AST) -> Iterator[ast.AST]:
    """What has an end to come, if the node is of that kind."""
    parts: list[ast.stmt] = []
    if isinstance(node, ast.With | ast.AsyncWith):
        entered = [ast.unparse(item.context_expr) for item in node.items]
        parts = [] if all(HARMLESS.match(name) for name in entered) else node.body
    elif isinstance(node, ast.Try) and (node.finalbody or any(map(catches_all, node.handlers))):
        handled = [s for h in node.handlers for s in h.body] if node.finalbody else []
        parts = [*node.body, *node.orelse, *handled]
    parts = [part for part in parts if not isinstance(part, FUNCTIONS)]
    yield from parts
    yield from within(parts)


def catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or ast.unparse(handler.type) in (
        "BaseException",
        "KeyboardInterrupt",
    )


def jumps_back(node: ast.AST) -> bool:
    """Whether it is a loop that goes on to its next round by way of a condition."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
        return any(part.ifs for part in node.generators)
    if isinstance(node, ast.Call):  # 3.14 writes these loops out
        known = ast.unparse(node.func) in ("any", "all", "tuple")
        return known and any(isinstance(argument, ast.GeneratorExp) for argument in node.args)
    endless = isinstance(node, ast.While) and ast.unparse(node.test) == "True"
    if isinstance(node, ast.For | ast.AsyncFor) or endless:
        return not isinstance(node.body[-1], PLAIN_ENDS)
    return isinstance(node, ast.While)


def jumps_past_an_end(code: CodeType) -> Iterator[int]:
    """Lines from which the interpreter at hand jumps back without what is around the loop's head."""
    steps = list(dis.get_instructions(code))
    numbers = {step.offset: n for n, step in enumerate(steps)}
    covered = dis._parse_exception_table(code)  # type: ignore[attr-defined]

    def ends(offset: int) -> list[int]:
        found: list[int] = []
        while (entry := next((e for e in covered if e.start <= offset < e.end), None)) is not None:
            if entry.target in found:
                return found
            offset = entry.target
            names = [step.opname for step in steps[numbers[offset] : numbers[offset] + 6]]
            if names[0] == "PUSH_EXC_INFO" and "CHECK_EXC_MATCH" not in names:
                found.append(offset)
        return found

    for step in steps:
        line = step.positions.lineno  # none: an exception was thrown into ``yield from``
        back = step.opname in ("JUMP_BACKWARD", "JUMP_BACKWARD_JIT")
        if back and line and set(ends(step.argval)) - set(ends(step.offset)):
            yield line
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from jumps_past_an_end(inner)


def test_no_loop_stands_where_ctrl_c_would_skip_an_end() -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{loop.lineno}"
        for path in sorted(SOURCES.rglob("*.py"))
        for loop in loops_with_an_end_to_come(
            path.read_text(), ELSEWHERE.get(path.relative_to(SOURCES).as_posix(), "")
        )
    ]
    assert not found, f"put the loop into a function that is called there: {sorted(set(found))}"


def test_who_is_left_out_is_there() -> None:
    for file, function in ELSEWHERE.items():
        whole = list(loops_with_an_end_to_come((SOURCES / file).read_text()))
        rest = list(loops_with_an_end_to_come((SOURCES / file).read_text(), function))
        assert len(rest) < len(whole), f"{file}: {function} needs no exception any more"


SHAPES = """
def a():
    with lock:
        while x:                    # found
            y()
def b():
    with here, lock:
        for a in b:                 # found
            if a:
                c()
        for a in b:
            c()
        for a in b:                 # found
            assert a
        for a in b:                 # found
            match a:
                case 1:
                    c()
        for a in b:
            if a:
                c()
            d()
        for a in b:
            if a:
                continue
            c()
        for a in b:
            with e:
                c()
        for a in b:
            for d in a:             # found
                if d:
                    c()
def c():
    with lock:
        d = [a for a in b if a]     # found
        e = [a for a in b]
        f = {a: a for a in b if a}  # found
        g = any(a for a in b)       # found
        h = sum(a for a in b if a)
async def d():
    async with lock:
        async for a in b:           # found
            if a:
                c()
def e():
    try:
        while x:                    # found
            y()
    finally:
        z()
def f():
    try:
        while x:                    # found
            y()
    except BaseException:
        z()
def g():
    try:
        while x:
            y()
    except ValueError:
        z()
def h():
    with lock:
        while True:
            if x:
                break
            y()
        while True:                 # found
            if y():
                break
def i():
    with lock:
        def inner():
            while x:
                y()
        k(inner)
def j():
    while x:
        with lock:
            y()
def k():
    with open(path) as file:
        while file.read():
            pass
class L:
    def m(self):
        def n():
            with lock:
                while x:            # found
                    y()
"""


def test_such_loops_are_found() -> None:
    marked = [n for n, line in enumerate(SHAPES.splitlines(), 1) if line.endswith("# found")]
    assert sorted({loop.lineno for loop in loops_with_an_end_to_come(SHAPES)}) == marked


@pytest.mark.skipif(not SKIPS, reason="this Python leaves nothing out")
def test_the_interpreter_leaves_out_no_end_but_those(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [SHAPES, *(path.read_text() for path in sorted(SOURCES.rglob("*.py")))]
    monkeypatch.setattr(sys.modules[__name__], "HARMLESS", re.compile("(?=1)0"))  # here all counts
    assert sum(_all_known(source) for source in sources) > 5


def _all_known(source: str) -> int:
    loops = list(loops_with_an_end_to_come(source))
    known = {line for loop in loops for line in range(loop.lineno, (loop.end_lineno or 0) + 1)}
    left_out = set(jumps_past_an_end(compile(source, "-", "exec")))
    assert left_out <= known
    return len(left_out)
