"""A multiply and an add as one operation: what both compilers do to a kernel before it is fused.

It changes rounding, so it belongs to a kernel's own preparation: a stage then rounds the same way in
every pipeline.
"""

from __future__ import annotations

from collections import Counter

from dala.ir.graph import Node, make, walk


def contract_body(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """``a * b + c`` as one operation wherever the product has no other use."""
    uses = Counter(id(a) for n in walk(body) for a in n.args)
    uses.update(id(root) for root in body)
    single = {id(n) for n in walk(body) if n.op == "mul" and n.dtype.is_float and uses[id(n)] == 1}
    products: set[int] = set()  # rebuilt nodes that stand for such a product
    done: dict[int, Node] = {}
    for node in walk(body):
        args = tuple(done[id(a)] for a in node.args)
        fresh = node
        if any(x is not y for x, y in zip(args, node.args, strict=True)):
            fresh = Node(node.op, node.dtype, args, node.attr)
        if fresh.op == "add" and fresh.dtype.is_float:
            a, b = fresh.args
            if id(b) in products:
                fresh = make("fma", b.args[0], b.args[1], a)
            elif id(a) in products:
                fresh = make("fma", a.args[0], a.args[1], b)
        if id(node) in single:
            products.add(id(fresh))
        done[id(node)] = fresh
    return tuple(done[id(root)] for root in body)
