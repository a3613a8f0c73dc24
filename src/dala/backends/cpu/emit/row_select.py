"""A choice between two rows that is the same for all pixels of a row, made by address.

A row of an enlarged image reads two rows of the small one, and which it reads is known for the whole row.
So of ``select(condition, row above, row below)`` one is read, and the other costs nothing.
"""

from __future__ import annotations

from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, RowSelect, image_rates
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.graph import Access, Node, map_nodes


def select_rows(emitter: BodyContext, body: RowBody) -> RowBody:
    """The body with such choices as single loads."""
    choices = {id(n): (n, found) for n in body.nodes if (found := _choice(emitter, n))}
    if not choices:
        return body
    rates = image_rates(body.roots)
    leaves = {
        key: Node("either", node.dtype, node.args[:1], found)
        for key, (node, found) in choices.items()
        if rates[id(node.args[0])] < LANE
    }
    return body.map(lambda roots: map_nodes(roots, lambda node: node, leaves))


def _choice(emitter: BodyContext, node: Node) -> RowSelect | None:
    """The two reads of buffered planes that a node chooses between, if it is one column of both."""
    if node.op != "select":
        return None
    a, b = node.args[1].attr, node.args[2].attr
    if not isinstance(a, Access) or not isinstance(b, Access) or a.dx != b.dx:
        return None
    if not emitter.in_planes(a.source) or not emitter.in_planes(b.source):
        return None
    return RowSelect(a, b) if emitter.step_to(a.source) == emitter.step_to(b.source) else None
