// Ink: paints (raster/ink/shades.py, sampled.py) and blend modes (modes.py).
// Gradients and blend modes are computed in f32 and may differ from the CPU's by a level.

// -- paints -------------------------------------------------------------------------------------------

fn share(a: u32, b: u32) -> u32 { return ((a * b + 128u) * 257u) >> 16u; }

fn number_at(place: u32) -> f32 { return bitcast<f32>(word(place)); }

// A record of a gradient: kind and flags, how far behind its colours are, where its numbers hold; then the way to the user's
// coordinates: at that pixel, per column, per row.
fn placed(record: u32, at: vec2u) -> vec2f {
    let origin = vec2u(word(record + 2u) & 0xffffu, word(record + 2u) >> 16u);
    let away = vec2f(vec2i(at) - vec2i(origin));
    let u = number_at(record + 3u) + number_at(record + 5u) * away.x + number_at(record + 7u) * away.y;
    let v = number_at(record + 4u) + number_at(record + 6u) * away.x + number_at(record + 8u) * away.y;
    return vec2f(u, v);
}

fn turn_of(x: f32, y: f32) -> f32 {
    let ax = abs(x);
    let ay = abs(y);
    let most = max(ax, ay);
    if (most <= 0.0) { return 0.0; }
    let q = min(ax, ay) / most;
    let z = q * q;
    let a = 0.99997726 + z * (-0.33262347 + z * (0.19354346 + z * (-0.11643287 + z * (0.05265332 - z * 0.01172120))));
    var angle = q * a / 6.283185307179586;
    if (ay > ax) { angle = 0.25 - angle; }
    if (x < 0.0) { angle = 0.5 - angle; }
    return select(angle, -angle, y < 0.0);
}

fn gradient(kind: u32, record: u32, at: vec2u) -> u32 {
    let p = placed(record, at);
    var spread = word(record) >> 8u;
    var t = p.x;
    if (kind == RADIAL) {
        t = (length(p) - number_at(record + 9u)) * number_at(record + 10u);
    } else if (kind == CONIC) {
        t = turn_of(p.x, p.y) - number_at(record + 9u);
        spread = 1u;
    }
    if (spread == 1u) {
        t = t - floor(t);
    } else if (spread == 2u) {
        t = abs(t - 2.0 * floor(t * 0.5 + 0.5));
    }
    return word(record + word(record + 1u) + u32(clamp(t, 0.0, 1.0) * 1023.0 + 0.5));
}

// Where a pixel lies in a picture: 32 bits before the point, 32 behind. A surface has at most 2¹⁵ pixels each way,
// so that halves of 16 bits can be multiplied and added up.
fn position(first: vec2u, across: vec2u, down: vec2u, away: vec2u) -> vec2u {
    let low = (first.x & 0xffffu) + (across.x & 0xffffu) * away.x + (down.x & 0xffffu) * away.y;
    let middle = (first.x >> 16u) + (across.x >> 16u) * away.x + (down.x >> 16u) * away.y + (low >> 16u);
    let high = first.y + across.y * away.x + down.y * away.y + (middle >> 16u);
    return vec2u((low & 0xffffu) | (middle << 16u), high);
}

// The same within the picture of n pixels, to 1/256 pixel.
fn fold(place: vec2u, n: u32, spread: u32, nearest: bool) -> i32 {
    var p = place;
    if (spread == 1u) {
        p.y %= n;
    } else if (spread == 2u) {
        p = add64(p, 0x80000000u);
        p.y %= 2u * n;
        if (p.y >= n) { p = sub64(vec2u(0u, 2u * n), p); }
        p = sub64(p, vec2u(0x80000000u, 0u));
    } else if (bitcast<i32>(p.y) < -2) {
        p = vec2u(0u, bitcast<u32>(-2));
    } else if (bitcast<i32>(p.y) >= i32(n) + 2) {
        p = vec2u(0u, n + 2u);
    }
    if (nearest) { return bitcast<i32>(add64(p, 0x80000000u).y << 8u); }
    let rounded = add64(p, 0x800000u);
    return bitcast<i32>((rounded.y << 8u) | (rounded.x >> 24u));
}

fn hold(x: vec2i, last: vec2i, repeats: bool) -> vec2i {
    if (repeats) { return select(select(x, vec2i(0), x > last), last, x < vec2i(0)); }
    return clamp(x, vec2i(0), last);
}

// The same in 1/256 pixel, of numbers that have 24 bits behind that: fewer than 128 pixels away they add up to 32.
fn near_position(first: vec2u, across: vec2u, down: vec2u, away: vec2u) -> u32 {
    let low = first.x + across.x * away.x + down.x * away.y;
    return first.y + across.y * away.x + down.y * away.y + (low >> 24u);
}

