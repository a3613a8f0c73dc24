"""A kernel's program as a GPU wants to compute it: what changes rounding, before fusion.

Averages are spelled out, and a multiply that feeds one add becomes a fused multiply-add, said aloud: a
driver would contract some of them anyway, others not (a product that two neighbouring pixels share), and
others again in another shader.
"""

from __future__ import annotations

from dataclasses import replace

from dala.backends.contract import contract_body
from dala.ir.graph import Program
from dala.ir.rewrite import PASSES, expand_averages


def prepare_program(program: Program) -> Program:
    """The program in ops that WGSL has."""
    stages = []
    for stage in program.stages:
        body = expand_averages(stage.body)
        for rewrite in PASSES:
            body = rewrite(body)
        stages.append(replace(stage, body=contract_body(body)))
    return replace(program, stages=tuple(stages))
