"""The verifier: every malformed program is caught, and a pass that breaks one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dala.errors import VerificationError
from dala.ir.dtypes import F32, F64, S32, S64, U8
from dala.ir.graph import (
    OUTPUT,
    Access,
    Extent,
    Gather,
    Node,
    Program,
    RuntimeParam,
    Stage,
    cast,
    make,
)
from dala.ir.printer import print_program
from dala.ir.rewrite import (
    PASSES,
    optimize,
)
from dala.ir.verify import verify


def image(*body: Node, inputs: int = 1, params: int = 0) -> Program:
    slots = tuple(RuntimeParam(f"p{i}", F32) for i in range(params))
    return Program("made", "image", inputs, slots, (Stage(body),))


def tensor(*body: Node, inputs: int = 1) -> Program:
    return Program("made", "tensor", inputs, (), (Stage(body),))


P = Node("load", F32, (), Access(0))
S = Node("coord", S32, (), 0)
MALFORMED: dict[str, tuple[Program, str]] = {
    "op": (image(Node("frobnicate", F32, (P,))), "made[0]: unknown op 'frobnicate'"),
    "arity": (image(Node("add", F32, (P,))), "made[0]: add takes 2 operands"),
    "odd": (
        image(Node("average", F32, (P, P, P))),
        "made[0]: average takes an even number of operands",
    ),
    "none": (image(Node("average", F32)), "made[0]: average takes an even number of operands"),
    "too many": (image(Node("neg", F32, (P, P))), "made[0]: neg takes 1 operands"),
    "operand types": (
        image(Node("add", F32, (P, S))),
        "made[0]: add is f32, expected needs operands of one type, got f32 and s32; "
        "cast one of them",
    ),
    "result type": (image(Node("add", F64, (P, P))), "made[0]: add is f64, expected f32"),
    "a comparison is bool": (image(Node("lt", F32, (P, P))), "made[0]: lt is f32, expected bool"),
    "condition": (
        image(Node("select", F32, (P, P, P))),
        "made[0]: select is f32, expected needs a condition (a comparison), got f32",
    ),
    "cast": (image(Node("cast", F32, (P, P))), "made[0]: cast takes one operand"),
    "constant": (image(Node("const", F32, (), "1.0")), "made[0]: const of f32 holds '1.0'"),
    "no constant": (image(Node("const", F32)), "made[0]: const of f32 holds None"),
    "whole float": (image(Node("const", F32, (), 1)), "made[0]: const of f32 holds 1"),
    "broken integer": (tensor(Node("const", S32, (), 0.5)), "made[0]: const of s32 holds 0.5"),
    "bool as a number": (tensor(Node("const", U8, (), True)), "made[0]: const of u8 holds True"),
    "parameter": (image(Node("param", F32, (), 1), params=1), "made[0]: no parameter 1"),
    "negative parameter": (image(Node("param", F32, (), -1), params=1), "made[0]: no parameter -1"),
    "named parameter": (image(Node("param", F32, (), "a"), params=1), "made[0]: no parameter 'a'"),
    "coordinate": (
        tensor(Node("coord", S32, (), -1)),
        "made[0]: coord of axis -1",
    ),
    "coordinate type": (image(Node("coord", F32, (), 0)), "made[0]: coord is s32"),
    "extent": (
        tensor(Node("extent", S32, (), Extent(1, 0))),
        "made[0]: extent of Extent(source=1, axis=0, mip=0)",
    ),
    "extent of nothing": (
        tensor(Node("extent", S32, (), Extent(-2, 0))),
        "made[0]: extent of Extent(source=-2, axis=0, mip=0)",
    ),
    "extent of a negative axis": (
        tensor(Node("extent", S32, (), Extent(0, -1))),
        "made[0]: extent of Extent(source=0, axis=-1, mip=0)",
    ),
    "extent type": (image(Node("extent", F32, (), Extent(0, 0))), "made[0]: extent is s32"),
    "source": (
        image(Node("load", F32, (), Access(1))),
        "made[0]: load of Access(source=1, channel=0, dx=0, dy=0)",
    ),
    "output as a source": (
        image(Node("load", F32, (), Access(OUTPUT))),
        "made[0]: load of Access(source=-1, channel=0, dx=0, dy=0)",
    ),
    "channel": (
        image(Node("load", F32, (), Access(0, 4))),
        "made[0]: load of Access(source=0, channel=4, dx=0, dy=0)",
    ),
    "load of nothing": (image(Node("load", F32)), "made[0]: load of None"),
    "load with operands": (
        image(Node("load", F32, (P,), Access(0))),
        "made[0]: load takes no operands",
    ),
    "gather": (
        image(Node("gather", F32, (S, S), Gather(1))),
        "made[0]: gather of Gather(source=1, channel=0)",
    ),
    "gather nowhere": (
        image(Node("gather", F32, (), Gather(0))),
        "made[0]: gather of Gather(source=0, channel=0)",
    ),
    "gather channel": (
        image(Node("gather", F32, (S, S), Gather(0, 4))),
        "made[0]: gather of Gather(source=0, channel=4)",
    ),
    "gather position": (
        image(Node("gather", F32, (P, P), Gather(0))),
        "made[0]: gather positions are s32",
    ),
    "deep inside": (
        image(make("neg", make("abs", Node("neg", F64, (P,))))),
        "made[0]: neg is f64, expected f32",
    ),
    "three channels": (image(P, P, P), "made: an image stage has 1 or 4 channels"),
    "no channel": (image(), "made: an image stage has 1 or 4 channels"),
    "image type": (image(S), "made: image channels are f32"),
    "components": (tensor(P, P), "made: a tensor stage has one component"),
    "a later stage": (
        Program("made", "image", 1, (), (Stage((Node("load", F32, (), Access(1)),)), Stage((P,)))),
        "made[0]: load of Access(source=1, channel=0, dx=0, dy=0)",
    ),
    "itself": (
        Program("made", "image", 1, (), (Stage((P,)), Stage((Node("load", F32, (), Access(2)),)))),
        "made[1]: load of Access(source=2, channel=0, dx=0, dy=0)",
    ),
}


@pytest.mark.parametrize("defect", MALFORMED)
def test_a_malformed_program_is_caught(defect: str) -> None:
    program, message = MALFORMED[defect]
    with pytest.raises(VerificationError) as caught:
        verify(program)
    assert str(caught.value) == message
    with pytest.raises(VerificationError):
        optimize(program)


def test_a_broken_pass_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(Node("neg", F64, (n,)) for n in body)

    monkeypatch.setattr("dala.ir.rewrite.PASSES", (breaks, *PASSES))
    with pytest.raises(VerificationError, match="neg is f64, expected f32"):
        optimize(image(P))


WELL_FORMED: list[Callable[[], Program]] = [
    lambda: image(P),
    lambda: image(P, P, P, P),
    lambda: image(Node("param", F32, (), 0), params=1),
    lambda: image(cast(Node("extent", S32, (), Extent(OUTPUT, 1)), F32), inputs=0),
    lambda: image(Node("gather", F32, (S, S), Gather(0, 3))),
    lambda: tensor(Node("gather", U8, (S,), Gather(0))),
    lambda: tensor(Node("const", S64, (), -5), inputs=0),
    lambda: Program(
        "two", "image", 1, (), (Stage((P,)), Stage((Node("load", F32, (), Access(1)),)))
    ),
]


@pytest.mark.parametrize("build", WELL_FORMED)
def test_a_well_formed_program_passes(build: Callable[[], Program]) -> None:
    verify(build())
    assert print_program(optimize(build()))
