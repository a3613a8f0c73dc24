declare <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16>, <16 x i16>)
declare <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16>, <16 x i16>)
declare float @llvm.roundeven.f32(float)
declare i32 @llvm.fptoui.sat.i32.f32(float)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
@constants0 = private constant [11 x float] [float 0x3FC152AAA0000000, float 0x3FF0000000000000, float 0x3FC152AAA0000000, float 0x0000000000000000, float 0x0000000000000000, float 0x0000000000000000, float 0x0000000000000000, float 0x0000000000000000, float 0x0000000000000000, float 0x0000000000000000, float 0x0000000000000000], align 64
define void @dala_pass(ptr noalias %args, ptr noalias %scratch) #0 {
entry:
  %v190 = getelementptr i64, ptr %args, i64 1
  %bands = load i64, ptr %v190, align 8
  %v191 = getelementptr i64, ptr %args, i64 2
  %band_rows = load i64, ptr %v191, align 8
  %v192 = getelementptr i64, ptr %args, i64 3
  %H = load i64, ptr %v192, align 8
  %v193 = getelementptr i64, ptr %args, i64 4
  %W = load i64, ptr %v193, align 8
  %v194 = getelementptr i64, ptr %args, i64 5
  %Wlast = load i64, ptr %v194, align 8
  %H1 = sub i64 %H, 1
  %v1 = getelementptr i8, ptr %scratch, i64 0
  %v6 = getelementptr i8, ptr %scratch, i64 1024
  %v46 = getelementptr <16 x i16>, ptr %v6, i64 0
  %v47 = getelementptr <16 x i16>, ptr %v46, i64 0
  %v49 = getelementptr i64, ptr %args, i64 9
  %v50 = load ptr, ptr %v49, align 8
  %v51 = getelementptr i64, ptr %args, i64 10
  %v52 = load i64, ptr %v51, align 8
  %v80 = getelementptr <16 x i16>, ptr %v6, i64 1
  %v81 = getelementptr <16 x i16>, ptr %v80, i64 0
  %v96 = getelementptr i64, ptr %args, i64 16
  %v97 = load i64, ptr %v96, align 8
  %v99 = getelementptr i64, ptr %args, i64 15
  %v100 = load i64, ptr %v99, align 8
  %v101 = getelementptr i8, ptr %scratch, i64 %v100
  %v104 = getelementptr i64, ptr %args, i64 17
  %v105 = load i64, ptr %v104, align 8
  %v167 = getelementptr i64, ptr %args, i64 13
  %v168 = load ptr, ptr %v167, align 8
  %v169 = getelementptr i64, ptr %args, i64 14
  %v170 = load i64, ptr %v169, align 8
  %v176 = getelementptr i8, ptr %scratch, i64 2048
  br label %loopv2
loopv2:
  %loopv2.n = phi i64 [ 0, %entry ], [ %loopv2.next, %loopv2 ]
  %loopv2.i = call i64 asm "", "=r,0"(i64 %loopv2.n)
  %v3 = getelementptr float, ptr @constants0, i64 %loopv2.i
  %v4 = load <8 x float>, ptr %v3, align 4
  %v5 = getelementptr float, ptr %v1, i64 %loopv2.i
  store <8 x float> %v4, ptr %v5, align 4
  %loopv2.next = add nuw nsw i64 %loopv2.n, 8
  %loopv2.on = icmp slt i64 %loopv2.next, 3
  br i1 %loopv2.on, label %loopv2, label %loopv2.end
loopv2.end:
  br label %loopv7
loopv7:
  %loopv7.n = phi i64 [ 0, %loopv2.end ], [ %loopv7.next, %loopv7 ]
  %v8 = phi float [ 0.0, %loopv2.end ], [ %v13, %loopv7 ]
  %loopv7.i = call i64 asm "", "=r,0"(i64 %loopv7.n)
  %v9 = getelementptr float, ptr %v1, i64 %loopv7.i
  %v10 = load float, ptr %v9, align 4
  %v11 = fcmp ogt float %v10, 0.0
  %v12 = select i1 %v11, float %v10, float 0.0
  %v13 = fadd float %v8, %v12
  %loopv7.next = add nuw nsw i64 %loopv7.n, 1
  %loopv7.on = icmp slt i64 %loopv7.next, 3
  br i1 %loopv7.on, label %loopv7, label %loopv7.end
