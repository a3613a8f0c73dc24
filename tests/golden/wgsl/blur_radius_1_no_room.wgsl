// blur.1 → blur.2
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<f32>>;
struct Uniforms {
    u0: i32,
    u1: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 1;
    let y0 = i32(id.y + id.z * 262140u) * 2;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = y0 + 1;
    let v1 = clamp(v0, 0i, height - 1i);
    let v2 = v1 * width;
    let v3 = clamp(x0, 0i, width - 1i);
    let v4 = v2 + v3;
    let v5 = a0[v4];
    let v6 = f32((v5 & 255u)) * 0.003921568859368563f;
    let v7 = clamp(y0, 0i, height - 1i);
    let v8 = v7 * width;
    let v9 = v8 + v3;
    let v10 = a0[v9];
    let v11 = f32((v10 & 255u)) * 0.003921568859368563f;
    let v12 = y0 + -1;
    let v13 = clamp(v12, 0i, height - 1i);
    let v14 = v13 * width;
    let v15 = v14 + v3;
    let v16 = a0[v15];
    let v17 = f32((v16 & 255u)) * 0.003921568859368563f;
    let v18 = (v17 * 0.10650697350502014f);
    let v19 = fma(v11, 0.7869859933853149f, v18);
    let v20 = fma(v6, 0.10650697350502014f, v19);
    let v21 = f32(((v5 >> 8u) & 255u)) * 0.003921568859368563f;
    let v22 = f32(((v10 >> 8u) & 255u)) * 0.003921568859368563f;
    let v23 = f32(((v16 >> 8u) & 255u)) * 0.003921568859368563f;
    let v24 = (v23 * 0.10650697350502014f);
    let v25 = fma(v22, 0.7869859933853149f, v24);
    let v26 = fma(v21, 0.10650697350502014f, v25);
    let v27 = f32(((v5 >> 16u) & 255u)) * 0.003921568859368563f;
    let v28 = f32(((v10 >> 16u) & 255u)) * 0.003921568859368563f;
    let v29 = f32(((v16 >> 16u) & 255u)) * 0.003921568859368563f;
    let v30 = (v29 * 0.10650697350502014f);
    let v31 = fma(v28, 0.7869859933853149f, v30);
    let v32 = fma(v27, 0.10650697350502014f, v31);
    let v33 = f32((v5 >> 24u)) * 0.003921568859368563f;
    let v34 = f32((v10 >> 24u)) * 0.003921568859368563f;
    let v35 = f32((v16 >> 24u)) * 0.003921568859368563f;
    let v36 = (v35 * 0.10650697350502014f);
    let v37 = fma(v34, 0.7869859933853149f, v36);
    let v38 = fma(v33, 0.10650697350502014f, v37);
    let v39 = y0 + 2;
    let v40 = clamp(v39, 0i, height - 1i);
    let v41 = v40 * width;
    let v42 = v41 + v3;
    let v43 = a0[v42];
    let v44 = f32((v43 & 255u)) * 0.003921568859368563f;
    let v45 = (v11 * 0.10650697350502014f);
    let v46 = fma(v6, 0.7869859933853149f, v45);
    let v47 = fma(v44, 0.10650697350502014f, v46);
    let v48 = f32(((v43 >> 8u) & 255u)) * 0.003921568859368563f;
    let v49 = (v22 * 0.10650697350502014f);
    let v50 = fma(v21, 0.7869859933853149f, v49);
    let v51 = fma(v48, 0.10650697350502014f, v50);
    let v52 = f32(((v43 >> 16u) & 255u)) * 0.003921568859368563f;
    let v53 = (v28 * 0.10650697350502014f);
    let v54 = fma(v27, 0.7869859933853149f, v53);
    let v55 = fma(v52, 0.10650697350502014f, v54);
    let v56 = f32((v43 >> 24u)) * 0.003921568859368563f;
    let v57 = (v34 * 0.10650697350502014f);
    let v58 = fma(v33, 0.7869859933853149f, v57);
    let v59 = fma(v56, 0.10650697350502014f, v58);
    let v60 = y0 * width + x0;
    a1[v60] = vec4<f32>(v20, v26, v32, v38);
    let v61 = v0 * width + x0;
    if (y0 + 1 < height) { a1[v61] = vec4<f32>(v47, v51, v55, v59); }
}

