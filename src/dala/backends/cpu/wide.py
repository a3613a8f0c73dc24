"""Wide averages in f32: a loop over the taps, which reads each weight once for all channels.

Every tap is one fused multiply-add (where the machine has it), in the order of the meaning, so the result
is what the taps spelled out would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dala.backends.cpu.code import Code, Type
from dala.backends.cpu.lanes import LANE, LaneWriter
from dala.backends.cpu.rows import RowBody, average_of
from dala.backends.cpu.taps import share_table, tap_places
from dala.ir.dtypes import F32
from dala.ir.graph import Access, Node, map_nodes
from dala.ir.ops import split_average

if TYPE_CHECKING:
    from dala.backends.cpu.body import BodyEmitter


def write_totals(body: BodyEmitter, writer: LaneWriter) -> RowBody:
    """Sum up the averages of a body; what is left of the body finds them as values already written."""
    averages = list({id(n): n for n in map(average_of, body.body.roots)}.values())
    leaves = {id(n): Node("average", F32) for n in averages}
    for node, total in zip(averages, _sum_up(body, averages), strict=True):
        leaf = leaves[id(node)]
        writer.names[id(leaf)], writer.rates[id(leaf)] = total, LANE

    def cut(roots: tuple[Node, ...]) -> tuple[Node, ...]:
        return map_nodes(roots, lambda node: node, leaves)

    stores = tuple(replace(s, values=cut(s.values)) for s in body.body.stores)
    return replace(body.body, held=cut(body.body.held), stores=stores)


def _sum_up(body: BodyEmitter, averages: Sequence[Node]) -> list[str]:
    """The vectors of all channels' averages; their taps are alike."""
    values, weights = split_average(averages[0].args)
    sources: dict[int, list[tuple[Access, Node]]] = {}
    for value, weight in zip(values, weights, strict=True):
        assert isinstance(value.attr, Access)
        sources.setdefault(value.attr.source, []).append((value.attr, weight))
    taps = [tap for listed in sources.values() for tap in listed]
    shares = share_table(body, [weight for _, weight in taps])
    vector = Type(F32, body.lanes)
    totals = ["zeroinitializer"] * len(averages)
    first = 0
    for source, listed in sources.items():
        places = tap_places(body, [access for access, _ in listed])
        channels = [_channel(node, source) for node in averages]
        offsets = [body.offset_in_row(source, channel) for channel in channels]
        start = body.uniform.op(f"getelementptr float, ptr {shares}, i64 {first}")
        first += len(listed)

        def add_tap(code: Code, index: str, sums: list[str]) -> list[str]:
            slot = code.opaque(f"getelementptr ptr, ptr {places}, i64 {index}")
            row = code.op(f"load ptr, ptr {slot}, align 8")
            place = code.opaque(f"getelementptr float, ptr {start}, i64 {index}")
            share = code.splat(vector, code.op(f"load float, ptr {place}, align 4"))
            results = []
            for offset, total in zip(offsets, sums, strict=True):
                pixel = code.op(f"getelementptr i8, ptr {row}, i64 {offset}")
                value = code.op(f"load {vector}, ptr {pixel}, align 4")
                results.append(_multiply_add(code, vector, value, share, total))
            return results

        carried = [(str(vector), total) for total in totals]
        totals = body.lane.repeat(len(listed), 1, carried, add_tap)
    return totals


def _multiply_add(code: Code, vector: Type, value: str, share: str, total: str) -> str:
    if code.names.fma:
        return code.intrinsic("fma", vector, [value, share, total])
    return code.op(f"fadd {vector} {total}, {code.op(f'fmul {vector} {value}, {share}')}")


def _channel(average: Node, source: int) -> int:
    """Which channel of a source an average is of."""
    for value in average.args:
        if isinstance(value.attr, Access) and value.attr.source == source:
            return value.attr.channel
    raise AssertionError("the channels of an average read the same sources")