loopv7.end:
  br label %loopv14
loopv14:
  %loopv14.n = phi i64 [ 0, %loopv7.end ], [ %loopv14.next, %loopv14 ]
  %loopv14.i = call i64 asm "", "=r,0"(i64 %loopv14.n)
  %v15 = getelementptr float, ptr %v1, i64 %loopv14.i
  %v16 = load float, ptr %v15, align 4
  %v17 = fcmp ogt float %v16, 0.0
  %v18 = select i1 %v17, float %v16, float 0.0
  %v19 = fdiv float %v18, %v13
  store float %v19, ptr %v15, align 4
  %loopv14.next = add nuw nsw i64 %loopv14.n, 1
  %loopv14.on = icmp slt i64 %loopv14.next, 3
  br i1 %loopv14.on, label %loopv14, label %loopv14.end
loopv14.end:
  br label %loopv20
loopv20:
  %loopv20.n = phi i64 [ 0, %loopv14.end ], [ %loopv20.next, %loopv20 ]
  %loopv20.i = call i64 asm "", "=r,0"(i64 %loopv20.n)
  %v21 = add i64 %loopv20.i, 0
  %v22 = getelementptr float, ptr %v1, i64 %v21
  %v23 = load float, ptr %v22, align 4
  %v24 = fmul float %v23, 0x4100000000000000
  %v25 = call float @llvm.roundeven.f32(float %v24)
  %v26 = call i32 @llvm.fptoui.sat.i32.f32(float %v25)
  %v27 = icmp ugt i32 %v26, 65535
  %v28 = select i1 %v27, i32 65535, i32 %v26
  %v29 = trunc i32 %v28 to i16
  %v30 = insertelement <16 x i16> poison, i16 %v29, i64 0
  %v31 = shufflevector <16 x i16> %v30, <16 x i16> poison, <16 x i32> zeroinitializer
  %v32 = getelementptr <16 x i16>, ptr %v6, i64 %v21
  store <16 x i16> %v31, ptr %v32, align 2
  %loopv20.next = add nuw nsw i64 %loopv20.n, 1
  %loopv20.on = icmp slt i64 %loopv20.next, 1
  br i1 %loopv20.on, label %loopv20, label %loopv20.end
loopv20.end:
  br label %loopv33
loopv33:
  %loopv33.n = phi i64 [ 0, %loopv20.end ], [ %loopv33.next, %loopv33 ]
  %loopv33.i = call i64 asm "", "=r,0"(i64 %loopv33.n)
  %v34 = add i64 %loopv33.i, 1
  %v35 = getelementptr float, ptr %v1, i64 %v34
  %v36 = load float, ptr %v35, align 4
  %v37 = fmul float %v36, 0x40F0000000000000
  %v38 = call float @llvm.roundeven.f32(float %v37)
  %v39 = call i32 @llvm.fptoui.sat.i32.f32(float %v38)
  %v40 = icmp ugt i32 %v39, 65535
  %v41 = select i1 %v40, i32 65535, i32 %v39
  %v42 = trunc i32 %v41 to i16
  %v43 = insertelement <16 x i16> poison, i16 %v42, i64 0
  %v44 = shufflevector <16 x i16> %v43, <16 x i16> poison, <16 x i32> zeroinitializer
  %v45 = getelementptr <16 x i16>, ptr %v6, i64 %v34
  store <16 x i16> %v44, ptr %v45, align 2
  %loopv33.next = add nuw nsw i64 %loopv33.n, 1
  %loopv33.on = icmp slt i64 %loopv33.next, 1
  br i1 %loopv33.on, label %loopv33, label %loopv33.end
