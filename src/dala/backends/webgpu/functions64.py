"""Mathematics in f64, which WGSL has no functions for: reduced arguments and series, a few ulp off."""

from __future__ import annotations

import math


def _series(coefficients: list[float], variable: str) -> str:
    """Horner's scheme, the highest power first."""
    text = f"{coefficients[0]!r}lf"
    for c in coefficients[1:]:
        text = f"fma({text}, {variable}, {c!r}lf)"
    return text


_EXP = [1 / math.factorial(k) for k in range(14, -1, -1)]
_EXPM1 = [1 / math.factorial(k) for k in range(18, 0, -1)]  # after one z is taken out
_ATANH = [1 / (2 * k + 1) for k in range(11, -1, -1)]
_ATAN = [(-1) ** k / (2 * k + 1) for k in range(13, -1, -1)]
_SIN = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9, -1, -1)]
_COS = [(-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1)]

FUNCTIONS64: dict[str, str] = {
    "f64_power_of_two": """\
fn f64_power_of_two(n: i32) -> f64 {
    var result = 1.0lf;
    var left = clamp(n, -1100, 1100);
    loop {
        let part = clamp(left, -120, 120);
        result *= f64(bitcast<f32>(u32(part + 127) << 23u));
        left -= part;
        if (left == 0) { break; }
    }
    return result;
}
""",
    "f64_round": """\
fn f64_round(v: f64) -> f64 {  // some drivers take halves down
    let down = floor(abs(v));
    let part = abs(v) - down;
    let odd = down * 0.5lf != floor(down * 0.5lf);
    let size = down + select(0.0lf, 1.0lf, part > 0.5lf || (part == 0.5lf && odd));
    return select(select(size, -size, v < 0.0lf), v, v == 0.0lf);
}
""",
    "f64_special": """\
fn f64_nan() -> f64 { return zero64() / zero64(); }
fn f64_inf() -> f64 { return 1.0lf / zero64(); }
fn f64_is_inf(v: f64) -> bool { return abs(v) > 1.7976931348623157e308lf; }
""",
    "f64_exp": f"""\
fn f64_exp(v: f64) -> f64 {{
    if (!(v == v)) {{ return v; }}
    if (v > 709.8lf) {{ return f64_inf(); }}
    if (v < -746.0lf) {{ return 0.0lf; }}
    let n = round(v * {1 / math.log(2)!r}lf);
    let r = fma(n, -1.9082149292705877e-10lf, fma(n, -0.6931471803691238lf, v));
    let e = {_series(_EXP, "r")};
    let k = i32(n);
    return e * f64_power_of_two(k / 2) * f64_power_of_two(k - k / 2);
}}
""",
    "f64_log": f"""\
fn f64_log(v: f64) -> f64 {{
    if (!(v == v) || v < 0.0lf) {{ return f64_nan(); }}
    if (v == 0.0lf) {{ return -f64_inf(); }}
    if (f64_is_inf(v)) {{ return v; }}
    let small = v < 2.2250738585072014e-308lf;
    let bits = bitcast<i64>(select(v, v * 18014398509481984.0lf, small));
    var e = i32(bits >> 52u) - 1023 - select(0, 54, small);
    var m = bitcast<f64>((bits & 4503599627370495li) | 4607182418800017408li);
    if (m > {math.sqrt(2)!r}lf) {{ m *= 0.5lf; e += 1; }}
    let s = (m - 1.0lf) / (m + 1.0lf);
    let x = s * s;
    let p = {_series(_ATANH, "x")};
    return f64(e) * 0.6931471803691238lf + (f64(e) * 1.9082149292705877e-10lf + 2.0lf * s * p);
}}
""",
    "f64_tanh": f"""\
fn f64_tanh(v: f64) -> f64 {{
    if (!(v == v)) {{ return v; }}
    let z = 2.0lf * abs(v);
    var t = 1.0lf;
    if (z < 0.7lf) {{
        let e = z * {_series(_EXPM1, "z")};
        t = e / (e + 2.0lf);
    }} else if (z < 40.0lf) {{
        let e = f64_exp(z);
        t = (e - 1.0lf) / (e + 1.0lf);
    }}
    return select(t, -t, v < 0.0lf);
}}
""",
    "f64_sin": "fn f64_sin(v: f64) -> f64 { return f64_sine(v, 0); }\n",
    "f64_cos": "fn f64_cos(v: f64) -> f64 { return f64_sine(v, 1); }\n",
    "f64_sine": f"""\
fn f64_sine(v: f64, quarter: i32) -> f64 {{
    if (!(v == v) || f64_is_inf(v)) {{ return f64_nan(); }}
    // the nearest multiple of π/2, taken off in three parts of few places each
    let n = round(v * {2 / math.pi!r}lf);
    let r = ((v - n * 1.5707963267341256lf) - n * 6.077100506303966e-11lf) - n * 2.0222662487959506e-21lf;
    let q = (i32(n - floor(n * 0.25lf) * 4.0lf) + quarter) & 3;
    let x = r * r;
    let s = r * {_series(_SIN, "x")};
    let c = {_series(_COS, "x")};
    let t = select(s, c, (q & 1) == 1);
    return select(t, -t, (q & 2) == 2);
}}
""",
    "f64_atan2": f"""\
fn f64_atan_unit(v: f64) -> f64 {{
    // half of the angle, twice: then it is small enough for the series
    let h = v / (1.0lf + sqrt(fma(v, v, 1.0lf)));
    let z = h / (1.0lf + sqrt(fma(h, h, 1.0lf)));
    let x = z * z;
    return 4.0lf * z * {_series(_ATAN, "x")};
}}
fn f64_is_negative(v: f64) -> bool {{ return v < 0.0lf || (v == 0.0lf && 1.0lf / v < 0.0lf); }}
fn f64_atan2(y: f64, x: f64) -> f64 {{
    if (!(x == x) || !(y == y)) {{ return f64_nan(); }}
    let a = abs(y);
    let b = abs(x);
    let larger = max(a, b);
    let both = f64_is_inf(a) && f64_is_inf(b);
    let ratio = select(min(a, b) / select(larger, 1.0lf, larger == 0.0lf), 0.0lf, f64_is_inf(larger));
    var t = f64_atan_unit(select(ratio, 1.0lf, both));
    if (a > b) {{ t = {math.pi / 2!r}lf - t; }}
    if (f64_is_negative(x)) {{ t = {math.pi!r}lf - t; }}
    return select(t, -t, f64_is_negative(y));
}}
""",
    "f64_pow": """\
fn f64_pow(a: f64, b: f64) -> f64 {
    if (b == 0.0lf || a == 1.0lf) { return 1.0lf; }
    if (!(a == a) || !(b == b)) { return f64_nan(); }
    let endless = f64_is_inf(b);
    let whole = endless || floor(b) == b;
    let odd = !endless && whole && abs(b) < 9007199254740992.0lf
        && abs(b) - 2.0lf * floor(abs(b) * 0.5lf) == 1.0lf;
    if (a < 0.0lf && !whole && !f64_is_inf(a)) { return f64_nan(); }
    let m = abs(a);
    var r: f64;
    if (m == 1.0lf) {
        r = 1.0lf;
    } else if (m == 0.0lf || f64_is_inf(m) || endless) {
        r = select(0.0lf, f64_inf(), (m > 1.0lf) == (b > 0.0lf));
    } else {
        r = f64_exp(clamp(b * f64_log(m), -800.0lf, 800.0lf));
    }
    let negative = a < 0.0lf || (a == 0.0lf && 1.0lf / a < 0.0lf);
    return select(r, -r, odd && negative);
}
""",
}
