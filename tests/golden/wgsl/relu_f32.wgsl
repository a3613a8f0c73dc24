// relu
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<f32>>;
struct Uniforms {
    u0: i32,
    u1: f32,
    u2: u32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let x0 = i32(((group.y * groups.x + group.x) * 128u + lane) * 4u);
    if (x0 >= U.u0) { return; }
    let v0 = x0 >> 2u;
    let v1 = a0[v0];
    let v2 = (v1.x > 0.0f);
    let v3 = (v1.x < 0.0f);
    let v4 = (v1.x * U.u1);
    let v5 = select(v4, 0.0f, (U.u2 != 0u));
    let v6 = select(v1.x, v5, v3);
    let v7 = select(v6, v1.x, v2);
    let v8 = (v1.y > 0.0f);
    let v9 = (v1.y < 0.0f);
    let v10 = (v1.y * U.u1);
    let v11 = select(v10, 0.0f, (U.u2 != 0u));
    let v12 = select(v1.y, v11, v9);
    let v13 = select(v12, v1.y, v8);
    let v14 = (v1.z > 0.0f);
    let v15 = (v1.z < 0.0f);
    let v16 = (v1.z * U.u1);
    let v17 = select(v16, 0.0f, (U.u2 != 0u));
    let v18 = select(v1.z, v17, v15);
    let v19 = select(v18, v1.z, v14);
    let v20 = (v1.w > 0.0f);
    let v21 = (v1.w < 0.0f);
    let v22 = (v1.w * U.u1);
    let v23 = select(v22, 0.0f, (U.u2 != 0u));
    let v24 = select(v1.w, v23, v21);
    let v25 = select(v24, v1.w, v20);
    a1[v0] = vec4<f32>(v7, v13, v19, v25);
}
