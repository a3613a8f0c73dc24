// vignette
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<u32>;
struct Uniforms {
    u0: i32,
    u1: i32,
    u2: f32,
    u3: f32,
    u4: f32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 1;
    let y0 = i32(id.y + id.z * 262140u) * 4;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = clamp(y0, 0i, height - 1i);
    let v1 = v0 * width;
    let v2 = clamp(x0, 0i, width - 1i);
    let v3 = v1 + v2;
    let v4 = a0[v3];
    let v5 = f32((v4 & 255u)) * 0.003921568859368563f;
    let v6 = f32(y0);
    let v7 = (v6 + 0.5f);
    let v8 = (v7 * U.u2);
    let v9 = (v8 - 1.0f);
    let v10 = f32(x0);
    let v11 = (v10 + 0.5f);
    let v12 = (v11 * U.u3);
    let v13 = (v12 - 1.0f);
    let v14 = (v13 * v13);
    let v15 = fma(v9, v9, v14);
    let v16 = (v15 * 0.5f);
    let v17 = (U.u4 * v16);
    let v18 = (1.0f - v17);
    let v19 = (v5 * v18);
    let v20 = bitcast<u32>(min(saturate(v19) * 255.0f, 255.0f) + 8388608.0f);
    let v21 = f32(((v4 >> 8u) & 255u)) * 0.003921568859368563f;
    let v22 = (v21 * v18);
    let v23 = bitcast<u32>(min(saturate(v22) * 255.0f, 255.0f) + 8388608.0f);
    let v24 = f32(((v4 >> 16u) & 255u)) * 0.003921568859368563f;
    let v25 = (v24 * v18);
    let v26 = bitcast<u32>(min(saturate(v25) * 255.0f, 255.0f) + 8388608.0f);
    let v27 = (v20 + (v23 << 8u) + (v26 << 16u) + (v4 & 0xff000000u) - 0x4b000000u);
    let v28 = y0 + 1;
    let v29 = clamp(v28, 0i, height - 1i);
    let v30 = v29 * width;
    let v31 = v30 + v2;
    let v32 = a0[v31];
    let v33 = f32((v32 & 255u)) * 0.003921568859368563f;
    let v34 = f32(v28);
    let v35 = (v34 + 0.5f);
    let v36 = (v35 * U.u2);
    let v37 = (v36 - 1.0f);
    let v38 = fma(v37, v37, v14);
    let v39 = (v38 * 0.5f);
    let v40 = (U.u4 * v39);
    let v41 = (1.0f - v40);
    let v42 = (v33 * v41);
    let v43 = bitcast<u32>(min(saturate(v42) * 255.0f, 255.0f) + 8388608.0f);
    let v44 = f32(((v32 >> 8u) & 255u)) * 0.003921568859368563f;
    let v45 = (v44 * v41);
    let v46 = bitcast<u32>(min(saturate(v45) * 255.0f, 255.0f) + 8388608.0f);
    let v47 = f32(((v32 >> 16u) & 255u)) * 0.003921568859368563f;
    let v48 = (v47 * v41);
    let v49 = bitcast<u32>(min(saturate(v48) * 255.0f, 255.0f) + 8388608.0f);
    let v50 = (v43 + (v46 << 8u) + (v49 << 16u) + (v32 & 0xff000000u) - 0x4b000000u);
    let v51 = y0 + 2;
    let v52 = clamp(v51, 0i, height - 1i);
    let v53 = v52 * width;
    let v54 = v53 + v2;
    let v55 = a0[v54];
    let v56 = f32((v55 & 255u)) * 0.003921568859368563f;
    let v57 = f32(v51);
    let v58 = (v57 + 0.5f);
    let v59 = (v58 * U.u2);
    let v60 = (v59 - 1.0f);
    let v61 = fma(v60, v60, v14);
    let v62 = (v61 * 0.5f);
    let v63 = (U.u4 * v62);
    let v64 = (1.0f - v63);
    let v65 = (v56 * v64);
    let v66 = bitcast<u32>(min(saturate(v65) * 255.0f, 255.0f) + 8388608.0f);
    let v67 = f32(((v55 >> 8u) & 255u)) * 0.003921568859368563f;
    let v68 = (v67 * v64);
    let v69 = bitcast<u32>(min(saturate(v68) * 255.0f, 255.0f) + 8388608.0f);
    let v70 = f32(((v55 >> 16u) & 255u)) * 0.003921568859368563f;
    let v71 = (v70 * v64);
    let v72 = bitcast<u32>(min(saturate(v71) * 255.0f, 255.0f) + 8388608.0f);
    let v73 = (v66 + (v69 << 8u) + (v72 << 16u) + (v55 & 0xff000000u) - 0x4b000000u);
    let v74 = y0 + 3;
    let v75 = clamp(v74, 0i, height - 1i);
    let v76 = v75 * width;
    let v77 = v76 + v2;
    let v78 = a0[v77];
    let v79 = f32((v78 & 255u)) * 0.003921568859368563f;
    let v80 = f32(v74);
    let v81 = (v80 + 0.5f);
    let v82 = (v81 * U.u2);
    let v83 = (v82 - 1.0f);
    let v84 = fma(v83, v83, v14);
    let v85 = (v84 * 0.5f);
    let v86 = (U.u4 * v85);
    let v87 = (1.0f - v86);
    let v88 = (v79 * v87);
    let v89 = bitcast<u32>(min(saturate(v88) * 255.0f, 255.0f) + 8388608.0f);
    let v90 = f32(((v78 >> 8u) & 255u)) * 0.003921568859368563f;
    let v91 = (v90 * v87);
    let v92 = bitcast<u32>(min(saturate(v91) * 255.0f, 255.0f) + 8388608.0f);
    let v93 = f32(((v78 >> 16u) & 255u)) * 0.003921568859368563f;
    let v94 = (v93 * v87);
    let v95 = bitcast<u32>(min(saturate(v94) * 255.0f, 255.0f) + 8388608.0f);
    let v96 = (v89 + (v92 << 8u) + (v95 << 16u) + (v78 & 0xff000000u) - 0x4b000000u);
    let v97 = y0 * width + x0;
    a1[v97] = v27;
    let v98 = v28 * width + x0;
    if (y0 + 1 < height) { a1[v98] = v50; }
    let v99 = v51 * width + x0;
    if (y0 + 2 < height) { a1[v99] = v73; }
    let v100 = v74 * width + x0;
    if (y0 + 3 < height) { a1[v100] = v96; }
}
