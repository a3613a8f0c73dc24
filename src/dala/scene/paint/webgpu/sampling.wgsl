// What a layer shows at a pixel: colours of 1/128 levels, multiplied by their alpha (sampled.py).

struct Fragment {
    color: vec3i,
    alpha: i32,
    straight: vec3i,  // levels, not multiplied; negative where they are not known
}

const UNKNOWN = vec3i(-1);

// Four neighbours: columns, rows, and how far between them, of 256.
struct Taps {
    columns: vec2u,
    rows: vec2u,
    across: u32,
    down: u32,
}

fn taps_at(column: vec2u, row: vec2u, width: i32, height: i32) -> Taps {
    let x = bitcast<i32>(column.y);
    let y = bitcast<i32>(row.y);
    let xs = clamp(vec2i(x, x + 1), vec2i(0), vec2i(width - 1));
    let ys = clamp(vec2i(y, y + 1), vec2i(0), vec2i(height - 1));
    return Taps(vec2u(xs), vec2u(ys), column.x >> 24u, row.x >> 24u);
}

// Between two pixels downwards, two channels at once: 1/128 levels in halves of a word.
fn downwards(upper: u32, lower: u32, g: u32) -> vec2u {
    let rb = (upper & 0xff00ffu) * (256u - g) + (lower & 0xff00ffu) * g;
    let ga = ((upper >> 8u) & 0xff00ffu) * (256u - g) + ((lower >> 8u) & 0xff00ffu) * g;
    return (vec2u(rb, ga) >> vec2u(1u)) & vec2u(0x7fff7fffu);
}

fn between(left: vec4u, right: vec4u, f: u32) -> vec4i {
    return vec4i((left * (256u - f) + right * f + 128u) >> vec4u(8u));
}

fn spread(pair: vec2u) -> vec4u {
    return vec4u(pair.x & 0xffffu, pair.y & 0xffffu, pair.x >> 16u, pair.y >> 16u);
}

fn sample_pixels(first: u32, stride: u32, taps: Taps) -> vec4i {
    let upper = first + taps.rows.x * stride;
    let lower = first + taps.rows.y * stride;
    let left = downwards(
        textures[upper + taps.columns.x], textures[lower + taps.columns.x], taps.down
    );
    let right = downwards(
        textures[upper + taps.columns.y], textures[lower + taps.columns.y], taps.down
    );
    return between(spread(left), spread(right), taps.across);
}

fn byte_at(at: u32) -> u32 { return (textures[at >> 2u] >> ((at & 3u) << 3u)) & 255u; }

fn sample_bytes(first: u32, stride: u32, taps: Taps) -> i32 {
    let upper = first + taps.rows.x * stride;
    let lower = first + taps.rows.y * stride;
    let g = taps.down;
    let left = (byte_at(upper + taps.columns.x) * (256u - g) + byte_at(lower + taps.columns.x) * g) >> 1u;
    let right = (byte_at(upper + taps.columns.y) * (256u - g) + byte_at(lower + taps.columns.y) * g) >> 1u;
    return i32((left * (256u - taps.across) + right * taps.across + 128u) >> 8u);
}

// -- YUV --------------------------------------------------------------------------------------------

fn convert(to_rgb: Yuv, y: i32, u: i32, v: i32) -> vec3i {
    let luma = multiply(y - to_rgb.black, to_rgb.luma);
    let rgb = vec3i(
        luma + multiply(v, to_rgb.red_v),
        luma + multiply(u, to_rgb.green_u) + multiply(v, to_rgb.green_v),
        luma + multiply(u, to_rgb.blue_u)
    );
    return clamp((rgb + 16) >> vec3u(5u), vec3i(0), vec3i(255));
}

// -- pixels that are not multiplied by their alpha -------------------------------------------------------

fn straight_fragment(pixel: u32, opaque: bool) -> Fragment {
    let level = levels(pixel);
    let color = level.xyz << vec3u(7u);
    if (opaque) { return Fragment(color, ALL, UNKNOWN); }
    let alpha = level.w << 7u;
    return Fragment(multiply3(color, share(alpha)), alpha, level.xyz);
}
