"""Rows that are the same as the row before: computed once, then buffered.

A body that gathers and reads nothing at its own position knows of its row only what it computes from the
row's number. Where that is whole numbers alone (the rows of pixels it gathers), they often stay the same
for several rows: blocks of a mosaic, a picture enlarged. Such channels become a body of their own, whose
row is buffered as bytes and computed again only when one of those numbers changes. The operations are the
same, only fewer of them: no bit of the result can change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dala.backends.cpu.arithmetic.base import CpuArithmetic
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, ROW, LaneWriter, image_rates
from dala.backends.cpu.schedule.sweep import Form
from dala.ir.dtypes import F32, S32
from dala.ir.graph import PLAIN, Access, Gather, Node, accesses, const, in_order, make
from dala.plan.fuse import Body

MIN_READS = 3  # pixels gathered for each one; fewer are read as fast as the buffered row


@dataclass(frozen=True)
class RepeatedArithmetic(CpuArithmetic):
    """F32, in rows that may be those of the row before."""

    def form(self, body: Body, bytes_wanted: bool) -> Form:
        return "u8"

    def write(self, body: BodyContext) -> None:
        body.unchanged = compare_rows(body, body.write_values())


REPEATED = RepeatedArithmetic("repeated", relative_cost=0.25)


def buffer_repeated(body: Body, source: int) -> tuple[Body, Body] | None:
    """The body that buffers rows for later ones, as ``source``, and the one that reads them."""
    if body.arithmetic != PLAIN or body.buffered or len(body.stores) != 1:
        return None
    (store,) = body.stores
    if len(store.values) != 4 or any(n.op not in ("level", "const") for n in store.values):
        return None
    chosen = [n.op == "level" and not any(accesses([n])) for n in store.values]
    roots = [n for n, take in zip(store.values, chosen, strict=True) if take]
    positions = {
        (n.attr.source, n.args)
        for n in in_order(tuple(roots))
        if n.op == "gather" and isinstance(n.attr, Gather)
    }
    if len(positions) < MIN_READS or any(n.dtype != S32 for n in row_inputs(roots)):
        return None
    buffered, values = [], []
    for channel, (node, take) in enumerate(zip(store.values, chosen, strict=True)):
        load = make("level", Node("load", F32, (), Access(source, channel)))
        buffered.append(node if take else const(0.0, F32))
        values.append(load if take else node)
    holder = Body(f"rows of {body.label}", tuple(buffered), (), arithmetic=REPEATED, mip=body.mip)
    return holder, replace(body, stores=(replace(store, values=tuple(values)),))


def row_inputs(roots: Sequence[Node]) -> list[Node]:
    """The values that change from row to row and are operands of values that change along the row."""
    rates = image_rates(tuple(roots))
    along = [n for n in in_order(tuple(roots)) if rates[id(n)] == LANE]
    return list({id(a): a for n in along for a in n.args if rates[id(a)] == ROW}.values())


def compare_rows(body: BodyContext, writer: LaneWriter) -> str:
    """Code that asks whether these values are those of the row that was computed last."""
    numbers, code = row_inputs(body.body.roots), body.row
    last = body.owner.scratch((len(numbers) + 1) * 4)
    body.uniform.line(f"store i32 0, ptr {last}, align 4")  # none yet
    before = code.op(f"load i32, ptr {last}, align 4")
    same = code.op(f"icmp ne i32 {before}, 0")
    for index, node in enumerate(numbers, 1):
        address = code.op(f"getelementptr i32, ptr {last}, i64 {index}")
        before, now = code.op(f"load i32, ptr {address}, align 4"), writer.names[id(node)]
        same = code.op(f"and i1 {same}, {code.op(f'icmp eq i32 {before}, {now}')}")
        code.line(f"store i32 {now}, ptr {address}, align 4")
    code.line(f"store i32 1, ptr {last}, align 4")
    return same
