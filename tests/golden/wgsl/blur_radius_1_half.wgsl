enable f16;
// blur.1 → blur.2
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<u32>>;
struct Uniforms {
    u0: i32,
    u1: i32,
    u2: i32,
    u3: f32,
    u4: f32,
    u5: f32,
    u6: f32,
    u7: f32,
    u8: f32,
    u9: f32,
    u10: f32,
    u11: f32,
    u12: f32,
    u13: f32,
    u14: f32,
    u15: f32,
    u16: f32,
    u17: f32,
    u18: f32,
    u19: f32,
    u20: f32,
    u21: f32,
    u22: f32,
    u23: f32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
fn to_half(v: f32) -> f16 { return f16(clamp(v, -65504.0f, 65504.0f)); }
fn halves(bits: u32) -> vec2<f16> { return vec2<f16>(unpack2x16float(bits)); }
fn half_bits(v: vec2<f16>) -> u32 { return pack2x16float(vec2<f32>(v)); }
fn half_pixel(word: u32, one: f16) -> vec4<f16> {
    let rb = halves((word & 0x00ff00ffu) | 0x64006400u);
    let ga = halves(((word >> 8u) & 0x00ff00ffu) | 0x64006400u);
    return fma(vec4<f16>(rb, ga), vec4<f16>(one), vec4<f16>(-1152.0h));
}
fn half_rounded(v: vec4<f16>) -> vec4<f16> {
    return clamp(v, vec4<f16>(-128.0h), vec4<f16>(127.0h)) + vec4<f16>(1152.0h);
}
fn half_levels(v: vec4<f16>) -> vec2<u32> {
    let level = half_rounded(v);
    return vec2<u32>(half_bits(level.xy), half_bits(level.zw)) & vec2<u32>(0x00ff00ffu);
}
var<workgroup> held0: array<array<vec4<u32>, 192>, 2>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let width = U.u0;
    let height = U.u1;
    let tile_x0 = i32(group.x) * 120;
    let tile_y0 = i32(group.y + group.z * 65535u) * 6;
    // blur.1
    {
        let item = i32(lane);
        let tx = (item % 128i) * 1i - 4i;
        let ty = (item / 128i) * 6i - 0i;
        let x0 = clamp(tile_x0 + tx, 0i, width - 1i);
        let y0 = tile_y0 + ty;
        let v0 = tx & 3i;
        let v1 = min(y0, height - 1i);
        let v2 = v1 * width;
        let v3 = v2 + x0;
        let v4 = a0[v3];
        let v5 = f16(U.u2);
        let v6 = half_pixel(v4, v5);
        let v7 = vec4<f16>(to_half(U.u3));
        let v8 = vec4<f16>(to_half(U.u4));
        let v9 = vec4<f16>(to_half(U.u5));
        let v10 = vec4<f16>(to_half(U.u6));
        let v11 = vec4<f16>(to_half(U.u7));
        let v12 = vec4<f16>(to_half(U.u8));
        let v13 = vec4<f16>(to_half(U.u9));
        let v14 = vec4<f16>(to_half(U.u10));
        let v15 = vec4<f16>(to_half(U.u11));
        let v16 = vec4<f16>(to_half(U.u12));
        let v17 = vec4<f16>(to_half(U.u13));
        let v18 = y0 + -1;
        let v19 = clamp(v18, 0i, height - 1i);
        let v20 = v19 * width;
        let v21 = v20 + x0;
        let v22 = a0[v21];
        let v23 = half_pixel(v22, v5);
        let v24 = y0 + 1;
        let v25 = min(v24, height - 1i);
        let v26 = v25 * width;
        let v27 = v26 + x0;
        let v28 = a0[v27];
        let v29 = half_pixel(v28, v5);
        let v30 = (v23 + v29);
        let v31 = vec4<f16>(to_half(U.u14));
        let v32 = (v30 * v31);
        let v33 = fma(v6, v17, v32);
        let v34 = half_bits(v33.xy);
        let v35 = half_bits(v33.zw);
        let v36 = ty + 0;
        let v37 = (tx >> 2u) + 1;
        let v38 = v36 * 32 + v37;
        held0[0][v38][v0] = v34;
        held0[1][v38][v0] = v35;
        let v39 = y0 + 2;
        let v40 = min(v39, height - 1i);
        let v41 = v40 * width;
        let v42 = v41 + x0;
        let v43 = a0[v42];
        let v44 = half_pixel(v43, v5);
        let v45 = (v6 + v44);
        let v46 = (v45 * v31);
        let v47 = fma(v29, v17, v46);
        let v48 = half_bits(v47.xy);
        let v49 = half_bits(v47.zw);
        let v50 = ty + 1;
        let v51 = v50 * 32 + v37;
        held0[0][v51][v0] = v48;
        held0[1][v51][v0] = v49;
        let v52 = y0 + 3;
        let v53 = min(v52, height - 1i);
        let v54 = v53 * width;
        let v55 = v54 + x0;
        let v56 = a0[v55];
        let v57 = half_pixel(v56, v5);
        let v58 = (v29 + v57);
        let v59 = (v58 * v31);
        let v60 = fma(v44, v17, v59);
        let v61 = half_bits(v60.xy);
        let v62 = half_bits(v60.zw);
        let v63 = ty + 2;
        let v64 = v63 * 32 + v37;
        held0[0][v64][v0] = v61;
        held0[1][v64][v0] = v62;
        let v65 = y0 + 4;
        let v66 = min(v65, height - 1i);
        let v67 = v66 * width;
        let v68 = v67 + x0;
        let v69 = a0[v68];
        let v70 = half_pixel(v69, v5);
        let v71 = (v44 + v70);
        let v72 = (v71 * v31);
        let v73 = fma(v57, v17, v72);
        let v74 = half_bits(v73.xy);
        let v75 = half_bits(v73.zw);
        let v76 = ty + 3;
        let v77 = v76 * 32 + v37;
        held0[0][v77][v0] = v74;
        held0[1][v77][v0] = v75;
        let v78 = y0 + 5;
        let v79 = min(v78, height - 1i);
        let v80 = v79 * width;
        let v81 = v80 + x0;
        let v82 = a0[v81];
        let v83 = half_pixel(v82, v5);
        let v84 = (v57 + v83);
        let v85 = (v84 * v31);
        let v86 = fma(v70, v17, v85);
        let v87 = half_bits(v86.xy);
        let v88 = half_bits(v86.zw);
        let v89 = ty + 4;
        let v90 = v89 * 32 + v37;
        held0[0][v90][v0] = v87;
        held0[1][v90][v0] = v88;
        let v91 = y0 + 6;
        let v92 = min(v91, height - 1i);
        let v93 = v92 * width;
        let v94 = v93 + x0;
        let v95 = a0[v94];
        let v96 = half_pixel(v95, v5);
        let v97 = (v70 + v96);
        let v98 = (v97 * v31);
        let v99 = fma(v83, v17, v98);
        let v100 = half_bits(v99.xy);
        let v101 = half_bits(v99.zw);
        let v102 = ty + 5;
        let v103 = v102 * 32 + v37;
        held0[0][v103][v0] = v100;
        held0[1][v103][v0] = v101;
    }
    workgroupBarrier();
    // blur.2
    for (var item = i32(lane); item < 180i; item += 128i) {
        let tx = (item % 30i) * 4i - 0i;
        let ty = (item / 30i) * 1i - 0i;
        let x0 = tile_x0 + tx;
        let y0 = tile_y0 + ty;
        let v104 = (tx >> 2u) + 0;
        let v105 = ty * 32 + v104;
        let v106 = v105 + 1;
        let v107 = held0[0][v106];
        let v108 = held0[1][v106];
        let v109 = vec4<f16>(halves(v107.x), halves(v108.x));
        let v110 = vec4<f16>(to_half(U.u3));
        let v111 = vec4<f16>(to_half(U.u4));
        let v112 = vec4<f16>(to_half(U.u5));
        let v113 = vec4<f16>(to_half(U.u15));
        let v114 = vec4<f16>(to_half(U.u16));
        let v115 = vec4<f16>(to_half(U.u17));
        let v116 = vec4<f16>(to_half(U.u18));
        let v117 = vec4<f16>(to_half(U.u19));
        let v118 = vec4<f16>(to_half(U.u20));
        let v119 = vec4<f16>(to_half(U.u21));
        let v120 = vec4<f16>(to_half(U.u22));
        let v121 = (tx >> 2u) + -1;
        let v122 = ty * 32 + v121;
        let v123 = v122 + 1;
        let v124 = held0[0][v123];
        let v125 = held0[1][v123];
        let v126 = vec4<f16>(halves(v124.w), halves(v125.w));
        let v127 = vec4<f16>(halves(v107.y), halves(v108.y));
        let v128 = (v126 + v127);
        let v129 = vec4<f16>(to_half(U.u23));
        let v130 = (v128 * v129);
        let v131 = fma(v109, v120, v130);
        let v132 = half_levels(v131);
        let v133 = (v132.x | (v132.y << 8u));
        let v134 = (v133);
        let v135 = vec4<f16>(halves(v107.z), halves(v108.z));
        let v136 = (v109 + v135);
        let v137 = (v136 * v129);
        let v138 = fma(v127, v120, v137);
        let v139 = half_levels(v138);
        let v140 = (v139.x | (v139.y << 8u));
        let v141 = (v140);
        let v142 = vec4<f16>(halves(v107.w), halves(v108.w));
        let v143 = (v127 + v142);
        let v144 = (v143 * v129);
        let v145 = fma(v135, v120, v144);
        let v146 = half_levels(v145);
        let v147 = (v146.x | (v146.y << 8u));
        let v148 = (v147);
        let v149 = (tx >> 2u) + 1;
        let v150 = ty * 32 + v149;
        let v151 = v150 + 1;
        let v152 = held0[0][v151];
        let v153 = held0[1][v151];
        let v154 = vec4<f16>(halves(v152.x), halves(v153.x));
        let v155 = (v135 + v154);
        let v156 = (v155 * v129);
        let v157 = fma(v142, v120, v156);
        let v158 = half_levels(v157);
        let v159 = (v158.x | (v158.y << 8u));
        let v160 = (v159);
        let v161 = width >> 2u;
        let v162 = (x0 >> 2u) + 0;
        let v163 = y0 * v161 + v162;
        if (x0 < width && y0 + 0 < height) { a1[v163] = vec4<u32>(v134, v141, v148, v160); }
    }
}
