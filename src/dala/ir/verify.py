"""What a well-formed program is. Runs after every rewrite; a failure is a defect of dala."""

from __future__ import annotations

from dala.errors import VerificationError
from dala.ir.dtypes import F32, S32
from dala.ir.graph import OUTPUT, Access, Extent, Gather, Node, Program, accesses, walk
from dala.ir.ops import LEAVES, OPS, VARIADIC


def verify(program: Program) -> None:
    """Raise VerificationError unless types, arities and sources are right everywhere."""
    counts = {1, 2, 4} if program.planes else {1, 4}
    for number, stage in enumerate(program.stages):
        sources = program.inputs + number
        verify_body(stage.body, sources, len(program.params), f"{program.kernel}[{number}]")
        if program.domain == "image":
            allowed = number < program.first_result and stage.margin in (0, 1)
            _require(allowed or not stage.margin, program.kernel, "a result has no margin")
            _require(
                len(stage.body) in counts, program.kernel, "an image stage has 1 or 4 channels"
            )
            for access in accesses(stage.body):
                step = stage.mip - program.mip_of(access.source)
                _require(-2 <= step <= 1, program.kernel, f"{access} is {step} mip levels away")
            _require(
                all(n.dtype == F32 for n in stage.body), program.kernel, "image channels are f32"
            )
        else:
            _require(len(program.stages) == 1, program.kernel, "a tensor program is one stage")
            _require(len(stage.body) == 1, program.kernel, "a tensor stage has one component")
            for access in accesses(stage.body):
                own = access == Access(access.source)
                _require(own, program.kernel, f"a tensor is read at its own position, not {access}")


def verify_body(body: tuple[Node, ...], sources: int, params: int, where: str) -> None:
    """Check one expression graph that may read ``sources`` sources and ``params`` parameters."""
    for node in walk(body):
        row = OPS.get(node.op)
        if row is None:
            raise VerificationError(f"{where}: unknown op {node.op!r}")
        if node.op in LEAVES:
            _verify_leaf(node, sources, params, where)
        elif node.op == "cast":
            _require(len(node.args) == 1, where, "cast takes one operand")
        else:
            count = len(node.args)
            fits = count == row.arity or (row.arity == VARIADIC and count > 0 and count % 2 == 0)
            wanted = "an even number of" if row.arity == VARIADIC else row.arity
            _require(fits, where, f"{node.op} takes {wanted} operands")
            result = row.types([a.dtype for a in node.args])
            _require(result == node.dtype, where, f"{node.op} is {node.dtype}, expected {result}")


def _verify_leaf(node: Node, sources: int, params: int, where: str) -> None:
    attr = node.attr
    _require(not node.args or node.op == "gather", where, f"{node.op} takes no operands")
    match node.op:
        case "const":
            python = {"f": float, "s": int, "u": int, "b": bool}[node.dtype.kind]
            _require(type(attr) is python, where, f"const of {node.dtype} holds {attr!r}")
        case "param":
            _require(isinstance(attr, int) and 0 <= attr < params, where, f"no parameter {attr!r}")
        case "coord":
            _require(isinstance(attr, int) and attr >= 0, where, f"coord of axis {attr!r}")
            _require(node.dtype == S32, where, "coord is s32")
        case "extent":
            ok = isinstance(attr, Extent) and OUTPUT <= attr.source < sources and attr.axis >= 0
            _require(ok, where, f"extent of {attr!r}")
            _require(node.dtype == S32, where, "extent is s32")
        case "load":
            ok = isinstance(attr, Access) and 0 <= attr.source < sources and 0 <= attr.channel < 4
            _require(ok, where, f"load of {attr!r}")
        case "gather":
            ok = isinstance(attr, Gather) and 0 <= attr.source < sources and 0 <= attr.channel < 4
            _require(ok and len(node.args) > 0, where, f"gather of {attr!r}")
            _require(all(a.dtype == S32 for a in node.args), where, "gather positions are s32")


def _require(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise VerificationError(f"{where}: {what}")
