// A tile of 32 × 32 pixels by a workgroup of 32 × 8 threads; each paints four pixels, eight rows apart, and
// keeps them in registers from the first layer to the last. Layers are looked at 256 at a time, one by each
// thread; those that touch the tile are painted by all. What lies below the topmost layer that hides the
// tile is not looked at.

@group(0) @binding(0) var<storage, read_write> canvas: array<u32>;
@group(0) @binding(1) var<storage, read> run: Run;
@group(0) @binding(2) var<storage, read> textures: array<u32>;

const PIXELS = 4u;  // of a thread
alias Pixels = array<u32, 4>;

var<workgroup> hits: array<atomic<u32>, 8>;
var<workgroup> lowest: atomic<u32>;

fn touches(box: vec4i, tile: vec4i) -> bool {
    return all(box.xy < tile.zw) && all(box.zw > tile.xy);
}

fn holds(box: vec4i, tile: vec4i) -> bool {
    return all(box.xy <= tile.xy) && all(box.zw >= tile.zw);
}

// What all pixels of a layer have in common, in registers.
struct Brush {
    number: u32,
    mode: u32,
    opacity: i32,
    opaque: bool,
    inside: bool,  // the layer covers all of the tile
    box: vec4i,
}

fn brush_of(n: u32, tile: vec4i) -> Brush {
    return Brush(
        n, run.layers[n].mode, run.layers[n].opacity, (run.layers[n].bits & OPAQUE) != 0u,
        holds(run.layers[n].inner, tile), run.layers[n].box
    );
}

// Nothing beyond the layer's box, all of its opacity where it covers everything.
fn coverage_at(brush: Brush, at: vec2u) -> i32 {
    if (brush.inside) { return brush.opacity; }
    if (any(vec2i(at) < brush.box.xy) || any(vec2i(at) >= brush.box.zw)) { return 0; }
    return cover(brush.number, at);
}

fn put(brush: Brush, below: u32, f: Fragment, k: i32) -> u32 {
    if (brush.opaque && k == 256 && brush.mode == OVER) {
        return pack((f.color + 64) >> vec3u(7u), 255);
    }
    return meet(below, f, k, brush.mode);
}

fn paint_solid(brush: Brush, at: vec2u, pixels: ptr<function, Pixels>) {
    let f = straight_fragment(run.layers[brush.number].color, false);
    for (var i = 0u; i < PIXELS; i++) {
        let k = coverage_at(brush, vec2u(at.x, at.y + i * ROWS));
        if (k > 0) { (*pixels)[i] = meet((*pixels)[i], f, k, brush.mode); }
    }
}

// A picture at a whole position: as it is.
fn paint_straight(brush: Brush, at: vec2u, pixels: ptr<function, Pixels>) {
    let plane = run.layers[brush.number].planes[0];
    let moved = bitcast<vec2i>(vec2u(plane.columns.at.y, plane.rows.at.y));
    let most = vec2i(plane.width, plane.height) - 1;
    for (var i = 0u; i < PIXELS; i++) {
        let here = vec2u(at.x, at.y + i * ROWS);
        let k = coverage_at(brush, here);
        if (k > 0) {
            let from_ = vec2u(clamp(vec2i(here) + moved, vec2i(0), most));
            let pixel = textures[plane.first + from_.y * plane.stride + from_.x];
            if (brush.mode == MIX) {
                (*pixels)[i] = mix_in((*pixels)[i], pixel, k);
            } else {
                (*pixels)[i] = put(brush, (*pixels)[i], straight_fragment(pixel, brush.opaque), k);
            }
        }
    }
}

fn paint_sampled(brush: Brush, at: vec2u, pixels: ptr<function, Pixels>) {
    let plane = run.layers[brush.number].planes[0];
    var column = value_at(plane.columns, at);
    var row = value_at(plane.rows, at);
    let column_step = times64(plane.columns.y, ROWS);
    let row_step = times64(plane.rows.y, ROWS);
    for (var i = 0u; i < PIXELS; i++) {
        let k = coverage_at(brush, vec2u(at.x, at.y + i * ROWS));
        if (k > 0) {
            let taps = taps_at(column, row, plane.width, plane.height);
            let color = sample_pixels(plane.first, plane.stride, taps);
            let f = Fragment(color.xyz, select(color.w, ALL, brush.opaque), UNKNOWN);
            (*pixels)[i] = put(brush, (*pixels)[i], f, k);
        }
        column = add64(column, column_step);
        row = add64(row, row_step);
    }
}

