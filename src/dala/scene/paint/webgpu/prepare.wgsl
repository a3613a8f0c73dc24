// Pictures as layers read them: multiplied by their alpha, blocks of pixels as their means (reducing.py).
// Each thread makes one word: a pixel, or four bytes of a plane.

struct Job {
    source: u32,  // a byte
    stride: u32,  // bytes
    width: u32,
    height: u32,
    level_x: u32,
    level_y: u32,
    to: u32,  // a word
    to_stride: u32,  // words
    columns: u32,
    rows: u32,
    size: u32,  // bytes of a pixel: 1 or 4
    times_alpha: u32,
}

@group(0) @binding(0) var<storage, read_write> textures: array<u32>;
@group(0) @binding(1) var<storage, read> jobs: array<Job>;

fn premultiplied(pixel: u32) -> vec4u {
    let c = (vec4u(pixel) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u);
    return vec4u((c.xyz * c.w + 127u) / 255u, c.w);
}

fn value(n: u32, x: u32, y: u32) -> vec4u {
    let row = jobs[n].source + min(y, jobs[n].height - 1u) * jobs[n].stride;
    let column = min(x, jobs[n].width - 1u);
    if (jobs[n].size == 1u) {
        let at = row + column;
        return vec4u((textures[at >> 2u] >> ((at & 3u) << 3u)) & 255u);
    }
    let pixel = textures[(row >> 2u) + column];
    if (jobs[n].times_alpha != 0u) { return premultiplied(pixel); }
    return (vec4u(pixel) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u);
}

// The mean of a block of less than 2^12 pixels; behind the edge lies the last value.
fn mean(n: u32, x: u32, y: u32) -> vec4u {
    let level_x = jobs[n].level_x;
    let level_y = jobs[n].level_y;
    let bits = level_x + level_y;
    var sum = vec4u((1u << bits) >> 1u);
    for (var j = y << level_y; j < (y + 1u) << level_y; j++) {
        for (var i = x << level_x; i < (x + 1u) << level_x; i++) { sum += value(n, i, j); }
    }
    return sum >> vec4u(bits);
}

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let n = id.z;
    let single = jobs[n].size == 1u;
    let words = select(jobs[n].columns, (jobs[n].columns + 3u) / 4u, single);
    if (id.x >= words || id.y >= jobs[n].rows) { return; }
    var word = 0u;
    if (single) {
        for (var i = 0u; i < 4u; i++) { word |= mean(n, id.x * 4u + i, id.y).x << (8u * i); }
    } else {
        let c = mean(n, id.x, id.y);
        word = c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
    }
    textures[jobs[n].to + id.y * jobs[n].to_stride + id.x] = word;
}
