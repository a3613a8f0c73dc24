// A tile of 16 × 16 pixels by a workgroup, one pixel by each thread: the primitives of the tile's bin are
// looked at 256 at a time, one by each thread; those that touch the tile are painted one after the other, by
// all. A pixel stays in a register from the first primitive to the last. Lines that end in "ink" are left out
// of the shader for plain primitives, those that end in "layers" where there is none.

@group(0) @binding(0) var<storage, read_write> frame: array<u32>;
@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read> prims: array<vec4u>;
@group(0) @binding(3) var<storage, read> bins: array<u32>;
@group(0) @binding(4) var<storage, read> data: array<vec4u>;
@group(0) @binding(5) var<storage, read> pictures: array<u32>;
@group(0) @binding(6) var<storage, read> circle: array<vec2f>; // ink
@group(0) @binding(7) var<storage, read_write> layers: array<u32>; // layers

var<workgroup> hits: array<atomic<u32>, 8>;
var<workgroup> numbers: array<u32, 256>;
var<workgroup> parts: array<u32, 256>;
var<workgroup> cells: array<atomic<i32>, 768>; // ink

fn meets(number: u32, tile: vec2u) -> bool {
    let head = prims[number * 4u];
    let first = tile * TILE;
    if ((head.y & 0xffffu) >= first.x + TILE || (head.y >> 16u) >= first.y + TILE) { return false; }
    if ((head.z & 0xffffu) <= first.x || (head.z >> 16u) <= first.y) { return false; }
    let shape = head.x & 255u;
    if (shape == LINE) { return line_meets(head.x, prims[number * 4u + 1u], tile); }
    if (shape == EDGES) { return edges_meet(head.x, prims[number * 4u + 1u], first); } // ink
    if (shape == ELLIPSE) { return ellipse_meets(number * 4u, first); } // ink
    if (shape == LOOP) { return loop_meets(head.x, number * 4u, first); } // ink
    return true;
}