// A record of a picture: how it goes on, which pixel its numbers hold for, its size; where that pixel lies in
// it, and how far it is to the next column and row.
fn sampled(record: u32, at: vec2u) -> u32 {
    let head = data[record >> 2u];
    let a = data[(record >> 2u) + 1u];
    let b = data[(record >> 2u) + 2u];
    let c = data[(record >> 2u) + 3u];
    let spread = head.x & 255u;
    let nearest = (head.x & 256u) != 0u;
    let size = vec2u(head.w & 0xffffu, head.w >> 16u);
    let away = at - vec2u(head.z & 0xffffu, head.z >> 16u);
    if ((head.x & NEAR) != 0u) {
        let near = vec2u(near_position(a.xy, a.zw, b.xy, away), near_position(b.zw, c.xy, c.zw, away));
        return sampled_near(head, vec2u(clamp(vec2i(near), vec2i(0), vec2i(size - 1u) << vec2u(8u))));
    }
    let f = vec2i(
        fold(position(a.xy, a.zw, b.xy, away), size.x, spread, nearest),
        fold(position(b.zw, c.xy, c.zw, away), size.y, spread, nearest)
    );
    let last = vec2i(size) - 1;
    let first = f >> vec2u(8u);
    let low = vec2u(hold(first, last, spread == 1u));
    let high = vec2u(hold(first + 1, last, spread == 1u));
    let upper = head.y + low.y * (head.x >> 16u);
    let lower = head.y + high.y * (head.x >> 16u);
    var four = vec4u(
        pictures[upper + low.x], pictures[upper + high.x], pictures[lower + low.x], pictures[lower + high.x]
    );
    if (spread == 3u) {
        let before = vec2u(first) > vec2u(last);
        let behind = vec2u(first + 1) > vec2u(last);
        four = select(four, vec4u(0u), vec4<bool>(before.x, behind.x, before.x, behind.x));
        four = select(four, vec4u(0u), vec4<bool>(before.y, before.y, behind.y, behind.y));
    }
    return between(four.x, four.y, four.z, four.w, u32(f.x & 255), u32(f.y & 255));
}

// At a place within a picture; what is behind the last pixel has no weight.
fn sampled_near(head: vec4u, f: vec2u) -> u32 {
    let stride = head.x >> 16u;
    let upper = head.y + (f.y >> 8u) * stride + (f.x >> 8u);
    let lower = upper + stride;
    return between(
        pictures[upper], pictures[upper + 1u], pictures[lower], pictures[lower + 1u], f.x & 255u, f.y & 255u
    );
}

fn paint_ink(head: vec4u, at_prim: u32, at: vec2u, cover: u32, pixel: u32) -> u32 {
    if (cover == 0u) { return pixel; }
    let kind = (head.x >> PAINT_SHIFT) & 255u;
    var color = head.w;
    var tint = 0xffffffffu;
    if (kind != 0u) {
        let record = prims[at_prim + 3u].w;
        if (kind >= PATTERN) {
            tint = head.w;
            color = sampled(record, at);
        } else {
            color = gradient(kind, record, at);
        }
    }
    if ((head.x & REPLACES) != 0u) { return mix_mode(color, pixel, f32(cover) / 255.0, tint, REPLACE_MODE); }
    return covered(color, pixel, cover, tint);
}

fn covered(color: u32, pixel: u32, cover: u32, tint: u32) -> u32 {
    if (tint == 0xffffffffu) { return blend((color & 0xffffffu) | (share(color >> 24u, cover) << 24u), pixel); }
    var s = share(share(color >> 24u, tint >> 24u), cover) << 24u;
    for (var c = 0u; c < 24u; c += 8u) { s |= share((color >> c) & 255u, (tint >> c) & 255u) << c; }
    return blend(s, pixel);
}

// -- layers and blend modes ---------------------------------------------------------------------------

// head.w: opacity, blend mode
fn put_layer(head: vec4u, layer: u32, below: u32, mask: u32) -> u32 {
    if (mask == 0u) { return below; }
    let tint = ((head.w & 255u) << 24u) | 0xffffffu;
    let mode = head.w >> 8u;
    if (mode == 0u && (head.x & REPLACES) == 0u) { return covered(layer, below, mask, tint); }
    return mix_mode(layer, below, f32(mask) / 255.0, tint, select(mode, REPLACE_MODE, mode == 0u));
}

fn hard(s: f32, d: f32) -> f32 { return select(1.0 - 2.0 * (1.0 - s) * (1.0 - d), 2.0 * s * d, s <= 0.5); }

fn blended(s: f32, d: f32, mode: u32) -> f32 {
    switch (mode) {
        case MULTIPLY: { return s * d; }
        case SCREEN: { return s + d - s * d; }
        case OVERLAY: { return hard(d, s); }
        case HARD_LIGHT: { return hard(s, d); }
        case DARKEN: { return min(s, d); }
        case LIGHTEN: { return max(s, d); }
        case DIFFERENCE: { return abs(s - d); }
        case EXCLUSION: { return s + d - 2.0 * s * d; }
        default: { return s; }
    }
}

fn level(v: f32) -> u32 { return u32(clamp(v, 0.0, 1.0) * 255.0 + 0.5); }

fn mix_mode(color: u32, pixel: u32, cover: f32, tint: u32, mode: u32) -> u32 {
    let s4 = vec4f((vec4u(color) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u));
    let t4 = vec4f((vec4u(tint) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u));
    let d4 = vec4f((vec4u(pixel) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u)) / 255.0;
    let s = s4 * t4 / 65025.0;
    let b = d4.w;
    var a = s.w * cover;
    if (mode == REPLACE_MODE) {
        let left = b * (1.0 - cover);
        let alpha = left + a;
        var result = level(alpha) << 24u;
        for (var c = 0u; c < 3u; c++) {
            let l = select((s[c] * a + d4[c] * left) / max(alpha, 1e-9), s[c], alpha <= 0.0);
            result |= level(l) << (c * 8u);
        }
        return result;
    }
    if (mode == ERASE) { return (pixel & 0xffffffu) | (level(b * (1.0 - a)) << 24u); }
    let alpha = select(a + b - a * b, min(a + b, 1.0), mode == ADD);
    if (alpha <= 0.0) { return pixel; }
    var result = level(alpha) << 24u;
    for (var c = 0u; c < 3u; c++) {
        var l: f32;
        if (mode == ADD) {
            l = min((a * s[c] + b * d4[c]) / alpha, 1.0);
        } else {
            l = (a * (1.0 - b) * s[c] + a * b * blended(s[c], d4[c], mode) + (1.0 - a) * b * d4[c]) / alpha;
        }
        result |= level(l) << (c * 8u);
    }
    return result;
}
