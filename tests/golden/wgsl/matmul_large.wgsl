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
fn left_one(row: u32, k: u32, rows: u32, inner: u32) -> f32 {
    return select(0.0f, a0[min(row, rows - 1u) * inner + min(k, inner - 1u)], row < rows && k < inner);
}
fn left_at(row: u32, k: u32, rows: u32, inner: u32) -> vec4<f32> {
    return vec4<f32>(left_one(row, k + 0u, rows, inner), left_one(row, k + 1u, rows, inner), left_one(row, k + 2u, rows, inner), left_one(row, k + 3u, rows, inner));
}
fn right_one(k: u32, column: u32, inner: u32, columns: u32) -> f32 {
    return select(0.0f, a2[min(k, inner - 1u) * columns + min(column, columns - 1u)],
        k < inner && column < columns);
}
fn right_at(k: u32, column: u32, inner: u32, columns: u32) -> vec4<f32> {
    return vec4<f32>(right_one(k, column + 0u, inner, columns), right_one(k, column + 1u, inner, columns), right_one(k, column + 2u, inner, columns), right_one(k, column + 3u, inner, columns));
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let rows = U.u0;
    let inner = U.u1;
    let columns = U.u2;
    let lane_x = lane % 16u;
    let lane_y = lane / 16u;
    // an invocation's rows and columns are two groups of four, 64 apart: neighbours read neighbouring ones
    let x0 = group.x * 128u + lane_x * 4u;
    let y0 = group.y * 128u + lane_y * 4u;
    let row = group.y * 128u + lane / 2u;
    let k = (lane % 2u) * 4u;
    let line = lane / 32u;
    let column = group.x * 128u + (lane % 32u) * 4u;
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
    var p = left_at(row, k, rows, inner);
    var q = right_at(line, column, inner, columns);
    {
        let place = lane / 2u % 4u;
        let at = k * 32u + lane / 8u;
        left[at + 0u][place] = p.x;
        left[at + 32u][place] = p.y;
        left[at + 64u][place] = p.z;
        left[at + 96u][place] = p.w;
        right[0u + lane] = q;
    }
    workgroupBarrier();
    for (var start = 0u; start < inner; start += 16u) {
        p = left_at(row, start + 8u + k, rows, inner);
        q = right_at(start + 8u + line, column, inner, columns);
        {
            let p0 = left[lane_y + 0u];
            let q0 = right[lane_x + 0u];
            let p1 = left[lane_y + 16u];
            let q1 = right[lane_x + 16u];
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
        {
            let p0 = left[lane_y + 32u];
            let q0 = right[lane_x + 32u];
            let p1 = left[lane_y + 48u];
            let q1 = right[lane_x + 48u];
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
        {
            let p0 = left[lane_y + 64u];
            let q0 = right[lane_x + 64u];
            let p1 = left[lane_y + 80u];
            let q1 = right[lane_x + 80u];
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
        {
            let p0 = left[lane_y + 96u];
            let q0 = right[lane_x + 96u];
            let p1 = left[lane_y + 112u];
            let q1 = right[lane_x + 112u];
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
        {
            let p0 = left[lane_y + 128u];
            let q0 = right[lane_x + 128u];
            let p1 = left[lane_y + 144u];
            let q1 = right[lane_x + 144u];
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
        {
            let p0 = left[lane_y + 160u];
            let q0 = right[lane_x + 160u];
            let p1 = left[lane_y + 176u];
            let q1 = right[lane_x + 176u];
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
        {
            let p0 = left[lane_y + 192u];
            let q0 = right[lane_x + 192u];
            let p1 = left[lane_y + 208u];
            let q1 = right[lane_x + 208u];
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
        {
            let p0 = left[lane_y + 224u];
            let q0 = right[lane_x + 224u];
            let p1 = left[lane_y + 240u];
            let q1 = right[lane_x + 240u];
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
    {
        let place = lane / 2u % 4u;
        let at = k * 32u + lane / 8u;
        left[at + 256u][place] = p.x;
        left[at + 288u][place] = p.y;
        left[at + 320u][place] = p.z;
        left[at + 352u][place] = p.w;
        right[256u + lane] = q;
    }
    workgroupBarrier();
        p = left_at(row, start + 16u + k, rows, inner);
        q = right_at(start + 16u + line, column, inner, columns);
        {
            let p0 = left[lane_y + 256u];
            let q0 = right[lane_x + 256u];
            let p1 = left[lane_y + 272u];
            let q1 = right[lane_x + 272u];
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
        {
            let p0 = left[lane_y + 288u];
            let q0 = right[lane_x + 288u];
            let p1 = left[lane_y + 304u];
            let q1 = right[lane_x + 304u];
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
        {
            let p0 = left[lane_y + 320u];
            let q0 = right[lane_x + 320u];
            let p1 = left[lane_y + 336u];
            let q1 = right[lane_x + 336u];
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
        {
            let p0 = left[lane_y + 352u];
            let q0 = right[lane_x + 352u];
            let p1 = left[lane_y + 368u];
            let q1 = right[lane_x + 368u];
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
        {
            let p0 = left[lane_y + 384u];
            let q0 = right[lane_x + 384u];
            let p1 = left[lane_y + 400u];
            let q1 = right[lane_x + 400u];
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
        {
            let p0 = left[lane_y + 416u];
            let q0 = right[lane_x + 416u];
            let p1 = left[lane_y + 432u];
            let q1 = right[lane_x + 432u];
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
        {
            let p0 = left[lane_y + 448u];
            let q0 = right[lane_x + 448u];
            let p1 = left[lane_y + 464u];
            let q1 = right[lane_x + 464u];
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
        {
            let p0 = left[lane_y + 480u];
            let q0 = right[lane_x + 480u];
            let p1 = left[lane_y + 496u];
            let q1 = right[lane_x + 496u];
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
    {
        let place = lane / 2u % 4u;
        let at = k * 32u + lane / 8u;
        left[at + 0u][place] = p.x;
        left[at + 32u][place] = p.y;
        left[at + 64u][place] = p.z;
        left[at + 96u][place] = p.w;
        right[0u + lane] = q;
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
    store(y0 + 64u, x0 + 0u, s40, rows, columns);
    store(y0 + 64u, x0 + 64u, s41, rows, columns);
    store(y0 + 65u, x0 + 0u, s50, rows, columns);
    store(y0 + 65u, x0 + 64u, s51, rows, columns);
    store(y0 + 66u, x0 + 0u, s60, rows, columns);
    store(y0 + 66u, x0 + 64u, s61, rows, columns);
    store(y0 + 67u, x0 + 0u, s70, rows, columns);
    store(y0 + 67u, x0 + 64u, s71, rows, columns);
}
