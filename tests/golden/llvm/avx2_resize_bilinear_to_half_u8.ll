declare <32 x i8> @llvm.x86.avx2.packuswb(<16 x i16>, <16 x i16>)
declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @dala_pass(ptr noalias %args, ptr noalias %scratch) #0 {
entry:
  %v80 = getelementptr i64, ptr %args, i64 1
  %bands = load i64, ptr %v80, align 8
  %v81 = getelementptr i64, ptr %args, i64 2
  %band_rows = load i64, ptr %v81, align 8
  %v82 = getelementptr i64, ptr %args, i64 3
  %H = load i64, ptr %v82, align 8
  %v83 = getelementptr i64, ptr %args, i64 4
  %W = load i64, ptr %v83, align 8
  %v84 = getelementptr i64, ptr %args, i64 5
  %Wlast = load i64, ptr %v84, align 8
  %H1 = sub i64 %H, 1
  %v1 = getelementptr i64, ptr %args, i64 9
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i64, ptr %args, i64 10
  %v4 = load i64, ptr %v3, align 8
  %v6 = getelementptr i64, ptr %args, i64 11
  %v7 = load i64, ptr %v6, align 8
  %v8 = sub i64 %v7, 1
  %v57 = getelementptr i64, ptr %args, i64 13
  %v58 = load ptr, ptr %v57, align 8
  %v59 = getelementptr i64, ptr %args, i64 14
  %v60 = load i64, ptr %v59, align 8
  %v66 = getelementptr i8, ptr %scratch, i64 0
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
  %v74 = call i64 @llvm.smax.i64(i64 %y0, i64 0)
  %v75 = call i64 @llvm.smin.i64(i64 %y1, i64 %H)
  %v76 = sub i64 %v75, %v74
  br label %row
row:
  %time = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]
  %t = call i64 asm "", "=r,0"(i64 %time)
  br label %b0.check
b0.check:
  %b0.now = add i64 %t, 0
  %b0.r = ashr i64 %b0.now, 0
  %v77 = sub i64 %b0.r, %v74
  %v78 = icmp ult i64 %v77, %v76
  br i1 %v78, label %b0.row, label %row.next
b0.row:
  %b0.isend = icmp eq i64 %b0.r, %H1
  %b0.W = select i1 %b0.isend, i64 %Wlast, i64 %W
  %b0.Wend = add i64 %b0.W, 0
  %b0.rest = urem i64 %b0.W, 8
  %b0.partial = icmp ne i64 %b0.rest, 0
  %b0.fullend = sub i64 %b0.W, %b0.rest
  %v5 = shl i64 %b0.r, 1
  %v9 = mul i64 %v5, %v4
  %v10 = getelementptr i8, ptr %v2, i64 %v9
  %v17 = add i64 %v5, 1
  %v18 = call i64 @llvm.smin.i64(i64 %v17, i64 %v8)
  %v19 = mul i64 %v18, %v4
  %v20 = getelementptr i8, ptr %v2, i64 %v19
  %v61 = icmp sge i64 %b0.now, %y0
  %v62 = icmp slt i64 %b0.now, %y1
  %v63 = and i1 %v61, %v62
  %v64 = mul i64 %b0.r, %v60
  %v65 = getelementptr i8, ptr %v58, i64 %v64
  br i1 false, label %b0.done, label %b0.loop
