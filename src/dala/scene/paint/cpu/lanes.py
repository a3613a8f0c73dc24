"""Vectors of 32 numbers of 16 bits, as LLVM text: what the rows' words are made of."""

from __future__ import annotations

from collections.abc import Callable

from dala.backends.cpu.llvm.jit import detect_host
from dala.gpu.raster.language import Word

H, B, W, F = "<32 x i16>", "<32 x i8>", "<32 x i32>", "<32 x float>"


def order(numbers: object) -> str:
    """The mask of a shuffle."""
    return "<" + ", ".join(f"i32 {n}" for n in numbers) + ">"  # type: ignore[attr-defined]


def splat16(name: str, value: str) -> str:
    """A number of 64 bits in all 32 lanes."""
    return f"""  %{name}.16 = trunc i64 {value} to i16
  %{name}.1 = insertelement {H} poison, i16 %{name}.16, i64 0
  %{name} = shufflevector {H} %{name}.1, {H} poison, <32 x i32> zeroinitializer"""


def multiply() -> str:
    """``@multiply``: a·b / 2¹⁵, rounded; one instruction on x86 and ARM."""
    host = detect_host()
    if host.x86 and host.vector_bytes == 64:
        return _pieces(1, "llvm.x86.avx512.pmul.hr.sw.512")
    if host.x86 and host.vector_bytes == 32:
        return _pieces(2, "llvm.x86.avx2.pmul.hr.sw")
    if host.x86 and host.shuffles_bytes:
        return _pieces(4, "llvm.x86.ssse3.pmul.hr.sw.128")
    if not host.x86 and host.fma:
        return _pieces(4, "llvm.aarch64.neon.sqrdmulh.v8i16")
    return f"""
define internal {H} @multiply({H} %a, {H} %b) alwaysinline {{
  %x = sext {H} %a to {W}
  %y = sext {H} %b to {W}
  %m = mul {W} %x, %y
  %n = add {W} %m, splat (i32 16384)
  %s = ashr {W} %n, splat (i32 15)
  %r = trunc {W} %s to {H}
  ret {H} %r
}}"""


def _pieces(count: int, name: str) -> str:
    lanes = 32 // count
    part = f"<{lanes} x i16>"
    lines = []
    for i in range(count):
        mask = order(range(i * lanes, (i + 1) * lanes))
        for v in "ab":
            lines.append(f"  %{v}{i} = shufflevector {H} %{v}, {H} poison, <{lanes} x i32> {mask}")
        lines.append(f"  %r{i} = call {part} @{name}({part} %a{i}, {part} %b{i})")
    results = [f"%r{i}" for i in range(count)]
    size = lanes
    while len(results) > 1:
        joined = []
        for i in range(0, len(results), 2):
            to = f"{results[i]}_{size}"
            lines.append(
                f"  {to} = shufflevector <{size} x i16> {results[i]}, <{size} x i16> {results[i + 1]}, "
                f"<{size * 2} x i32> {order(range(size * 2))}"
            )
            joined.append(to)
        results, size = joined, size * 2
    body = "\n".join(lines)
    return f"""
declare {part} @{name}({part}, {part})

define internal {H} @multiply({H} %a, {H} %b) alwaysinline {{
{body}
  ret {H} {results[0]}
}}"""


def word(name: str, text: Callable[[], str]) -> Word:
    """A word that only machine code can say: it has no meaning in Python."""

    def refuse(*arguments: float) -> int:
        raise NotImplementedError(f"{name} is compiled only")

    return Word(name, text, refuse)


load16 = word(
    "load16",
    lambda: (
        """define internal i64 @load16(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to ptr
  %v = load i16, ptr %p, align 1
  %r = zext i16 %v to i64
  ret i64 %r
}"""
    ),
)
store16 = word(
    "store16",
    lambda: (
        """define internal i64 @store16(i64 %address, i64 %value) alwaysinline {
  %p = inttoptr i64 %address to ptr
  %v = trunc i64 %value to i16
  store i16 %v, ptr %p, align 1
  ret i64 0
}"""
    ),
)