// Which of a tile's eight parts of 8 × 4 pixels a primitive touches, as bits; from bit 8 on, which it covers.
fn parts_of(number: u32, tile: vec2u) -> u32 {
    if (!meets(number, tile)) { return 0u; }
    let head = prims[number * 4u];
    let shape = head.x & 255u;
    if (shape == EDGES || (shape == PUSH && (head.x & MASKED) != 0u)) { return 255u; } // ink
    let first = tile * TILE;
    let low = vec2u(head.y & 0xffffu, head.y >> 16u);
    let to = vec2u(head.z & 0xffffu, head.z >> 16u);
    var found = select(0u, 0x55u, low.x < first.x + 8u) | select(0u, 0xaau, to.x > first.x + 8u);
    for (var k = 0u; k < 4u; k++) {
        let top = first.y + 4u * k;
        if (low.y >= top + 4u || to.y <= top) { found &= ~(3u << (2u * k)); }
    }
    if (shape == LOOP && (head.x & PARALLEL) != 0u) { return slant_parts(number * 4u, first, found); } // ink
    return found;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
    let tile = group.xy;
    // threads that run together have 8 × 4 pixels: fewer borders pass through those than through 16 × 2
    let local = vec2u((index & 7u) | ((index >> 2u) & 8u), ((index >> 3u) & 3u) | ((index >> 4u) & 12u));
    let size = vec2u(bins[HEAD_WIDTH], bins[HEAD_HEIGHT]);
    let own_part = 1u << (index >> 5u);
    let at = tile * TILE + local;
    let there = all(at < size);
    let place = at.y * size.x + at.x;
    let start = bins[HEAD_START];
    var pixel = bins[HEAD_COLOR];
    if (there && start == KEEP) { pixel = frame[place]; }
    if (there && start == COPY) { pixel = before[place]; }
    var saved: array<u32, 33>; // layers
    var masks: array<u32, 33>; // layers
    var depth = 0u; // layers
    var turn = 0u; // ink
    for (var k = 0u; k < 3u; k++) { atomicStore(&cells[k * 256u + index], 0); } // ink
    if (there) { // layers
        for (var k = 0u; k < bins[HEAD_DEPTH]; k++) { // layers
            let mask = layers[(2u * k + 1u) * size.x * size.y + place]; // layers
            if ((mask & 256u) == 0u) { break; } // layers
            saved[k] = pixel; // layers
            masks[k] = mask & 255u; // layers
            pixel = layers[2u * k * size.x * size.y + place]; // layers
            depth = k + 1u; // layers
        } // layers
    } // layers

    let across = (size.x + BIN - 1u) / BIN;
    let down = (size.y + BIN - 1u) / BIN;
    let bin = HEAD_WORDS + (tile.y * TILE / BIN) * across + tile.x * TILE / BIN;
    let entries = HEAD_WORDS + across * down + 1u;
    let end = bins[bin + 1u];
    for (var next = bins[bin]; next < end; next += 256u) {
        workgroupBarrier();
        if (index < 8u) { atomicStore(&hits[index], 0u); }
        workgroupBarrier();
        if (next + index < end) {
            let number = bins[entries + next + index];
            numbers[index] = number;
            let touched = parts_of(number, tile);
            parts[index] = touched;
            if (touched != 0u) { atomicOr(&hits[index >> 5u], 1u << (index & 31u)); }
        }
        workgroupBarrier();
        for (var word = 0u; word < 8u; word++) {
            var left = atomicLoad(&hits[word]);
            while (left != 0u) {
                let found = word * 32u + countTrailingZeros(left);
                left &= left - 1u;
                let touching = parts[found];
                if ((touching & own_part) == 0u) { continue; }
                let at_prim = numbers[found] * 4u;
                let head = prims[at_prim];
                let shape = head.x & 255u;
                let low = vec2u(head.y & 0xffffu, head.y >> 16u);
                let to = vec2u(head.z & 0xffffu, head.z >> 16u);
                let touched = all(at >= low) && all(at < to);
                var cover = 255u; // ink
                if (shape == EDGES || (head.x & (255u | MASKED)) == (PUSH | MASKED)) { // ink
                    add_edges(head.x, at_prim, tile, index, turn * 256u); // ink
                    workgroupBarrier(); // ink
                    if (touched) { cover = cover_of(head.x, cell_area(turn * 256u, local)); } // ink
                    atomicStore(&cells[((turn + 2u) % 3u) * 256u + index], 0); // ink
                    turn = (turn + 1u) % 3u; // ink
                } else if (shape > EDGES && touched && (touching & (own_part << 8u)) == 0u) { // ink
                    cover = cover_of(head.x, shape_area(head.x, at_prim, at)); // ink
                } // ink
                if (touched) {
                    if (shape < PUSH) { // ink
                    pixel = paint_plain(head, at_prim, at, pixel);
                    } else if (shape == PUSH) { // layers
                        saved[depth] = pixel; // layers
                        masks[depth] = cover; // layers
                        pixel = 0u; // layers
                        depth++; // layers
                    } else if (shape == POP) { // layers
                        depth--; // layers
                        pixel = put_layer(head, pixel, saved[depth], masks[depth]); // layers
                    } else { // ink
                        pixel = paint_ink(head, at_prim, at, cover, pixel); // ink
                    } // ink
                }
            }
        }
    }
    if (there) {
        saved[depth] = pixel; // layers
        for (var k = 0u; k < bins[HEAD_DEPTH_AFTER]; k++) { // layers
            let area = size.x * size.y; // layers
            if (k < depth) { layers[2u * k * area + place] = saved[k + 1u]; } // layers
            layers[(2u * k + 1u) * area + place] = select(0u, masks[k] | 256u, k < depth); // layers
        } // layers
        pixel = saved[0]; // layers
        frame[place] = pixel;
    }
}
