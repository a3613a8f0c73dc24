"""A multiply that feeds one add becomes a fused multiply-add.

This changes rounding, so it is done to a kernel's own program, before anything is fused: the same
stage then rounds the same way in every pipeline.
"""

from __future__ import annotations

from collections import Counter

from dala.ir.graph import Node, Program, make, walk


def contract_program(program: Program) -> Program:
    """The program with ``a * b + c`` as one operation wherever the product has no other use."""
    return program.map_bodies(_contract_body)


def _contract_body(body: tuple[Node, ...]) -> tuple[Node, ...]:
    uses = Counter(id(a) for n in walk(body) for a in n.args)
    uses.update(id(root) for root in body)
    single = {id(n) for n in walk(body) if n.op == "mul" and n.dtype.is_float and uses[id(n)] == 1}
    products: dict[int, bool] = {}

    def contract(node: Node) -> Node:
        if node.op == "add" and node.dtype.is_float:
            a, b = node.args
            if products.get(id(b)):
                return make("fma", b.args[0], b.args[1], a)
            if products.get(id(a)):
                return make("fma", a.args[0], a.args[1], b)
        return node

    # nodes are rebuilt on the way, so remember which of the new ones stand for single-use products
    done: dict[int, Node] = {}
    for node in walk(body):
        args = tuple(done[id(a)] for a in node.args)
        fresh = (
            node
            if all(x is y for x, y in zip(args, node.args, strict=True))
            else Node(node.op, node.dtype, args, node.attr)
        )
        fresh = contract(fresh)
        products[id(fresh)] = id(node) in single and fresh.op == "mul"
        done[id(node)] = fresh
    return tuple(done[id(root)] for root in body)
