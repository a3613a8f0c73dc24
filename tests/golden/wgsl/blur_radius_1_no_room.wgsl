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
    if (x0 >= 0 && x0 + 1 <= width && y0 >= 1 && y0 + 3 <= height) {
        let v0 = y0 + 1;
        let v1 = v0 * width;
        let v2 = v1 + x0;
        let v3 = a0[v2];
        let v4 = f32((v3 & 255u)) * 0.003921568859368563f;
        let v5 = y0 * width;
        let v6 = v5 + x0;
        let v7 = a0[v6];
        let v8 = f32((v7 & 255u)) * 0.003921568859368563f;
        let v9 = y0 + -1;
        let v10 = v9 * width;
        let v11 = v10 + x0;
        let v12 = a0[v11];
        let v13 = f32((v12 & 255u)) * 0.003921568859368563f;
        let v14 = (v13 * 0.10650697350502014f);
        let v15 = fma(v8, 0.7869859933853149f, v14);
        let v16 = fma(v4, 0.10650697350502014f, v15);
        let v17 = f32(((v3 >> 8u) & 255u)) * 0.003921568859368563f;
        let v18 = f32(((v7 >> 8u) & 255u)) * 0.003921568859368563f;
        let v19 = f32(((v12 >> 8u) & 255u)) * 0.003921568859368563f;
        let v20 = (v19 * 0.10650697350502014f);
        let v21 = fma(v18, 0.7869859933853149f, v20);
        let v22 = fma(v17, 0.10650697350502014f, v21);
        let v23 = f32(((v3 >> 16u) & 255u)) * 0.003921568859368563f;
        let v24 = f32(((v7 >> 16u) & 255u)) * 0.003921568859368563f;
        let v25 = f32(((v12 >> 16u) & 255u)) * 0.003921568859368563f;
        let v26 = (v25 * 0.10650697350502014f);
        let v27 = fma(v24, 0.7869859933853149f, v26);
        let v28 = fma(v23, 0.10650697350502014f, v27);
        let v29 = f32((v3 >> 24u)) * 0.003921568859368563f;
        let v30 = f32((v7 >> 24u)) * 0.003921568859368563f;
        let v31 = f32((v12 >> 24u)) * 0.003921568859368563f;
        let v32 = (v31 * 0.10650697350502014f);
        let v33 = fma(v30, 0.7869859933853149f, v32);
        let v34 = fma(v29, 0.10650697350502014f, v33);
        let v35 = y0 + 2;
        let v36 = v35 * width;
        let v37 = v36 + x0;
        let v38 = a0[v37];
        let v39 = f32((v38 & 255u)) * 0.003921568859368563f;
        let v40 = (v8 * 0.10650697350502014f);
        let v41 = fma(v4, 0.7869859933853149f, v40);
        let v42 = fma(v39, 0.10650697350502014f, v41);
        let v43 = f32(((v38 >> 8u) & 255u)) * 0.003921568859368563f;
        let v44 = (v18 * 0.10650697350502014f);
        let v45 = fma(v17, 0.7869859933853149f, v44);
        let v46 = fma(v43, 0.10650697350502014f, v45);
        let v47 = f32(((v38 >> 16u) & 255u)) * 0.003921568859368563f;
        let v48 = (v24 * 0.10650697350502014f);
        let v49 = fma(v23, 0.7869859933853149f, v48);
        let v50 = fma(v47, 0.10650697350502014f, v49);
        let v51 = f32((v38 >> 24u)) * 0.003921568859368563f;
        let v52 = (v30 * 0.10650697350502014f);
        let v53 = fma(v29, 0.7869859933853149f, v52);
        let v54 = fma(v51, 0.10650697350502014f, v53);
        let v55 = y0 * width + x0;
        a1[v55] = vec4<f32>(v16, v22, v28, v34);
        let v56 = v0 * width + x0;
        a1[v56] = vec4<f32>(v42, v46, v50, v54);
    }
    else {
        let v57 = y0 + 1;
        let v58 = clamp(v57, 0i, height - 1i);
        let v59 = v58 * width;
        let v60 = clamp(x0, 0i, width - 1i);
        let v61 = v59 + v60;
        let v62 = a0[v61];
        let v63 = f32((v62 & 255u)) * 0.003921568859368563f;
        let v64 = clamp(y0, 0i, height - 1i);
        let v65 = v64 * width;
        let v66 = v65 + v60;
        let v67 = a0[v66];
        let v68 = f32((v67 & 255u)) * 0.003921568859368563f;
        let v69 = y0 + -1;
        let v70 = clamp(v69, 0i, height - 1i);
        let v71 = v70 * width;
        let v72 = v71 + v60;
        let v73 = a0[v72];
        let v74 = f32((v73 & 255u)) * 0.003921568859368563f;
        let v75 = (v74 * 0.10650697350502014f);
        let v76 = fma(v68, 0.7869859933853149f, v75);
        let v77 = fma(v63, 0.10650697350502014f, v76);
        let v78 = f32(((v62 >> 8u) & 255u)) * 0.003921568859368563f;
        let v79 = f32(((v67 >> 8u) & 255u)) * 0.003921568859368563f;
        let v80 = f32(((v73 >> 8u) & 255u)) * 0.003921568859368563f;
        let v81 = (v80 * 0.10650697350502014f);
        let v82 = fma(v79, 0.7869859933853149f, v81);
        let v83 = fma(v78, 0.10650697350502014f, v82);
        let v84 = f32(((v62 >> 16u) & 255u)) * 0.003921568859368563f;
        let v85 = f32(((v67 >> 16u) & 255u)) * 0.003921568859368563f;
        let v86 = f32(((v73 >> 16u) & 255u)) * 0.003921568859368563f;
        let v87 = (v86 * 0.10650697350502014f);
        let v88 = fma(v85, 0.7869859933853149f, v87);
        let v89 = fma(v84, 0.10650697350502014f, v88);
        let v90 = f32((v62 >> 24u)) * 0.003921568859368563f;
        let v91 = f32((v67 >> 24u)) * 0.003921568859368563f;
        let v92 = f32((v73 >> 24u)) * 0.003921568859368563f;
        let v93 = (v92 * 0.10650697350502014f);
        let v94 = fma(v91, 0.7869859933853149f, v93);
        let v95 = fma(v90, 0.10650697350502014f, v94);
        let v96 = y0 + 2;
        let v97 = clamp(v96, 0i, height - 1i);
        let v98 = v97 * width;
        let v99 = v98 + v60;
        let v100 = a0[v99];
        let v101 = f32((v100 & 255u)) * 0.003921568859368563f;
        let v102 = (v68 * 0.10650697350502014f);
        let v103 = fma(v63, 0.7869859933853149f, v102);
        let v104 = fma(v101, 0.10650697350502014f, v103);
        let v105 = f32(((v100 >> 8u) & 255u)) * 0.003921568859368563f;
        let v106 = (v79 * 0.10650697350502014f);
        let v107 = fma(v78, 0.7869859933853149f, v106);
        let v108 = fma(v105, 0.10650697350502014f, v107);
        let v109 = f32(((v100 >> 16u) & 255u)) * 0.003921568859368563f;
        let v110 = (v85 * 0.10650697350502014f);
        let v111 = fma(v84, 0.7869859933853149f, v110);
        let v112 = fma(v109, 0.10650697350502014f, v111);
        let v113 = f32((v100 >> 24u)) * 0.003921568859368563f;
        let v114 = (v91 * 0.10650697350502014f);
        let v115 = fma(v90, 0.7869859933853149f, v114);
        let v116 = fma(v113, 0.10650697350502014f, v115);
        let v117 = y0 * width + x0;
        a1[v117] = vec4<f32>(v77, v83, v89, v95);
        let v118 = v57 * width + x0;
        if (y0 + 1 < height) { a1[v118] = vec4<f32>(v104, v108, v112, v116); }
    }
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
    if (x0 >= 4 && x0 + 5 <= width && y0 >= 0 && y0 + 2 <= height) {
        let v0 = y0 * width;
        let v1 = x0 + 1;
        let v2 = v0 + v1;
        let v3 = a0[v2];
        let v4 = v0 + x0;
        let v5 = a0[v4];
        let v6 = x0 + -1;
        let v7 = v0 + v6;
        let v8 = a0[v7];
        let v9 = (v8.x * 0.10650697350502014f);
        let v10 = fma(v5.x, 0.7869859933853149f, v9);
        let v11 = fma(v3.x, 0.10650697350502014f, v10);
        let v12 = bitcast<u32>(clamp(v11 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v13 = (v8.y * 0.10650697350502014f);
        let v14 = fma(v5.y, 0.7869859933853149f, v13);
        let v15 = fma(v3.y, 0.10650697350502014f, v14);
        let v16 = bitcast<u32>(clamp(v15 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v17 = (v8.z * 0.10650697350502014f);
        let v18 = fma(v5.z, 0.7869859933853149f, v17);
        let v19 = fma(v3.z, 0.10650697350502014f, v18);
        let v20 = bitcast<u32>(clamp(v19 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v21 = (v8.w * 0.10650697350502014f);
        let v22 = fma(v5.w, 0.7869859933853149f, v21);
        let v23 = fma(v3.w, 0.10650697350502014f, v22);
        let v24 = bitcast<u32>(clamp(v23 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v25 = (v12 + (v16 << 8u) + (v20 << 16u) + (v24 << 24u) - 0x4b000000u);
        let v26 = y0 + 1;
        let v27 = v26 * width;
        let v28 = v27 + v1;
        let v29 = a0[v28];
        let v30 = v27 + x0;
        let v31 = a0[v30];
        let v32 = v27 + v6;
        let v33 = a0[v32];
        let v34 = (v33.x * 0.10650697350502014f);
        let v35 = fma(v31.x, 0.7869859933853149f, v34);
        let v36 = fma(v29.x, 0.10650697350502014f, v35);
        let v37 = bitcast<u32>(clamp(v36 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v38 = (v33.y * 0.10650697350502014f);
        let v39 = fma(v31.y, 0.7869859933853149f, v38);
        let v40 = fma(v29.y, 0.10650697350502014f, v39);
        let v41 = bitcast<u32>(clamp(v40 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v42 = (v33.z * 0.10650697350502014f);
        let v43 = fma(v31.z, 0.7869859933853149f, v42);
        let v44 = fma(v29.z, 0.10650697350502014f, v43);
        let v45 = bitcast<u32>(clamp(v44 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v46 = (v33.w * 0.10650697350502014f);
        let v47 = fma(v31.w, 0.7869859933853149f, v46);
        let v48 = fma(v29.w, 0.10650697350502014f, v47);
        let v49 = bitcast<u32>(clamp(v48 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v50 = (v37 + (v41 << 8u) + (v45 << 16u) + (v49 << 24u) - 0x4b000000u);
        let v51 = y0 * width + x0;
        a1[v51] = v25;
        let v52 = v26 * width + x0;
        a1[v52] = v50;
    }
    else {
        let v53 = clamp(y0, 0i, height - 1i);
        let v54 = v53 * width;
        let v55 = x0 + 1;
        let v56 = clamp(v55, 0i, width - 1i);
        let v57 = v54 + v56;
        let v58 = a0[v57];
        let v59 = clamp(x0, 0i, width - 1i);
        let v60 = v54 + v59;
        let v61 = a0[v60];
        let v62 = x0 + -1;
        let v63 = clamp(v62, 0i, width - 1i);
        let v64 = v54 + v63;
        let v65 = a0[v64];
        let v66 = (v65.x * 0.10650697350502014f);
        let v67 = fma(v61.x, 0.7869859933853149f, v66);
        let v68 = fma(v58.x, 0.10650697350502014f, v67);
        let v69 = bitcast<u32>(clamp(v68 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v70 = (v65.y * 0.10650697350502014f);
        let v71 = fma(v61.y, 0.7869859933853149f, v70);
        let v72 = fma(v58.y, 0.10650697350502014f, v71);
        let v73 = bitcast<u32>(clamp(v72 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v74 = (v65.z * 0.10650697350502014f);
        let v75 = fma(v61.z, 0.7869859933853149f, v74);
        let v76 = fma(v58.z, 0.10650697350502014f, v75);
        let v77 = bitcast<u32>(clamp(v76 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v78 = (v65.w * 0.10650697350502014f);
        let v79 = fma(v61.w, 0.7869859933853149f, v78);
        let v80 = fma(v58.w, 0.10650697350502014f, v79);
        let v81 = bitcast<u32>(clamp(v80 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v82 = (v69 + (v73 << 8u) + (v77 << 16u) + (v81 << 24u) - 0x4b000000u);
        let v83 = y0 + 1;
        let v84 = clamp(v83, 0i, height - 1i);
        let v85 = v84 * width;
        let v86 = v85 + v56;
        let v87 = a0[v86];
        let v88 = v85 + v59;
        let v89 = a0[v88];
        let v90 = v85 + v63;
        let v91 = a0[v90];
        let v92 = (v91.x * 0.10650697350502014f);
        let v93 = fma(v89.x, 0.7869859933853149f, v92);
        let v94 = fma(v87.x, 0.10650697350502014f, v93);
        let v95 = bitcast<u32>(clamp(v94 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v96 = (v91.y * 0.10650697350502014f);
        let v97 = fma(v89.y, 0.7869859933853149f, v96);
        let v98 = fma(v87.y, 0.10650697350502014f, v97);
        let v99 = bitcast<u32>(clamp(v98 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v100 = (v91.z * 0.10650697350502014f);
        let v101 = fma(v89.z, 0.7869859933853149f, v100);
        let v102 = fma(v87.z, 0.10650697350502014f, v101);
        let v103 = bitcast<u32>(clamp(v102 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v104 = (v91.w * 0.10650697350502014f);
        let v105 = fma(v89.w, 0.7869859933853149f, v104);
        let v106 = fma(v87.w, 0.10650697350502014f, v105);
        let v107 = bitcast<u32>(clamp(v106 * 255.0f, 0.0f, 255.0f) + 8388608.0f);
        let v108 = (v95 + (v99 << 8u) + (v103 << 16u) + (v107 << 24u) - 0x4b000000u);
        let v109 = y0 * width + x0;
        a1[v109] = v82;
        let v110 = v83 * width + x0;
        if (y0 + 1 < height) { a1[v110] = v108; }
    }
}
