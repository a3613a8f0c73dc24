// Coverage: how much of a pixel lies within edges (raster/ink/cells.py), in whole numbers, 2¹⁹ for all of it. Of
// shapes with few edges in a row of pixels each pixel computes its own, and nobody waits for anybody; of others
// all threads add edges to cells, as the CPU does.

// (a · b) / c to the nearest, of numbers below 2²⁵ whose product may need more than 32 bits. An estimate below 2¹⁹
// is less than a half away, so that what it is cut to is the result or one less; what is left is small again.
fn ratio(a: i32, b: i32, c: i32) -> i32 {
    let share = 1.0 / f32(c);
    var q = i32(floor(f32(a) * f32(b) * share));
    if (abs(q) >= 524288) { q += i32(floor(f32(a * b - q * c) * share)); }
    return q + select(0, 1, 2 * (a * b - q * c) >= c);
}

// An edge in one row of pixels: where it comes in and goes out, and the height between; 0 is none.
struct Piece { x0: i32, x1: i32, high: i32 }

fn piece_of(edge: vec4i, top: i32) -> Piece {
    let down = edge.y <= edge.w;
    let e = select(edge.zwxy, edge, down);
    if (e.w <= top || e.y >= top + 512) { return Piece(0, 0, 0); }
    var x0 = e.x;
    var x1 = e.z;
    if (e.y < top) { x0 = e.x + ratio(e.z - e.x, top - e.y, e.w - e.y); }
    if (e.w > top + 512) { x1 = e.x + ratio(e.z - e.x, top + 512 - e.y, e.w - e.y); }
    let high = min(e.w, top + 512) - max(e.y, top);
    return Piece(min(x0, x1), max(x0, x1), select(-high, high, down));
}

// -- a pixel for itself -------------------------------------------------------------------------------

// The area right of an edge within a pixel, less that of one that rises. Most pixels lie on one side of it.
fn edge_area(e: vec4i, corner: vec2i) -> i32 {
    let high = min(max(e.y, e.w), corner.y + 512) - max(min(e.y, e.w), corner.y);
    if (high <= 0) { return 0; }
    let down = e.y < e.w;
    let whole = select(-1024, 1024, down) * high;
    let run = vec2f(e.zw - e.xy);
    let middle = vec2f(corner + 256 - e.xy);
    let side = middle.x * run.y - middle.y * run.x;
    if (abs(side) > (abs(run.x) + abs(run.y)) * 260.0) { return select(0, whole, (side > 0.0) == down); }
    let piece = piece_of(e, corner.y);
    let area = area_behind(piece.x0 - corner.x, piece.x1 - corner.x, high);
    return select(-area, area, down);
}

// The area right of a piece that goes from x0 to x1 on so much of a pixel's height.
fn area_behind(x0: i32, x1: i32, high: i32) -> i32 {
    if (x0 >= 512) { return 0; }
    if (x1 <= 0) { return high * 1024; }
    var above = 0;
    var below = high;
    if (x0 < 0) { above = ratio(high, -x0, x1 - x0); }
    if (x1 > 512) { below = ratio(high, 512 - x0, x1 - x0); }
    return below * 1024 - (below - above) * (max(x0, 0) + min(x1, 512));
}

fn loop_area(kind: u32, at_prim: u32, corner: vec2i) -> i32 {
    let first = bitcast<vec4i>(prims[at_prim + 1u]);
    let second = bitcast<vec4i>(prims[at_prim + 2u]);
    if ((kind & PARALLEL) != 0u) { return slant_area(first, second, corner); }
    return corners_area(first, second, corner);
}

fn corners_area(first: vec4i, second: vec4i, corner: vec2i) -> i32 {
    return edge_area(first, corner) + edge_area(vec4i(first.zw, second.xy), corner)
        + edge_area(second, corner) + edge_area(vec4i(second.zw, first.xy), corner);
}

// A parallelogram: twice its middle, its two sides, and its area, which has a sign.
struct Slant { middle: vec2i, sides: vec4f, area: f32 }

fn slant_of(first: vec4i, second: vec4i) -> Slant {
    let sides = vec4f(vec4i(first.zw - first.xy, second.zw - first.xy));
    return Slant(first.xy + second.xy, sides, sides.x * sides.w - sides.y * sides.z);
}

