// How much of a pixel a layer covers, with its opacity and clip: 0 … 256 (sampled.py, cover).

// A distance in 1/256 pixels; beyond some millions of pixels it does not matter how far.
fn distance_at(affine: Affine, at: vec2u) -> i32 {
    let value = value_at(affine, at);
    let whole = clamp(bitcast<i32>(value.y), -4194304, 4194303);
    return (whole << 8u) | i32(value.x >> 24u);
}

fn ramp_of(distance: i32, ramp: i32) -> i32 {
    var d = distance;
    if (ramp != 0) {
        let far = 16777216 / ramp;  // beyond it the ramp has ended; without it the product would not fit
        d = (clamp(d, -far, far) * ramp) >> 16u;
    }
    return clamp(d + 128, 0, 256);
}

// How much of a pixel lies between two edges.
fn within(begin: i32, end: i32, pixel: i32) -> i32 {
    return max(min(pixel * 256 + 256, end) - max(pixel * 256, begin), 0);
}

fn cover(n: u32, at: vec2u) -> i32 {
    let ramp = run.layers[n].ramp;
    let left = distance_at(run.layers[n].from_left, at);
    let right = distance_at(run.layers[n].from_right, at);
    let top = distance_at(run.layers[n].from_top, at);
    let bottom = distance_at(run.layers[n].from_bottom, at);
    let across = max(ramp_of(left, ramp) + ramp_of(right, ramp) - 256, 0);
    let down = max(ramp_of(top, ramp) + ramp_of(bottom, ramp) - 256, 0);
    var coverage = (across * down + 128) >> 8u;
    let radius = run.layers[n].radius;
    if (radius != 0) {
        let dx = radius - min(left, right);
        let dy = radius - min(top, bottom);
        if (dx > 0 && dy > 0) {
            let corner = min(vec2f(vec2i(dx, dy)), vec2f(16777216.0));
            coverage = ramp_of(radius - i32(sqrt(dot(corner, corner))), ramp);
        }
    }
    if (ramp != 0) { coverage = (coverage * coverage * (768 - 2 * coverage) + 32768) >> 16u; }
    if ((run.layers[n].bits & CLIPPED) != 0u) {
        let clip = run.layers[n].clip;
        let inside = within(clip.x, clip.z, i32(at.x)) * within(clip.y, clip.w, i32(at.y));
        coverage = (coverage * ((inside + 128) >> 8u) + 128) >> 8u;
    }
    return (coverage * run.layers[n].opacity + 128) >> 8u;
}
