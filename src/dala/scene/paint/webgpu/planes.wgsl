// The canvas as a frame for an encoder: Y of each pixel, U and V of the mean of two by two (planar.py), one
// after the other. Each thread makes four bytes, whichever they are. A block of two by two that no box
// reaches is copied from the lowest layer, if that is a video of the same matrix at an even position.

@group(0) @binding(0) var<storage, read> canvas: array<u32>;
@group(0) @binding(1) var<storage, read> run: Run;
@group(0) @binding(2) var<storage, read> textures: array<u32>;
@group(0) @binding(3) var<storage, read_write> planes: array<u32>;

fn byte_at(at: u32) -> u32 { return (textures[at >> 2u] >> ((at & 3u) << 3u)) & 255u; }

fn is_untouched(x: u32, y: u32) -> bool {
    if (run.copied == 0u) { return false; }
    let block = vec4i(vec2i(vec2u(x & ~1u, y & ~1u)), vec2i(vec2u(x | 1u, y | 1u)));
    for (var n = 1u; n < run.count; n++) {
        let box = run.layers[n].box;
        if (all(box.xy <= block.zw) && all(box.zw > block.xy)) { return false; }
    }
    return true;
}

fn copied(plane: u32, x: u32, y: u32) -> u32 {
    let moved = vec2u(
        run.layers[0].planes[0].columns.at.y, run.layers[0].planes[0].rows.at.y
    );
    let shrunk = select(1u, 0u, plane == 0u);
    let from_ = (vec2u(x, y) + moved) >> vec2u(shrunk);
    return byte_at(run.layers[0].planes[plane].first + from_.y * run.layers[0].planes[plane].stride + from_.x);
}

fn weighed(color: vec3i, row: u32) -> i32 {
    let first = 1u + 3u * row;
    var sum = 0;
    for (var i = 0u; i < 3u; i++) {
        let factor = run.factors[(first + i) >> 2u][(first + i) & 3u];
        sum += multiply(color[i], factor);
    }
    return sum;
}

fn level_of(value: i32) -> u32 { return u32(clamp((value + 64) >> 7u, 0, 255)); }

fn luma(x: u32, y: u32) -> u32 {
    if (is_untouched(x, y)) { return copied(0u, x, y); }
    let color = levels(canvas[y * run.width + x]).xyz << vec3u(7u);
    return level_of(weighed(color, 0u) + run.factors[0].x);
}

fn chroma(plane: u32, x: u32, y: u32) -> u32 {
    if (is_untouched(x, y)) { return copied(plane, x, y); }
    let at = y * run.width + x;
    let sum = levels(canvas[at]) + levels(canvas[at + 1u]) + levels(canvas[at + run.width])
        + levels(canvas[at + run.width + 1u]);
    return level_of(weighed(sum.xyz << vec3u(5u), plane) + 16384);
}

fn byte_of(number: u32) -> u32 {
    let area = run.width * run.height;
    if (number < area) { return luma(number % run.width, number / run.width); }
    let half = run.width >> 1u;
    let rest = number - area;
    let plane = rest / (area >> 2u);
    if (plane > 1u) { return 0u; }
    let place = rest - plane * (area >> 2u);
    return chroma(plane + 1u, (place % half) * 2u, (place / half) * 2u);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) index: u32) {
    let word = (group.y * groups.x + group.x) * 256u + index;
    let bytes = run.width * run.height / 2u * 3u;
    if (word * 4u >= bytes) { return; }
    var made = 0u;
    for (var i = 0u; i < 4u; i++) { made |= byte_of(word * 4u + i) << (8u * i); }
    planes[word] = made;
}