loopv33.end:
  br label %band
band:
  %number = atomicrmw add ptr %args, i64 1 monotonic
  %more = icmp slt i64 %number, %bands
  br i1 %more, label %begin, label %exit
begin:
  %y0 = mul i64 %number, %band_rows
  %yend = add i64 %y0, %band_rows
  %ycut = icmp slt i64 %yend, %H
  %y1 = select i1 %ycut, i64 %yend, i64 %H
  %t0 = add i64 %y0, 0
  %v121 = call i64 @llvm.smax.i64(i64 %y0, i64 0)
  %v122 = call i64 @llvm.smin.i64(i64 %y1, i64 %H)
  %v123 = sub i64 %v122, %v121
  br label %row
row:
  %time = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]
  %t = call i64 asm "", "=r,0"(i64 %time)
  br label %b0.check
b0.check:
  %b0.now = add i64 %t, 0
  %b0.r = ashr i64 %b0.now, 0
  %v124 = sub i64 %b0.r, %v121
  %v125 = icmp ult i64 %v124, %v123
  br i1 %v125, label %b0.row, label %b1.check
b0.row:
  %b0.isend = icmp eq i64 %b0.r, %H1
  %b0.W = select i1 %b0.isend, i64 %Wlast, i64 %W
  %b0.Wend = add i64 %b0.W, 0
  %v48 = load <16 x i16>, ptr %v47, align 64
  %v53 = add i64 %b0.r, -1
  %v54 = call i64 @llvm.smax.i64(i64 %v53, i64 0)
  %v55 = mul i64 %v54, %v52
  %v56 = getelementptr i8, ptr %v50, i64 %v55
  %v62 = add i64 %b0.r, 1
  %v63 = call i64 @llvm.smin.i64(i64 %v62, i64 %H1)
  %v64 = mul i64 %v63, %v52
  %v65 = getelementptr i8, ptr %v50, i64 %v64
  %v82 = load <16 x i16>, ptr %v81, align 64
  %v83 = mul i64 %b0.r, %v52
  %v84 = getelementptr i8, ptr %v50, i64 %v83
  %v95 = urem i64 %b0.r, 1
  %v98 = mul i64 %v95, %v97
  %v102 = getelementptr i8, ptr %v101, i64 %v98
  %v106 = mul i64 %v105, 1
  %v107 = getelementptr i8, ptr %v102, i64 %v106
  br i1 false, label %b0.done, label %b0.loop
b0.loop:
  %b0.column = phi i64 [ 0, %b0.row ], [ %b0.x.next, %b0.loop ]
  %b0.x = call i64 asm "", "=r,0"(i64 %b0.column)
  %v57 = mul i64 %b0.x, 4
  %v58 = getelementptr i8, ptr %v56, i64 %v57
  %v59 = load <16 x i16>, ptr %v58, align 1
  %v60 = and <16 x i16> %v59, splat (i16 -256)
  %v61 = shl <16 x i16> %v59, splat (i16 8)
  %v66 = getelementptr i8, ptr %v65, i64 %v57
  %v67 = load <16 x i16>, ptr %v66, align 1
  %v68 = and <16 x i16> %v67, splat (i16 -256)
  %v69 = shl <16 x i16> %v67, splat (i16 8)
  %v70 = or <16 x i16> %v61, %v69
  %v71 = xor <16 x i16> %v61, %v69
  %v72 = lshr <16 x i16> %v71, splat (i16 1)
  %v73 = sub <16 x i16> %v70, %v72
  %v74 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v73, <16 x i16> %v48)
  %v75 = or <16 x i16> %v60, %v68
  %v76 = xor <16 x i16> %v60, %v68
  %v77 = lshr <16 x i16> %v76, splat (i16 1)
  %v78 = sub <16 x i16> %v75, %v77
  %v79 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v78, <16 x i16> %v48)
  %v85 = getelementptr i8, ptr %v84, i64 %v57
  %v86 = load <16 x i16>, ptr %v85, align 1
  %v87 = and <16 x i16> %v86, splat (i16 -256)
  %v88 = shl <16 x i16> %v86, splat (i16 8)
  %v89 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v88, <16 x i16> %v82)
  %v90 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v74, <16 x i16> %v89)
  %v91 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v87, <16 x i16> %v82)
  %v92 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v79, <16 x i16> %v91)
  %v93 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v90, <16 x i16> splat (i16 1))
  %v94 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v92, <16 x i16> splat (i16 1))
  %v103 = getelementptr i8, ptr %v102, i64 %v57
  store <16 x i16> %v93, ptr %v103, align 1
  %v108 = getelementptr i8, ptr %v107, i64 %v57
  store <16 x i16> %v94, ptr %v108, align 1
  %b0.x.next = add nsw i64 %b0.column, 8
  %b0.on = icmp slt i64 %b0.x.next, %b0.Wend
  br i1 %b0.on, label %b0.loop, label %b0.done