// blur.1 → blur.2
@group(0) @binding(0) var<storage, read> a0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<u32>;
struct Uniforms {
    u0: i32,
    u1: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 1;
    let y0 = i32(id.y + id.z * 262140u) * 2;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = clamp(y0, 0i, height - 1i);
    let v1 = v0 * width;
    let v2 = x0 + 1;
    let v3 = clamp(v2, 0i, width - 1i);
    let v4 = v1 + v3;
    let v5 = a0[v4];
    let v6 = clamp(x0, 0i, width - 1i);
    let v7 = v1 + v6;
    let v8 = a0[v7];
    let v9 = x0 + -1;
    let v10 = clamp(v9, 0i, width - 1i);
    let v11 = v1 + v10;
    let v12 = a0[v11];
    let v13 = (v12.x * 0.10650697350502014f);
    let v14 = fma(v8.x, 0.7869859933853149f, v13);
    let v15 = fma(v5.x, 0.10650697350502014f, v14);
    let v16 = bitcast<u32>(min(saturate(v15) * 255.0f, 255.0f) + 8388608.0f);
    let v17 = (v12.y * 0.10650697350502014f);
    let v18 = fma(v8.y, 0.7869859933853149f, v17);
    let v19 = fma(v5.y, 0.10650697350502014f, v18);
    let v20 = bitcast<u32>(min(saturate(v19) * 255.0f, 255.0f) + 8388608.0f);
    let v21 = (v12.z * 0.10650697350502014f);
    let v22 = fma(v8.z, 0.7869859933853149f, v21);
    let v23 = fma(v5.z, 0.10650697350502014f, v22);
    let v24 = bitcast<u32>(min(saturate(v23) * 255.0f, 255.0f) + 8388608.0f);
    let v25 = (v12.w * 0.10650697350502014f);
    let v26 = fma(v8.w, 0.7869859933853149f, v25);
    let v27 = fma(v5.w, 0.10650697350502014f, v26);
    let v28 = bitcast<u32>(min(saturate(v27) * 255.0f, 255.0f) + 8388608.0f);
    let v29 = (v16 + (v20 << 8u) + (v24 << 16u) + (v28 << 24u) - 0x4b000000u);
    let v30 = y0 + 1;
    let v31 = clamp(v30, 0i, height - 1i);
    let v32 = v31 * width;
    let v33 = v32 + v3;
    let v34 = a0[v33];
    let v35 = v32 + v6;
    let v36 = a0[v35];
    let v37 = v32 + v10;
    let v38 = a0[v37];
    let v39 = (v38.x * 0.10650697350502014f);
    let v40 = fma(v36.x, 0.7869859933853149f, v39);
    let v41 = fma(v34.x, 0.10650697350502014f, v40);
    let v42 = bitcast<u32>(min(saturate(v41) * 255.0f, 255.0f) + 8388608.0f);
    let v43 = (v38.y * 0.10650697350502014f);
    let v44 = fma(v36.y, 0.7869859933853149f, v43);
    let v45 = fma(v34.y, 0.10650697350502014f, v44);
    let v46 = bitcast<u32>(min(saturate(v45) * 255.0f, 255.0f) + 8388608.0f);
    let v47 = (v38.z * 0.10650697350502014f);
    let v48 = fma(v36.z, 0.7869859933853149f, v47);
    let v49 = fma(v34.z, 0.10650697350502014f, v48);
    let v50 = bitcast<u32>(min(saturate(v49) * 255.0f, 255.0f) + 8388608.0f);
    let v51 = (v38.w * 0.10650697350502014f);
    let v52 = fma(v36.w, 0.7869859933853149f, v51);
    let v53 = fma(v34.w, 0.10650697350502014f, v52);
    let v54 = bitcast<u32>(min(saturate(v53) * 255.0f, 255.0f) + 8388608.0f);
    let v55 = (v42 + (v46 << 8u) + (v50 << 16u) + (v54 << 24u) - 0x4b000000u);
    let v56 = y0 * width + x0;
    a1[v56] = v29;
    let v57 = v30 * width + x0;
    if (y0 + 1 < height) { a1[v57] = v55; }
}
