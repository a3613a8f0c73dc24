enable f16;
// blur.1 → blur.2 → sharpen
@group(0) @binding(0) var<storage, read> a0: array<u32>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<u32>>;
struct Uniforms {
    u0: i32,
    u1: i32,
    u2: i32,
}
@group(0) @binding(2) var<uniform> U: Uniforms;
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
        let v7 = y0 + -1;
        let v8 = clamp(v7, 0i, height - 1i);
        let v9 = v8 * width;
        let v10 = v9 + x0;
        let v11 = a0[v10];
        let v12 = half_pixel(v11, v5);
        let v13 = y0 + 1;
        let v14 = min(v13, height - 1i);
        let v15 = v14 * width;
        let v16 = v15 + x0;
        let v17 = a0[v16];
        let v18 = half_pixel(v17, v5);
        let v19 = (v12 + v18);
        let v20 = (v19 * vec4<f16>(0.10650697350502014h));
        let v21 = fma(v6, vec4<f16>(0.7869859933853149h), v20);
        let v22 = half_bits(v21.xy);
        let v23 = half_bits(v21.zw);
        let v24 = ty + 0;
        let v25 = (tx >> 2u) + 1;
        let v26 = v24 * 32 + v25;
        held0[0][v26][v0] = v22;
        held0[1][v26][v0] = v23;
        let v27 = y0 + 2;
        let v28 = min(v27, height - 1i);
        let v29 = v28 * width;
        let v30 = v29 + x0;
        let v31 = a0[v30];
        let v32 = half_pixel(v31, v5);
        let v33 = (v6 + v32);
        let v34 = (v33 * vec4<f16>(0.10650697350502014h));
        let v35 = fma(v18, vec4<f16>(0.7869859933853149h), v34);
        let v36 = half_bits(v35.xy);
        let v37 = half_bits(v35.zw);
        let v38 = ty + 1;
        let v39 = v38 * 32 + v25;
        held0[0][v39][v0] = v36;
        held0[1][v39][v0] = v37;
        let v40 = y0 + 3;
        let v41 = min(v40, height - 1i);
        let v42 = v41 * width;
        let v43 = v42 + x0;
        let v44 = a0[v43];
        let v45 = half_pixel(v44, v5);
        let v46 = (v18 + v45);
        let v47 = (v46 * vec4<f16>(0.10650697350502014h));
        let v48 = fma(v32, vec4<f16>(0.7869859933853149h), v47);
        let v49 = half_bits(v48.xy);
        let v50 = half_bits(v48.zw);
        let v51 = ty + 2;
        let v52 = v51 * 32 + v25;
        held0[0][v52][v0] = v49;
        held0[1][v52][v0] = v50;
        let v53 = y0 + 4;
        let v54 = min(v53, height - 1i);
        let v55 = v54 * width;
        let v56 = v55 + x0;
        let v57 = a0[v56];
        let v58 = half_pixel(v57, v5);
        let v59 = (v32 + v58);
        let v60 = (v59 * vec4<f16>(0.10650697350502014h));
        let v61 = fma(v45, vec4<f16>(0.7869859933853149h), v60);
        let v62 = half_bits(v61.xy);
        let v63 = half_bits(v61.zw);
        let v64 = ty + 3;
        let v65 = v64 * 32 + v25;
        held0[0][v65][v0] = v62;
        held0[1][v65][v0] = v63;
        let v66 = y0 + 5;
        let v67 = min(v66, height - 1i);
        let v68 = v67 * width;
        let v69 = v68 + x0;
        let v70 = a0[v69];
        let v71 = half_pixel(v70, v5);
        let v72 = (v45 + v71);
        let v73 = (v72 * vec4<f16>(0.10650697350502014h));
        let v74 = fma(v58, vec4<f16>(0.7869859933853149h), v73);
        let v75 = half_bits(v74.xy);
        let v76 = half_bits(v74.zw);
        let v77 = ty + 4;
        let v78 = v77 * 32 + v25;
        held0[0][v78][v0] = v75;
        held0[1][v78][v0] = v76;
        let v79 = y0 + 6;
        let v80 = min(v79, height - 1i);
        let v81 = v80 * width;
        let v82 = v81 + x0;
        let v83 = a0[v82];
        let v84 = half_pixel(v83, v5);
        let v85 = (v58 + v84);
        let v86 = (v85 * vec4<f16>(0.10650697350502014h));
        let v87 = fma(v71, vec4<f16>(0.7869859933853149h), v86);
        let v88 = half_bits(v87.xy);
        let v89 = half_bits(v87.zw);
        let v90 = ty + 5;
        let v91 = v90 * 32 + v25;
        held0[0][v91][v0] = v88;
        held0[1][v91][v0] = v89;
    }
    workgroupBarrier();
    // blur.2
    for (var item = i32(lane); item < 180i; item += 128i) {
        let tx = (item % 30i) * 4i - 0i;
        let ty = (item / 30i) * 1i - 0i;
        let x0 = tile_x0 + tx;
        let y0 = tile_y0 + ty;
        let v92 = (tx >> 2u) + 0;
        let v93 = ty * 32 + v92;
        let v94 = v93 + 1;
        let v95 = held0[0][v94];
        let v96 = held0[1][v94];
        let v97 = vec4<f16>(halves(v95.x), halves(v96.x));
        let v98 = (tx >> 2u) + -1;
        let v99 = ty * 32 + v98;
        let v100 = v99 + 1;
        let v101 = held0[0][v100];
        let v102 = held0[1][v100];
        let v103 = vec4<f16>(halves(v101.w), halves(v102.w));
        let v104 = vec4<f16>(halves(v95.y), halves(v96.y));
        let v105 = (v103 + v104);
        let v106 = (v105 * vec4<f16>(0.10650697350502014h));
        let v107 = fma(v97, vec4<f16>(0.7869859933853149h), v106);
        let v108 = half_levels(v107);
        let v109 = (v108.x | (v108.y << 8u));
        let v110 = (v109);
        let v111 = vec4<f16>(halves(v95.z), halves(v96.z));
        let v112 = (v97 + v111);
        let v113 = (v112 * vec4<f16>(0.10650697350502014h));
        let v114 = fma(v104, vec4<f16>(0.7869859933853149h), v113);
        let v115 = half_levels(v114);
        let v116 = (v115.x | (v115.y << 8u));
        let v117 = (v116);
        let v118 = vec4<f16>(halves(v95.w), halves(v96.w));
        let v119 = (v104 + v118);
        let v120 = (v119 * vec4<f16>(0.10650697350502014h));
        let v121 = fma(v111, vec4<f16>(0.7869859933853149h), v120);
        let v122 = half_levels(v121);
        let v123 = (v122.x | (v122.y << 8u));
        let v124 = (v123);
        let v125 = (tx >> 2u) + 1;
        let v126 = ty * 32 + v125;
        let v127 = v126 + 1;
        let v128 = held0[0][v127];
        let v129 = held0[1][v127];
        let v130 = vec4<f16>(halves(v128.x), halves(v129.x));
        let v131 = (v111 + v130);
        let v132 = (v131 * vec4<f16>(0.10650697350502014h));
        let v133 = fma(v118, vec4<f16>(0.7869859933853149h), v132);
        let v134 = half_levels(v133);
        let v135 = (v134.x | (v134.y << 8u));
        let v136 = (v135);
        let v137 = width >> 2u;
        let v138 = (x0 >> 2u) + 0;
        let v139 = y0 * v137 + v138;
        if (x0 < width && y0 + 0 < height) { a1[v139] = vec4<u32>(v110, v117, v124, v136); }
    }
}