b0.done:
  br label %loopv109
loopv109:
  %loopv109.n = phi i64 [ 0, %b0.done ], [ %loopv109.next, %loopv109 ]
  %loopv109.i = call i64 asm "", "=r,0"(i64 %loopv109.n)
  %v110 = mul i64 %v105, %loopv109.i
  %v111 = getelementptr i8, ptr %v102, i64 %v110
  %v112 = getelementptr i32, ptr %v111, i64 %b0.W
  %v113 = load i32, ptr %v111, align 1
  %v114 = insertelement <8 x i32> poison, i32 %v113, i64 0
  %v115 = shufflevector <8 x i32> %v114, <8 x i32> poison, <8 x i32> zeroinitializer
  %v116 = getelementptr i32, ptr %v111, i64 -8
  store <8 x i32> %v115, ptr %v116, align 1
  %v117 = getelementptr i32, ptr %v112, i64 -1
  %v118 = load i32, ptr %v117, align 1
  %v119 = insertelement <8 x i32> poison, i32 %v118, i64 0
  %v120 = shufflevector <8 x i32> %v119, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x i32> %v120, ptr %v112, align 1
  %loopv109.next = add nuw nsw i64 %loopv109.n, 1
  %loopv109.on = icmp slt i64 %loopv109.next, 2
  br i1 %loopv109.on, label %loopv109, label %loopv109.end
loopv109.end:
  br label %b1.check
b1.check:
  %b1.now = add i64 %t, 0
  %b1.r = ashr i64 %b1.now, 0
  %v187 = sub i64 %b1.r, %v121
  %v188 = icmp ult i64 %v187, %v123
  br i1 %v188, label %b1.row, label %row.next
b1.row:
  %b1.isend = icmp eq i64 %b1.r, %H1
  %b1.W = select i1 %b1.isend, i64 %Wlast, i64 %W
  %b1.Wend = add i64 %b1.W, 0
  %b1.rest = urem i64 %b1.W, 8
  %b1.partial = icmp ne i64 %b1.rest, 0
  %b1.fullend = sub i64 %b1.W, %b1.rest
  %v126 = load <16 x i16>, ptr %v47, align 64
  %v127 = urem i64 %b1.r, 1
  %v128 = mul i64 %v127, %v97
  %v129 = getelementptr i8, ptr %v101, i64 %v128
  %v134 = mul i64 %v105, 1
  %v135 = getelementptr i8, ptr %v129, i64 %v134
  %v157 = load <16 x i16>, ptr %v81, align 64
  %v171 = icmp sge i64 %b1.now, %y0
  %v172 = icmp slt i64 %b1.now, %y1
  %v173 = and i1 %v171, %v172
  %v174 = mul i64 %b1.r, %v170
  %v175 = getelementptr i8, ptr %v168, i64 %v174
  %v183 = add i64 %b1.r, 2
  %v184 = mul i64 %v183, %v52
  %v185 = getelementptr i8, ptr %v50, i64 %v184
  br i1 false, label %b1.done, label %b1.loop
