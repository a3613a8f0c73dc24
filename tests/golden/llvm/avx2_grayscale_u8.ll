declare <32 x i8> @llvm.x86.avx2.packuswb(<16 x i16>, <16 x i16>)
declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @dala_pass(ptr noalias %args, ptr noalias %scratch) #0 {
entry:
  %v48 = getelementptr i64, ptr %args, i64 1
  %bands = load i64, ptr %v48, align 8
  %v49 = getelementptr i64, ptr %args, i64 2
  %band_rows = load i64, ptr %v49, align 8
  %v50 = getelementptr i64, ptr %args, i64 3
  %H = load i64, ptr %v50, align 8
  %v51 = getelementptr i64, ptr %args, i64 4
  %W = load i64, ptr %v51, align 8
  %v52 = getelementptr i64, ptr %args, i64 5
  %Wlast = load i64, ptr %v52, align 8
  %H1 = sub i64 %H, 1
  %v1 = getelementptr i64, ptr %args, i64 9
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i64, ptr %args, i64 10
  %v4 = load i64, ptr %v3, align 8
  %v26 = getelementptr i64, ptr %args, i64 13
  %v27 = load ptr, ptr %v26, align 8
  %v28 = getelementptr i64, ptr %args, i64 14
  %v29 = load i64, ptr %v28, align 8
  %v35 = getelementptr i8, ptr %scratch, i64 0
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
  %v42 = call i64 @llvm.smax.i64(i64 %y0, i64 0)
  %v43 = call i64 @llvm.smin.i64(i64 %y1, i64 %H)
  %v44 = sub i64 %v43, %v42
  br label %row
row:
  %time = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]
  %t = call i64 asm "", "=r,0"(i64 %time)
  br label %b0.check
b0.check:
  %b0.now = add i64 %t, 0
  %b0.r = ashr i64 %b0.now, 0
  %v45 = sub i64 %b0.r, %v42
  %v46 = icmp ult i64 %v45, %v44
  br i1 %v46, label %b0.row, label %row.next
b0.row:
  %b0.isend = icmp eq i64 %b0.r, %H1
  %b0.W = select i1 %b0.isend, i64 %Wlast, i64 %W
  %b0.Wend = add i64 %b0.W, 0
  %b0.rest = urem i64 %b0.W, 8
  %b0.partial = icmp ne i64 %b0.rest, 0
  %b0.fullend = sub i64 %b0.W, %b0.rest
  %v5 = mul i64 %b0.r, %v4
  %v6 = getelementptr i8, ptr %v2, i64 %v5
  %v30 = icmp sge i64 %b0.now, %y0
  %v31 = icmp slt i64 %b0.now, %y1
  %v32 = and i1 %v30, %v31
  %v33 = mul i64 %b0.r, %v29
  %v34 = getelementptr i8, ptr %v27, i64 %v33
  br i1 false, label %b0.done, label %b0.loop
b0.loop:
  %b0.column = phi i64 [ 0, %b0.row ], [ %b0.x.next, %b0.loop ]
  %b0.x = call i64 asm "", "=r,0"(i64 %b0.column)
  %b0.full = icmp slt i64 %b0.x, %b0.fullend
  %v7 = mul i64 %b0.x, 4
  %v8 = getelementptr i8, ptr %v6, i64 %v7
  %v9 = load <32 x i8>, ptr %v8, align 1
  %v10 = load <8 x i32>, ptr %v8, align 1
  %v11 = shl <8 x i32> %v10, splat (i32 1)
  %v12 = and <8 x i32> %v11, splat (i32 33423870)
  %v13 = bitcast <8 x i32> %v12 to <16 x i16>
  %v14 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %v13, <16 x i16> <i16 9798, i16 3736, i16 9798, i16 3736, i16 9798, i16 3736, i16 9798, i16 3736, i16 9798, i16 3736, i16 9798, i16 3736, i16 9798, i16 3736, i16 9798, i16 3736>)
  %v15 = lshr <8 x i32> %v10, splat (i32 7)
  %v16 = and <8 x i32> %v15, splat (i32 33423870)
  %v17 = and <8 x i32> %v16, splat (i32 65535)
  %v18 = or <8 x i32> %v17, splat (i32 131072)
  %v19 = bitcast <8 x i32> %v18 to <16 x i16>
  %v20 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %v19, <16 x i16> <i16 19235, i16 16384, i16 19235, i16 16384, i16 19235, i16 16384, i16 19235, i16 16384, i16 19235, i16 16384, i16 19235, i16 16384, i16 19235, i16 16384, i16 19235, i16 16384>)
  %v21 = add <8 x i32> %v14, %v20
  %v22 = bitcast <8 x i32> %v21 to <16 x i16>
  %v23 = call <32 x i8> @llvm.x86.avx2.packuswb(<16 x i16> %v22, <16 x i16> %v22)
  %v24 = shufflevector <32 x i8> %v23, <32 x i8> poison, <32 x i32> <i32 1, i32 1, i32 1, i32 undef, i32 3, i32 3, i32 3, i32 undef, i32 5, i32 5, i32 5, i32 undef, i32 7, i32 7, i32 7, i32 undef, i32 17, i32 17, i32 17, i32 undef, i32 19, i32 19, i32 19, i32 undef, i32 21, i32 21, i32 21, i32 undef, i32 23, i32 23, i32 23, i32 undef>
  %v25 = select <32 x i1> <i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true, i1 false, i1 false, i1 false, i1 true>, <32 x i8> %v9, <32 x i8> %v24
  %v36 = getelementptr i8, ptr %v34, i64 %v7
  %v40 = and i1 %b0.full, %v32
  %v41 = select i1 %v40, ptr %v36, ptr %v35
  store <32 x i8> %v25, ptr %v41, align 1
  %b0.x.next = add nsw i64 %b0.column, 8
  %b0.on = icmp slt i64 %b0.x.next, %b0.Wend
  br i1 %b0.on, label %b0.loop, label %b0.done
b0.done:
  %v47 = and i1 %b0.partial, %v32
  br i1 %v47, label %b0.out, label %b0.after
b0.out:
  %v37 = mul i64 %b0.fullend, 4
  %v38 = getelementptr i8, ptr %v34, i64 %v37
  %v39 = mul i64 %b0.rest, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %v38, ptr %v35, i64 %v39, i1 false)
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
