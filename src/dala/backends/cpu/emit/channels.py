"""Large functions that are the same for several channels: one text, in a loop over the channels.

A median of f32 pixels is a network of hundreds of minima and maxima for each colour. The networks differ
only in the planes they read, and those lie at equal distances: the loop adds a distance to every address.
Where nothing but such functions is buffered, the loop goes around that over the row, a plane after the
other. The operations stay, so the result is the same to the last bit. (Rejected: interleaved channels, as
extrema.py has them for bytes: alpha would be a quarter of the work, for nothing.)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dala.backends.cpu.emit.body_context import Alike, BodyContext
from dala.backends.cpu.emit.lanes import LANE, LaneWriter, Sources
from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32
from dala.ir.graph import UNIFORM_LEAVES, Access, Node, walk

LARGE = 64  # operations of a function; with fewer, the text compiles fast enough
LARGE_IN_ROW_LOOP = 4  # the same where the loop is around that over the row, and costs nothing
MOST_CHANNELS = 4


def alike_planes(body: BodyContext) -> Alike | None:
    """The functions of each channel, if the body buffers nothing but the same ones of each."""
    buffered, ring = body.body.buffered, body.body.ring
    if ring is None or body.body.stores or ring.form != "f32":
        return None
    nodes = body.body.nodes
    if any(n.op == "average" for n in nodes):  # loops already, over taps of all channels
        return None
    for channels in range(MOST_CHANNELS, 1, -1):
        count, rest = divmod(len(buffered), channels)
        if rest or len(nodes) < LARGE_IN_ROW_LOOP * channels:
            continue
        roots = [buffered[i * count : (i + 1) * count] for i in range(channels)]
        alike = _match(body, roots, _varying(nodes))
        if alike is not None and alike.size >= LARGE_IN_ROW_LOOP:
            own = len(body.work.reads) + body.number
            alike.steps.update({(own, number): count for number in range(count)})
            return alike
    return None


def roll_channels(body: BodyContext, writer: LaneWriter) -> dict[int, Node]:
    """Write large functions of channels as a loop: the leaves, already written, that stand for them."""
    alike = _find_alike(body) if len(body.body.nodes) > 2 * LARGE else None
    if alike is None:
        return {}
    leaves: dict[int, Node] = {}
    results = [root for roots in alike.roots for root in roots]
    for node, name in zip(results, _write_loop(body, alike), strict=True):
        leaf = leaves[id(node)] = Node("channel", F32)
        writer.names[id(leaf)], writer.rates[id(leaf)] = name, LANE
    return leaves


def _find_alike(body: BodyContext) -> Alike | None:
    """The largest functions that several channels have, if nobody else needs what is inside of them."""
    varying = _varying(body.body.nodes)
    together = _whole_channels(body, varying) or _parts_of_channels(body, varying)
    if together is None:
        return None
    results = {id(root) for roots in together.roots for root in roots}
    outside = walk(body.body.roots, results)
    return None if any(id(n) in together.operations for n in outside) else together


def _whole_channels(body: BodyContext, varying: set[int]) -> Alike | None:
    """All that is computed, if it is the same of each channel: the usual case, and soon found."""
    roots = [root for root in body.body.roots if root.args]
    if not 2 <= len(roots) <= MOST_CHANNELS or any(root.dtype != F32 for root in roots):
        return None
    alike = _match(body, [[root] for root in sorted(roots, key=_first_channel)], varying)
    if alike is None or not all(_is_buffered(body, source) for source, _ in alike.steps):
        return None
    return alike if alike.size >= LARGE else None


def _parts_of_channels(body: BodyContext, varying: set[int]) -> Alike | None:
    """The same for what is inside of expressions that differ."""
    nodes = body.body.nodes
    sizes = _sizes(body, nodes)
    if max(sizes.values()) < LARGE:
        return None
    groups = _same_shapes(nodes)
    found: list[Alike] = []
    inside: set[int] = set()
    for node in reversed(nodes):
        group = groups[id(node)]
        if id(node) in inside or sizes[id(node)] < LARGE or node.dtype != F32:
            continue
        if not 2 <= len(group) <= MOST_CHANNELS:
            continue
        channels = sorted(group, key=_first_channel)
        alike = _match(body, [[root] for root in channels], varying)
        if alike is not None and alike.size >= LARGE:
            found.append(alike)
            inside |= alike.operations
    if not found or len({len(alike.roots) for alike in found}) > 1:
        return None
    together: Alike | None = found[0]
    if len(found) > 1:  # one loop, so that they share what they have in common
        parts = zip(*(alike.roots for alike in found), strict=True)
        together = _match(body, [[r for roots in part for r in roots] for part in parts], varying)
    return together if together and together.size >= LARGE * len(found) else None


def _sizes(body: BodyContext, nodes: Sequence[Node]) -> dict[int, int]:
    """At most how many operations each node needs; 0 if also what no loop over channels can read."""
    sizes: dict[int, int] = {}
    for node in nodes:
        size = 1
        if isinstance(node.attr, Access):
            size = int(_is_buffered(body, node.attr.source))
        elif node.op in ("coord", "gather"):
            size = 0
        elif node.args:
            parts = [sizes[id(a)] for a in node.args]
            size = min(sum(parts) + 1, LARGE) if all(parts) else 0
        sizes[id(node)] = size
    return sizes


def _is_buffered(body: BodyContext, source: int) -> bool:
    """Whether a source is rows of f32 planes of the body's own size."""
    in_rows = source >= len(body.work.reads) and body.form_of(source) == "f32"
    return in_rows and not body.step_to(source)


