"""Layers → shaders, in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.webgpu.shader import Shader
from dala.errors import ModelError
from dala.ml.layers.program import Layer, Program
from dala.ml.run.webgpu import fills, moves, products, whole, windows
from dala.ml.run.webgpu.access import Stored
from dala.ml.run.webgpu.epilogue import collapse, emit_epilogue, operand
from dala.ml.run.webgpu.excite import emit_excite
from dala.ml.run.webgpu.placing import Placing, real_layers
from dala.ml.run.webgpu.shader import LayerShader
from dala.plan.fuse import Location

Array = npt.NDArray[Any]
Hold = Callable[[Array, bool], Stored]  # an array that stays on the GPU; in f16 if that is allowed
MOST_WEIGHTS = 1 << 26  # elements of a grouped convolution's weights, written out


class Compiler:
    """The shaders of one program, on given locations."""

    def __init__(
        self, program: Program, placing: Placing, inputs: Sequence[Location], outputs: Sequence[Location],
        registers: Sequence[Location], hold: Hold,
    ) -> None:  # fmt: skip
        self.program = program
        self.placing = placing
        self.hold = hold
        self.outputs = outputs
        self.locations: dict[int, Location] = dict(zip(program.inputs, inputs, strict=True))
        self.locations.update({root: outputs[k] for root, k in placing.targets.items()})
        self.locations.update({root: registers[r] for root, r in placing.registers.items()})

    def shaders(self) -> list[Shader]:
        """Everything that runs, in order."""
        found: list[Shader] = []
        for layer in real_layers(self.program):
            found += self._emit(layer)
        for value, number in self.placing.copied:
            source = self.stored(value)
            form = "u8" if self.program.values[value].dtype == np.uint8 else source.form
            form = "f32" if form == "f16" else form
            target = Stored(self.outputs[number], form, source.shape)
            shader = LayerShader(f"{self.program.name}: output {number}")
            found.append(moves.emit_copy(shader, source, target, source.count, source.count, 0))
        return found

    def stored(self, value: int) -> Stored:
        """Where a value lies."""
        if value in self.program.constants:
            return self.hold(self.program.constants[value], False)
        root = self.placing.roots[value]
        if root in self.program.constants:
            return self.hold(
                self.program.constants[root].reshape(self.program.values[value].shape), False
            )
        start, stride = self.placing.parts.get(value, (0, 0))
        shape = self.program.values[value].shape
        return Stored(self.locations[root], self.placing.forms[root], shape, start, stride)

    def _emit(self, layer: Layer) -> list[Shader]:
        made = self.program.values[layer.output].shape
        if layer.kind == "concat":
            return self._concat(layer)
        shader = LayerShader(f"{self.program.name}: {layer.label}")
        inputs = [self.stored(v) for v in layer.inputs]
        if layer.kind == "take":
            return [self._take(shader, layer, inputs[0])]
        if layer.kind in ("softmax", "argmax"):
            return [self._along(shader, layer, inputs[0])]
        flat = layer.kind == "map" and collapse(made, [s.shape for s in inputs])
        finish = self._finish(shader, layer, inputs, made, flat=flat)
        if layer.kind == "map":
            count = math.prod(made)
            rows, width = (1, count) if flat else (count // made[-1], made[-1]) if made else (1, 1)
            read = operand(shader, inputs[0], made, flat=flat)
            return [moves.emit_map(shader, read, rows, -(-width // 4), finish)]
        if layer.kind == "excite":
            return [self._excite(shader, layer, inputs[0], finish)]
        if layer.kind == "reduce":
            return [self._reduce(shader, layer, inputs[0], finish)]
        if layer.kind == "matmul":
            return [self._matmul(shader, layer, inputs, made, finish)]
        return [self._window(shader, layer, inputs[0], made, finish)]

    def _finish(
        self,
        shader: LayerShader,
        layer: Layer,
        inputs: Sequence[Stored],
        made: Sequence[int],
        *,
        flat: bool,
    ) -> str:
        """A function of row, quad and a sum: the epilogue, and the result stored."""
        types = [self.program.values[v].dtype for v in layer.inputs]
        first = types[0]
        if layer.before:
            first = np.dtype(np.float32)  # those steps end in floats
        steps = emit_epilogue(shader, layer.epilogue, inputs, made, first, types, flat=flat)
        target = self.stored(layer.output)
        out = shader.array(target, math.prod(made) if flat else None, written=True)
        shader.function(
            "fn finish(row: u32, quad: u32, sum: vec4<f32>) {\n    var v = sum;\n"
            f"{steps}    {out.write('row', 'quad', 'v')}\n}}\n"
        )
        return "finish"

    def _before(self, shader: LayerShader, layer: Layer) -> str:
        """Lines that change ``v``, what was read of the first input at ``row`` and ``quad``."""
        inputs = [self.stored(v) for v in layer.inputs]
        types = [self.program.values[v].dtype for v in layer.inputs]
        return emit_epilogue(shader, layer.before, inputs, inputs[0].shape, types[0], types)

    # -- one kind each -----------------------------------------------------------------------------

    def _window(
        self, shader: LayerShader, layer: Layer, source: Stored, made: tuple[int, ...], finish: str
    ) -> Shader:
        options = layer.options
        if layer.kind == "pool":
            return windows.emit_pool(shader, source, options, made, finish)
        if layer.kind == "resize":
            tables = [self.hold(_padded(t, 4), False) for t in layer.weights]
            return windows.emit_resize(shader, source, tables, made, finish)
        weight, bias = layer.weights[:2]
        window = weight.shape[:2]
        if layer.kind in ("depthwise", "separable"):
            made = self._between(layer)
            held = self.hold(_padded(weight[:, :, 0].reshape(-1, made[-1]), made[-1]), True)
            held_bias = self.hold(_padded(bias[None], made[-1]), False)
            if layer.kind == "depthwise":
                return windows.emit_depthwise(
                    shader, source, held, held_bias, options, made, window, finish
                )
            return self._separable(shader, layer, source, (held, held_bias), made, finish)
        held_bias = self.hold(_padded(bias[None], made[-1]), False)
        matrix = _dense(weight, options["groups"])
        quads = -(-source.shape[-1] // 4)
        wide = np.zeros((*window, quads * 4, matrix.shape[3]), matrix.dtype)
        wide[:, :, : matrix.shape[2]] = matrix
        held = self.hold(_padded(wide.reshape(-1, made[-1]), made[-1]), True)
        if layer.kind == "transposed":
            return windows.emit_transposed(
                shader, source, held, held_bias, options, made, window, finish
            )
        if layer.kind == "pointwise":
            before = self._before(shader, layer)
            fill = fills.fill_rows(shader, source, math.prod(made[:-1]), -(-made[-1] // 4), before)
        else:
            before = self._before(shader, layer)
            fill = fills.fill_windows(shader, source, options, made, window, before)
        return products.emit_product(shader, fill, held, held_bias, finish)

    def _between(self, layer: Layer) -> tuple[int, ...]:
        """The shape that a depthwise convolution makes."""
        made = self.program.values[layer.output].shape
        return (*made[:-1], layer.weights[0].shape[3])

    def _separable(
        self,
        shader: LayerShader,
        layer: Layer,
        source: Stored,
        held: tuple[Stored, Stored],
        between: tuple[int, ...],
        finish: str,
    ) -> Shader:
        weight, bias = layer.weights[2:]
        made = weight.shape[3]
        float_ = np.dtype(np.float32)
        steps = emit_epilogue(shader, layer.options["between"], (), between, float_, ())
        window = layer.weights[0].shape[:2]
        fill = fills.fill_depthwise(
            shader, source, *held, layer.options, between, window, steps, -(-made // 4)
        )
        matrix = np.zeros((-(-weight.shape[2] // 4) * 4, made), weight.dtype)
        matrix[: weight.shape[2]] = weight[0, 0]
        return products.emit_product(
            shader,
            fill,
            self.hold(_padded(matrix, made), True),
            self.hold(_padded(bias[None], made), False),
            finish,
        )

    def _matmul(
        self,
        shader: LayerShader,
        layer: Layer,
        inputs: Sequence[Stored],
        made: tuple[int, ...],
        finish: str,
    ) -> Shader:
        a, b = inputs[:2]
        if math.prod(b.shape[:-2]) == 1 and math.prod(made[:-2]) == math.prod(a.shape[:-2]):
            known = self.program.constants.get(layer.inputs[1])
            if known is not None:  # as weights: four rows at a time
                length, columns = known.shape[-2:]
                wide = np.zeros((-(-length // 4) * 4, columns), known.dtype)
                wide[:length] = known.reshape(length, columns)
                weight = self.hold(_padded(wide, columns), True)
                bias = self.hold(np.zeros((1, -(-columns // 4) * 4), np.float32), False)
                fill = fills.fill_rows(shader, a, math.prod(made[:-1]), -(-columns // 4))
                return products.emit_product(shader, fill, weight, bias, finish)
            return products.emit_matmul(shader, a, b, made, False, finish)
        if a.shape[:-2] != b.shape[:-2]:
            raise ModelError(
                f"{layer.label}: products of {a.shape} and {b.shape} are not supported on a GPU"
            )
        return products.emit_matmul(shader, a, b, made, True, finish)

    def _reduce(self, shader: LayerShader, layer: Layer, source: Stored, finish: str) -> Shader:
        axes, shape = layer.options["axes"], source.shape
        assert axes == tuple(range(axes[0], axes[-1] + 1)), "one run of axes"
        last = len(shape) - 1
        channels = 1 if last in axes else shape[-1]
        inner = math.prod(shape[axes[-1] + 1 :]) // channels
        lines = (math.prod(shape[: axes[0]]), math.prod(shape[a] for a in axes), inner)
        return whole.emit_reduce(
            shader,
            source,
            lines,
            channels,
            layer.options["mode"],
            self._before(shader, layer),
            finish,
        )

    def _excite(self, shader: LayerShader, layer: Layer, source: Stored, finish: str) -> Shader:
        matrices = []
        for weight, bias in zip(layer.weights[::2], layer.weights[1::2], strict=True):
            taken, made = weight.shape[2:]
            matrix = np.zeros((-(-taken // 4) * 4, made), weight.dtype)
            matrix[:taken] = weight[0, 0]
            held = (
                self.hold(_padded(matrix, made), True),
                self.hold(_padded(bias[None], made), False),
            )
            matrices.append(held)
        steps = emit_epilogue(shader, layer.options["between"], (), (), np.dtype(np.float32), ())
        before = self._before(shader, layer)
        return emit_excite(shader, source, matrices, before, steps, finish)

    def _along(self, shader: LayerShader, layer: Layer, source: Stored) -> Shader:
        axis, shape = layer.options["axis"], source.shape
        lines = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
        target = self.stored(layer.output)
        if layer.kind == "softmax":
            dtype = self.program.values[layer.inputs[0]].dtype
            steps = emit_epilogue(shader, layer.epilogue, (), shape, dtype, ())
            return whole.emit_softmax(shader, source, target, lines, steps)
        smallest = bool(layer.options.get("smallest"))
        return whole.emit_argmax(shader, source, target, lines, smallest=smallest)

    def _take(self, shader: LayerShader, layer: Layer, source: Stored) -> Shader:
        tables, starts, held = layer.options["tables"], {}, None
        if tables:
            joined = np.concatenate(list(tables.values())).astype(np.int32)
            ends = np.cumsum([len(t) for t in tables.values()])
            starts = {a: int(e) - len(tables[a]) for a, e in zip(tables, ends, strict=True)}
            held = self.hold(joined, False)
        fill = float(layer.options["fill"])
        return moves.emit_take(
            shader, source, self.stored(layer.output), held, starts, layer.options["axes"], fill
        )

    def _concat(self, layer: Layer) -> list[Shader]:
        target, axis = self.stored(layer.output), layer.options["axis"]
        inner = math.prod(target.shape[axis + 1 :])
        found, start = [], 0
        made_there = {self.placing.roots[v] for v in layer.inputs} & {
            self.placing.roots[layer.output]
        }
        for value in layer.inputs:
            run = self.program.values[value].shape[axis] * inner
            if self.placing.roots[value] in made_there:
                start += run
                continue
            source = self.stored(value)
            shader = LayerShader(f"{self.program.name}: {layer.label}")
            found.append(
                moves.emit_copy(shader, source, target, run, target.shape[axis] * inner, start)
            )
            start += run
        return found


def _padded(array: Array, columns: int) -> Array:
    """A matrix with its last axis filled up to a multiple of four, by zeros."""
    wide = np.zeros((*array.shape[:-1], -(-columns // 4) * 4), array.dtype)
    wide[..., : array.shape[-1]] = array
    return wide


def _dense(weight: Array, groups: int) -> Array:
    """A grouped convolution's weights as those of one group: zeros where groups do not meet."""
    if groups == 1:
        return weight
    rows, columns, taken, made = weight.shape
    if rows * columns * taken * groups * made > MOST_WEIGHTS:
        raise ModelError(f"{groups} groups of {taken} channels to {made} are too many for a GPU")
    found = np.zeros((rows, columns, taken * groups, made), weight.dtype)
    each = made // groups
    for g in range(groups):
        part = slice(g * each, (g + 1) * each)
        found[:, :, g * taken : (g + 1) * taken, part] = weight[..., part]
    return found
