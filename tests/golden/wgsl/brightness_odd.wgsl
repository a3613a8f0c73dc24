// brightness
@group(0) @binding(0) var<storage, read> a0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<u32>>;
struct Uniforms {
    u0: i32,
    u1: f32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let x0 = i32(((group.y * groups.x + group.x) * 128u + lane) * 4u);
    if (x0 >= U.u0) { return; }
    let v0 = x0 >> 2u;
    let v1 = a0[v0];
    let v2 = f32((v1.x & 255u)) * 0.003921568859368563f;
    let v3 = (v2 + U.u1);
    let v4 = bitcast<u32>(min(saturate(v3) * 255.0f, 255.0f) + 8388608.0f);
    let v5 = f32(((v1.x >> 8u) & 255u)) * 0.003921568859368563f;
    let v6 = (v5 + U.u1);
    let v7 = bitcast<u32>(min(saturate(v6) * 255.0f, 255.0f) + 8388608.0f);
    let v8 = f32(((v1.x >> 16u) & 255u)) * 0.003921568859368563f;
    let v9 = (v8 + U.u1);
    let v10 = bitcast<u32>(min(saturate(v9) * 255.0f, 255.0f) + 8388608.0f);
    let v11 = (v4 + (v7 << 8u) + (v10 << 16u) + (v1.x & 0xff000000u) - 0x4b000000u);
    let v12 = f32((v1.y & 255u)) * 0.003921568859368563f;
    let v13 = (v12 + U.u1);
    let v14 = bitcast<u32>(min(saturate(v13) * 255.0f, 255.0f) + 8388608.0f);
    let v15 = f32(((v1.y >> 8u) & 255u)) * 0.003921568859368563f;
    let v16 = (v15 + U.u1);
    let v17 = bitcast<u32>(min(saturate(v16) * 255.0f, 255.0f) + 8388608.0f);
    let v18 = f32(((v1.y >> 16u) & 255u)) * 0.003921568859368563f;
    let v19 = (v18 + U.u1);
    let v20 = bitcast<u32>(min(saturate(v19) * 255.0f, 255.0f) + 8388608.0f);
    let v21 = (v14 + (v17 << 8u) + (v20 << 16u) + (v1.y & 0xff000000u) - 0x4b000000u);
    let v22 = f32((v1.z & 255u)) * 0.003921568859368563f;
    let v23 = (v22 + U.u1);
    let v24 = bitcast<u32>(min(saturate(v23) * 255.0f, 255.0f) + 8388608.0f);
    let v25 = f32(((v1.z >> 8u) & 255u)) * 0.003921568859368563f;
    let v26 = (v25 + U.u1);
    let v27 = bitcast<u32>(min(saturate(v26) * 255.0f, 255.0f) + 8388608.0f);
    let v28 = f32(((v1.z >> 16u) & 255u)) * 0.003921568859368563f;
    let v29 = (v28 + U.u1);
    let v30 = bitcast<u32>(min(saturate(v29) * 255.0f, 255.0f) + 8388608.0f);
    let v31 = (v24 + (v27 << 8u) + (v30 << 16u) + (v1.z & 0xff000000u) - 0x4b000000u);
    let v32 = f32((v1.w & 255u)) * 0.003921568859368563f;
    let v33 = (v32 + U.u1);
    let v34 = bitcast<u32>(min(saturate(v33) * 255.0f, 255.0f) + 8388608.0f);
    let v35 = f32(((v1.w >> 8u) & 255u)) * 0.003921568859368563f;
    let v36 = (v35 + U.u1);
    let v37 = bitcast<u32>(min(saturate(v36) * 255.0f, 255.0f) + 8388608.0f);
    let v38 = f32(((v1.w >> 16u) & 255u)) * 0.003921568859368563f;
    let v39 = (v38 + U.u1);
    let v40 = bitcast<u32>(min(saturate(v39) * 255.0f, 255.0f) + 8388608.0f);
    let v41 = (v34 + (v37 << 8u) + (v40 << 16u) + (v1.w & 0xff000000u) - 0x4b000000u);
    a1[v0] = vec4<u32>(v11, v21, v31, v41);
}
