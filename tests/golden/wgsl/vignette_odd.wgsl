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
    let v0 = y0 * width;
    let v1 = v0 + x0;
    let v2 = a0[v1];
    let v3 = f32((v2 & 255u)) * 0.003921568859368563f;
    let v4 = f32(y0);
    let v5 = (v4 + 0.5f);
    let v6 = (v5 * U.u2);
    let v7 = (v6 - 1.0f);
    let v8 = f32(x0);
    let v9 = (v8 + 0.5f);
    let v10 = (v9 * U.u3);
    let v11 = (v10 - 1.0f);
    let v12 = (v11 * v11);
    let v13 = fma(v7, v7, v12);
    let v14 = (v13 * 0.5f);
    let v15 = (U.u4 * v14);
    let v16 = (1.0f - v15);
    let v17 = (v3 * v16);
    let v18 = bitcast<u32>(min(saturate(v17) * 255.0f, 255.0f) + 8388608.0f);
    let v19 = f32(((v2 >> 8u) & 255u)) * 0.003921568859368563f;
    let v20 = (v19 * v16);
    let v21 = bitcast<u32>(min(saturate(v20) * 255.0f, 255.0f) + 8388608.0f);
    let v22 = f32(((v2 >> 16u) & 255u)) * 0.003921568859368563f;
    let v23 = (v22 * v16);
    let v24 = bitcast<u32>(min(saturate(v23) * 255.0f, 255.0f) + 8388608.0f);
    let v25 = (v18 + (v21 << 8u) + (v24 << 16u) + (v2 & 0xff000000u) - 0x4b000000u);
    let v26 = y0 + 1;
    let v27 = min(v26, height - 1i);
    let v28 = v27 * width;
    let v29 = v28 + x0;
    let v30 = a0[v29];
    let v31 = f32((v30 & 255u)) * 0.003921568859368563f;
    let v32 = f32(v26);
    let v33 = (v32 + 0.5f);
    let v34 = (v33 * U.u2);
    let v35 = (v34 - 1.0f);
    let v36 = fma(v35, v35, v12);
    let v37 = (v36 * 0.5f);
    let v38 = (U.u4 * v37);
    let v39 = (1.0f - v38);
    let v40 = (v31 * v39);
    let v41 = bitcast<u32>(min(saturate(v40) * 255.0f, 255.0f) + 8388608.0f);
    let v42 = f32(((v30 >> 8u) & 255u)) * 0.003921568859368563f;
    let v43 = (v42 * v39);
    let v44 = bitcast<u32>(min(saturate(v43) * 255.0f, 255.0f) + 8388608.0f);
    let v45 = f32(((v30 >> 16u) & 255u)) * 0.003921568859368563f;
    let v46 = (v45 * v39);
    let v47 = bitcast<u32>(min(saturate(v46) * 255.0f, 255.0f) + 8388608.0f);
    let v48 = (v41 + (v44 << 8u) + (v47 << 16u) + (v30 & 0xff000000u) - 0x4b000000u);
    let v49 = y0 + 2;
    let v50 = min(v49, height - 1i);
    let v51 = v50 * width;
    let v52 = v51 + x0;
    let v53 = a0[v52];
    let v54 = f32((v53 & 255u)) * 0.003921568859368563f;
    let v55 = f32(v49);
    let v56 = (v55 + 0.5f);
    let v57 = (v56 * U.u2);
    let v58 = (v57 - 1.0f);
    let v59 = fma(v58, v58, v12);
    let v60 = (v59 * 0.5f);
    let v61 = (U.u4 * v60);
    let v62 = (1.0f - v61);
    let v63 = (v54 * v62);
    let v64 = bitcast<u32>(min(saturate(v63) * 255.0f, 255.0f) + 8388608.0f);
    let v65 = f32(((v53 >> 8u) & 255u)) * 0.003921568859368563f;
    let v66 = (v65 * v62);
    let v67 = bitcast<u32>(min(saturate(v66) * 255.0f, 255.0f) + 8388608.0f);
    let v68 = f32(((v53 >> 16u) & 255u)) * 0.003921568859368563f;
    let v69 = (v68 * v62);
    let v70 = bitcast<u32>(min(saturate(v69) * 255.0f, 255.0f) + 8388608.0f);
    let v71 = (v64 + (v67 << 8u) + (v70 << 16u) + (v53 & 0xff000000u) - 0x4b000000u);
    let v72 = y0 + 3;
    let v73 = min(v72, height - 1i);
    let v74 = v73 * width;
    let v75 = v74 + x0;
    let v76 = a0[v75];
    let v77 = f32((v76 & 255u)) * 0.003921568859368563f;
    let v78 = f32(v72);
    let v79 = (v78 + 0.5f);
    let v80 = (v79 * U.u2);
    let v81 = (v80 - 1.0f);
    let v82 = fma(v81, v81, v12);
    let v83 = (v82 * 0.5f);
    let v84 = (U.u4 * v83);
    let v85 = (1.0f - v84);
    let v86 = (v77 * v85);
    let v87 = bitcast<u32>(min(saturate(v86) * 255.0f, 255.0f) + 8388608.0f);
    let v88 = f32(((v76 >> 8u) & 255u)) * 0.003921568859368563f;
    let v89 = (v88 * v85);
    let v90 = bitcast<u32>(min(saturate(v89) * 255.0f, 255.0f) + 8388608.0f);
    let v91 = f32(((v76 >> 16u) & 255u)) * 0.003921568859368563f;
    let v92 = (v91 * v85);
    let v93 = bitcast<u32>(min(saturate(v92) * 255.0f, 255.0f) + 8388608.0f);
    let v94 = (v87 + (v90 << 8u) + (v93 << 16u) + (v76 & 0xff000000u) - 0x4b000000u);
    let v95 = y0 * width + x0;
    a1[v95] = v25;
    let v96 = v26 * width + x0;
    if (y0 + 1 < height) { a1[v96] = v48; }
    let v97 = v49 * width + x0;
    if (y0 + 2 < height) { a1[v97] = v71; }
    let v98 = v72 * width + x0;
    if (y0 + 3 < height) { a1[v98] = v94; }
}
