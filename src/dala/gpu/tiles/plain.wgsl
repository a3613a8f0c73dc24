// What a pixel becomes: blending (raster/rows.py), scaled images (raster/sampling.py), and which pixels the
// plain primitives paint (raster/shapes.py). Whole numbers throughout: every GPU paints the same pixels.

// -- 64 bits, as vec2u(low, high) ---------------------------------------------------------------------

fn mul64(a: u32, b: u32) -> vec2u {
    let al = a & 0xffffu; let ah = a >> 16u;
    let bl = b & 0xffffu; let bh = b >> 16u;
    let low = al * bl; let across = al * bh; let down = ah * bl;
    let middle = (low >> 16u) + (across & 0xffffu) + (down & 0xffffu);
    let high = ah * bh + (across >> 16u) + (down >> 16u) + (middle >> 16u);
    return vec2u((low & 0xffffu) | (middle << 16u), high);
}

fn add64(a: vec2u, b: u32) -> vec2u {
    let low = a.x + b;
    return vec2u(low, a.y + select(0u, 1u, low < b));
}

fn sub64(a: vec2u, b: vec2u) -> vec2u {
    return vec2u(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn less64(a: vec2u, b: vec2u) -> bool {
    return (a.y < b.y) || (a.y == b.y && a.x < b.x);
}

fn word(place: u32) -> u32 { return data[place >> 2u][place & 3u]; }

// n / d, of which d is below 2²⁴ and the result below 2¹⁶: an estimate that is too small by less than one, and
// never too large.
fn quotient(n: u32, d: u32) -> u32 {
    return divided(n, d, share_of(d));
}

fn share_of(d: u32) -> f32 { return 0.999999 / f32(d); }

fn divided(n: u32, d: u32, share: f32) -> u32 {
    let q = u32(f32(n) * share);
    return q + select(0u, 1u, n - q * d >= d);
}

// -- colours ------------------------------------------------------------------------------------------

fn blend(s: u32, d: u32) -> u32 {
    let a = s >> 24u;
    let b = d >> 24u;
    if (a == 255u) { return s; }
    if (b == 255u) {
        let rb = (s & 0xff00ffu) * a + (d & 0xff00ffu) * (255u - a) + 0x800080u;
        let g = ((s >> 8u) & 255u) * a + ((d >> 8u) & 255u) * (255u - a) + 128u;
        return (((rb + ((rb >> 8u) & 0xff00ffu)) >> 8u) & 0xff00ffu)
            | ((g + (g >> 8u)) & 0xff00u) | 0xff000000u;
    }
    let keep = b * (255u - a);
    let take = a * 255u;
    let total = take + keep;
    if (total == 0u) { return d; }
    let half = total >> 1u;
    var mixed = ((total + 127u) / 255u) << 24u;
    for (var c = 0u; c < 24u; c += 8u) {
        mixed |= quotient(((s >> c) & 255u) * take + ((d >> c) & 255u) * keep + half, total) << c;
    }
    return mixed;
}

// The pixel between four; weights in 1/256 of the way across and down.
fn between(a: u32, b: u32, c: u32, d: u32, across: u32, down: u32) -> u32 {
    let four = vec4u(a, b, c, d);
    let w = vec4u(
        (256u - across) * (256u - down), across * (256u - down), (256u - across) * down, across * down
    );
    if ((a & b & c & d) >= 0xff000000u) {
        return packed((weighted(four, w) + 32768u) >> vec3u(16u), 255u);
    }
    let v = w * (four >> vec4u(24u));
    let total = v.x + v.y + v.z + v.w;
    let least = max(total, 1u);
    let n = weighted(four, v) + (total >> 1u);
    let q = vec3u(vec3f(n) * share_of(least));  // as ``divided``
    return packed(q + select(vec3u(0u), vec3u(1u), n - q * least >= vec3u(least)), (total + 32768u) >> 16u);
}

// Sums of four pixels' red, green and blue: a loop over those took the GPU a tenth longer.
fn weighted(four: vec4u, w: vec4u) -> vec3u {
    return vec3u(
        dot(four & vec4u(255u), w), dot((four >> vec4u(8u)) & vec4u(255u), w),
        dot((four >> vec4u(16u)) & vec4u(255u), w)
    );
}

fn packed(rgb: vec3u, alpha: u32) -> u32 { return rgb.x | (rgb.y << 8u) | (rgb.z << 16u) | (alpha << 24u); }

// -- shapes -------------------------------------------------------------------------------------------

fn in_disc(dx: u32, dy: u32, r: u32, wide: bool) -> bool {
    if (r == 0u) { return (dx | dy) == 0u; }
    let a = min(dx, dy);
    let b = max(dx, dy);
    if (b > r) { return false; }
    if (!wide) { return a * a + b * b - b < r * r; }
    return less64(mul64(a, a), add64(sub64(mul64(r, r), mul64(b, b)), b));
}

// How far a pixel lies before or behind a stretch, and which way is outwards: not at all in its middle.
fn beside(x: i32, first: u32, last: u32, far: bool) -> vec2u {
    if (far || x < bitcast<i32>(first)) { return vec2u(first - bitcast<u32>(x), 1u); }
    let after = bitcast<u32>(x) - last;
    if (x > bitcast<i32>(last)) { return vec2u(after, 1u); }
    return vec2u(0u, select(0u, 1u, after == 0u || first == bitcast<u32>(x)));
}

fn on_disc(kind: u32, box: vec4u, r: u32, x: i32, y: i32) -> bool {
    let wide = (kind & WIDE) != 0u;
    let dx = beside(x, box.x, box.z, (kind & FAR_X) != 0u);
    let dy = beside(y, box.y, box.w, (kind & FAR_Y) != 0u);
    if (!in_disc(dx.x, dy.x, r, wide)) { return false; }
    if ((kind & OUTLINE) == 0u) { return true; }
    let more_x = dx.x >= r || !in_disc(dx.x + 1u, dy.x, r, wide);
    let more_y = dy.x >= r || !in_disc(dx.x, dy.x + 1u, r, wide);
    return (dx.y == 1u && more_x) || (dy.y == 1u && more_y);
}

fn on_line(kind: u32, own: vec4u, x: i32, y: i32) -> bool {
    let left = (kind & LEFTWARD) != 0u;
    let up = (kind & UPWARD) != 0u;
    let x1 = bitcast<i32>(own.x);
    let y1 = bitcast<i32>(own.y);
    if (select((x < x1), (x > x1), left) || select((y < y1), (y > y1), up)) { return false; }
    let dx = select(bitcast<u32>(x) - own.x, own.x - bitcast<u32>(x), left);
    let dy = select(bitcast<u32>(y) - own.y, own.y - bitcast<u32>(y), up);
    let steep = (kind & STEEP) != 0u;
    let along = select(dx, dy, steep);
    let aside = select(dy, dx, steep);
    let major = own.z;
    let minor = own.w;
    if (along > major || aside > minor || ((kind & OPEN) != 0u && along == major)) { return false; }
    if ((kind & WIDE) == 0u) {
        let moved = along * minor + (major >> 1u);
        return moved >= aside * major && moved - aside * major < max(major, 1u);
    }
    let moved = add64(mul64(along, minor), major >> 1u);
    let reached = mul64(aside, major);
    if (less64(moved, reached)) { return false; }
    return less64(sub64(moved, reached), vec2u(major, 0u));
}

// Whether a line passes near a tile: the tile's middle is at most so far from it, and a pixel more.
fn line_meets(kind: u32, own: vec4u, tile: vec2u) -> bool {
    if ((kind & WIDE) != 0u) { return true; }
    let way = select(vec2f(1.0), vec2f(-1.0), vec2<bool>((kind & LEFTWARD) != 0u, (kind & UPWARD) != 0u));
    let long = select(vec2f(vec2u(own.z, own.w)), vec2f(vec2u(own.w, own.z)), (kind & STEEP) != 0u);
    let start = vec2f(vec2i(bitcast<i32>(own.x), bitcast<i32>(own.y)));
    let away = vec2f(tile * TILE + TILE / 2u) - start;
    let area = abs(away.x * long.y * way.y - away.y * long.x * way.x);
    let most = f32(TILE / 2u + 2u);
    return area <= (long.x + long.y + 1.0) * most * 1.001;
}

// Which side of an edge a pixel is on, in the rows the edge has.
fn crosses(x1: i32, y1: i32, x2: i32, y2: i32, x: i32, y: i32) -> bool {
    if (y1 > y2) { return y >= y2 && y < y1 && (x - x2) * (y1 - y2) - (x1 - x2) * (y - y2) >= 0; }
    return y >= y1 && y < y2 && (x - x1) * (y2 - y1) - (x2 - x1) * (y - y1) >= 0;
}

fn in_triangle(a: vec4u, b: vec4u, x: i32, y: i32) -> bool {
    let p = bitcast<vec4i>(a);
    let q = bitcast<vec2i>(b.xy);
    let first = crosses(p.x, p.y, p.z, p.w, x, y);
    let second = crosses(p.z, p.w, q.x, q.y, x, y);
    return (first != second) != crosses(q.x, q.y, p.x, p.y, x, y);
}

// -- pictures -----------------------------------------------------------------------------------------

fn sample_position(i: u32, size: u32, source_size: u32) -> u32 {
    let n = (2u * i + 1u) * source_size;
    let f = i32((n / size) * 128u + ((n % size) * 128u) / size) - 128;
    return u32(clamp(f, 0, 256 * (i32(source_size) - 1)));
}

fn image_pixel(kind: u32, low: vec2u, a: vec4u, b: vec4u, table: u32, to: vec2u, at: vec2u) -> u32 {
    // a: address, stride, x, y; b: width and height there, and of the image itself
    var u: u32;
    var v: u32;
    if ((kind & TABLES) != 0u) {
        u = word(table + at.x - low.x);
        v = word(table + ((to.x - low.x + 3u) & ~3u) + at.y - low.y);
    } else {
        u = sample_position(at.x - a.z, b.x, b.z);
        v = sample_position(at.y - a.w, b.y, b.w);
    }
    let upper = a.x + (v >> 8u) * a.y;
    let lower = a.x + min((v >> 8u) + 1u, b.w - 1u) * a.y;
    let left = u >> 8u;
    let right = min(left + 1u, b.z - 1u);
    return between(
        pictures[upper + left], pictures[upper + right], pictures[lower + left],
        pictures[lower + right], u & 255u, v & 255u
    );
}

// A plain primitive on one pixel, which it may touch.
fn paint_plain(head: vec4u, at_prim: u32, at: vec2u, pixel: u32) -> u32 {
    let kind = head.x;
    let shape = kind & 255u;
    var color = head.w;
    if (shape != RECT) {
        let own = prims[at_prim + 1u];
        let x = i32(at.x);
        let y = i32(at.y);
        if (shape == SPRITE) {
            color = pictures[own.x + (at.y - own.w) * own.y + at.x - own.z];
        } else if (shape == DISC) {
            if (!on_disc(kind, own, prims[at_prim + 2u].x, x, y)) { return pixel; }
        } else if (shape == LINE) {
            if (!on_line(kind, own, x, y)) { return pixel; }
        } else if (shape == TRIANGLE) {
            if (!in_triangle(own, prims[at_prim + 2u], x, y)) { return pixel; }
        } else {
            let low = vec2u(head.y & 0xffffu, head.y >> 16u);
            let to = vec2u(head.z & 0xffffu, head.z >> 16u);
            color = image_pixel(kind, low, own, prims[at_prim + 2u], prims[at_prim + 3u].w, to, at);
        }
    }
    if ((kind & SOLID) != 0u) { return color; }
    return blend(color, pixel);
}
