"""The reference: layers one by one, by their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.ir.arrays import ArrayType
from dala.ir.dtypes import parse_dtype
from dala.ir.library import OwnBody
from dala.ml.layers.program import Program
from dala.ml.layers.table import compute_layer
from dala.ml.onnx.graph import Model
from dala.ml.run.base import Runner
from dala.ml.run.listing import explain_program
from dala.ml.run.programs import Programs
from dala.ml.run.stage import HostBody, Request, stage_program

Array = npt.NDArray[Any]


class ReferenceRunner(Runner):
    """Programs for the shapes that were met, interpreted."""

    def __init__(self, model: Model, name: str) -> None:
        self._programs = Programs(model, name)

    def run(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return run_program(self._programs.find([a.shape for a in inputs]), inputs)

    def stage(self, request: Request) -> tuple[OwnBody, ArrayType | None]:
        program = stage_program(self._programs.find(request.shapes), request)
        made = program.values[program.outputs[0]]
        body = HostBody(
            program.name,
            "reference",
            request,
            lambda inputs: run_program(program, inputs)[0],
            lambda: explain_program(program, "reference"),
        )
        return body, ArrayType(made.shape, parse_dtype(made.dtype))

    def explain(self, shapes: Sequence[tuple[int, ...]]) -> str:
        return explain_program(self._programs.find(shapes), "reference")


def run_program(program: Program, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs of a program; a value is let go once its last reader is done."""
    values: dict[int, Array] = dict(program.constants)
    values.update(zip(program.inputs, inputs, strict=True))
    last = {i: k for k, layer in enumerate(program.layers) for i in layer.inputs}
    for number, layer in enumerate(program.layers):
        values[layer.output] = compute_layer(layer, [values[i] for i in layer.inputs])
        for i in set(layer.inputs):
            if last[i] == number and i not in program.outputs:
                del values[i]
    return tuple(np.ascontiguousarray(values[i]) for i in program.outputs)
