"""A network as a kernel: by its name, a stage of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dala.errors import DTypeError, ParameterError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, parse_dtype
from dala.ir.library import LibraryCall, OwnCall
from dala.language.kernel import Kernel
from dala.language.parameter import Param, ParamValue
from dala.ml.onnx.graph import TensorSpec
from dala.ml.run.base import Runner
from dala.ml.run.stage import Request

BYTES = np.dtype(np.uint8)


class NetworkKernel(Kernel):
    """Runs a network on buffers of its device; ``output`` chooses one of several outputs.

    A batch axis of length 1 may be left out of the buffers' shapes.
    """

    def __init__(
        self, name: str, runner: Runner, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]
    ) -> None:
        listed = ", ".join(f"{k} {spec.name}" for k, spec in enumerate(outputs))
        which = Param("output", "int", 0, min=0, help=f"Which output: {listed}.", static=True)
        doc = f"The network {name}: {', '.join(map(str, inputs))}."
        super().__init__(name, None, len(inputs), [which], doc=doc, library="network")
        self._runner = runner
        self._takes, self._gives = tuple(inputs), tuple(outputs)

    def _check(
        self,
        inputs: Sequence[ArrayType],
        output: ArrayType,
        values: Mapping[str, ParamValue],
        fixed: tuple[ParamValue, ...],
    ) -> LibraryCall:
        if len(inputs) != len(self._takes):
            raise ShapeError(f"{self.name}: expected {self.inputs_in_words}, got {len(inputs)}")
        number = values["output"]
        assert isinstance(number, int)
        if number >= len(self._gives):
            raise ParameterError(f"{self.name}: there are {len(self._gives)} outputs, got {number}")
        shapes = [
            self._fit(f"input {k}", spec, array)
            for k, (spec, array) in enumerate(zip(self._takes, inputs, strict=True))
        ]
        floats = tuple(
            _stands_in(spec.dtype, array) for spec, array in zip(self._takes, inputs, strict=True)
        )
        given = self._gives[number]
        request = Request(tuple(shapes), floats, number, _stands_in(given.dtype, output))
        body, made = self._runner.stage(request)
        if made is None:  # known once it has run
            self._fit("the output", given, output)
        elif output.shape not in (
            made.shape,
            made.shape[1:] if made.shape[:1] == (1,) else made.shape,
        ):
            raise ShapeError(f"{self.name}: expected an output of {made.shape}, got {output.shape}")
        elif output.dtype is not made.dtype:
            raise DTypeError(f"{self.name}: expected an output of {made.dtype}, got {output.dtype}")
        return OwnCall("network", self.name, (("output", number),), body)

    def _fit(self, role: str, spec: TensorSpec, array: ArrayType) -> tuple[int, ...]:
        """The shape the network sees, or an error."""
        known = array.dtype.numpy == spec.dtype or _stands_in(spec.dtype, array)
        if not known:
            raise DTypeError(
                f"{self.name}: expected {role} of {_word(spec.dtype)}, got {array.dtype}"
            )
        for shape in (array.shape, (1, *array.shape)):
            if len(shape) == len(spec.shape) and all(
                want in (None, got) for want, got in zip(spec.shape, shape, strict=True)
            ):
                return shape
        raise ShapeError(f"{self.name}: expected {role} as {spec}, got {array.shape}")


def _stands_in(wanted: np.dtype[Any], array: ArrayType) -> bool:
    """Whether floats stand for bytes."""
    return wanted == BYTES and array.dtype is F32


def _word(dtype: np.dtype[Any]) -> str:
    try:
        return parse_dtype(dtype).name
    except DTypeError:
        return str(dtype)
