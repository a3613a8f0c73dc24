// A run: how the canvas begins, which boxes of it are painted, and the layers from the lowest to the topmost
// (layout.py).

struct Affine {  // numbers of 64 bits: a step along x, one along y, the value at pixel (0, 0)
    x: vec2u,
    y: vec2u,
    at: vec2u,
}

struct Yuv {  // black, and factors in units of 2^-13
    black: i32,
    luma: i32,
    red_v: i32,
    green_u: i32,
    green_v: i32,
    blue_u: i32,
}

struct Plane {
    first: u32,
    stride: u32,
    width: i32,
    height: i32,
    columns: Affine,
    rows: Affine,
}

struct Layer {
    kind: u32,
    mode: u32,
    opacity: i32,
    bits: u32,
    box: vec4i,
    inner: vec4i,
    clip: vec4i,
    color: u32,
    radius: i32,
    ramp: i32,
    unused: i32,
    from_left: Affine,
    from_right: Affine,
    from_top: Affine,
    from_bottom: Affine,
    to_rgb: Yuv,
    unused_a: i32,
    unused_b: i32,
    planes: array<Plane, 3>,
}

struct Run {
    width: u32,
    height: u32,
    start: u32,
    background: u32,
    count: u32,
    copied: u32,
    unused_a: u32,
    unused_b: u32,
    factors: array<vec4i, 3>,
    boxes: array<vec4i, 8>,
    layers: array<Layer>,
}

// -- numbers of 64 bits -----------------------------------------------------------------------------

fn add64(a: vec2u, b: vec2u) -> vec2u {
    let low = a.x + b.x;
    return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Times a number below 2^15.
fn times64(a: vec2u, n: u32) -> vec2u {
    let low = (a.x & 0xffffu) * n;
    let high = (a.x >> 16u) * n + (low >> 16u);
    return vec2u((high << 16u) | (low & 0xffffu), a.y * n + (high >> 16u));
}

fn value_at(affine: Affine, at: vec2u) -> vec2u {
    return add64(add64(times64(affine.x, at.x), times64(affine.y, at.y)), affine.at);
}

// -- shares -----------------------------------------------------------------------------------------

const ALL = 32640;  // 255 levels, in 1/128

// a·b / 2^15, rounded
fn multiply(a: i32, b: i32) -> i32 { return (a * b + 16384) >> 15u; }
fn multiply3(a: vec3i, b: i32) -> vec3i { return (a * b + 16384) >> vec3u(15u); }

// A part of 32640 as a part of 2^15.
fn share(value: i32) -> i32 { return value + (value >> 8u); }

fn levels(pixel: u32) -> vec4i {
    return vec4i((vec4u(pixel) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u));
}

fn pack(rgb: vec3i, alpha: i32) -> u32 {
    let c = vec3u(clamp(rgb, vec3i(0), vec3i(255)));
    return c.x | (c.y << 8u) | (c.z << 16u) | (u32(alpha) << 24u);
}
