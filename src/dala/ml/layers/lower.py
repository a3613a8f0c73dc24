"""From a Model to a Program at fixed shapes: one list.

check_operators → lower_nodes (folding on the way) → fuse → drop what nobody reads
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dala.errors import ModelError
from dala.ml.layers.builder import Builder, Ref, plain_order
from dala.ml.layers.fuse import PASSES
from dala.ml.layers.operators.table import check_operators, lower_nodes
from dala.ml.layers.program import Program, ValueType
from dala.ml.onnx.graph import Model


def lower_model(model: Model, shapes: Sequence[tuple[int, ...]], name: str) -> Program:
    """The layers of a model for inputs of these shapes."""
    graph = model.graph  # its numbers may be anything: NaN and overflow are no news
    check_operators(graph, name)
    b = Builder(model.opset)
    inputs = []
    for spec, shape in zip(graph.inputs, shapes, strict=True):
        inputs.append(b.new_value(ValueType(tuple(shape), spec.dtype)))
        b.name(spec.name, Ref(inputs[-1], plain_order(len(shape))))
    b.enter_constants(graph)
    try:
        with np.errstate(all="ignore"):
            lower_nodes(b, graph)
        b.node = None
        outputs = []
        for out in graph.outputs:
            ref = b.find(out.name)
            assert ref is not None
            outputs.append(b.plain(ref))
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    program = Program(
        name, b.values, b.constants, b.layers, tuple(inputs), tuple(outputs), len(graph.nodes)
    )
    with np.errstate(all="ignore"):
        for rewrite in PASSES:
            rewrite(program)
    return program
