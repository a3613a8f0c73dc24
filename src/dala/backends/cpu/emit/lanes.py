"""One body's expressions, on vectors of neighbouring pixels or elements.

Every node has a rate: uniform (the same for the whole pass: computed once, as a scalar), row (the
same along a row) or lane (a vector). Only lane values are in the inner loop.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dala.backends.cpu.emit.pass_context import PassContext
from dala.backends.cpu.llvm.spelling import spell
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import DType
from dala.ir.graph import UNIFORM_LEAVES, Access, Extent, Node, in_order, walk

UNIFORM, ROW, LANE = 0, 1, 2


class RowSelect(NamedTuple):
    """Two reads of which a condition chooses one, see row_select.py."""

    first: Access
    second: Access


class Sources:
    """What expressions read from: the pass's geometry and memory, as names in the text (see emit.py)."""

    owner: PassContext

    begins_even = False  # whether axis 1 are columns, and every vector begins with an even one

    def param(self, index: int, dtype: DType) -> str:
        """The name of a run-time parameter's value."""
        return self.owner.word(self.owner.layout.params + index, Type(dtype).element)

    def extent(self, extent: Extent) -> str:
        """The i64 name of a size."""
        return self.owner.extent(extent)

    def load(self, code: Code, access: Access) -> str:
        """The vector of f32 (image) or elements (tensor) at an offset."""
        raise AssertionError("a position reads no pixels")

    def load_level(self, code: Code, access: Access, op: str) -> str | None:
        """The levels that ``op`` would make of a load, as f32; None where that is no shorter than
        ``load``."""
        return None

    def coord(self, axis: int, code_row: Code, code_lane: Code) -> tuple[str, int]:
        """The position along an axis and its rate."""
        raise AssertionError("only bodies know a position")

    def load_selected(self, condition: str, first: Access, second: Access) -> str:
        """The vector of one of two rows, see row_select.py."""
        raise AssertionError("only bodies choose between rows")

    def gather(self, writer: LaneWriter, node: Node) -> str:
        """The vector at computed positions; ``writer`` knows those."""
        raise AssertionError("nothing is gathered here")


def count_from(code: Code, start: str, t: Type) -> str:
    """Numbers from an i64 on, one for each lane of an integer vector."""
    lanes = ", ".join(f"{t.element} {i}" for i in range(t.lanes))
    return code.op(
        f"add {t} {code.splat(t, code.op(f'trunc i64 {start} to {t.element}'))}, <{lanes}>"
    )


def _is_parity(node: Node) -> bool:
    """Whether a column is odd: in a vector that begins with an even one, the same as of the lane."""
    if node.op != "and":
        return False
    column, one = node.args
    return column.op == "coord" and column.attr == 1 and one.op == "const" and one.attr == 1


class LaneWriter:
    """Writes one body: uniform values into ``uniform``, row values into ``row``, the rest into ``lane``."""

    def __init__(self, sources: Sources, lanes: int, uniform: Code, row: Code, lane: Code) -> None:
        self.sources = sources
        self.lanes = lanes
        self.sections = (uniform, row, lane)
        self.lane = lane
        self.names: dict[int, str] = {}
        self.rates: dict[int, int] = {}
        self.vectors: dict[int, str] = {}

    def write(self, roots: Sequence[Node]) -> None:
        """Write every node once."""
        for node in in_exchanges(roots, self.names):
            self._write_node(node)

    def vector(self, node: Node) -> str:
        """The node's value on all lanes."""
        if node.op == "const":
            return self.sections[LANE].constant(Type(node.dtype, self.lanes), _number(node))
        if self.rates[id(node)] == LANE:
            return self.names[id(node)]
        if id(node) not in self.vectors:
            section = self.sections[self.rates[id(node)]]
            self.vectors[id(node)] = section.splat(
                Type(node.dtype, self.lanes), self.names[id(node)]
            )
        return self.vectors[id(node)]

    def _write_node(self, node: Node) -> None:
        name, rate = self._leaf(node) if not node.args else self._operation(node)
        self.names[id(node)] = name
        self.rates[id(node)] = rate

    def _leaf(self, node: Node) -> tuple[str, int]:
        uniform, row, lane = self.sections
        attr = node.attr
        match node.op:
            case "const":
                return uniform.constant(Type(node.dtype), _number(node)), UNIFORM
            case "param":
                assert isinstance(attr, int)
                return self.sources.param(attr, node.dtype), UNIFORM
            case "extent":
                assert isinstance(attr, Extent)
                return uniform.op(f"trunc i64 {self.sources.extent(attr)} to i32"), UNIFORM
            case "coord":
                assert isinstance(attr, int)
                return self.sources.coord(attr, row, lane)
        assert node.op == "load"
        assert isinstance(attr, Access)
        return self.sources.load(lane, attr), LANE

    def _operation(self, node: Node) -> tuple[str, int]:
        if node.op == "gather":
            return self.sources.gather(self, node), LANE
        if node.op in ("level", "level16") and isinstance(node.args[0].attr, Access):
            levels = self.sources.load_level(self.lane, node.args[0].attr, node.op)
            if levels is not None:
                return levels, LANE
        if isinstance(node.attr, RowSelect):
            return self.sources.load_selected(self.names[id(node.args[0])], *node.attr), LANE
        if _is_parity(node) and self.sources.begins_even:
            return "<" + ", ".join(f"i32 {lane & 1}" for lane in range(self.lanes)) + ">", LANE
        rate = max([self.rates[id(a)] for a in node.args])
        lanes = self.lanes if rate == LANE else 0
        if rate == LANE:
            args = [self.vector(a) for a in node.args]
        else:
            args = [self.names[id(a)] for a in node.args]
        result, operand = Type(node.dtype, lanes), Type(node.args[0].dtype, lanes)
        return spell(self.sections[rate], node.op, result, operand, args), rate


@functools.lru_cache(8)  # several steps ask for the same body; a node is its own key
def image_rates(roots: tuple[Node, ...]) -> dict[int, int]:
    """The rate of every node of an image's expressions, by its id."""
    rates: dict[int, int] = {}
    for node in in_order(roots):
        if node.op == "coord":
            rate = ROW if node.attr == 0 else LANE
        elif node.op == "gather" or not (node.args or node.op in UNIFORM_LEAVES):
            rate = LANE
        else:
            rate = UNIFORM
            for arg in node.args:
                if rates[id(arg)] > rate:
                    rate = rates[id(arg)]
        rates[id(node)] = rate
    return rates


def in_exchanges(roots: Sequence[Node], known: Iterable[int] = ()) -> Iterator[Node]:
    """Every node but the known ones once, arguments first; minimum and maximum of the same two together.

    Their operands are then done with. In the order of ``walk`` the other half of an exchange may come
    much later, and a sorting network would keep three times as many values as there are registers.
    """
    nodes = walk(roots, known)
    exchanges: dict[frozenset[Node], list[Node]] = {}
    halves: dict[int, list[Node]] = {}  # node → its exchange
    for node in nodes:
        if node.op in ("min", "max"):
            both = halves[id(node)] = exchanges.setdefault(frozenset(node.args), [])
            both.append(node)
    seen: set[int] = set()
    for node in nodes:
        if id(node) not in halves:
            yield node
        elif id(node) not in seen:
            together = halves[id(node)]
            seen.update(map(id, together))
            yield from together


def _number(node: Node) -> float | int | bool:
    assert isinstance(node.attr, int | float)
    return node.attr
