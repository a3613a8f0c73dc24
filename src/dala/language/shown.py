"""What ``print(p)`` in a kernel says: the formula of a value, cut where it becomes long.

A kernel runs once, on symbols: what it prints are formulas. ``dala.debug_kernel`` shows the numbers.
"""

from __future__ import annotations

from dala.ir.graph import Access, Extent, Gather, Node

DEPTH = 4  # of operations within operations
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "pow": "**", "floordiv": "//",
          "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|",
          "xor": "^", "shl": "<<", "shr": ">>"}  # fmt: skip


def show_node(node: Node, depth: int = DEPTH) -> str:
    """A node as one would write it: ``input0[0, 0].r * 0.5``."""
    attr = node.attr
    if node.op == "const":
        return f"{attr:g}" if isinstance(attr, float) else str(attr)
    if node.op == "param":
        return f"parameter{attr}"
    if node.op == "coord":
        return {0: "y", 1: "x"}.get(attr, f"index({attr})") if isinstance(attr, int) else "index"
    if isinstance(attr, Extent):
        return _extent(attr)
    if isinstance(attr, Access):
        return f"input{attr.source}[{attr.dx}, {attr.dy}].{'rgba'[attr.channel]}"
    if depth == 0:
        return "…"
    operands = [show_node(a, depth - 1) for a in node.args]
    if isinstance(attr, Gather):
        return f"input{attr.source}.at({', '.join(operands)}).{'rgba'[attr.channel]}"
    if node.op in _SIGNS and len(operands) == 2:
        infix = [a.op in _SIGNS for a in node.args]
        inner = [f"({o})" if i else o for o, i in zip(operands, infix, strict=True)]
        return f"{inner[0]} {_SIGNS[node.op]} {inner[1]}"
    return f"{'where' if node.op == 'select' else node.op}({', '.join(operands)})"


def _extent(extent: Extent) -> str:
    side = {0: "height", 1: "width"}.get(extent.axis, f"size({extent.axis})")
    return side if extent.source < 0 else f"input{extent.source}.{side}"