// How far a place is from the middle, across its second and its first side: at its borders that is the area, plus or minus.
fn slant_away(s: Slant, place: vec2i) -> vec2f {
    let p = vec2f(2 * place - s.middle);
    return vec2f(p.x * s.sides.w - p.y * s.sides.z, p.y * s.sides.x - p.x * s.sides.y) * sign(s.area);
}

// How far from the border, on that scale, the middle of a box is at most that the border passes through; half the
// box's size is given, and corners were rounded.
fn slant_rim(s: Slant, half: vec2f) -> vec2f {
    let h = 2.0 * half + 32.0;
    return vec2f(abs(s.sides.w) * h.x + abs(s.sides.z) * h.y, abs(s.sides.y) * h.x + abs(s.sides.x) * h.y);
}

// Most pixels lie inside or outside, and of the others most are passed by one edge from top to bottom.
fn slant_area(first: vec4i, second: vec4i, corner: vec2i) -> i32 {
    let s = slant_of(first, second);
    let away = slant_away(s, corner + 256);
    let rim = slant_rim(s, vec2f(256.0));
    let beyond = abs(away) - abs(s.area);
    if (any(beyond > rim)) { return 0; }
    let beside = beyond >= -rim;
    if (!any(beside)) { return 524288; }
    let across = select(vec4i(second.zw, first.xy), vec4i(first.zw, second.xy), away.x > 0.0);
    let e = select(select(first, second, away.y > 0.0), across, beside.x);
    let passes = min(e.y, e.w) <= corner.y && max(e.y, e.w) >= corner.y + 512;
    if (all(beside) || !passes || any(abs(away) + abs(s.area) <= rim)) { return corners_area(first, second, corner); }
    let down = e.y < e.w;
    let area = area_passed(select(e.zwxy, e, down), corner);
    return select(524288 - area, area, down == (s.area < 0.0));
}

// The area right of an edge that goes down from above a pixel to below it.
fn area_passed(e: vec4i, corner: vec2i) -> i32 {
    let run = e.zw - e.xy;
    let begun = e.x - corner.x;
    let x0 = begun + ratio(run.x, corner.y - e.y, run.y);
    let x1 = begun + ratio(run.x, corner.y - e.y + 512, run.y);
    return area_behind(min(x0, x1), max(x0, x1), 512);
}

// An ellipse's polygon: its middle and half axes in 1/512 pixel, how many corners, and how far from its border
// a pixel is certainly not on it (as a part of the half axes).
struct Ellipse { x: i32, y: i32, part: vec2f, axes: vec4f, fineness: u32, rim: f32 }

fn ellipse_at(at_prim: u32) -> Ellipse {
    let own = prims[at_prim + 1u];
    let axes = bitcast<vec4f>(prims[at_prim + 2u]);
    let rim = bitcast<f32>(prims[at_prim + 3u].y);
    return Ellipse(bitcast<i32>(own.x), bitcast<i32>(own.y), unpack2x16unorm(own.z), axes, own.w & 15u, rim);
}

fn corner_of(e: Ellipse, number: u32) -> vec2i {
    let turn = circle[(number << (8u - e.fineness)) & 4095u];
    let away = e.part + turn.x * e.axes.xy + turn.y * e.axes.zw;
    return vec2i(e.x, e.y) + vec2i(floor(away + 0.5));
}

// How far a place is from the middle, as a part of the half axes.
fn distance_in(e: Ellipse, place: vec2i) -> f32 {
    let d = vec2f(place - vec2i(e.x, e.y));
    let across = vec2f(d.x * e.axes.w - d.y * e.axes.z, d.y * e.axes.x - d.x * e.axes.y);
    return length(across) / abs(e.axes.x * e.axes.w - e.axes.y * e.axes.z);
}

// Edges that may be in a row: two stretches of the polygon, one on each side of its highest and lowest
// corners, which are one where they meet. First number and count of each.
fn stretches(e: Ellipse, top: i32) -> vec4i {
    let count = 16 << e.fineness;
    let reach = length(e.axes.yw);
    let slack = 2.0 + reach * 1e-6;
    let low = clamp((f32(top - e.y) - slack) / reach, -1.0, 1.0);
    let high = clamp((f32(top - e.y) + 512.0 + slack) / reach, -1.0, 1.0);
    let turn = turn_of(e.axes.y, e.axes.w) * f32(count);
    let from_low = turn_of(low, sqrt(1.0 - low * low)) * f32(count);
    let from_high = turn_of(high, sqrt(1.0 - high * high)) * f32(count);
    let end = i32(floor(turn - from_high));
    let begin = i32(floor(turn - from_low));
    let next = max(i32(floor(turn + from_high)), end + 1);
    let last = min(i32(floor(turn + from_low)), begin + count - 1);
    return vec4i(begin, end - begin + 1, next, last - next + 1);
}

