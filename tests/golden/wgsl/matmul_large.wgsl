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
    // an invocation's rows and columns are groups of four, 64 apart: neighbours read neighbouring ones
    let x0 = group.x * 64u + lane_x * 4u;
    let y0 = group.y * 64u + lane_y * 4u;
    let row = group.y * 64u + lane / 4u;
    let k = (lane % 4u) * 4u;
    let line = lane / 16u;
    let column = group.x * 64u + (lane % 16u) * 4u;
    var s00 = vec4<f32>();
    var s10 = vec4<f32>();
    var s20 = vec4<f32>();
    var s30 = vec4<f32>();
    var p = left_at(row, k, rows, inner);
    var q = right_at(line, column, inner, columns);
    {
        let place = lane / 4u % 4u;
        let at = k * 16u + lane / 4u / 4u;
        left[at + 0u][place] = p.x;
        left[at + 16u][place] = p.y;
        left[at + 32u][place] = p.z;
        left[at + 48u][place] = p.w;
        right[0u + lane] = q;
    }
    workgroupBarrier();
    for (var start = 0u; start < inner; start += 32u) {
        p = left_at(row, start + 16u + k, rows, inner);
        q = right_at(start + 16u + line, column, inner, columns);
        {
            let p0 = left[lane_y + 0u];
            let q0 = right[lane_x + 0u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 16u];
            let q0 = right[lane_x + 16u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 32u];
            let q0 = right[lane_x + 32u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 48u];
            let q0 = right[lane_x + 48u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 64u];
            let q0 = right[lane_x + 64u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 80u];
            let q0 = right[lane_x + 80u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 96u];
            let q0 = right[lane_x + 96u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 112u];
            let q0 = right[lane_x + 112u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 128u];
            let q0 = right[lane_x + 128u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 144u];
            let q0 = right[lane_x + 144u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 160u];
            let q0 = right[lane_x + 160u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 176u];
            let q0 = right[lane_x + 176u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 192u];
            let q0 = right[lane_x + 192u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 208u];
            let q0 = right[lane_x + 208u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 224u];
            let q0 = right[lane_x + 224u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 240u];
            let q0 = right[lane_x + 240u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
    {
        let place = lane / 4u % 4u;
        let at = k * 16u + lane / 4u / 4u;
        left[at + 256u][place] = p.x;
        left[at + 272u][place] = p.y;
        left[at + 288u][place] = p.z;
        left[at + 304u][place] = p.w;
        right[256u + lane] = q;
    }
    workgroupBarrier();
        p = left_at(row, start + 32u + k, rows, inner);
        q = right_at(start + 32u + line, column, inner, columns);
        {
            let p0 = left[lane_y + 256u];
            let q0 = right[lane_x + 256u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 272u];
            let q0 = right[lane_x + 272u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 288u];
            let q0 = right[lane_x + 288u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 304u];
            let q0 = right[lane_x + 304u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 320u];
            let q0 = right[lane_x + 320u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 336u];
            let q0 = right[lane_x + 336u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 352u];
            let q0 = right[lane_x + 352u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 368u];
            let q0 = right[lane_x + 368u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 384u];
            let q0 = right[lane_x + 384u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 400u];
            let q0 = right[lane_x + 400u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 416u];
            let q0 = right[lane_x + 416u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 432u];
            let q0 = right[lane_x + 432u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 448u];
            let q0 = right[lane_x + 448u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 464u];
            let q0 = right[lane_x + 464u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 480u];
            let q0 = right[lane_x + 480u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
        {
            let p0 = left[lane_y + 496u];
            let q0 = right[lane_x + 496u];
            s00 = fma(vec4<f32>(p0.x), q0, s00);
            s10 = fma(vec4<f32>(p0.y), q0, s10);
            s20 = fma(vec4<f32>(p0.z), q0, s20);
            s30 = fma(vec4<f32>(p0.w), q0, s30);
        }
    {
        let place = lane / 4u % 4u;
        let at = k * 16u + lane / 4u / 4u;
        left[at + 0u][place] = p.x;
        left[at + 16u][place] = p.y;
        left[at + 32u][place] = p.z;
        left[at + 48u][place] = p.w;
        right[0u + lane] = q;
    }
    workgroupBarrier();
    }
    store(y0 + 0u, x0 + 0u, s00, rows, columns);
    store(y0 + 1u, x0 + 0u, s10, rows, columns);
    store(y0 + 2u, x0 + 0u, s20, rows, columns);
    store(y0 + 3u, x0 + 0u, s30, rows, columns);
}
