"""A network as a stage of a pipeline: one of its outputs, on buffers.

What takes or gives bytes also takes or gives f32 buffers: values 0..255, rounded to bytes on the way in. So
``preprocess`` can stand before it and ``softmax`` behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dala.errors import DeviceError, ShapeError
from dala.ir.library import OwnBody
from dala.ml.layers.elementwise import CAST
from dala.ml.layers.fuse import PASSES
from dala.ml.layers.program import Layer, Program, Step, ValueType

Array = npt.NDArray[Any]
TO_BYTES = (Step("round"), Step("clip", (0.0, 255.0)), Step(f"{CAST}uint8"))
TO_FLOATS = (Step(f"{CAST}float32"),)
FLOAT = np.dtype(np.float32)


class Request(NamedTuple):
    """Which output, for inputs of which shapes, and where floats stand for bytes."""

    shapes: tuple[tuple[int, ...], ...]
    floats: tuple[bool, ...]
    output: int
    float_output: bool


def stage_program(program: Program, request: Request) -> Program:
    """The part of a program that leads to one output, with floats for bytes where they are asked for."""
    values, layers, inputs = (
        list(program.values),
        [replace(x) for x in program.layers],
        list(program.inputs),
    )
    for number, floats in enumerate(request.floats):
        if floats:
            before, inputs[number] = inputs[number], len(values)
            shape = values[before].shape
            values.append(ValueType(shape, FLOAT))
            layers.insert(
                0, Layer("map", (inputs[number],), before, {"shape": shape}, (), TO_BYTES, "bytes")
            )
    output = program.outputs[request.output]
    if request.float_output:
        shape = values[output].shape
        layers.append(
            Layer("map", (output,), len(values), {"shape": shape}, (), TO_FLOATS, "floats")
        )
        output = len(values)
        values.append(ValueType(shape, FLOAT))
    part = Program(
        program.name,
        values,
        dict(program.constants),
        layers,
        tuple(inputs),
        (output,),
        program.operators,
    )
    for rewrite in PASSES:
        rewrite(part)
    return part


@dataclass(frozen=True, slots=True, eq=False)
class HostBody(OwnBody):
    """A stage in main memory: ``work`` computes the output of the inputs."""

    name: str
    device: str
    request: Request
    work: Callable[[Sequence[Array]], Array]
    words: Callable[[], str]

    def compute(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        shaped = [a.reshape(s) for a, s in zip(inputs, self.request.shapes, strict=True)]
        made, target = self.work(shaped), outputs[0]
        if made.size != target.size:
            raise ShapeError(f"{self.name}: expected an output of {made.shape}, got {target.shape}")
        np.copyto(target, made.reshape(target.shape), casting="unsafe")

    def emit(self, device: object, reads: object, writes: object, new_temp: object) -> list[Any]:
        raise other_device(self.name, self.device)

    def explain(self, device: str) -> str:
        return self.words()


def other_device(name: str, device: str) -> DeviceError:
    """For a network in a pipeline of another device."""
    return DeviceError(
        f"{name} was loaded for {device}, and this pipeline runs elsewhere; "
        "load it with the pipeline's device"
    )
