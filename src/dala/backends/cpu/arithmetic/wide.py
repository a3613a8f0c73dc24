"""Wide averages in f32: a loop over the taps, which reads each weight once for all channels.

Every tap is one fused multiply-add (where the machine has it), in the order of the meaning, so the result
is what the taps spelled out would give.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.cpu.arithmetic.taps import tap_addresses, weight_table
from dala.backends.cpu.emit.body_context import BodyContext
from dala.backends.cpu.emit.lanes import LANE, LaneWriter
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32
from dala.ir.graph import Access, Node
from dala.ir.ops import split_average


def write_averages(body: BodyContext, writer: LaneWriter) -> dict[int, Node]:
    """Sum up the averages of a body: the leaves, already written, that stand for them."""
    alike: dict[
        tuple[object, ...], list[Node]
    ] = {}  # averages with the same taps: channels of an image
    for node in body.body.nodes:
        if node.op == "average":
            values, weights = split_average(node.args)
            taps = [v.attr._replace(channel=0) for v in values if isinstance(v.attr, Access)]
            alike.setdefault((*taps, *map(id, weights)), []).append(node)
    leaves: dict[int, Node] = {}
    for averages in alike.values():
        totals = _sum_up(body, averages, writer.lanes)
        for node, total in zip(averages, totals, strict=True):
            leaf = leaves[id(node)] = Node("average", F32)
            writer.names[id(leaf)], writer.rates[id(leaf)] = total, LANE
    return leaves


def _sum_up(body: BodyContext, averages: Sequence[Node], lanes: int) -> list[str]:
    """The vectors of all channels' averages."""
    values, weights = split_average(averages[0].args)
    sources: dict[int, list[tuple[Access, Node]]] = {}
    for value, weight in zip(values, weights, strict=True):
        assert isinstance(value.attr, Access)
        sources.setdefault(value.attr.source, []).append((value.attr, weight))
    taps = [tap for listed in sources.values() for tap in listed]
    table = weight_table(body, [weight for _, weight in taps])
    totals = ["zeroinitializer"] * len(averages)
    first = 0
    for source, listed in sources.items():
        offsets = [body.offset_in_row(source, _channel(node, source)) for node in averages]
        start = body.uniform.op(f"getelementptr float, ptr {table}, i64 {first}")
        accesses = [access for access, _ in listed]
        totals = _add_taps(body, accesses, start, offsets, totals, Type(F32, lanes))
        first += len(listed)
    return totals


def _add_taps(
    body: BodyContext,
    taps: Sequence[Access],
    table: str,
    offsets: list[str],
    totals: list[str],
    vector: Type,
) -> list[str]:
    """The taps of one source added to the totals; ``offsets`` lead to each channel in a row."""
    addresses = tap_addresses(body, taps)

    def add_tap(code: Code, index: str, sums: list[str]) -> list[str]:
        slot = code.op(f"getelementptr ptr, ptr {addresses}, i64 {index}")
        row = code.op(f"load ptr, ptr {slot}, align 8")
        address = code.op(f"getelementptr float, ptr {table}, i64 {index}")
        weight = code.splat(vector, code.op(f"load float, ptr {address}, align 4"))
        results = []
        for offset, total in zip(offsets, sums, strict=True):
            pixel = code.op(f"getelementptr i8, ptr {row}, i64 {offset}")
            value = code.op(f"load {vector}, ptr {pixel}, align 4")
            results.append(_multiply_add(code, vector, value, weight, total))
        return results

    return body.lane.repeat(len(taps), 1, [(str(vector), total) for total in totals], add_tap)


def _multiply_add(code: Code, vector: Type, value: str, weight: str, total: str) -> str:
    if code.names.fma:
        return code.intrinsic("fma", vector, [value, weight, total])
    return code.op(f"fadd {vector} {total}, {code.op(f'fmul {vector} {value}, {weight}')}")


def _channel(average: Node, source: int) -> int:
    """Which channel of a source an average is of."""
    for value in average.args:
        if isinstance(value.attr, Access) and value.attr.source == source:
            return value.attr.channel
    raise AssertionError("the channels of an average read the same sources")