def _first_channel(node: Node) -> int:
    """The channel of the first thing that it loads."""
    rest, seen = [node], set[int]()
    while rest:
        node = rest.pop()
        if isinstance(node.attr, Access):
            return node.attr.channel
        if id(node) not in seen:
            seen.add(id(node))
            rest += reversed(node.args)
    return 0


def _same_shapes(nodes: Sequence[Node]) -> dict[int, list[Node]]:
    """For each node those that are the same but for the planes they read."""
    number: dict[int, int] = {}
    known: dict[tuple[Hashable, ...], int] = {}
    groups: list[list[Node]] = []
    for node in nodes:
        attr: Hashable = None
        if not node.args:  # equal constants are one node
            attr = node.attr._replace(channel=0) if isinstance(node.attr, Access) else id(node)
        key = (node.op, node.dtype.name, attr, *[number[id(a)] for a in node.args])
        own = number[id(node)] = known.setdefault(key, len(groups))
        if own == len(groups):
            groups.append([])
        groups[own].append(node)
    return {key: groups[own] for key, own in number.items()}


def _varying(nodes: Sequence[Node]) -> set[int]:
    """The operations on pixels: the others are done once for all."""
    varying: set[int] = set()
    for node in nodes:
        for arg in node.args:
            if id(arg) in varying or (not arg.args and arg.op not in UNIFORM_LEAVES):
                varying.add(id(node))
                break
    return varying


def _match(
    body: BodyContext, channels: Sequence[Sequence[Node]], varying: set[int]
) -> Alike | None:
    """Functions of several channels, if they are the same but for planes at equal distances."""
    alike: dict[int, tuple[Node, ...]] = {}  # node of the first channel → those of all of them
    steps: dict[tuple[int, int], int] = {}
    rest = list(zip(*channels, strict=True))
    while rest:
        nodes = rest.pop()
        first = nodes[0]
        if alike.setdefault(id(first), nodes) is not nodes:
            if alike[id(first)] != nodes:
                return None
            continue
        if nodes[1] is first and id(first) in varying:
            return None  # what channels share would be computed again for each of them
        for node in nodes:
            if node.op != first.op or node.dtype is not first.dtype:
                return None
            if len(node.args) != len(first.args):
                return None
        if first.op == "gather" or not (first.args or _leaves_match(body, nodes, steps)):
            return None
        rest += zip(*[node.args for node in nodes], strict=True)
    computed = [nodes for key, nodes in alike.items() if key in varying]
    operations = frozenset(id(node) for nodes in computed for node in nodes)
    if len(operations) < len(computed) * len(channels):  # shared, elsewhere
        return None
    return Alike(channels, steps, operations)


def _leaves_match(
    body: BodyContext, nodes: Sequence[Node], steps: dict[tuple[int, int], int]
) -> bool:
    """Whether channels read the same value, or planes of buffered rows at one distance, added to
    ``steps``."""
    first, second = nodes[0].attr, nodes[1].attr
    if not isinstance(first, Access) or not isinstance(second, Access):
        return nodes[0].op != "coord" and all(node is nodes[0] for node in nodes)
    if not body.has_planes(first.source):
        return False
    step = second.channel - first.channel
    expected = [first._replace(channel=first.channel + i * step) for i in range(len(nodes))]
    plane = first.source, first.channel
    return [n.attr for n in nodes] == expected and steps.setdefault(plane, step) == step


def _write_loop(body: BodyContext, alike: Alike) -> list[str]:
    """The vectors of all functions, channel by channel."""
    vector, count = Type(F32, body.lanes), len(alike.roots[0])

    def write_channel(code: Code, index: str, done: list[str]) -> list[str]:
        # each round moves the results up by one channel: after the last one all are where they belong
        return [*done[count:], *_Planes(body, index, alike).write(code)]

    nothing = [(str(vector), "poison")] * (len(alike.roots) * count)
    return body.lane.repeat(len(alike.roots), 1, nothing, write_channel)


class _Planes(Sources):
    """What the function of one channel reads: the planes of the first one, moved by ``index`` steps."""

    def __init__(self, body: BodyContext, index: str, alike: Alike) -> None:
        self.owner, self.body, self.index, self.alike = body.owner, body, index, alike

    def write(self, code: Code) -> list[str]:
        """The functions of this channel."""
        writer = LaneWriter(self, self.body.lanes, self.body.uniform, self.body.row, code)
        roots = self.alike.roots[0]
        writer.write(roots)
        return [writer.vector(root) for root in roots]

    def load(self, code: Code, access: Access) -> str:
        offset = self.body.offset_in_row(access.source, access.channel)
        if step := self.alike.steps[access.source, access.channel]:
            stride = self.body.plane_stride(access.source)
            distance = self.body.uniform.op(f"mul i64 {stride}, {step}")
            moved = code.op(f"mul i64 {self.index}, {distance}")
            offset = code.op(f"add i64 {offset}, {moved}")
        row = self.body.row_of(access.source, access.dy)
        address = code.op(f"getelementptr i8, ptr {row}, i64 {offset}")
        if access.dx:
            address = code.op(f"getelementptr float, ptr {address}, i64 {access.dx}")
        return code.op(f"load {Type(F32, self.body.lanes)}, ptr {address}, align 4")
