"""Models whose outputs the tests choose: networks that answer every picture with the same arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx_files import Net, value

from dala import ml
from dala.ml.catalogue import model_info
from dala.ml.network import open_network
from dala.ml.tasks import known_task

Array = np.ndarray[Any, Any]


def constant_net(
    outputs: Sequence[Array], shape: Sequence[int], dtype: str = "float32", extra: bytes = b""
) -> bytes:
    """A file of one input that is read and changes nothing, and these outputs."""
    net = Net()
    given = net.input("image", shape, dtype)
    nothing = net.add("ReduceSum", net.add("Cast", given, to=1), keepdims=0)
    nothing = net.add("Mul", nothing, net.constant(0.0, "f4"))
    for array in outputs:
        to = {"float32": 1, "uint8": 2, "int64": 7}[array.dtype.name]
        numbers = net.constant(array.astype(np.float32))  # bytes cannot be added
        made = net.add("Cast", net.add("Add", numbers, nothing), to=to)
        net.outputs.append(value(made, array.shape, array.dtype.name))
    return net.bytes(extra)


def made_model(name: str, outputs: Sequence[Array], labels: Sequence[str] = ()) -> ml.Model:
    """A model of the catalogue that answers with these outputs."""
    info = model_info(name)
    dtype = "uint8" if info.input_dtype == "u8" else "float32"
    network = open_network(constant_net(outputs, info.input_shape, dtype), device="cpu")
    return ml.Model(info.name, network, known_task(info, labels), info)
