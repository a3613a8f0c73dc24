"""Native loops over long runs of memory, cut into bands for as many threads as that is worth."""

from __future__ import annotations

from array import array

from dala.backends.cpu.llvm.jit import Module
from dala.backends.cpu.run.pool import pool, useful_helpers

BANDS_PER_THREAD = 3


def in_bands(step: str, bytes_in: int, bytes_out: int) -> str:
    """LLVM text of ``{step}_bands``, which calls ``step(source, target, units)`` for band after band.

    Its block: the next band, how many there are, units per band, units in all, source, target. A unit is so
    many bytes of each.
    """
    return f"""
define void @{step}_bands(ptr %block, ptr %scratch) {{
entry:
  %bands.at = getelementptr i64, ptr %block, i64 1
  %bands = load i64, ptr %bands.at
  %size.at = getelementptr i64, ptr %block, i64 2
  %size = load i64, ptr %size.at
  %all.at = getelementptr i64, ptr %block, i64 3
  %all = load i64, ptr %all.at
  %source.at = getelementptr i64, ptr %block, i64 4
  %source = load i64, ptr %source.at
  %target.at = getelementptr i64, ptr %block, i64 5
  %target = load i64, ptr %target.at
  br label %next
next:
  %band = atomicrmw add ptr %block, i64 1 monotonic
  %more = icmp slt i64 %band, %bands
  br i1 %more, label %do, label %end
do:
  %first = mul i64 %band, %size
  %left = sub i64 %all, %first
  %last = icmp slt i64 %left, %size
  %units = select i1 %last, i64 %left, i64 %size
  %in = mul i64 %first, {bytes_in}
  %from = add i64 %source, %in
  %out = mul i64 %first, {bytes_out}
  %to = add i64 %target, %out
  call void @{step}(i64 %from, i64 %to, i64 %units)
  br label %next
end:
  ret void
}}
"""


class BandedLoop:
    """A function made by ``in_bands``, for Python to call; the GIL is released while it runs."""

    def __init__(self, module: Module, step: str, ns_per_unit: float) -> None:
        self._module = module
        self._code = module.address(f"{step}_bands")
        self._ns_per_unit = ns_per_unit

    def __call__(self, source: int, target: int, units: int) -> None:
        """From one address to another; the caller holds the memory."""
        helpers = useful_helpers(units * self._ns_per_unit)
        bands = (helpers + 1) * BANDS_PER_THREAD if helpers else 1
        size = -(-units // bands)
        block = array("q", [0, -(-units // size) if size else 0, size, units, source, target])
        pool().run(self._code, block.buffer_info()[0], 0, 0, helpers)
