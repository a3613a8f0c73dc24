"""Every named value of a kernel at one pixel, as a number.

A kernel is traced, not run pixel by pixel, so a debugger shows symbols only. Here its function is traced
with an eye on its local names, and what they stand for is computed by passes of their own.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from types import FrameType
from typing import Any, TypeAlias

import numpy as np

from dala.compute.arrays import from_array
from dala.compute.buffers import Buffer, array_type
from dala.compute.calls import run_kernel
from dala.errors import ArgumentError, ShapeError
from dala.ir.dtypes import BOOL
from dala.kernels.geometry import any_size
from dala.language.interpret import TextFunction
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel
from dala.language.trace import call_traced
from dala.language.values import Image, Scalar, Tensor, Vec
from dala.language.vocabulary import f32, rgba, where

Shown: TypeAlias = "float | tuple[float, ...] | str"
RESULT = "return"
PLACES = 4  # of numbers in a pass: the channels of its image


class DebuggedPixel(Mapping[str, Shown]):
    """The values of a kernel at one pixel, by their names, in the order of the code.

    >>> import numpy as np
    >>> import dala
    >>> @dala.kernel
    ... def bright(src, by: float = 0.25):
    ...     p = src[0, 0]
    ...     lighter = p.rgb + by
    ...     return lighter.with_alpha(p.a)
    >>> seen = dala.debug_kernel(bright, [np.full((2, 2, 4), 51, np.uint8)], at=(1, 0))
    >>> seen["by"], [round(c, 3) for c in seen["lighter"]]
    (0.25, [0.45, 0.45, 0.45])
    """

    def __init__(self, kernel: str, at: tuple[int, int], values: Mapping[str, Shown]) -> None:
        self.kernel, self.at = kernel, at
        self._values = dict(values)

    def __getitem__(self, name: str) -> Shown:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        wide = max(map(len, self._values), default=0)
        lines = [f"{name:<{wide}} = {_text(value)}" for name, value in self._values.items()]
        return "\n".join([f"{self.kernel} at {self.at}", *(f"  {line}" for line in lines)])


def debug_kernel(
    kernel: str | Kernel,
    inputs: Sequence[object],
    at: tuple[int, int] = (0, 0),
    params: Mapping[str, object] | None = None,
) -> DebuggedPixel:
    """What every name in an image kernel stands for at the pixel ``at`` = (x, y); also what it returns.

    ``inputs`` are buffers or arrays. Print the result, or look names up in it.

    >>> import numpy as np
    >>> import dala
    >>> @dala.kernel
    ... def tint(src):
    ...     p = src[0, 0]
    ...     y = luma(p)
    ...     return rgb(y, y, 1.0).with_alpha(p.a)
    >>> dala.debug_kernel(tint, [np.full((2, 3, 4), 255, np.uint8)], at=(2, 1))
    tint at (2, 1)
      src    = (1, 1, 1, 1)
      p      = (1, 1, 1, 1)
      y      = 1
      return = (1, 1, 1, 1)
    """
    found = find_kernel(kernel)
    if found.function is None or found.domain != "image":
        raise ArgumentError(f"debug_kernel: {found.name} is no image kernel")
    if isinstance(found.function, TextFunction):
        raise ArgumentError(
            "debug_kernel: a kernel given as text has no names to look at; use a def"
        )
    if not inputs:
        raise ArgumentError("debug_kernel: give the images that the kernel reads")
    buffers = [_as_image(i) for i in inputs]
    rows, columns = buffers[0].shape[:2]
    values = found.bind(params)
    if found.output_size is not None:
        columns, rows = found.output_size(values, columns, rows)
    x, y = _check_place(at, columns, rows)
    return DebuggedPixel(
        found.name, (x, y), _Session(found, buffers, params, (rows, columns)).at(x, y)
    )


class _Session:
    """One look at a kernel: which names there are, and the passes that compute them."""

    def __init__(
        self,
        kernel: Kernel,
        buffers: Sequence[Buffer],
        params: Mapping[str, object] | None,
        size: tuple[int, int],
    ) -> None:
        self.kernel, self.buffers, self.params, self.size = kernel, buffers, params, size
        self.names: dict[str, object] = {}  # of the newest trace

    def at(self, x: int, y: int) -> dict[str, Shown]:
        numbers = self._pass(0)[y, x].tolist()
        parts = {name: _parts(value) for name, value in self.names.items()}
        count = sum(len(p) for p in parts.values())
        for first in range(PLACES, count, PLACES):
            numbers += self._pass(first)[y, x].tolist()
        waiting = iter(numbers)
        shown: dict[str, Shown] = {}
        for name, value in self.names.items():
            found = tuple(next(waiting) for _ in parts[name])
            if found:
                shown[name] = found if isinstance(value, Vec | Image | tuple | list) else found[0]
            else:
                shown[name] = value if isinstance(value, int | float) else repr(value)
        return shown

    def _pass(self, first: int) -> Any:
        """The values from that number on, as an image of f32."""

        def look(*images: object, **values: object) -> Vec:
            names: dict[str, object] = {}
            assert self.kernel.function is not None
            # what it prints is said once, however many passes its values take
            said = redirect_stdout(io.StringIO()) if self.names else nullcontext()
            with said, _watching(self.kernel.function, names):
                result = call_traced(self.kernel.name, self.kernel.function, images, values)
            self.names = {**names, RESULT: result}
            parts = [p for value in self.names.values() for p in _parts(value)]
            chosen = [*parts[first : first + PLACES], *[0.0] * PLACES][:PLACES]
            return rgba(*chosen)  # type: ignore[arg-type]

        watched = Kernel(
            self.kernel.name,
            look,
            self.kernel.inputs,
            self.kernel.params,
            domain="image",
            shape_rule=any_size,
            optional_inputs=self.kernel.optional_inputs,
        )
        engine = self.buffers[0].engine
        type_ = array_type((*self.size, PLACES), "f32")
        output = Buffer(engine, type_, engine.device.allocate(type_))
        run_kernel(watched, self.buffers, output, self.params)
        return output.read()


@contextmanager
def _watching(function: Any, names: dict[str, object]) -> Iterator[None]:
    """Keep the local names of a function when it returns; the last call of it counts."""
    code = function.__code__

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "return" and frame.f_code is code:
            names.clear()
            found = frame.f_locals  # in any order, before Python 3.11
            names.update({n: found[n] for n in (*code.co_varnames, *found) if n in found})

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


def _parts(value: object) -> list[object]:
    """The numbers that a value is made of, if they are known only when the kernel runs."""
    if isinstance(value, Tensor):
        return []
    if isinstance(value, Image):
        return _parts(value[0, 0])
    if isinstance(value, Vec):
        return [_number(p) for p in value.parts]
    if isinstance(value, Scalar):
        return [_number(value)]
    if isinstance(value, list | tuple) and any(isinstance(v, Scalar) for v in value):
        return [p for v in value for p in _parts(v)]
    return []


def _number(value: Scalar) -> object:
    return where(value, 1.0, 0.0) if value.node.dtype == BOOL else f32(value)


def _as_image(given: object) -> Buffer:
    if isinstance(given, Buffer):
        return given
    if isinstance(given, np.ndarray) and given.ndim == 3 and given.shape[2] == 3:
        opaque = 255 if given.dtype == np.uint8 else 1
        given = np.concatenate([given, np.full_like(given[..., :1], opaque)], axis=2)
    return from_array(given)


def _check_place(at: object, columns: int, rows: int) -> tuple[int, int]:
    if not isinstance(at, Sequence) or len(at) != 2:
        raise ArgumentError(f"debug_kernel: at is (x, y), got {at!r}")
    try:
        x, y = int(at[0]), int(at[1])
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"debug_kernel: at is (x, y), got {at!r}") from error
    if not (0 <= x < columns and 0 <= y < rows):
        raise ShapeError(f"debug_kernel: ({x}, {y}) is outside of {columns} × {rows}")
    return x, y


def _text(value: Shown) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(f'{v:.4g}' for v in value)})"
    return value if isinstance(value, str) else f"{value:.4g}"
