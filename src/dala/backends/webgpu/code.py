"""WGSL being written: every value has a name, and an expression seen before keeps its name."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class Code:
    """Lines of one function body.

    Naming by expression is what shares work between the pixels of one invocation: neighbours ask for the
    same loads and the same partial results, in the same words.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[Hashable, str] = {}
        self._count = 0
        self._depth = 1

    def line(self, text: str) -> None:
        """One statement as it is."""
        self.lines.append("    " * self._depth + text)

    def let(self, expression: str) -> str:
        """The name of an expression's value; a name or a literal stands for itself."""
        if _is_atom(expression):
            return expression
        found = self._names.get(expression)
        if found is None:
            found = self._names[expression] = f"v{self._count}"
            self._count += 1
            self.line(f"let {found} = {expression};")
        return found

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A nested block; names made inside are forgotten behind it."""
        self.line(f"{head} {{" if head else "{")
        outside = dict(self._names)
        self._depth += 1
        yield
        self._depth -= 1
        self._names = outside
        self.line("}")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def _is_atom(text: str) -> bool:
    return text.replace("_", "").replace(".", "").isalnum() or (
        text[0] == "-" and text[1:].replace(".", "").isalnum()
    )
