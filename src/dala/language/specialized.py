"""A kernel made ready for given arrays, and its run-time values as numbers of their dtypes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass
from typing import Any

from dala.errors import DTypeError
from dala.ir.dtypes import F32, DType
from dala.ir.graph import Program
from dala.ir.library import LibraryCall
from dala.language.parameter import Param, ParamValue
from dala.language.tables import Table

Number = float | int


@dataclass(frozen=True, slots=True, eq=False)
class Specialized:
    """What a kernel does with arrays of given types, at given compile-time values.

    A kernel makes one and keeps it, so that it stands for all of these wherever it is a key.
    """

    kernel: str
    work: Program | LibraryCall
    takes: tuple[tuple[str, int | None, DType], ...]  # run-time parameters (or which of its
    # numbers, if one has several), in the program's order

    def numbers(self, values: Mapping[str, ParamValue]) -> tuple[Number, ...]:
        """The run-time values in the program's order, as its dtypes hold them."""
        numbers: list[Number] = []
        for name, index, dtype in self.takes:
            value: Any = values[name]
            if index is not None:
                value = value[index]
            # beyond f32 it is inf, by the policy
            numbers.append(
                c_float(value).value if dtype is F32 else self._convert(name, value, dtype)
            )
        return tuple(numbers)

    def _convert(self, param: str, value: Number, dtype: DType) -> Number:
        if dtype.is_float:
            return float(value)
        bits, signed = dtype.bytes * 8, dtype.kind == "s"
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if value != value or value in (float("inf"), float("-inf")) or value != int(value):
            raise DTypeError(
                f"{self.kernel}: {param}={value!r} is not a whole number, and the buffers are "
                f"{dtype}; round it or use f32 buffers"
            )
        if not least <= int(value) <= most:
            raise DTypeError(
                f"{self.kernel}: {param}={value!r} does not fit into {dtype} ({least}..{most})"
            )
        return int(value)


def make_specialized(
    kernel: str,
    work: Program | LibraryCall,
    params: Sequence[Param],
    values: Mapping[str, ParamValue],
) -> Specialized:
    """``work`` with the run-time parameters it takes; which have a value is the same for all its runs."""
    if isinstance(work, LibraryCall):
        return Specialized(kernel, work, ())
    names: list[tuple[str, int | None]] = []
    for p in params:
        value = values[p.name]
        if p.static or value is None or isinstance(value, Table):
            continue
        names += (
            [(p.name, i) for i in range(len(value))]
            if isinstance(value, tuple)
            else [(p.name, None)]
        )
    pairs = zip(names, work.params, strict=True)
    return Specialized(kernel, work, tuple((*name, slot.dtype) for name, slot in pairs))