b0.loop:
  %b0.column = phi i64 [ 0, %b0.row ], [ %b0.x.next, %b0.loop ]
  %b0.x = call i64 asm "", "=r,0"(i64 %b0.column)
  %b0.full = icmp slt i64 %b0.x, %b0.fullend
  %v11 = shl nsw i64 %b0.x, 1
  %v12 = mul i64 %v11, 4
  %v13 = getelementptr i8, ptr %v10, i64 %v12
  %v14 = load <16 x i32>, ptr %v13, align 1
  %v15 = shl <16 x i32> %v14, splat (i32 1)
  %v16 = and <16 x i32> %v15, splat (i32 33423870)
  %v21 = getelementptr i8, ptr %v20, i64 %v12
  %v22 = load <16 x i32>, ptr %v21, align 1
  %v23 = shl <16 x i32> %v22, splat (i32 1)
  %v24 = and <16 x i32> %v23, splat (i32 33423870)
  %v25 = add <16 x i32> %v16, %v24
  %v26 = shufflevector <16 x i32> %v25, <16 x i32> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v27 = shufflevector <16 x i32> %v25, <16 x i32> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v28 = add <8 x i32> %v26, %v27
  %v29 = bitcast <8 x i32> %v28 to <16 x i16>
  %v30 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %v29, <16 x i16> <i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0>)
  %v31 = add <8 x i32> splat (i32 32768), %v30
  %v32 = lshr <16 x i32> %v14, splat (i32 7)
  %v33 = and <16 x i32> %v32, splat (i32 33423870)
  %v34 = lshr <16 x i32> %v22, splat (i32 7)
  %v35 = and <16 x i32> %v34, splat (i32 33423870)
  %v36 = add <16 x i32> %v33, %v35
  %v37 = shufflevector <16 x i32> %v36, <16 x i32> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v38 = shufflevector <16 x i32> %v36, <16 x i32> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v39 = add <8 x i32> %v37, %v38
  %v40 = bitcast <8 x i32> %v39 to <16 x i16>
  %v41 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %v40, <16 x i16> <i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0>)
  %v42 = add <8 x i32> splat (i32 32768), %v41
  %v43 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %v29, <16 x i16> <i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192>)
  %v44 = add <8 x i32> splat (i32 32768), %v43
  %v45 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %v40, <16 x i16> <i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192, i16 0, i16 8192>)
  %v46 = add <8 x i32> splat (i32 32768), %v45
  %v47 = lshr <8 x i32> %v31, splat (i32 16)
  %v48 = and <8 x i32> %v42, splat (i32 -65536)
  %v49 = or <8 x i32> %v47, %v48
  %v50 = bitcast <8 x i32> %v49 to <16 x i16>
  %v51 = lshr <8 x i32> %v44, splat (i32 16)
  %v52 = and <8 x i32> %v46, splat (i32 -65536)
  %v53 = or <8 x i32> %v51, %v52
  %v54 = bitcast <8 x i32> %v53 to <16 x i16>
  %v55 = call <32 x i8> @llvm.x86.avx2.packuswb(<16 x i16> %v50, <16 x i16> %v54)
  %v56 = shufflevector <32 x i8> %v55, <32 x i8> poison, <32 x i32> <i32 0, i32 1, i32 8, i32 9, i32 2, i32 3, i32 10, i32 11, i32 4, i32 5, i32 12, i32 13, i32 6, i32 7, i32 14, i32 15, i32 16, i32 17, i32 24, i32 25, i32 18, i32 19, i32 26, i32 27, i32 20, i32 21, i32 28, i32 29, i32 22, i32 23, i32 30, i32 31>
  %v67 = mul i64 %b0.x, 4
  %v68 = getelementptr i8, ptr %v65, i64 %v67
  %v72 = and i1 %b0.full, %v63
  %v73 = select i1 %v72, ptr %v68, ptr %v66
  store <32 x i8> %v56, ptr %v73, align 1
  %b0.x.next = add nsw i64 %b0.column, 8
  %b0.on = icmp slt i64 %b0.x.next, %b0.Wend
  br i1 %b0.on, label %b0.loop, label %b0.done
b0.done:
  %v79 = and i1 %b0.partial, %v63
  br i1 %v79, label %b0.out, label %b0.after
b0.out:
  %v69 = mul i64 %b0.fullend, 4
  %v70 = getelementptr i8, ptr %v65, i64 %v69
  %v71 = mul i64 %b0.rest, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %v70, ptr %v66, i64 %v71, i1 false)
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