fn polygon_area(e: Ellipse, corner: vec2i) -> i32 {
    let away = distance_in(e, corner + 256);
    if (away >= 1.0 + e.rim) { return 0; }
    if (away <= 1.0 - e.rim) { return 524288; }
    var both = stretches(e, corner.y);
    var area = 0;
    for (var side = 0; side < 2; side++) {
        var last = corner_of(e, u32(both.x));
        for (var i = 1; i <= both.y; i++) {
            let next = corner_of(e, u32(both.x + i));
            area += edge_area(vec4i(last, next), corner);
            last = next;
        }
        both = both.zwxy;
    }
    return abs(area);
}

fn shape_area(kind: u32, at_prim: u32, at: vec2u) -> i32 {
    let corner = vec2i(at << vec2u(9u));
    if ((kind & 255u) == LOOP) { return loop_area(kind, at_prim, corner); }
    let outer = ellipse_at(at_prim);
    let own = prims[at_prim + 1u].w;
    if ((own & 256u) == 0u) { return polygon_area(outer, corner); }
    var inner = outer;
    let part = bitcast<f32>(prims[at_prim + 3u].x);
    inner.axes *= part;
    inner.rim /= part;
    inner.fineness = (own >> 4u) & 15u;
    return polygon_area(outer, corner) - polygon_area(inner, corner);
}

fn cover_of(kind: u32, area: i32) -> u32 {
    var c = min(u32(abs(area)), 524288u);
    if ((kind & EVENODD) != 0u) {
        let turned = u32(area) & 1048575u;
        c = min(turned, 1048576u - turned);
    }
    return (c * 255u + 262144u) >> 19u;
}

// -- many edges: cells --------------------------------------------------------------------------------

// So much of a cell's height, and twice how far right within it; what is behind the tile does not count.
fn add_cell(row: u32, column: i32, high: i32, right: i32) {
    let part = high * right;
    atomicAdd(&cells[row + u32(column)], high * 1024 - part);
    if (column < 15) { atomicAdd(&cells[row + u32(column) + 1u], part); }
}

// An edge in one row of the tile: what is left of the tile counts for all of the row.
fn add_edge(edge: vec4i, tile: vec2u, row: u32, room: u32) {
    let corner = vec2i((tile * TILE + vec2u(0u, row)) << vec2u(9u));
    let piece = piece_of(edge, corner.y);
    let x0 = piece.x0 - corner.x;
    let x1 = piece.x1 - corner.x;
    if (piece.high == 0 || x0 >= 8192) { return; }
    let high = abs(piece.high);
    let way = sign(piece.high);
    let cell = room + row * 16u;
    if (x1 <= 0) {
        atomicAdd(&cells[cell], piece.high * 1024);
        return;
    }
    var column = max(x0, 0) >> 9u;
    var done = 0;
    if (x0 < 0) {
        done = ratio(high, -x0, x1 - x0);
        atomicAdd(&cells[cell], done * 1024 * way);
    }
    while (column < 16) {
        let left = column << 9u;
        let within = max(x0 - left, 0);
        if (left + 512 >= x1) {
            add_cell(cell, column, (high - done) * way, within + x1 - left);
            return;
        }
        let reached = ratio(high, left + 512 - x0, x1 - x0);
        add_cell(cell, column, (reached - done) * way, within + 512);
        done = reached;
        column++;
    }
}

fn cell_area(room: u32, at: vec2u) -> i32 {
    var area = 0;
    for (var x = 0u; x <= at.x; x++) { area += atomicLoad(&cells[room + at.y * 16u + x]); }
    return area;
}

fn edge_at(place: u32) -> vec4i {
    return bitcast<vec4i>(data[place >> 2u]);
}

