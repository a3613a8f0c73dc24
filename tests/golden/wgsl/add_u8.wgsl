// elementwise_add
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read> a1: array<u32>;
@group(0) @binding(2) var<storage, read_write> a2: array<u32>;
struct Uniforms {
    u0: i32,
}
@group(0) @binding(3) var<uniform> U: Uniforms;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let x0 = i32(((group.y * groups.x + group.x) * 128u + lane) * 4u);
    if (x0 >= U.u0) { return; }
    let v0 = x0 >> 2u;
    let v1 = a0[v0];
    let v2 = (v1 & 255u);
    let v3 = a1[v0];
    let v4 = (v3 & 255u);
    let v5 = ((v2 + v4) & 255u);
    let v6 = ((v1 >> 8u) & 255u);
    let v7 = ((v3 >> 8u) & 255u);
    let v8 = ((v6 + v7) & 255u);
    let v9 = ((v1 >> 16u) & 255u);
    let v10 = ((v3 >> 16u) & 255u);
    let v11 = ((v9 + v10) & 255u);
    let v12 = (v1 >> 24u);
    let v13 = (v3 >> 24u);
    let v14 = ((v12 + v13) & 255u);
    a2[v0] = v5 | (v8 << 8u) | (v11 << 16u) | (v14 << 24u);
}
