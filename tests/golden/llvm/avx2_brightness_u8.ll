declare <16 x i16> @llvm.x86.avx2.packusdw(<8 x i32>, <8 x i32>)
declare <32 x i8> @llvm.x86.avx2.packuswb(<16 x i16>, <16 x i16>)
declare <8 x i32> @llvm.x86.avx.cvt.ps2dq.256(<8 x float>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @dala_pass(ptr noalias %args, ptr noalias %scratch) #0 {
entry:
  %v72 = getelementptr i64, ptr %args, i64 1
  %bands = load i64, ptr %v72, align 8
  %v73 = getelementptr i64, ptr %args, i64 2
  %band_rows = load i64, ptr %v73, align 8
  %v74 = getelementptr i64, ptr %args, i64 3
  %H = load i64, ptr %v74, align 8
  %v75 = getelementptr i64, ptr %args, i64 4
  %W = load i64, ptr %v75, align 8
  %v76 = getelementptr i64, ptr %args, i64 5
  %Wlast = load i64, ptr %v76, align 8
  %H1 = sub i64 %H, 1
  %v1 = getelementptr i64, ptr %args, i64 9
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i64, ptr %args, i64 10
  %v4 = load i64, ptr %v3, align 8
  %v24 = getelementptr i64, ptr %args, i64 18
  %v25 = load float, ptr %v24, align 8
  %v26 = insertelement <8 x float> poison, float %v25, i64 0
  %v27 = shufflevector <8 x float> %v26, <8 x float> poison, <8 x i32> zeroinitializer
  %v49 = getelementptr i64, ptr %args, i64 13
  %v50 = load ptr, ptr %v49, align 8
  %v51 = getelementptr i64, ptr %args, i64 14
  %v52 = load i64, ptr %v51, align 8
  %v58 = getelementptr i8, ptr %scratch, i64 0
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
  %v66 = call i64 @llvm.smax.i64(i64 %y0, i64 0)
  %v67 = call i64 @llvm.smin.i64(i64 %y1, i64 %H)
  %v68 = sub i64 %v67, %v66
  br label %row
row:
  %time = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]
  %t = call i64 asm "", "=r,0"(i64 %time)
  br label %b0.check
b0.check:
  %b0.now = add i64 %t, 0
  %b0.r = ashr i64 %b0.now, 0
  %v69 = sub i64 %b0.r, %v66
  %v70 = icmp ult i64 %v69, %v68
  br i1 %v70, label %b0.row, label %row.next
b0.row:
  %b0.isend = icmp eq i64 %b0.r, %H1
  %b0.W = select i1 %b0.isend, i64 %Wlast, i64 %W
  %b0.Wend = add i64 %b0.W, 0
  %b0.rest = urem i64 %b0.W, 8
  %b0.partial = icmp ne i64 %b0.rest, 0
  %b0.fullend = sub i64 %b0.W, %b0.rest
  %v5 = mul i64 %b0.r, %v4
  %v6 = getelementptr i8, ptr %v2, i64 %v5
  %v53 = icmp sge i64 %b0.now, %y0
  %v54 = icmp slt i64 %b0.now, %y1
  %v55 = and i1 %v53, %v54
  %v56 = mul i64 %b0.r, %v52
  %v57 = getelementptr i8, ptr %v50, i64 %v56
  br i1 false, label %b0.done, label %b0.loop
