// reduce_sum
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
struct Uniforms {
    u0: u32,
    u1: u32,
    u2: u32,
    u3: u32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
var<workgroup> part: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = U.u0;
    let piece = U.u1;
    let pieces = U.u2;
    let lines = U.u3;
    let line = group.y * groups.x + group.x;
    let first = (line / pieces) * n + (line % pieces) * piece;
    let last = min(first + piece, (line / pieces) * n + n);
    var total = 0.0f;
    if (line < lines) {
        for (var i = first + lane; i < last; i += 256u) {
            let v = a0[i];
            total = (total + v);
        }
    }
    part[lane] = total;
    workgroupBarrier();
    for (var step = 128u; step > 0u; step /= 2u) {
        if (lane < step) { part[lane] = (part[lane] + part[lane + step]); }
        workgroupBarrier();
    }
    if (lane == 0u && line < lines) {
        let result = part[0];
        a1[line] = result;
    }
}

// reduce_sum
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
struct Uniforms {
    u0: u32,
    u1: u32,
    u2: u32,
    u3: u32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
var<workgroup> part: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = U.u0;
    let piece = U.u1;
    let pieces = U.u2;
    let lines = U.u3;
    let line = group.y * groups.x + group.x;
    let first = (line / pieces) * n + (line % pieces) * piece;
    let last = min(first + piece, (line / pieces) * n + n);
    var total = 0.0f;
    if (line < lines) {
        for (var i = first + lane; i < last; i += 256u) {
            let v = a0[i];
            total = (total + v);
        }
    }
    part[lane] = total;
    workgroupBarrier();
    for (var step = 128u; step > 0u; step /= 2u) {
        if (lane < step) { part[lane] = (part[lane] + part[lane + step]); }
        workgroupBarrier();
    }
    if (lane == 0u && line < lines) {
        let result = part[0];
        a1[line] = result;
    }
}
