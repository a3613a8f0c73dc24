// resize
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<u32>;
struct Uniforms {
    u0: i32,
    u1: i32,
    u2: f32,
    u3: f32,
    u4: i32,
    u5: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
fn f32_to_s32(v: f32) -> i32 {
    let inside = v >= -2147483648.0f && v < 2147483648.0f;
    let whole = i32(select(0.0f, v, inside));
    return select(select(whole, 2147483647i, v >= 2147483648.0f), i32(-2147483648), v < -2147483648.0f);
}
@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 1;
    let y0 = i32(id.y + id.z * 262140u) * 2;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = f32(y0);
    let v1 = (v0 + 0.5f);
    let v2 = (v1 * U.u2);
    let v3 = (v2 - 0.5f);
    let v4 = floor(v3);
    let v5 = f32_to_s32(v4);
    let v6 = (v5 + 1i);
    let v7 = f32(x0);
    let v8 = (v7 + 0.5f);
    let v9 = (v8 * U.u3);
    let v10 = (v9 - 0.5f);
    let v11 = floor(v10);
    let v12 = f32_to_s32(v11);
    let v13 = (v12 + 1i);
    let v14 = clamp(v6, 0i, U.u4 - 1i);
    let v15 = clamp(v13, 0i, U.u5 - 1i);
    let v16 = v14 * U.u5 + v15;
    let v17 = a0[v16];
    let v18 = f32((v17 & 255u)) * 0.003921568859368563f;
    let v19 = clamp(v12, 0i, U.u5 - 1i);
    let v20 = v14 * U.u5 + v19;
    let v21 = a0[v20];
    let v22 = f32((v21 & 255u)) * 0.003921568859368563f;
    let v23 = (v18 - v22);
    let v24 = (v10 - v11);
    let v25 = fma(v23, v24, v22);
    let v26 = clamp(v5, 0i, U.u4 - 1i);
    let v27 = v26 * U.u5 + v15;
    let v28 = a0[v27];
    let v29 = f32((v28 & 255u)) * 0.003921568859368563f;
    let v30 = v26 * U.u5 + v19;
    let v31 = a0[v30];
    let v32 = f32((v31 & 255u)) * 0.003921568859368563f;
    let v33 = (v29 - v32);
    let v34 = fma(v33, v24, v32);
    let v35 = (v25 - v34);
    let v36 = (v3 - v4);
    let v37 = fma(v35, v36, v34);
    let v38 = bitcast<u32>(min(saturate(v37) * 255.0f, 255.0f) + 8388608.0f);
    let v39 = f32(((v17 >> 8u) & 255u)) * 0.003921568859368563f;
    let v40 = f32(((v21 >> 8u) & 255u)) * 0.003921568859368563f;
    let v41 = (v39 - v40);
    let v42 = fma(v41, v24, v40);
    let v43 = f32(((v28 >> 8u) & 255u)) * 0.003921568859368563f;
    let v44 = f32(((v31 >> 8u) & 255u)) * 0.003921568859368563f;
    let v45 = (v43 - v44);
    let v46 = fma(v45, v24, v44);
    let v47 = (v42 - v46);
    let v48 = fma(v47, v36, v46);
    let v49 = bitcast<u32>(min(saturate(v48) * 255.0f, 255.0f) + 8388608.0f);
    let v50 = f32(((v17 >> 16u) & 255u)) * 0.003921568859368563f;
    let v51 = f32(((v21 >> 16u) & 255u)) * 0.003921568859368563f;
    let v52 = (v50 - v51);
    let v53 = fma(v52, v24, v51);
    let v54 = f32(((v28 >> 16u) & 255u)) * 0.003921568859368563f;
    let v55 = f32(((v31 >> 16u) & 255u)) * 0.003921568859368563f;
    let v56 = (v54 - v55);
    let v57 = fma(v56, v24, v55);
    let v58 = (v53 - v57);
    let v59 = fma(v58, v36, v57);
    let v60 = bitcast<u32>(min(saturate(v59) * 255.0f, 255.0f) + 8388608.0f);
    let v61 = f32((v17 >> 24u)) * 0.003921568859368563f;
    let v62 = f32((v21 >> 24u)) * 0.003921568859368563f;
    let v63 = (v61 - v62);
    let v64 = fma(v63, v24, v62);
    let v65 = f32((v28 >> 24u)) * 0.003921568859368563f;
    let v66 = f32((v31 >> 24u)) * 0.003921568859368563f;
    let v67 = (v65 - v66);
    let v68 = fma(v67, v24, v66);
    let v69 = (v64 - v68);
    let v70 = fma(v69, v36, v68);
    let v71 = bitcast<u32>(min(saturate(v70) * 255.0f, 255.0f) + 8388608.0f);
    let v72 = (v38 + (v49 << 8u) + (v60 << 16u) + (v71 << 24u) - 0x4b000000u);
    let v73 = y0 + 1;
    let v74 = f32(v73);
    let v75 = (v74 + 0.5f);
    let v76 = (v75 * U.u2);
    let v77 = (v76 - 0.5f);
    let v78 = floor(v77);
    let v79 = f32_to_s32(v78);
    let v80 = (v79 + 1i);
    let v81 = clamp(v80, 0i, U.u4 - 1i);
    let v82 = v81 * U.u5 + v15;
    let v83 = a0[v82];
    let v84 = f32((v83 & 255u)) * 0.003921568859368563f;
    let v85 = v81 * U.u5 + v19;
    let v86 = a0[v85];
    let v87 = f32((v86 & 255u)) * 0.003921568859368563f;
    let v88 = (v84 - v87);
    let v89 = fma(v88, v24, v87);
    let v90 = clamp(v79, 0i, U.u4 - 1i);
    let v91 = v90 * U.u5 + v15;
    let v92 = a0[v91];
    let v93 = f32((v92 & 255u)) * 0.003921568859368563f;
    let v94 = v90 * U.u5 + v19;
    let v95 = a0[v94];
    let v96 = f32((v95 & 255u)) * 0.003921568859368563f;
    let v97 = (v93 - v96);
    let v98 = fma(v97, v24, v96);
    let v99 = (v89 - v98);
    let v100 = (v77 - v78);
    let v101 = fma(v99, v100, v98);
    let v102 = bitcast<u32>(min(saturate(v101) * 255.0f, 255.0f) + 8388608.0f);
    let v103 = f32(((v83 >> 8u) & 255u)) * 0.003921568859368563f;
    let v104 = f32(((v86 >> 8u) & 255u)) * 0.003921568859368563f;
    let v105 = (v103 - v104);
    let v106 = fma(v105, v24, v104);
    let v107 = f32(((v92 >> 8u) & 255u)) * 0.003921568859368563f;
    let v108 = f32(((v95 >> 8u) & 255u)) * 0.003921568859368563f;
    let v109 = (v107 - v108);
    let v110 = fma(v109, v24, v108);
    let v111 = (v106 - v110);
    let v112 = fma(v111, v100, v110);
    let v113 = bitcast<u32>(min(saturate(v112) * 255.0f, 255.0f) + 8388608.0f);
    let v114 = f32(((v83 >> 16u) & 255u)) * 0.003921568859368563f;
    let v115 = f32(((v86 >> 16u) & 255u)) * 0.003921568859368563f;
    let v116 = (v114 - v115);
    let v117 = fma(v116, v24, v115);
    let v118 = f32(((v92 >> 16u) & 255u)) * 0.003921568859368563f;
    let v119 = f32(((v95 >> 16u) & 255u)) * 0.003921568859368563f;
    let v120 = (v118 - v119);
    let v121 = fma(v120, v24, v119);
    let v122 = (v117 - v121);
    let v123 = fma(v122, v100, v121);
    let v124 = bitcast<u32>(min(saturate(v123) * 255.0f, 255.0f) + 8388608.0f);
    let v125 = f32((v83 >> 24u)) * 0.003921568859368563f;
    let v126 = f32((v86 >> 24u)) * 0.003921568859368563f;
    let v127 = (v125 - v126);
    let v128 = fma(v127, v24, v126);
    let v129 = f32((v92 >> 24u)) * 0.003921568859368563f;
    let v130 = f32((v95 >> 24u)) * 0.003921568859368563f;
    let v131 = (v129 - v130);
    let v132 = fma(v131, v24, v130);
    let v133 = (v128 - v132);
    let v134 = fma(v133, v100, v132);
    let v135 = bitcast<u32>(min(saturate(v134) * 255.0f, 255.0f) + 8388608.0f);
    let v136 = (v102 + (v113 << 8u) + (v124 << 16u) + (v135 << 24u) - 0x4b000000u);
    let v137 = y0 * width + x0;
    a1[v137] = v72;
    let v138 = v73 * width + x0;
    if (y0 + 1 < height) { a1[v138] = v136; }
}
