"""WGSL functions of half precision; half.py says what they are for."""

from __future__ import annotations

FUNCTIONS16 = {
    "half": """\
fn to_half(v: f32) -> f16 { return f16(clamp(v, -65504.0f, 65504.0f)); }
""",
    "half bits": """\
fn halves(bits: u32) -> vec2<f16> { return vec2<f16>(unpack2x16float(bits)); }
fn half_bits(v: vec2<f16>) -> u32 { return pack2x16float(vec2<f32>(v)); }
""",
    "half pixel": """\
fn half_pixel(word: u32, one: f16) -> vec4<f16> {
    let rb = halves((word & 0x00ff00ffu) | 0x64006400u);
    let ga = halves(((word >> 8u) & 0x00ff00ffu) | 0x64006400u);
    return fma(vec4<f16>(rb, ga), vec4<f16>(one), vec4<f16>(-1152.0h));
}
""",
    "half pixel of f32": """\
fn half_pixel_of(v: vec4<f32>) -> vec4<f16> {
    return vec4<f16>(v.xzyw * 255.0f - vec4<f32>(128.0f));
}
""",
    "half rounded": """\
fn half_rounded(v: vec4<f16>) -> vec4<f16> {
    return clamp(v, vec4<f16>(-128.0h), vec4<f16>(127.0h)) + vec4<f16>(1152.0h);
}
""",
    "half levels": """\
fn half_levels(v: vec4<f16>) -> vec2<u32> {
    let level = half_rounded(v);
    return vec2<u32>(half_bits(level.xy), half_bits(level.zw)) & vec2<u32>(0x00ff00ffu);
}
""",
    "half unit": """\
fn half_unit(word: u32) -> vec4<f16> {
    let rb = halves((word & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1024.0h);
    let ga = halves(((word >> 8u) & 0x00ff00ffu) | 0x64006400u) - vec2<f16>(1024.0h);
    return vec4<f16>(rb, ga) * vec4<f16>(0.003921568859368563h);
}
""",
    "pair levels": """\
fn pair_levels(v: vec2<f16>) -> u32 {
    let unit = clamp(v, vec2<f16>(0.0h), vec2<f16>(1.0h));
    return half_bits(fma(unit, vec2<f16>(255.0h), vec2<f16>(1024.0h))) & 0x00ff00ffu;
}
""",
}