// A video's frame: Y, U and V each sampled for itself, then converted. U and V lie at the same places.
fn paint_planar(brush: Brush, at: vec2u, pixels: ptr<function, Pixels>) {
    let luma = run.layers[brush.number].planes[0];
    let blue = run.layers[brush.number].planes[1];
    let red = run.layers[brush.number].planes[2].first;
    let to_rgb = run.layers[brush.number].to_rgb;
    var column = value_at(luma.columns, at);
    var row = value_at(luma.rows, at);
    var half_column = value_at(blue.columns, at);
    var half_row = value_at(blue.rows, at);
    let column_step = times64(luma.columns.y, ROWS);
    let row_step = times64(luma.rows.y, ROWS);
    let half_column_step = times64(blue.columns.y, ROWS);
    let half_row_step = times64(blue.rows.y, ROWS);
    for (var i = 0u; i < PIXELS; i++) {
        let k = coverage_at(brush, vec2u(at.x, at.y + i * ROWS));
        if (k > 0) {
            let taps = taps_at(column, row, luma.width, luma.height);
            let y = sample_bytes(luma.first, luma.stride, taps);
            let half_taps = taps_at(half_column, half_row, blue.width, blue.height);
            let u = sample_bytes(blue.first, blue.stride, half_taps) - 16384;
            let v = sample_bytes(red, blue.stride, half_taps) - 16384;
            let f = Fragment(convert(to_rgb, y, u, v) << vec3u(7u), ALL, UNKNOWN);
            (*pixels)[i] = put(brush, (*pixels)[i], f, k);
        }
        column = add64(column, column_step);
        row = add64(row, row_step);
        half_column = add64(half_column, half_column_step);
        half_row = add64(half_row, half_row_step);
    }
}

fn paint_layer(n: u32, at: vec2u, tile: vec4i, pixels: ptr<function, Pixels>) {
    let brush = brush_of(n, tile);
    switch (run.layers[n].kind) {
        case SOLID: { paint_solid(brush, at, pixels); }
        case STRAIGHT: { paint_straight(brush, at, pixels); }
        case SAMPLED: { paint_sampled(brush, at, pixels); }
        default: { paint_planar(brush, at, pixels); }
    }
}

@compute @workgroup_size(32, 8)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let box = run.boxes[group.z];
    let first = box.xy + vec2i(group.xy * TILE);
    if (any(first >= box.zw)) { return; }
    let tile = vec4i(first, min(first + vec2i(i32(TILE)), box.zw));
    if (index == 0u) { atomicStore(&lowest, 0u); }  // some drivers begin with anything
    workgroupBarrier();
    for (var n = index; n < run.count; n += THREADS) {
        if ((run.layers[n].bits & HIDES) != 0u && holds(run.layers[n].inner, tile)) {
            atomicMax(&lowest, n);
        }
    }
    let at = vec2u(first) + local.xy;
    let there = i32(at.x) < tile.z;
    var pixels: Pixels;
    for (var i = 0u; i < PIXELS; i++) {
        let y = at.y + i * ROWS;
        pixels[i] = run.background;
        if (run.start == KEEP && there && i32(y) < tile.w) { pixels[i] = canvas[y * run.width + at.x]; }
    }
    workgroupBarrier();
    for (var next = atomicLoad(&lowest); next < run.count; next += THREADS) {
        workgroupBarrier();
        if (index < 8u) { atomicStore(&hits[index], 0u); }
        workgroupBarrier();
        if (next + index < run.count && touches(run.layers[next + index].box, tile)) {
            atomicOr(&hits[index >> 5u], 1u << (index & 31u));
        }
        workgroupBarrier();
        for (var word = 0u; word < 8u; word++) {
            var left = atomicLoad(&hits[word]);
            while (left != 0u) {
                paint_layer(next + word * 32u + countTrailingZeros(left), at, tile, &pixels);
                left &= left - 1u;
            }
        }
    }
    for (var i = 0u; i < PIXELS; i++) {
        let y = at.y + i * ROWS;
        if (there && i32(y) < tile.w) { canvas[y * run.width + at.x] = pixels[i]; }
    }
}