// Where the list of edges begins and ends that are in a row of tiles.
fn edges_of(kind: u32, own: vec4u, tile_row: u32) -> vec2u {
    if ((kind & BUCKETS) == 0u) { return vec2u(own.x, own.x + own.y * 4u); }
    if (tile_row - own.z >= own.y) { return vec2u(0u); }
    let row = own.x + tile_row - own.z;
    return vec2u(own.x + word(row), own.x + word(row + 1u));
}

// Each thread adds the edges of one row.
fn add_edges(kind: u32, at_prim: u32, tile: vec2u, index: u32, room: u32) {
    let list = edges_of(kind, prims[at_prim + 1u], tile.y);
    for (var i = list.x + (index >> 4u) * 4u; i < list.y; i += 64u) {
        add_edge(edge_at(i), tile, index & 15u, room);
    }
}

// -- whether a shape changes anything in a tile -------------------------------------------------------

fn ellipse_meets(at_prim: u32, first: vec2u) -> bool {
    let e = ellipse_at(at_prim);
    let away = distance_in(e, vec2i(first << vec2u(9u)) + i32(TILE << 8u));
    return away <= 1.0 + e.rim * f32(TILE);
}

// One edge beside a tile: 2 if the tile may be on it, else which way it turns about the tile, or 0.
fn side_of(e: vec4i, low: vec2i, high: vec2i) -> i32 {
    if (max(e.y, e.w) <= low.y || min(e.y, e.w) >= high.y || min(e.x, e.z) >= high.x) { return 0; }
    if (min(e.y, e.w) > low.y || max(e.y, e.w) < high.y) { return 2; }
    if (max(e.x, e.z) <= low.x) { return sign(e.w - e.y); }
    // the tile's corners on both sides of the edge's line, or not
    let way = vec2f(e.zw - e.xy);
    let middle = vec2f((low + high) / 2 - e.xy);
    let reach = f32((high.x - low.x) / 2);
    let side = middle.x * way.y - middle.y * way.x;
    if (abs(side) <= (abs(way.x) + abs(way.y)) * reach * 1.001 + 1024.0) { return 2; }
    return select(0, sign(e.w - e.y), side * f32(sign(e.w - e.y)) > 0.0);
}

// Of a tile's parts that a parallelogram's box touches, those that it touches itself; and those that it covers.
fn slant_parts(at_prim: u32, first: vec2u, found: u32) -> u32 {
    let s = slant_of(bitcast<vec4i>(prims[at_prim + 1u]), bitcast<vec4i>(prims[at_prim + 2u]));
    let rim = slant_rim(s, vec2f(2048.0, 1024.0));
    var left = found;
    var parts = 0u;
    while (left != 0u) {
        let k = countTrailingZeros(left);
        left &= left - 1u;
        let middle = first + vec2u(4u + 8u * (k & 1u), 2u + 4u * (k >> 1u));
        let beyond = abs(slant_away(s, vec2i(middle << vec2u(9u)))) - abs(s.area);
        if (all(beyond <= rim)) { parts |= 1u << k; }
        if (all(beyond < -rim)) { parts |= 256u << k; }
    }
    return parts;
}

fn loop_meets(kind: u32, at_prim: u32, first: vec2u) -> bool {
    if ((kind & PARALLEL) != 0u) { return true; } // its parts say more
    let low = vec2i(first << vec2u(9u)) - 1024;
    let high = low + i32(TILE << 9u) + 2048;
    let a = bitcast<vec4i>(prims[at_prim + 1u]);
    let b = bitcast<vec4i>(prims[at_prim + 2u]);
    let p = side_of(a, low, high);
    let q = side_of(vec4i(a.zw, b.xy), low, high);
    let r = side_of(b, low, high);
    let s = side_of(vec4i(b.zw, a.xy), low, high);
    return max(max(p, q), max(r, s)) == 2 || p + q + r + s != 0;
}

// One of the edges is there, or what is left of it adds up.
fn edges_meet(kind: u32, own: vec4u, first: vec2u) -> bool {
    let list = edges_of(kind, own, first.y / TILE);
    if (list.y - list.x > 64u) { return true; }
    let low = vec2i(first << vec2u(9u)) - 1024;
    let high = low + i32(TILE << 9u) + 2048;
    var turns = 0;
    for (var i = list.x; i < list.y; i += 4u) {
        let side = side_of(edge_at(i), low, high);
        if (side == 2) { return true; }
        turns += side;
    }
    return turns != 0;
}
