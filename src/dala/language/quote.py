"""Diagnostics of the kernel language: what is wrong, and the user's own line.

quote_line(...)   the form of every diagnostic
quote_node(...)   the same, for a part of a parsed text
describe(value)   a value's kind, in the words of the language
"""

from __future__ import annotations

import ast

from dala.language.values import Image, Scalar, Tensor, Vec

SHOWN = 100  # characters of a source line that a diagnostic quotes

_KINDS = {
    int: "a whole number", float: "a number", bool: "True or False", complex: "a complex number",
    tuple: "a tuple", str: "a string", bytes: "a string", type(None): "None", type(...): "'...'",
    Scalar: "a number", Vec: "a pixel", Image: "an image", Tensor: "a tensor",
}  # fmt: skip


def quote_line(kernel: str, line_number: int, line: str, column: int | None, message: str) -> str:
    """A diagnostic: kernel and line number, what is wrong, the line itself, a caret under it.

    An empty ``kernel`` means that its name is unknown. A message that already quotes a line (that
    of an inner kernel) stays as it is.
    """
    if message.startswith(("kernel '", "kernel text")):
        return message
    name = f"kernel {kernel!r}" if kernel else "kernel text"
    shown = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line.rstrip())
    start = len(shown) - len(shown.lstrip())
    if column is not None and column - start >= SHOWN:  # a long line: quote the part that matters
        start = column - SHOWN // 2
    lines = [f"{name}, line {line_number}: {message}"]
    if shown[start:]:
        lines.append("    " + shown[start : start + SHOWN])
        if column is not None and column >= start:
            gap = "".join("\t" if c == "\t" else " " for c in shown[start:column])
            lines.append(f"    {gap}^")
    return "\n".join(lines)


def quote_node(kernel: str, source: str, node: ast.AST | None, message: str) -> str:
    """A diagnostic at one part of a parsed text."""
    number, column = getattr(node, "lineno", 1), getattr(node, "col_offset", None)
    line = source.split("\n")[number - 1]
    if column is not None:  # the tree counts bytes
        column = len(line.encode()[:column].decode(errors="ignore"))
    return quote_line(kernel, number, line, column, message)


def describe(value: object) -> str:
    """What kind of value it is, in the words of the kernel language."""
    return _KINDS.get(type(value), type(value).__name__)
