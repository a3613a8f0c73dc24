// blur.1 → blur.2
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<f32>>;
struct Uniforms {
    u0: i32,
    u1: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(32, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 1;
    let y0 = i32(id.y + id.z * 262140u) * 2;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = y0 + 1;
    let v1 = min(v0, height - 1i);
    let v2 = v1 * width;
    let v3 = v2 + x0;
    let v4 = a0[v3];
    let v5 = f32((v4 & 255u)) * 0.003921568859368563f;
    let v6 = y0 * width;
    let v7 = v6 + x0;
    let v8 = a0[v7];
    let v9 = f32((v8 & 255u)) * 0.003921568859368563f;
    let v10 = y0 + -1;
    let v11 = max(v10, 0i);
    let v12 = v11 * width;
    let v13 = v12 + x0;
    let v14 = a0[v13];
    let v15 = f32((v14 & 255u)) * 0.003921568859368563f;
    let v16 = (v15 * 0.10650697350502014f);
    let v17 = fma(v9, 0.7869859933853149f, v16);
    let v18 = fma(v5, 0.10650697350502014f, v17);
    let v19 = f32(((v4 >> 8u) & 255u)) * 0.003921568859368563f;
    let v20 = f32(((v8 >> 8u) & 255u)) * 0.003921568859368563f;
    let v21 = f32(((v14 >> 8u) & 255u)) * 0.003921568859368563f;
    let v22 = (v21 * 0.10650697350502014f);
    let v23 = fma(v20, 0.7869859933853149f, v22);
    let v24 = fma(v19, 0.10650697350502014f, v23);
    let v25 = f32(((v4 >> 16u) & 255u)) * 0.003921568859368563f;
    let v26 = f32(((v8 >> 16u) & 255u)) * 0.003921568859368563f;
    let v27 = f32(((v14 >> 16u) & 255u)) * 0.003921568859368563f;
    let v28 = (v27 * 0.10650697350502014f);
    let v29 = fma(v26, 0.7869859933853149f, v28);
    let v30 = fma(v25, 0.10650697350502014f, v29);
    let v31 = f32((v4 >> 24u)) * 0.003921568859368563f;
    let v32 = f32((v8 >> 24u)) * 0.003921568859368563f;
    let v33 = f32((v14 >> 24u)) * 0.003921568859368563f;
    let v34 = (v33 * 0.10650697350502014f);
    let v35 = fma(v32, 0.7869859933853149f, v34);
    let v36 = fma(v31, 0.10650697350502014f, v35);
    let v37 = y0 + 2;
    let v38 = min(v37, height - 1i);
    let v39 = v38 * width;
    let v40 = v39 + x0;
    let v41 = a0[v40];
    let v42 = f32((v41 & 255u)) * 0.003921568859368563f;
    let v43 = (v9 * 0.10650697350502014f);
    let v44 = fma(v5, 0.7869859933853149f, v43);
    let v45 = fma(v42, 0.10650697350502014f, v44);
    let v46 = f32(((v41 >> 8u) & 255u)) * 0.003921568859368563f;
    let v47 = (v20 * 0.10650697350502014f);
    let v48 = fma(v19, 0.7869859933853149f, v47);
    let v49 = fma(v46, 0.10650697350502014f, v48);
    let v50 = f32(((v41 >> 16u) & 255u)) * 0.003921568859368563f;
    let v51 = (v26 * 0.10650697350502014f);
    let v52 = fma(v25, 0.7869859933853149f, v51);
    let v53 = fma(v50, 0.10650697350502014f, v52);
    let v54 = f32((v41 >> 24u)) * 0.003921568859368563f;
    let v55 = (v32 * 0.10650697350502014f);
    let v56 = fma(v31, 0.7869859933853149f, v55);
    let v57 = fma(v54, 0.10650697350502014f, v56);
    let v58 = y0 * width + x0;
    a1[v58] = vec4<f32>(v18, v24, v30, v36);
    let v59 = v0 * width + x0;
    if (y0 + 1 < height) { a1[v59] = vec4<f32>(v45, v49, v53, v57); }
}

// blur.1 → blur.2
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<u32>;
struct Uniforms {
    u0: i32,
    u1: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(32, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 1;
    let y0 = i32(id.y + id.z * 262140u) * 2;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = y0 * width;
    let v1 = x0 + 1;
    let v2 = min(v1, width - 1i);
    let v3 = v0 + v2;
    let v4 = a0[v3];
    let v5 = v0 + x0;
    let v6 = a0[v5];
    let v7 = x0 + -1;
    let v8 = max(v7, 0i);
    let v9 = v0 + v8;
    let v10 = a0[v9];
    let v11 = (v10.x * 0.10650697350502014f);
    let v12 = fma(v6.x, 0.7869859933853149f, v11);
    let v13 = fma(v4.x, 0.10650697350502014f, v12);
    let v14 = bitcast<u32>(min(saturate(v13) * 255.0f, 255.0f) + 8388608.0f);
    let v15 = (v10.y * 0.10650697350502014f);
    let v16 = fma(v6.y, 0.7869859933853149f, v15);
    let v17 = fma(v4.y, 0.10650697350502014f, v16);
    let v18 = bitcast<u32>(min(saturate(v17) * 255.0f, 255.0f) + 8388608.0f);
    let v19 = (v10.z * 0.10650697350502014f);
    let v20 = fma(v6.z, 0.7869859933853149f, v19);
    let v21 = fma(v4.z, 0.10650697350502014f, v20);
    let v22 = bitcast<u32>(min(saturate(v21) * 255.0f, 255.0f) + 8388608.0f);
    let v23 = (v10.w * 0.10650697350502014f);
    let v24 = fma(v6.w, 0.7869859933853149f, v23);
    let v25 = fma(v4.w, 0.10650697350502014f, v24);
    let v26 = bitcast<u32>(min(saturate(v25) * 255.0f, 255.0f) + 8388608.0f);
    let v27 = (v14 + (v18 << 8u) + (v22 << 16u) + (v26 << 24u) - 0x4b000000u);
    let v28 = y0 + 1;
    let v29 = min(v28, height - 1i);
    let v30 = v29 * width;
    let v31 = v30 + v2;
    let v32 = a0[v31];
    let v33 = v30 + x0;
    let v34 = a0[v33];
    let v35 = v30 + v8;
    let v36 = a0[v35];
    let v37 = (v36.x * 0.10650697350502014f);
    let v38 = fma(v34.x, 0.7869859933853149f, v37);
    let v39 = fma(v32.x, 0.10650697350502014f, v38);
    let v40 = bitcast<u32>(min(saturate(v39) * 255.0f, 255.0f) + 8388608.0f);
    let v41 = (v36.y * 0.10650697350502014f);
    let v42 = fma(v34.y, 0.7869859933853149f, v41);
    let v43 = fma(v32.y, 0.10650697350502014f, v42);
    let v44 = bitcast<u32>(min(saturate(v43) * 255.0f, 255.0f) + 8388608.0f);
    let v45 = (v36.z * 0.10650697350502014f);
    let v46 = fma(v34.z, 0.7869859933853149f, v45);
    let v47 = fma(v32.z, 0.10650697350502014f, v46);
    let v48 = bitcast<u32>(min(saturate(v47) * 255.0f, 255.0f) + 8388608.0f);
    let v49 = (v36.w * 0.10650697350502014f);
    let v50 = fma(v34.w, 0.7869859933853149f, v49);
    let v51 = fma(v32.w, 0.10650697350502014f, v50);
    let v52 = bitcast<u32>(min(saturate(v51) * 255.0f, 255.0f) + 8388608.0f);
    let v53 = (v40 + (v44 << 8u) + (v48 << 16u) + (v52 << 24u) - 0x4b000000u);
    let v54 = y0 * width + x0;
    a1[v54] = v27;
    let v55 = v28 * width + x0;
    if (y0 + 1 < height) { a1[v55] = v53; }
}
