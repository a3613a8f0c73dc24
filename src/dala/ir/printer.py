"""The stable text form of a program: one line per node, numbered in evaluation order."""

from __future__ import annotations

from dala.ir.graph import Access, Extent, Gather, Node, Program, walk


def print_program(program: Program) -> str:
    """A program as text, the same on every machine; golden tests compare it."""
    params = ", ".join(f"{p.name}: {p.dtype}" for p in program.params)
    lines = [f"{program.domain} {program.kernel}(inputs={program.inputs}; {params})"]
    for source, view in enumerate(program.views):
        size = f" at 1/{1 << view.mip}" if view.mip else ""
        plane = f", plane {view.plane.name}" if view.plane else ""
        lines.append(f"source {source}: input {view.array}{plane}{size}")
    for number, stage in enumerate(program.stages):
        size = f" at 1/{1 << stage.mip}" if stage.mip else ""
        margin = ", with a margin" if stage.margin else ""
        lines.append(f"stage {program.inputs + number}{size}{margin}:")
        lines.extend("  " + line for line in print_body(stage.body))
    if program.planes:
        lines.append("writes planes " + " ".join(p.name for p in program.planes))
    return "\n".join(lines) + "\n"


def print_body(body: tuple[Node, ...]) -> list[str]:
    """The lines of one expression graph, ending in what it returns."""
    names: dict[int, str] = {}
    lines: list[str] = []
    for node in walk(body):
        if node.op == "const":
            names[id(node)] = f"{node.attr!r}:{node.dtype}"
            continue
        names[id(node)] = f"%{len(lines)}"
        operands = [names[id(a)] for a in node.args]
        text = " ".join([node.op, *_attributes(node), *operands])
        lines.append(f"{names[id(node)]} = {text} : {node.dtype}")
    lines.append("return " + " ".join(names[id(n)] for n in body))
    return lines


def _attributes(node: Node) -> list[str]:
    match node.attr:
        case None:
            return []
        case Access(source, channel, dx, dy):
            return [f"@{source}.{channel}[{dx:+d},{dy:+d}]"]
        case Gather(source, channel):
            return [f"@{source}.{channel}"]
        case Extent(source, axis, _):
            return ["out" if source < 0 else f"@{source}", f"axis{axis}"]
        case int(axis) if node.op == "coord":
            return [f"axis{axis}"]
        case other:
            return [f"${other}"]
