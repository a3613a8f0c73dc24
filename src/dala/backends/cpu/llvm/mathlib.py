"""exp, log, sin, cos, tanh, atan2 and pow for f32, on whole vectors.

LLVM would call the C library once per lane. These polynomials (coefficients: Cephes) stay in
registers, differ from NumPy by a few ulp (the op table's tolerance) and treat NaN, infinities, zeros
and denormals as IEEE 754 asks. Used on a scalar they become a small function of their own, so that a
kernel with a hundred exponentials in its weights still compiles fast.
"""

from __future__ import annotations

from collections.abc import Callable

from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import BOOL, F64, S32

_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
_LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_TANH = (
    -5.70498872745e-3,
    2.06390887954e-2,
    -5.37397155531e-2,
    1.33314422036e-1,
    -3.33332819422e-1,
)
_ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
_HALF_PI = 1.5707963267948966


def emit(code: Code, name: str, t: Type, args: list[str]) -> str:
    """``name(args)`` for f32: in line on vectors, a call on scalars."""
    if t.lanes:
        return _BODIES[name](_Writer(code, t), *args)
    function = f"dala.{name}"
    if function not in code.names.functions:
        code.names.functions[function] = ""  # taken, before a body that calls it again
        inner = Code(code.names)
        formal = [f"%a{i}" for i in range(len(args))]
        result = _BODIES[name](_Writer(inner, t), *formal)
        listed = ", ".join(f"float {a}" for a in formal)
        text = [f"define internal float @{function}({listed}) noinline {{", *inner.lines]
        code.names.functions[function] = "\n".join([*text, f"  ret float {result}", "}"])
    listed = ", ".join(f"float {a}" for a in args)
    return code.op(f"call float @{function}({listed})")


