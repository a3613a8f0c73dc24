// How a layer and the canvas below it become one (meeting.py).

fn part(value: i32, k: i32) -> i32 {
    if (k == 256) { return value; }
    return multiply(value, k << 7u);
}

// A colour of 1/128 levels, without the alpha in it, as levels: what f32 gives where it divides exactly, and
// GPUs need not.
fn divided(color: vec3i, alpha: i32) -> vec3i {
    let by = max(alpha, 1);
    return (color * 510 + by) / (2 * by);
}

fn screen(a: f32, b: f32) -> f32 { return a + b - a * b; }

fn hard_light(a: f32, b: f32) -> f32 {
    if (b <= 0.5) { return a * (2.0 * b); }
    return screen(a, 2.0 * b - 1.0);
}

fn soft_light(a: f32, b: f32) -> f32 {
    if (b <= 0.5) { return a + (2.0 * b - 1.0) * (a - a * a); }
    let curve = select(sqrt(a), ((16.0 * a - 12.0) * a + 4.0) * a, a <= 0.25);
    return a + (2.0 * b - 1.0) * (curve - a);
}

// The colour where both are opaque: a is the canvas, b the layer.
fn mode_of(mode: u32, a: f32, b: f32) -> f32 {
    switch (mode) {
        case ADD: { return a + b; }
        case SUBTRACT: { return a - b; }
        case MULTIPLY: { return a * b; }
        case SCREEN: { return screen(a, b); }
        case OVERLAY: { return hard_light(b, a); }
        case DARKEN: { return min(a, b); }
        case LIGHTEN: { return max(a, b); }
        case DIFFERENCE: { return abs(a - b); }
        case SOFT_LIGHT: { return soft_light(a, b); }
        case HARD_LIGHT: { return hard_light(a, b); }
        default: { return b; }
    }
}

// The layer's colour as the canvas changes it, multiplied by alpha again.
fn blended(f: Fragment, below: vec4i, mode: u32) -> vec3i {
    let alpha = f32(f.alpha);
    let top = vec3f(f.color) / max(alpha, 1.0);
    let canvas = vec4f(below) * (1.0 / 255.0);
    let seen = vec3f(
        mode_of(mode, canvas.x, top.x), mode_of(mode, canvas.y, top.y), mode_of(mode, canvas.z, top.z)
    );
    let color = top + (max(seen, vec3f(0.0)) - top) * canvas.w;
    return vec3i(floor(color * alpha + 0.5));
}

fn meet(below: u32, f: Fragment, k: i32, mode: u32) -> u32 {
    let d = levels(below);
    var color = f.color;
    if (mode != OVER) { color = blended(f, d, mode); }
    if (k < 256) { color = multiply3(color, k << 7u); }
    let a = part(f.alpha, k);
    if (a == 0) { return below; }
    let keep = share(ALL - a);
    let base = d.xyz << vec3u(7u);
    if (d.w == 255) { return pack((color + multiply3(base, keep) + 64) >> vec3u(7u), 255); }
    if (d.w == 0) {
        if (f.straight.x >= 0) { return pack(f.straight, (a + 64) >> 7u); }
        return pack(divided(f.color, f.alpha), (a + 64) >> 7u);
    }
    let canvas = d.w << 7u;
    let own = multiply3(multiply3(base, share(canvas)), keep);
    let alpha = a + multiply(canvas, keep);
    return pack(divided(color + own, alpha), (alpha + 64) >> 7u);
}

// From the canvas to a picture of its size, all four channels: an adjustment.
fn mix_in(below: u32, above: u32, k: i32) -> u32 {
    let mixed = (levels(below) * (256 - k) + levels(above) * k + 128) >> vec4u(8u);
    return pack(mixed.xyz, mixed.w);
}