b1.loop:
  %b1.column = phi i64 [ 0, %b1.row ], [ %b1.x.next, %b1.loop ]
  %b1.x = call i64 asm "", "=r,0"(i64 %b1.column)
  %b1.full = icmp slt i64 %b1.x, %b1.fullend
  %v130 = mul i64 %b1.x, 4
  %v131 = getelementptr i8, ptr %v129, i64 %v130
  %v132 = getelementptr i8, ptr %v131, i64 -4
  %v133 = load <16 x i16>, ptr %v132, align 2
  %v136 = getelementptr i8, ptr %v135, i64 %v130
  %v137 = getelementptr i8, ptr %v136, i64 -4
  %v138 = load <16 x i16>, ptr %v137, align 2
  %v139 = load <16 x i16>, ptr %v131, align 2
  %v140 = getelementptr i8, ptr %v131, i64 32
  %v141 = load <16 x i16>, ptr %v140, align 2
  %v142 = shufflevector <16 x i16> %v139, <16 x i16> %v141, <16 x i32> <i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17>
  %v143 = load <16 x i16>, ptr %v136, align 2
  %v144 = getelementptr i8, ptr %v136, i64 32
  %v145 = load <16 x i16>, ptr %v144, align 2
  %v146 = shufflevector <16 x i16> %v143, <16 x i16> %v145, <16 x i32> <i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17>
  %v147 = or <16 x i16> %v133, %v142
  %v148 = xor <16 x i16> %v133, %v142
  %v149 = lshr <16 x i16> %v148, splat (i16 1)
  %v150 = sub <16 x i16> %v147, %v149
  %v151 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v150, <16 x i16> %v126)
  %v152 = or <16 x i16> %v138, %v146
  %v153 = xor <16 x i16> %v138, %v146
  %v154 = lshr <16 x i16> %v153, splat (i16 1)
  %v155 = sub <16 x i16> %v152, %v154
  %v156 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v155, <16 x i16> %v126)
  %v158 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v139, <16 x i16> %v157)
  %v159 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v151, <16 x i16> %v158)
  %v160 = call <16 x i16> @llvm.x86.avx2.pmulhu.w(<16 x i16> %v143, <16 x i16> %v157)
  %v161 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v156, <16 x i16> %v160)
  %v162 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v159, <16 x i16> splat (i16 129))
  %v163 = call <16 x i16> @llvm.uadd.sat.v16i16(<16 x i16> %v161, <16 x i16> splat (i16 129))
  %v164 = lshr <16 x i16> %v162, splat (i16 8)
  %v165 = and <16 x i16> %v163, splat (i16 -256)
  %v166 = or <16 x i16> %v164, %v165
  %v177 = getelementptr i8, ptr %v175, i64 %v130
  %v181 = and i1 %b1.full, %v173
  %v182 = select i1 %v181, ptr %v177, ptr %v176
  store <16 x i16> %v166, ptr %v182, align 1
  %v186 = getelementptr i8, ptr %v185, i64 %v130
  call void @llvm.prefetch.p0(ptr %v186, i32 0, i32 2, i32 1)
  %b1.x.next = add nsw i64 %b1.column, 8
  %b1.on = icmp slt i64 %b1.x.next, %b1.Wend
  br i1 %b1.on, label %b1.loop, label %b1.done
b1.done:
  %v189 = and i1 %b1.partial, %v173
  br i1 %v189, label %b1.out, label %b1.after
b1.out:
  %v178 = mul i64 %b1.fullend, 4
  %v179 = getelementptr i8, ptr %v175, i64 %v178
  %v180 = mul i64 %b1.rest, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %v179, ptr %v176, i64 %v180, i1 false)
  br label %b1.after
b1.after:
  br label %row.next
row.next:
  %t.next = add i64 %time, 1
  %again = icmp slt i64 %t.next, %y1
  br i1 %again, label %row, label %band
exit:
  ret void
}
attributes #0 = { nounwind "min-legal-vector-width"="256" "prefer-vector-width"="512" }