b0.loop:
  %b0.column = phi i64 [ 0, %b0.row ], [ %b0.x.next, %b0.loop ]
  %b0.x = call i64 asm "", "=r,0"(i64 %b0.column)
  %b0.full = icmp slt i64 %b0.x, %b0.fullend
  %v7 = mul i64 %b0.x, 4
  %v8 = getelementptr i8, ptr %v6, i64 %v7
  %v9 = load <8 x i32>, ptr %v8, align 1
  %v10 = and <8 x i32> %v9, splat (i32 255)
  %v11 = sitofp <8 x i32> %v10 to <8 x float>
  %v12 = lshr <8 x i32> %v9, splat (i32 8)
  %v13 = and <8 x i32> %v12, splat (i32 255)
  %v14 = sitofp <8 x i32> %v13 to <8 x float>
  %v15 = lshr <8 x i32> %v9, splat (i32 16)
  %v16 = and <8 x i32> %v15, splat (i32 255)
  %v17 = sitofp <8 x i32> %v16 to <8 x float>
  %v18 = lshr <8 x i32> %v9, splat (i32 24)
  %v19 = sitofp <8 x i32> %v18 to <8 x float>
  %v20 = fmul <8 x float> %v11, splat (float 0x3F70101020000000)
  %v21 = fmul <8 x float> %v14, splat (float 0x3F70101020000000)
  %v22 = fmul <8 x float> %v17, splat (float 0x3F70101020000000)
  %v23 = fmul <8 x float> %v19, splat (float 0x3F70101020000000)
  %v28 = fadd <8 x float> %v20, %v27
  %v29 = fmul <8 x float> %v28, splat (float 0x406FE00000000000)
  %v30 = fcmp ogt <8 x float> %v29, splat (float 0x406FE00000000000)
  %v31 = select <8 x i1> %v30, <8 x float> splat (float 0x406FE00000000000), <8 x float> %v29
  %v32 = call <8 x i32> @llvm.x86.avx.cvt.ps2dq.256(<8 x float> %v31)
  %v33 = fadd <8 x float> %v21, %v27
  %v34 = fmul <8 x float> %v33, splat (float 0x406FE00000000000)
  %v35 = fcmp ogt <8 x float> %v34, splat (float 0x406FE00000000000)
  %v36 = select <8 x i1> %v35, <8 x float> splat (float 0x406FE00000000000), <8 x float> %v34
  %v37 = call <8 x i32> @llvm.x86.avx.cvt.ps2dq.256(<8 x float> %v36)
  %v38 = fadd <8 x float> %v22, %v27
  %v39 = fmul <8 x float> %v38, splat (float 0x406FE00000000000)
  %v40 = fcmp ogt <8 x float> %v39, splat (float 0x406FE00000000000)
  %v41 = select <8 x i1> %v40, <8 x float> splat (float 0x406FE00000000000), <8 x float> %v39
  %v42 = call <8 x i32> @llvm.x86.avx.cvt.ps2dq.256(<8 x float> %v41)
  %v43 = call <16 x i16> @llvm.x86.avx2.packusdw(<8 x i32> %v32, <8 x i32> %v37)
  %v44 = call <16 x i16> @llvm.x86.avx2.packusdw(<8 x i32> %v42, <8 x i32> zeroinitializer)
  %v45 = call <32 x i8> @llvm.x86.avx2.packuswb(<16 x i16> %v43, <16 x i16> %v44)
  %v46 = shufflevector <32 x i8> %v45, <32 x i8> poison, <32 x i32> <i32 0, i32 4, i32 8, i32 12, i32 1, i32 5, i32 9, i32 13, i32 2, i32 6, i32 10, i32 14, i32 3, i32 7, i32 11, i32 15, i32 16, i32 20, i32 24, i32 28, i32 17, i32 21, i32 25, i32 29, i32 18, i32 22, i32 26, i32 30, i32 19, i32 23, i32 27, i32 31>
  %v47 = bitcast <32 x i8> %v46 to <8 x i32>
  %v48 = and <8 x i32> %v9, splat (i32 -16777216)
  %v59 = getelementptr i8, ptr %v57, i64 %v7
  %v63 = and i1 %b0.full, %v55
  %v64 = select i1 %v63, ptr %v59, ptr %v58
  %v65 = or <8 x i32> %v47, %v48
  store <8 x i32> %v65, ptr %v64, align 1
  %b0.x.next = add nsw i64 %b0.column, 8
  %b0.on = icmp slt i64 %b0.x.next, %b0.Wend
  br i1 %b0.on, label %b0.loop, label %b0.done
b0.done:
  %v71 = and i1 %b0.partial, %v55
  br i1 %v71, label %b0.out, label %b0.after
b0.out:
  %v60 = mul i64 %b0.fullend, 4
  %v61 = getelementptr i8, ptr %v57, i64 %v60
  %v62 = mul i64 %b0.rest, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %v61, ptr %v58, i64 %v62, i1 false)
  br label %b0.after
b0.after:
  br label %row.next
row.next:
  %t.next = add i64 %time, 1
  %again = icmp slt i64 %t.next, %y1
  br i1 %again, label %row, label %band
exit:
  ret void
}
attributes #0 = { nounwind "min-legal-vector-width"="256" "prefer-vector-width"="512" }
