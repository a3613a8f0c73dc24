"""Functions of one 16-bit level as a look-up table: curves on u16 images.

As in tables.py, if every channel a body writes is a function of the same channel of one pixel, it is
evaluated once for each level, by the same instructions that would have run per pixel, so the result is
the same to the last bit. A table has 65,536 entries and lies in the second cache: a pixel's levels are
looked up one by one and put together in an ordinary register. Each thread fills its own table, so it pays
for large images alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dala.backends.cpu.arithmetic.base import CpuArithmetic
from dala.backends.cpu.arithmetic.tables import (
    IDENTITY,
    fill_table,
    function_key,
    maps_levels,
)
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import UNIFORM, image_rates
from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.text import Code
from dala.backends.cpu.schedule.sweep import RowBody
from dala.ir.dtypes import U16
from dala.ir.graph import Node, accesses
from dala.plan.fuse import FusedPass

ENTRIES = 65536
LEAST_PIXELS = 4 * ENTRIES
# Cycles of a vector's operation: of a function (pow, log), of any other; and of looking one level up.
FUNCTION, OPERATION, LOOK_UP = 46.0, 0.7, 1.5
FUNCTIONS = ("exp", "log", "sin", "cos", "tanh", "atan2", "pow")
LANES = 16  # of the vectors that those are for
AT_ONCE = 4  # pixels in one turn of the loop


@dataclass(frozen=True)
class DeepTableArithmetic(CpuArithmetic):
    """A body that maps each level of a pixel to one, in images of u16, where looking up is less work."""

    def suits(self, context: PassContext, body: RowBody) -> bool:
        work = context.work
        if not context.image or body.ring is not None or body.arithmetic.own_body:
            return False
        if any(work.writes[s.write].type.dtype != U16 for s in body.stores):
            return False
        if math.prod(work.shape[:2]) < LEAST_PIXELS:
            return False
        channels = {
            k: a.type.channels
            for k, a in enumerate(work.reads)
            if a.type.dtype == U16 and context.sweep.mips[k] == body.mip
        }
        known = body.channels in (1, 4) and maps_levels(body, U16, channels)
        return known and _pays(body, context.lanes)

    def cost(self, work: FusedPass, body: RowBody) -> float:
        return LOOK_UP / OPERATION * body.channels * LANES

    def write(self, body: BodyContext) -> None:
        pixel = f"i{16 * body.channels}"
        source = body.address_of(next(accesses(body.body.roots))._replace(channel=0))
        targets = [body.store_address(s.write, 2 * body.channels) for s in body.body.stores]
        tables = [_tables(body.owner, store.values) for store in body.body.stores]

        def look_up(code: Code, index: str, _: list[str]) -> list[str]:
            for number in range(AT_ONCE):
                at = code.op(f"add i64 {index}, {number}") if number else index
                address = code.op(f"getelementptr {pixel}, ptr {source}, i64 {at}")
                made = [_mapped(code, pixel, address, own) for own in tables]
                for target, value in zip(targets, made, strict=True):
                    written = code.op(f"getelementptr {pixel}, ptr {target}, i64 {at}")
                    code.line(f"store {pixel} {value}, ptr {written}, align 1")
            return []

        body.lane.repeat(body.lanes, AT_ONCE, [], look_up)


DEEP_TABLE = DeepTableArithmetic("deep table", borrows=True)


def _pays(body: RowBody, lanes: int) -> bool:
    """Whether looking up takes less time than computing a vector of pixels."""
    rates = image_rates(body.roots)
    varying = [n for n in body.nodes if n.args and rates[id(n)] > UNIFORM]
    computed = sum(FUNCTION if n.op in FUNCTIONS else OPERATION for n in varying)
    looked_up = sum(function_key(n) != IDENTITY for s in body.stores for n in s.values)
    return computed > LOOK_UP * looked_up * lanes


def _tables(owner: PassContext, values: Sequence[Node]) -> list[str]:
    """For each channel its table, or nothing where it is passed through."""
    tables = []
    for node in values:
        key = function_key(node)
        fill = partial(fill_table, owner, node, U16)
        tables.append(owner.table((key, ENTRIES), 2 * ENTRIES, fill) if key != IDENTITY else "")
    return tables


def _mapped(code: Code, pixel: str, address: str, tables: Sequence[str]) -> str:
    """One pixel in one register, each channel looked up in its table. A level loaded by itself takes
    one instruction, one that is cut out of the pixel two.
    """
    made, kept = "", sum(0xFFFF << 16 * c for c, table in enumerate(tables) if not table)
    if kept:
        whole = code.op(f"load {pixel}, ptr {address}, align 1")
        made = code.op(f"and {pixel} {whole}, {kept - (1 << 64) if kept >> 63 else kept}")
    for channel, table in enumerate(tables):
        if not table:
            continue
        level = code.op(f"load i16, ptr {code.moved(address, 2 * channel)}, align 1")
        index = code.op(f"zext i16 {level} to i64")
        value = code.op(
            f"load i16, ptr {code.op(f'getelementptr i16, ptr {table}, i64 {index}')}, align 2"
        )
        if pixel != "i16":
            value = code.op(f"zext i16 {value} to {pixel}")
        if channel:
            value = code.op(f"shl {pixel} {value}, {16 * channel}")
        made = code.op(f"or {pixel} {made}, {value}") if made else value
    return made
