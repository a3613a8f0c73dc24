// matmul
@group(0) @binding(0) var<storage, read> a0: array<f32>;
@group(0) @binding(1) var<storage, read_write> a1: array<f32>;
@group(0) @binding(2) var<storage, read> a2: array<f32>;
struct Uniforms {
    u0: u32,
    u1: u32,
    u2: u32,
}
@group(0) @binding(3) var<uniform> U: Uniforms;
var<workgroup> left: array<vec4<f32>, 512>;
var<workgroup> right: array<vec4<f32>, 512>;
fn store(row: u32, column: u32, v: vec4<f32>, rows: u32, columns: u32) {
    if (row >= rows) { return; }
    let at = row * columns + column;
    if (column < columns) { a1[at] = v.x; }
    if (column + 1u < columns) { a1[at + 1u] = v.y; }
    if (column + 2u < columns) { a1[at + 2u] = v.z; }
    if (column + 3u < columns) { a1[at + 3u] = v.w; }
}
fn left_at(row: u32, k: u32, rows: u32, inner: u32) -> f32 {
    return select(0.0f, a0[min(row, rows - 1u) * inner + min(k, inner - 1u)], row < rows && k < inner);
}
fn right_at(k: u32, column: u32, inner: u32, columns: u32) -> f32 {
    return select(0.0f, a2[min(k, inner - 1u) * columns + min(column, columns - 1u)],
        k < inner && column < columns);
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let rows = U.u0;
    let inner = U.u1;
    let columns = U.u2;
    let lane_x = lane % 16u;
    let lane_y = lane / 16u;
    let x0 = group.x * 128u + lane_x * 4u;
    let y0 = group.y * 128u + lane_y * 8u;
    var s00 = vec4<f32>();
    var s01 = vec4<f32>();
    var s10 = vec4<f32>();
    var s11 = vec4<f32>();
    var s20 = vec4<f32>();
    var s21 = vec4<f32>();
    var s30 = vec4<f32>();
    var s31 = vec4<f32>();
    var s40 = vec4<f32>();
    var s41 = vec4<f32>();
    var s50 = vec4<f32>();
    var s51 = vec4<f32>();
    var s60 = vec4<f32>();
    var s61 = vec4<f32>();
    var s70 = vec4<f32>();
    var s71 = vec4<f32>();
    // for loading: 16 inner positions x 16 groups, each of 8 rows; 16 positions x 16 runs of 8 columns
    let load_k = lane % 16u;
    let load_row = (lane / 16u) * 8u;
    for (var start = 0u; start < inner; start += 16u) {
        let k = start + load_k;
        let row = group.y * 128u + load_row;
        for (var half = 0u; half < 2u; half += 1u) {
            let r = row + half * 4u;
            left[load_k * 32u + load_row / 4u + half] = vec4<f32>(
                left_at(r, k, rows, inner), left_at(r + 1u, k, rows, inner),
                left_at(r + 2u, k, rows, inner), left_at(r + 3u, k, rows, inner));
            let line = half * 8u + lane / 32u;
            let column = group.x * 128u + (lane % 32u) * 4u;
            right[line * 32u + lane % 32u] = vec4<f32>(
                right_at(start + line, column, inner, columns),
                right_at(start + line, column + 1u, inner, columns),
                right_at(start + line, column + 2u, inner, columns),
                right_at(start + line, column + 3u, inner, columns));
        }
        workgroupBarrier();
        for (var i = 0u; i < 16u; i += 1u) {
            let p0 = left[i * 32u + lane_y * 2u];
            let p1 = left[i * 32u + lane_y * 2u + 1u];
            let q0 = right[i * 32u + lane_x];
            let q1 = right[i * 32u + lane_x + 16u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s01 = fma(vec4<f32>(p0.x), q1, s01);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s11 = fma(vec4<f32>(p0.y), q1, s11);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s21 = fma(vec4<f32>(p0.z), q1, s21);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
            s31 = fma(vec4<f32>(p0.w), q1, s31);
            s40 = fma(vec4<f32>(p1.x), q0, s40);
            s41 = fma(vec4<f32>(p1.x), q1, s41);
            s50 = fma(vec4<f32>(p1.y), q0, s50);
            s51 = fma(vec4<f32>(p1.y), q1, s51);
            s60 = fma(vec4<f32>(p1.z), q0, s60);
            s61 = fma(vec4<f32>(p1.z), q1, s61);
            s70 = fma(vec4<f32>(p1.w), q0, s70);
            s71 = fma(vec4<f32>(p1.w), q1, s71);
        }
        workgroupBarrier();
    }
    store(y0 + 0u, x0 + 0u, s00, rows, columns);
    store(y0 + 0u, x0 + 64u, s01, rows, columns);
    store(y0 + 1u, x0 + 0u, s10, rows, columns);
    store(y0 + 1u, x0 + 64u, s11, rows, columns);
    store(y0 + 2u, x0 + 0u, s20, rows, columns);
    store(y0 + 2u, x0 + 64u, s21, rows, columns);
    store(y0 + 3u, x0 + 0u, s30, rows, columns);
    store(y0 + 3u, x0 + 64u, s31, rows, columns);
    store(y0 + 4u, x0 + 0u, s40, rows, columns);
    store(y0 + 4u, x0 + 64u, s41, rows, columns);
    store(y0 + 5u, x0 + 0u, s50, rows, columns);
    store(y0 + 5u, x0 + 64u, s51, rows, columns);
    store(y0 + 6u, x0 + 0u, s60, rows, columns);
    store(y0 + 6u, x0 + 64u, s61, rows, columns);
    store(y0 + 7u, x0 + 0u, s70, rows, columns);
    store(y0 + 7u, x0 + 64u, s71, rows, columns);
}
