"""WGSL functions of the op table's floordiv and mod for floats: floor(a / b), a - b * floor(a / b).

Both follow from a quotient that is rounded as IEEE 754 says; WGSL's may be off by 2.5 ulp, and beside a
whole number that decides. And b * floor(a / b) is rounded before it is taken off, unless it is contracted,
as NVIDIA's compiler does. So where it matters, quotient and product are computed in whole numbers: a long
division of the significands, and a product of their halves. It does not matter for a quotient that is far
from a whole number, nor for a product that is exact; a kernel that wraps an angle goes no further.
"""

from __future__ import annotations

DIVISION: dict[str, str] = {
    "f32_floordiv": """\
fn f32_floordiv(a: f32, b: f32) -> f32 {
    let q = a / b;
    let normal = abs(b) > 1e-37f && abs(b) < 1e37f;
    let part = q - floor(q);
    let near = abs(q) * 1e-6f;
    if (normal && abs(q) < 1048576.0f && part > near && part < 1.0f - near) { return floor(q); }
    return f32_floor_of_quotient(a, b);
}
fn f32_floor_of_quotient(a: f32, b: f32) -> f32 {
    let x = bitcast<u32>(a) & 0x7fffffffu;
    let y = bitcast<u32>(b) & 0x7fffffffu;
    // zero and what may be flushed to it, infinite, NaN: no rounding there
    if (min(x, y) < 0x800000u || max(x, y) >= 0x7f800000u) { return floor(a / b); }
    let negative = ((bitcast<u32>(a) ^ bitcast<u32>(b)) >> 31u) == 1u;
    var rest = (x & 0x7fffffu) | 0x800000u;
    let divisor = (y & 0x7fffffu) | 0x800000u;
    var e = i32(x >> 23u) - i32(y >> 23u);
    if (rest < divisor) { rest <<= 1u; e -= 1i; }
    var quotient = 1u;  // 1..2, with 24 places behind the point: one more than f32 has
    rest -= divisor;
    for (var round = 0i; round < 3i; round++) {
        rest <<= 8u;
        quotient = (quotient << 8u) | (rest / divisor);
        rest %= divisor;
    }
    let up = (quotient & 1u) == 1u && (rest != 0u || (quotient & 2u) == 2u);
    quotient = (quotient >> 1u) + select(0u, 1u, up);
    if (e >= 23i) {
        let bits = (u32(min(e, 127i) + 127i) << 23u) + (quotient - 0x800000u);
        let size = bitcast<f32>(select(bits, INF_BITS, e > 127i));
        return select(size, -size, negative);
    }
    let places = u32(min(23i - e, 31i));
    let part = (quotient & ((1u << places) - 1u)) != 0u && e >= -150i;
    let size = f32((quotient >> places) + select(0u, 1u, negative && part));
    return select(size, -size, negative);
}
""",
    "f32_mod": """\
fn f32_mod(a: f32, b: f32) -> f32 {
    let q = f32_floordiv(a, b);
    let exact = abs(q) <= 1.0f || (abs(q) < 4096.0f && (bitcast<u32>(b) & 0xfffu) == 0u);
    if (exact) { return a - b * q; }
    return a - f32_product(b, q);
}
fn f32_product(a: f32, b: f32) -> f32 {
    let x = bitcast<u32>(a) & 0x7fffffffu;
    let y = bitcast<u32>(b) & 0x7fffffffu;
    if (min(x, y) < 0x800000u || max(x, y) >= 0x7f800000u) { return a * b; }
    let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
    let m = (x & 0x7fffffu) | 0x800000u;
    let n = (y & 0x7fffffu) | 0x800000u;
    let middle = (m >> 12u) * (n & 0xfffu) + (m & 0xfffu) * (n >> 12u);
    let low = (m & 0xfffu) * (n & 0xfffu) + ((middle & 0xfffu) << 12u);
    var high = (m >> 12u) * (n >> 12u) + (middle >> 12u) + (low >> 24u);
    var rest = low & 0xffffffu;
    var e = i32(x >> 23u) + i32(y >> 23u) - 126i;
    if (high < 0x800000u) {
        high = (high << 1u) | (rest >> 23u);
        rest = (rest << 1u) & 0xffffffu;
        e -= 1i;
    }
    high += select(0u, 1u, rest > 0x800000u || (rest == 0x800000u && (high & 1u) == 1u));
    if (e <= 0i) { return bitcast<f32>(sign); }
    let bits = (u32(min(e, 254i)) << 23u) + (high - 0x800000u);
    return bitcast<f32>(sign | select(bits, INF_BITS, e > 254i));
}
""",
    "f64_floordiv": """\
fn f64_floordiv(a: f64, b: f64) -> f64 {
    let q = a / b;
    let normal = abs(b) > 1e-300lf && abs(b) < 1e300lf;
    let part = q - floor(q);
    let near = abs(q) * 1e-12lf;
    if (normal && abs(q) < 1073741824.0lf && part > near && part < 1.0lf - near) { return floor(q); }
    return f64_floor_of_quotient(a, b);
}
fn f64_size(v: f64) -> i64 { return bitcast<i64>(v) & 0x7fffffffffffffffli; }
fn f64_significand(bits: i64) -> i64 { return (bits & 0xfffffffffffffli) | 0x10000000000000li; }
fn f64_is_ordinary(bits: i64) -> bool {
    return bits >= 0x10000000000000li && bits < 0x7ff0000000000000li;
}
fn f64_floor_of_quotient(a: f64, b: f64) -> f64 {
    let x = f64_size(a);
    let y = f64_size(b);
    if (!(f64_is_ordinary(x) && f64_is_ordinary(y))) { return floor(a / b); }
    let negative = (a < 0.0lf) != (b < 0.0lf);
    var rest = f64_significand(x);
    let divisor = f64_significand(y);
    var e = i32(x >> 52u) - i32(y >> 52u);
    if (rest < divisor) { rest <<= 1u; e -= 1i; }
    var quotient = 1li;  // 1..2, with 54 places behind the point: two more than f64 has
    rest -= divisor;
    for (var round = 0i; round < 6i; round++) {
        rest <<= 9u;
        quotient = (quotient << 9u) | (rest / divisor);
        rest %= divisor;
    }
    let beyond = quotient & 3li;
    let up = beyond == 3li || (beyond == 2li && (rest != 0li || (quotient & 4li) != 0li));
    quotient = (quotient >> 2u) + select(0li, 1li, up);
    if (e >= 52i) {
        let bits = (i64(min(e, 1023i) + 1023i) << 52u) + (quotient - 0x10000000000000li);
        let size = bitcast<f64>(select(bits, 0x7ff0000000000000li, e > 1023i));
        return select(size, -size, negative);
    }
    let places = u32(min(52i - e, 62i));
    let part = (quotient & ((1li << places) - 1li)) != 0li && e >= -1075i;
    let size = f64((quotient >> places) + select(0li, 1li, negative && part));
    return select(size, -size, negative);
}
""",
    "f64_mod": """\
fn f64_mod(a: f64, b: f64) -> f64 {
    let q = f64_floordiv(a, b);
    if (abs(q) <= 1.0lf) { return a - b * q; }
    return a - f64_product(b, q);
}
fn f64_product(a: f64, b: f64) -> f64 {
    let x = f64_size(a);
    let y = f64_size(b);
    if (!(f64_is_ordinary(x) && f64_is_ordinary(y))) { return a * b; }
    let m = f64_significand(x);
    let n = f64_significand(y);
    let mask = 0x7ffffffli;  // 27 places
    let middle = (m >> 27u) * (n & mask) + (m & mask) * (n >> 27u);
    let low = (m & mask) * (n & mask) + ((middle & mask) << 27u);
    let high = (m >> 27u) * (n >> 27u) + (middle >> 27u) + (low >> 54u);
    let rest = low & 0x3fffffffffffffli;
    var e = i32(x >> 52u) + i32(y >> 52u) - 1022i;
    var places = 53u;  // of ``rest`` that lie behind the result's last one
    if (high < 0x8000000000000li) { places = 52u; e -= 1i; }
    var whole = (high << (54u - places)) | (rest >> places);
    let beyond = rest & ((1li << places) - 1li);
    let half = 1li << (places - 1u);
    whole += select(0li, 1li, beyond > half || (beyond == half && (whole & 1li) == 1li));
    if (e <= 0i) { return 0.0lf; }
    let bits = (i64(min(e, 2046i)) << 52u) + (whole - 0x10000000000000li);
    let size = bitcast<f64>(select(bits, 0x7ff0000000000000li, e > 2046i));
    return select(size, -size, (a < 0.0lf) != (b < 0.0lf));
}
""",
}
