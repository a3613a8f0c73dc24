"""While a body works on buffered rows, memory brings what is read next.

A sweep reads memory in one body and works on buffered rows in the others; while those run, memory would
stand idle, and the next row would be waited for again. So the first body that reads no memory asks, vector
by vector, for the row that is read in the next step. For images larger than the caches a chain takes a
sixth less; for others nothing changes. A body that does little besides writing leaves memory no time (two
colour mixes took 7 % longer), so it does not ask.
"""

from __future__ import annotations

from dala.backends.cpu.arithmetic.base import arithmetic_of
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.graph import accesses

CACHE_LINE = 64
INTO_L2 = 2


def fetch_ahead(body: BodyContext) -> None:
    """Ask for the inputs of the next step, if this is the body that does so."""
    bodies, order = body.owner.bodies, body.owner.sweep.order
    inputs = range(len(body.work.reads))
    able = [n for n in order if _leaves_time(bodies[n], len(inputs))]
    if body.owner.image and able[:1] == [body.number]:
        for source in inputs:
            if body.owner.sweep.mips[source] == body.body.mip:
                _ask(body, source)


def _leaves_time(body: RowBody, inputs: int) -> bool:
    reads_memory = any(a.source < inputs for a in accesses(body.roots))
    light = bool(body.stores) and arithmetic_of(body).light
    return not reads_memory and not light and body.turns == 1


def _ask(body: BodyContext, source: int) -> None:
    readers = [(b.lead, a) for b in body.owner.bodies for a in accesses(b.roots)]
    rows = [lead + access.dy for lead, access in readers if access.source == source]
    if not rows:
        return
    code = body.lane
    start, stride, _, pixel_bytes = body.rows_of(source)
    row = body.row.add(f"%b{body.number}.r", max(rows) - body.body.lead + 1)
    offset = body.row.op(f"mul i64 {row}, {stride}")
    begin = body.row.op(f"getelementptr i8, ptr {start}, i64 {offset}")
    column = code.op(f"mul i64 %b{body.number}.x, {pixel_bytes}")
    address = code.op(f"getelementptr i8, ptr {begin}, i64 {column}")
    for line in range(0, body.lanes * pixel_bytes, CACHE_LINE):
        code.prefetch(code.moved(address, line), INTO_L2)