enable f16;
// blur.1 → blur.2 → sharpen
@group(0) @binding(0) var<storage, read> a0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> a1: array<vec4<u32>>;
struct Uniforms {
    u0: i32,
    u1: i32,
    u2: i32,
    u3: f32,
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
@compute @workgroup_size(32, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x0 = i32(id.x) * 4;
    let y0 = i32(id.y + id.z * 262140u) * 2;
    let width = U.u0;
    let height = U.u1;
    if (x0 >= width || y0 >= height) { return; }
    let v0 = width >> 2u;
    let v1 = y0 * v0;
    let v2 = (x0 >> 2u) + 0;
    let v3 = v1 + v2;
    let v4 = a0[v3];
    let v5 = f16(U.u2);
    let v6 = half_pixel(v4.x, v5);
    let v7 = (v6 * vec4<f16>(4.0h));
    let v8 = (x0 >> 2u) + -1;
    let v9 = clamp(v8, 0i, v0 - 1i);
    let v10 = v1 + v9;
    let v11 = a0[v10];
    let v12 = x0 + -4;
    let v13 = select(v11.w, v11.x, v12 < 0i);
    let v14 = half_pixel(v13, v5);
    let v15 = half_pixel(v4.y, v5);
    let v16 = (v14 + v15);
    let v17 = y0 + -1;
    let v18 = max(v17, 0i);
    let v19 = v18 * v0;
    let v20 = v19 + v2;
    let v21 = a0[v20];
    let v22 = half_pixel(v21.x, v5);
    let v23 = (v16 + v22);
    let v24 = y0 + 1;
    let v25 = min(v24, height - 1i);
    let v26 = v25 * v0;
    let v27 = v26 + v2;
    let v28 = a0[v27];
    let v29 = half_pixel(v28.x, v5);
    let v30 = (v23 + v29);
    let v31 = (v7 - v30);
    let v32 = vec4<f16>(to_half(U.u3));
    let v33 = fma(v31, v32, v6);
    let v34 = half_levels(v33);
    let v35 = (v34.x | (v34.y << 8u));
    let v36 = ((v35 & 0xffffffu) + (v4.x & 0xff000000u));
    let v37 = (v15 * vec4<f16>(4.0h));
    let v38 = half_pixel(v4.z, v5);
    let v39 = (v6 + v38);
    let v40 = half_pixel(v21.y, v5);
    let v41 = (v39 + v40);
    let v42 = half_pixel(v28.y, v5);
    let v43 = (v41 + v42);
    let v44 = (v37 - v43);
    let v45 = fma(v44, v32, v15);
    let v46 = half_levels(v45);
    let v47 = (v46.x | (v46.y << 8u));
    let v48 = ((v47 & 0xffffffu) + (v4.y & 0xff000000u));
    let v49 = (v38 * vec4<f16>(4.0h));
    let v50 = half_pixel(v4.w, v5);
    let v51 = (v15 + v50);
    let v52 = half_pixel(v21.z, v5);
    let v53 = (v51 + v52);
    let v54 = half_pixel(v28.z, v5);
    let v55 = (v53 + v54);
    let v56 = (v49 - v55);
    let v57 = fma(v56, v32, v38);
    let v58 = half_levels(v57);
    let v59 = (v58.x | (v58.y << 8u));
    let v60 = ((v59 & 0xffffffu) + (v4.z & 0xff000000u));
    let v61 = (v50 * vec4<f16>(4.0h));
    let v62 = (x0 >> 2u) + 1;
    let v63 = clamp(v62, 0i, v0 - 1i);
    let v64 = v1 + v63;
    let v65 = a0[v64];
    let v66 = x0 + 4;
    let v67 = v66 >= width;
    let v68 = select(v65.x, v65.w, v67);
    let v69 = half_pixel(v68, v5);
    let v70 = (v38 + v69);
    let v71 = half_pixel(v21.w, v5);
    let v72 = (v70 + v71);
    let v73 = half_pixel(v28.w, v5);
    let v74 = (v72 + v73);
    let v75 = (v61 - v74);
    let v76 = fma(v75, v32, v50);
    let v77 = half_levels(v76);
    let v78 = (v77.x | (v77.y << 8u));
    let v79 = ((v78 & 0xffffffu) + (v4.w & 0xff000000u));
    let v80 = (v29 * vec4<f16>(4.0h));
    let v81 = v26 + v9;
    let v82 = a0[v81];
    let v83 = select(v82.w, v82.x, v12 < 0i);
    let v84 = half_pixel(v83, v5);
    let v85 = (v84 + v42);
    let v86 = (v85 + v6);
    let v87 = y0 + 2;
    let v88 = min(v87, height - 1i);
    let v89 = v88 * v0;
    let v90 = v89 + v2;
    let v91 = a0[v90];
    let v92 = half_pixel(v91.x, v5);
    let v93 = (v86 + v92);
    let v94 = (v80 - v93);
    let v95 = fma(v94, v32, v29);
    let v96 = half_levels(v95);
    let v97 = (v96.x | (v96.y << 8u));
    let v98 = ((v97 & 0xffffffu) + (v28.x & 0xff000000u));
    let v99 = (v42 * vec4<f16>(4.0h));
    let v100 = (v29 + v54);
    let v101 = (v100 + v15);
    let v102 = half_pixel(v91.y, v5);
    let v103 = (v101 + v102);
    let v104 = (v99 - v103);
    let v105 = fma(v104, v32, v42);
    let v106 = half_levels(v105);
    let v107 = (v106.x | (v106.y << 8u));
    let v108 = ((v107 & 0xffffffu) + (v28.y & 0xff000000u));
    let v109 = (v54 * vec4<f16>(4.0h));
    let v110 = (v42 + v73);
    let v111 = (v110 + v38);
    let v112 = half_pixel(v91.z, v5);
    let v113 = (v111 + v112);
    let v114 = (v109 - v113);
    let v115 = fma(v114, v32, v54);
    let v116 = half_levels(v115);
    let v117 = (v116.x | (v116.y << 8u));
    let v118 = ((v117 & 0xffffffu) + (v28.z & 0xff000000u));
    let v119 = (v73 * vec4<f16>(4.0h));
    let v120 = v26 + v63;
    let v121 = a0[v120];
    let v122 = select(v121.x, v121.w, v67);
    let v123 = half_pixel(v122, v5);
    let v124 = (v54 + v123);
    let v125 = (v124 + v50);
    let v126 = half_pixel(v91.w, v5);
    let v127 = (v125 + v126);
    let v128 = (v119 - v127);
    let v129 = fma(v128, v32, v73);
    let v130 = half_levels(v129);
    let v131 = (v130.x | (v130.y << 8u));
    let v132 = ((v131 & 0xffffffu) + (v28.w & 0xff000000u));
    let v133 = y0 * v0 + v2;
    a1[v133] = vec4<u32>(v36, v48, v60, v79);
    let v134 = v24 * v0 + v2;
    if (y0 + 1 < height) { a1[v134] = vec4<u32>(v98, v108, v118, v132); }
}
