"""WGSL functions that expressions may call; a shader gets the ones it uses."""

from __future__ import annotations

import re

from dala.backends.webgpu.division import DIVISION
from dala.backends.webgpu.functions16 import FUNCTIONS16
from dala.backends.webgpu.functions64 import FUNCTIONS64


def _saturating(
    source: str, target: str, low: str, beyond: str, first: str, last: str, to: str
) -> str:
    zero = "0.0f" if source == "f32" else "0.0lf"
    result = {"s64": "i64", "s32": "i32"}.get(target, "u32")
    return f"""\
fn {source}_to_{target}(v: {source}) -> {result} {{
    let inside = v >= {low} && v < {beyond};
    let whole = {to}(select({zero}, v, inside));
    return select(select(whole, {last}, v >= {beyond}), {first}, v < {low});
}}
"""


def _integer_division(name: str, signed: bool) -> str:
    zero, one = ("0u", "1u") if not signed else (("0i", "1i") if name == "i32" else ("0li", "1li"))
    if not signed:
        return f"""\
fn {name}_floordiv(a: {name}, b: {name}) -> {name} {{
    return select(a / select(b, {one}, b == {zero}), {zero}, b == {zero});
}}
fn {name}_mod(a: {name}, b: {name}) -> {name} {{
    return select(a % select(b, {one}, b == {zero}), {zero}, b == {zero});
}}
"""
    return f"""\
fn {name}_floordiv(a: {name}, b: {name}) -> {name} {{
    let divisor = select(b, {one}, b == {zero});
    if (b == -{one}) {{ return -a; }}
    let quotient = a / divisor;
    let rest = a - quotient * divisor;
    let off = rest != {zero} && ((rest < {zero}) != (divisor < {zero}));
    return select(quotient - select({zero}, {one}, off), {zero}, b == {zero});
}}
fn {name}_mod(a: {name}, b: {name}) -> {name} {{
    if (b == {zero} || b == -{one}) {{ return {zero}; }}
    let rest = a - (a / b) * b;
    return select(rest, rest + b, rest != {zero} && ((rest < {zero}) != (b < {zero})));
}}
"""


_FLOATS = {"f32": "f", "f64": "lf"}
_RANGES = {
    "s32": ("-2147483648.0", "2147483648.0", "i32(-2147483648)", "2147483647i", "i32"),
    "u32": ("0.0", "4294967296.0", "0u", "4294967295u", "u32"),
    "u16": ("0.0", "65536.0", "0u", "65535u", "u32"),
    "u8": ("0.0", "256.0", "0u", "255u", "u32"),
    "s64": (
        "-9223372036854775808.0",
        "9223372036854775808.0",
        "(-9223372036854775807li - 1li)",
        "9223372036854775807li",
        "i64",
    ),
}