class _Writer:
    """Arithmetic on one vector type, spelled short enough to read a formula."""

    def __init__(self, code: Code, t: Type) -> None:
        self.code = code
        self.t = t
        self.int = Type(S32, t.lanes)
        self.mask = Type(BOOL, t.lanes)

    def c(self, value: float) -> str:
        return self.code.constant(self.t, value)

    def i(self, value: int) -> str:
        return self.code.constant(self.int, value)

    def add(self, a: str, b: str) -> str:
        return self.code.op(f"fadd {self.t} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.code.op(f"fsub {self.t} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.code.op(f"fmul {self.t} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self.code.op(f"fdiv {self.t} {a}, {b}")

    def mad(self, a: str, b: str, c: str) -> str:
        if self.code.names.fma:
            return self.code.intrinsic("fma", self.t, [a, b, c])
        return self.add(self.mul(a, b), c)

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        total = self.c(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.mad(total, x, self.c(coefficient))
        return total

    def call(self, name: str, a: str) -> str:
        return self.code.intrinsic(name, self.t, [a])

    def test(self, how: str, a: str, b: str) -> str:
        return self.code.op(f"fcmp {how} {self.t} {a}, {b}")

    def pick(self, condition: str, yes: str, no: str) -> str:
        return self.code.select(self.t, condition, yes, no)

    def both(self, a: str, b: str) -> str:
        return self.code.op(f"and {self.mask} {a}, {b}")

    def iop(self, name: str, a: str, b: str) -> str:
        return self.code.op(f"{name} {self.int} {a}, {b}")

    def bits(self, a: str) -> str:
        return self.code.op(f"bitcast {self.t} {a} to {self.int}")

    def from_bits(self, a: str) -> str:
        return self.code.op(f"bitcast {self.int} {a} to {self.t}")

    def to_int(self, a: str) -> str:
        return self.code.op(f"fptosi {self.t} {a} to {self.int}")

    def to_float(self, a: str) -> str:
        return self.code.op(f"sitofp {self.int} {a} to {self.t}")

    def copysign(self, magnitude: str, sign: str) -> str:
        return self.code.intrinsic("copysign", self.t, [magnitude, sign])


def _exp(w: _Writer, x: str) -> str:
    low, high = w.c(-105.0), w.c(89.5)
    kept = w.pick(w.test("ogt", x, low), x, low)
    kept = w.pick(w.test("olt", kept, high), kept, high)
    n = w.call("roundeven", w.mul(kept, w.c(1.4426950408889634)))
    r = w.mad(n, w.c(-_LN2_HIGH), kept)
    r = w.mad(n, w.c(-_LN2_LOW), r)
    p = w.mad(w.polynomial(r, _EXP), w.mul(r, r), w.add(r, w.c(1.0)))
    # 2**n in two factors, so that results near inf and below the normal range come out right
    whole = w.to_int(n)
    half = w.iop("ashr", whole, w.i(1))
    scaled = w.mul(w.mul(p, _power_of_two(w, half)), _power_of_two(w, w.iop("sub", whole, half)))
    return w.pick(w.test("uno", x, x), x, scaled)


def _power_of_two(w: _Writer, n: str) -> str:
    return w.from_bits(w.iop("shl", w.iop("add", n, w.i(127)), w.i(23)))


def _log(w: _Writer, x: str) -> str:
    tiny = w.test("olt", x, w.c(1.1754943508222875e-38))
    normal = w.pick(tiny, w.mul(x, w.c(8388608.0)), x)
    bits = w.bits(normal)
    exponent = w.iop("sub", w.iop("lshr", bits, w.i(23)), w.i(126))
    e = w.sub(w.to_float(exponent), w.pick(tiny, w.c(23.0), w.c(0.0)))
    mantissa = w.from_bits(w.iop("or", w.iop("and", bits, w.i(0x007FFFFF)), w.i(0x3F000000)))
    below = w.test("olt", mantissa, w.c(0.7071067811865476))
    e = w.sub(e, w.pick(below, w.c(1.0), w.c(0.0)))
    m = w.sub(w.add(mantissa, w.pick(below, mantissa, w.c(0.0))), w.c(1.0))
    z = w.mul(m, m)
    y = w.mul(w.mul(w.polynomial(m, _LOG), z), m)
    y = w.mad(e, w.c(_LN2_LOW), y)
    y = w.mad(z, w.c(-0.5), y)
    result = w.mad(e, w.c(_LN2_HIGH), w.add(m, y))
    result = w.pick(w.test("oeq", x, w.c(0.0)), w.c(float("-inf")), result)
    result = w.pick(w.test("olt", x, w.c(0.0)), w.c(float("nan")), result)
    endless = w.test("ueq", x, w.c(float("inf")))  # +inf or NaN
    return w.pick(endless, x, result)


def _sine(shift: float) -> Callable[[_Writer, str], str]:
    """sin with the quadrant moved by ``shift``; the reduction is in f64, good to 1e9 radians."""

    def body(w: _Writer, x: str) -> str:
        wide = Type(F64, w.t.lanes)
        code = w.code
        d = code.op(f"fpext {w.t} {x} to {wide}")
        turns = code.op(f"fmul {wide} {d}, {code.constant(wide, 0.6366197723675814)}")
        n = code.intrinsic("roundeven", wide, [turns])
        offset = code.op(f"fmul {wide} {n}, {code.constant(wide, _HALF_PI)}")
        rest = code.op(f"fsub {wide} {d}, {offset}")
        low = code.op(f"fmul {wide} {n}, {code.constant(wide, 6.123233995736766e-17)}")
        rest = code.op(f"fsub {wide} {rest}, {low}")
        r = code.op(f"fptrunc {wide} {rest} to {w.t}")
        turned = code.op(f"fadd {wide} {n}, {code.constant(wide, shift)}")
        quarter = code.op(f"fmul {wide} {turned}, {code.constant(wide, 0.25)}")
        base = code.intrinsic("floor", wide, [quarter])
        base = code.op(f"fmul {wide} {base}, {code.constant(wide, 4.0)}")
        quadrant = code.op(f"fsub {wide} {turned}, {base}")
        q = code.op(f"fptrunc {wide} {quadrant} to {w.t}")
        z = w.mul(r, r)
        sine = w.mad(w.mul(w.polynomial(z, _SIN), z), r, r)
        cosine = w.mad(w.polynomial(z, _COS), w.mul(z, z), w.mad(z, w.c(-0.5), w.c(1.0)))
        q1, q3 = w.test("oeq", q, w.c(1.0)), w.test("oeq", q, w.c(3.0))
        odd = code.op(f"or {w.mask} {q1}, {q3}")
        value = w.pick(odd, cosine, sine)
        return w.pick(w.test("oge", q, w.c(2.0)), code.op(f"fneg {w.t} {value}"), value)

    return body


def _tanh(w: _Writer, x: str) -> str:
    size = w.call("fabs", x)
    z = w.mul(x, x)
    near = w.mad(w.mul(w.polynomial(z, _TANH), z), x, x)
    far = w.sub(w.c(1.0), w.div(w.c(2.0), w.add(_exp(w, w.add(size, size)), w.c(1.0))))
    return w.pick(w.test("ogt", size, w.c(0.625)), w.copysign(far, x), near)


def _atan2(w: _Writer, y: str, x: str) -> str:
    up, along = w.call("fabs", y), w.call("fabs", x)
    steep = w.test("ogt", up, along)
    large, small = w.pick(steep, up, along), w.pick(steep, along, up)
    ratio = w.div(small, large)
    ratio = w.pick(w.test("oeq", small, large), w.c(1.0), ratio)  # inf / inf
    ratio = w.pick(w.test("oeq", large, w.c(0.0)), w.c(0.0), ratio)  # 0 / 0
    wide = w.test("ogt", ratio, w.c(0.4142135623730951))
    folded = w.div(w.sub(ratio, w.c(1.0)), w.add(ratio, w.c(1.0)))
    t = w.pick(wide, folded, ratio)
    z = w.mul(t, t)
    angle = w.mad(w.mul(w.polynomial(z, _ATAN), z), t, t)
    angle = w.add(angle, w.pick(wide, w.c(_HALF_PI / 2), w.c(0.0)))
    angle = w.pick(steep, w.sub(w.c(_HALF_PI), angle), angle)
    behind = w.code.op(f"icmp slt {w.int} {w.bits(x)}, {w.i(0)}")  # -0.0 counts as behind
    angle = w.pick(behind, w.sub(w.c(2 * _HALF_PI), angle), angle)
    lost = w.code.op(f"or {w.mask} {w.test('uno', x, x)}, {w.test('uno', y, y)}")
    return w.pick(lost, w.c(float("nan")), w.copysign(angle, y))


def _pow(w: _Writer, x: str, y: str) -> str:
    size = w.call("fabs", x)
    magnitude = _exp(w, w.mul(y, _log(w, size)))
    magnitude = w.pick(w.test("oeq", size, w.c(1.0)), w.c(1.0), magnitude)  # (-1) ** inf is 1
    negative = w.code.op(f"icmp slt {w.int} {w.bits(x)}, {w.i(0)}")
    whole = w.test("oeq", w.call("floor", y), y)
    half = w.mul(y, w.c(0.5))
    odd = w.both(whole, w.test("une", w.call("floor", half), half))
    flipped = w.code.op(f"fneg {w.t} {magnitude}")
    result = w.pick(w.both(negative, odd), flipped, magnitude)
    below = w.test("olt", x, w.c(0.0))
    finite = w.test("one", size, w.c(float("inf")))
    fraction = w.test("une", w.call("floor", y), y)
    undefined = w.both(w.both(below, finite), fraction)
    result = w.pick(undefined, w.c(float("nan")), result)
    one = w.code.op(f"or {w.mask} {w.test('oeq', y, w.c(0.0))}, {w.test('oeq', x, w.c(1.0))}")
    return w.pick(one, w.c(1.0), result)


_BODIES: dict[str, Callable[..., str]] = {
    "exp": _exp,
    "log": _log,
    "sin": _sine(0.0),
    "cos": _sine(1.0),
    "tanh": _tanh,
    "atan2": _atan2,
    "pow": _pow,
}
