// transpose
@group(0) @binding(0) var<storage, read> a0: array<i32>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<i32>>;
struct Uniforms {
    u0: i32,
    u1: i32,
    u2: i32,
    u3: i32,
    u4: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let x0 = i32(((group.y * groups.x + group.x) * 128u + lane) * 4u);
    if (x0 >= U.u0) { return; }
    let v0 = x0 % U.u1;
    let v1 = x0 / U.u2;
    let v2 = clamp(v0, 0i, U.u3 - 1i);
    let v3 = clamp(v1, 0i, U.u4 - 1i);
    let v4 = v2 * U.u4 + v3;
    let v5 = a0[v4];
    let v6 = x0 + 1;
    let v7 = v6 % U.u1;
    let v8 = v6 / U.u2;
    let v9 = clamp(v7, 0i, U.u3 - 1i);
    let v10 = clamp(v8, 0i, U.u4 - 1i);
    let v11 = v9 * U.u4 + v10;
    let v12 = a0[v11];
    let v13 = x0 + 2;
    let v14 = v13 % U.u1;
    let v15 = v13 / U.u2;
    let v16 = clamp(v14, 0i, U.u3 - 1i);
    let v17 = clamp(v15, 0i, U.u4 - 1i);
    let v18 = v16 * U.u4 + v17;
    let v19 = a0[v18];
    let v20 = x0 + 3;
    let v21 = v20 % U.u1;
    let v22 = v20 / U.u2;
    let v23 = clamp(v21, 0i, U.u3 - 1i);
    let v24 = clamp(v22, 0i, U.u4 - 1i);
    let v25 = v23 * U.u4 + v24;
    let v26 = a0[v25];
    let v27 = x0 >> 2u;
    a1[v27] = vec4<i32>(v5, v12, v19, v26);
}