FUNCTIONS: dict[str, str] = {
    **{
        f"{source}_to_{target}": _saturating(
            source, target, low + suffix, beyond + suffix, first, last, to
        )
        for source, suffix in _FLOATS.items()
        for target, (low, beyond, first, last, to) in _RANGES.items()
    },
    "i32_floordiv i32_mod": _integer_division("i32", signed=True),
    "i64_floordiv i64_mod": _integer_division("i64", signed=True),
    "u32_floordiv u32_mod": _integer_division("u32", signed=False),
    "u32_to_s64": """\
fn u32_to_s64(v: u32) -> i64 {  // i64(v) takes the upper half for negative on some drivers
    return (i64(v >> 16u) << 16u) | i64(v & 65535u);
}
""",
    "zero64": """\
var<private> ZERO: f32 = 0.0f;
fn zero64() -> f64 { return f64(ZERO); }
""",
    "special": """\
fn is_nan(v: f32) -> bool { return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u; }
fn is_inf(v: f32) -> bool { return (bitcast<u32>(v) & 0x7fffffffu) == 0x7f800000u; }
var<private> NAN_BITS: u32 = 0x7fc00000u;
var<private> INF_BITS: u32 = 0x7f800000u;
""",
    "f32_min f32_max": """\
fn f32_min(a: f32, b: f32) -> f32 { return select(select(b, a, a < b), b, is_nan(b)); }
fn f32_max(a: f32, b: f32) -> f32 { return select(select(b, a, a > b), b, is_nan(b)); }
""",
    "f64_min f64_max": """\
fn f64_min(a: f64, b: f64) -> f64 { return select(select(b, a, a < b), b, !(b == b)); }
fn f64_max(a: f64, b: f64) -> f64 { return select(select(b, a, a > b), b, !(b == b)); }
""",
    **DIVISION,
    "safe_exp": """\
fn safe_exp(v: f32) -> f32 {
    if (is_nan(v)) { return v; }
    // beyond this it is 0 or infinite; the driver's own may overflow early or lose the last places
    let x = clamp(v, -110.0f, 110.0f);
    let n = round(x * 1.4426950408889634f);
    let r = fma(n, 2.12194440e-4f, fma(n, -0.693359375f, x));
    let p = fma(fma(fma(fma(fma(1.9875691500e-4f, r, 1.3981999507e-3f), r, 8.3334519073e-3f), r,
        4.1665795894e-2f), r, 1.6666665459e-1f), r, 5.0000001201e-1f);
    let e = fma(p, r * r, r) + 1.0f;
    let k = i32(n);
    let a = k / 2;
    return (e * bitcast<f32>(u32(a + 127) << 23u)) * bitcast<f32>(u32(k - a + 127) << 23u);
}
""",
    "safe_log": """\
fn safe_log(v: f32) -> f32 {
    if (is_nan(v) || v < 0.0f) { return bitcast<f32>(NAN_BITS); }
    if (v == 0.0f) { return -bitcast<f32>(INF_BITS); }
    if (is_inf(v)) { return v; }
    return log(v);
}
""",
    "safe_sin": "fn safe_sin(v: f32) -> f32 { return sine(v, 0i); }\n",
    "safe_cos": "fn safe_cos(v: f32) -> f32 { return sine(v, 1i); }\n",
    "sine": """\
fn sine(v: f32, quarter: i32) -> f32 {
    if (is_nan(v) || is_inf(v)) { return bitcast<f32>(NAN_BITS); }
    // the nearest multiple of π/2, taken off in three parts of few places each
    let n = round(v * 0.6366197723675814f);
    let s = ((v - n * 1.5703125f) - n * 4.837512969970703e-4f) - n * 7.549789948768648e-8f;
    let q = (i32(n - floor(n * 0.25f) * 4.0f) + quarter) & 3;
    let x = s * s;
    let sn = fma(fma(fma(-1.9515295891e-4f, x, 8.3321608736e-3f), x, -1.6666654611e-1f), x * s, s);
    let cs = fma(fma(fma(2.443315711809948e-5f, x, -1.388731625493765e-3f), x, 4.166664568298827e-2f),
        x * x, fma(-0.5f, x, 1.0f));
    let r0 = select(sn, cs, (q & 1) == 1);
    return select(r0, -r0, (q & 2) == 2);
}
""",
    "safe_tanh": """\
fn safe_tanh(v: f32) -> f32 {
    if (is_nan(v)) { return v; }
    let m = abs(v);
    let x = v * v;
    // near 0 a series; (1 - e) / (1 + e) would lose the places there
    let p = fma(fma(fma(fma(-5.70498872745e-3f, x, 2.06390887954e-2f), x, -5.37397155531e-2f), x,
        1.33314422036e-1f), x, -3.33332819422e-1f);
    let e = safe_exp(-2.0f * m);
    let t = (1.0f - e) / (1.0f + e);
    return select(select(t, -t, v < 0.0f), fma(p * x, v, v), m < 0.625f);
}
""",
    "safe_atan2": """\
fn atan_unit(v: f32) -> f32 {
    let far = v > 0.4142135623730950f;
    let z = select(v, (v - 1.0f) / (v + 1.0f), far);
    let x = z * z;
    let p = fma(fma(fma(8.05374449538e-2f, x, -1.38776856032e-1f), x, 1.99777106478e-1f), x,
        -3.33329491539e-1f);
    return fma(p * x, z, z) + select(0.0f, 0.7853981633974483f, far);
}
fn safe_atan2(y: f32, x: f32) -> f32 {
    if (is_nan(x) || is_nan(y)) { return bitcast<f32>(NAN_BITS); }
    let a = abs(y);
    let b = abs(x);
    let larger = max(a, b);
    let both = is_inf(a) && is_inf(b);
    var ratio = select(min(a, b) / select(larger, 1.0f, larger == 0.0f), 0.0f, is_inf(larger));
    if (larger < 1e-30f && larger > 0.0f) { ratio = (min(a, b) * 1e30f) / (larger * 1e30f); }
    var t = atan_unit(select(ratio, 1.0f, both));
    if (a > b) { t = 1.5707963267948966f - t; }
    if ((bitcast<u32>(x) >> 31u) == 1u) { t = 3.1415926535897932f - t; }
    return select(t, -t, (bitcast<u32>(y) >> 31u) == 1u);
}
""",
    "unit_pow": """\
fn unit_pow(a: f32, b: f32) -> f32 {  // of a within 0..1, where no place is lost
    return select(exp2(b * log2(a)), select(0.0f, 1.0f, b == 0.0f), a == 0.0f);
}
""",
    "safe_pow": """\
fn safe_pow(a: f32, b: f32) -> f32 {
    if (b == 0.0f || a == 1.0f) { return 1.0f; }
    if (is_nan(a) || is_nan(b)) { return bitcast<f32>(NAN_BITS); }
    let m = abs(a);
    let whole = is_inf(b) || floor(b) == b;
    let odd = !is_inf(b) && whole && abs(b) < 16777216.0f && (abs(b) - 2.0f * floor(abs(b) * 0.5f)) == 1.0f;
    let flip = odd && (bitcast<u32>(a) >> 31u) == 1u;
    if (a < 0.0f && !whole && !is_inf(a)) { return bitcast<f32>(NAN_BITS); }
    var r: f32;
    if (m == 0.0f || is_inf(m) || is_inf(b) || m == 1.0f) {
        let up = (m > 1.0f) == (b > 0.0f);
        r = select(0.0f, bitcast<f32>(INF_BITS), up);
        if (m == 1.0f) { r = 1.0f; }
    } else {
        // the exponent apart: a logarithm near 128 would lose the places that the product needs
        let bits = bitcast<u32>(m * select(1.0f, 16777216.0f, m < 1.1754944e-38f));
        let e = f32(i32(bits >> 23u) - 127 - select(0, 24, m < 1.1754944e-38f));
        let f = log2(bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u));
        let high = b * e;
        let low = fma(b, e, -high) + b * f;
        let n = round(clamp(high + low, -400.0f, 400.0f));
        let rest = select((high - n) + low, 0.0f, abs(high + low) > 400.0f);
        let k = i32(clamp(n, -300.0f, 300.0f));
        let h = k / 3;
        let g = (k - h) / 2;
        r = exp2(rest) * bitcast<f32>(u32(h + 127) << 23u) * bitcast<f32>(u32(g + 127) << 23u)
            * bitcast<f32>(u32(k - h - g + 127) << 23u);
    }
    return select(r, -r, flip);
}
""",
    **FUNCTIONS64,
    **FUNCTIONS16,
}


def _defined() -> dict[str, str]:
    """Which text defines which name."""
    declared = re.compile(r"^(?:fn|var<private>) (\w+)", re.MULTILINE)
    return {name: key for key, text in FUNCTIONS.items() for name in declared.findall(text)}


def functions_for(text: str) -> str:
    """The functions that ``text`` calls, and those that they call, in the order of the table."""
    defined = _defined()
    wanted: set[str] = set()
    pending = [text]
    while pending:
        for word in set(re.findall(r"\w+", pending.pop())):
            key = defined.get(word)
            if key is not None and key not in wanted:
                wanted.add(key)
                pending.append(FUNCTIONS[key])
    return "".join(text for key, text in FUNCTIONS.items() if key in wanted)
