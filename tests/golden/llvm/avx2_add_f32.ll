declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @dala_pass(ptr noalias %args, ptr noalias %scratch) #0 {
entry:
  %v41 = getelementptr i64, ptr %args, i64 1
  %bands = load i64, ptr %v41, align 8
  %v42 = getelementptr i64, ptr %args, i64 2
  %band_rows = load i64, ptr %v42, align 8
  %v43 = getelementptr i64, ptr %args, i64 3
  %H = load i64, ptr %v43, align 8
  %v44 = getelementptr i64, ptr %args, i64 4
  %W = load i64, ptr %v44, align 8
  %v45 = getelementptr i64, ptr %args, i64 5
  %Wlast = load i64, ptr %v45, align 8
  %H1 = sub i64 %H, 1
  %v1 = getelementptr i64, ptr %args, i64 9
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i64, ptr %args, i64 10
  %v4 = load i64, ptr %v3, align 8
  %v10 = getelementptr i64, ptr %args, i64 13
  %v11 = load ptr, ptr %v10, align 8
  %v12 = getelementptr i64, ptr %args, i64 14
  %v13 = load i64, ptr %v12, align 8
  %v19 = getelementptr i64, ptr %args, i64 17
  %v20 = load ptr, ptr %v19, align 8
  %v21 = getelementptr i64, ptr %args, i64 18
  %v22 = load i64, ptr %v21, align 8
  %v28 = getelementptr i8, ptr %scratch, i64 0
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
  %v35 = call i64 @llvm.smax.i64(i64 %y0, i64 0)
  %v36 = call i64 @llvm.smin.i64(i64 %y1, i64 %H)
  %v37 = sub i64 %v36, %v35
  br label %row
row:
  %time = phi i64 [ %t0, %begin ], [ %t.next, %row.next ]
  %t = call i64 asm "", "=r,0"(i64 %time)
  br label %b0.check
b0.check:
  %b0.now = add i64 %t, 0
  %b0.r = ashr i64 %b0.now, 0
  %v38 = sub i64 %b0.r, %v35
  %v39 = icmp ult i64 %v38, %v37
  br i1 %v39, label %b0.row, label %row.next
b0.row:
  %b0.isend = icmp eq i64 %b0.r, %H1
  %b0.W = select i1 %b0.isend, i64 %Wlast, i64 %W
  %b0.Wend = add i64 %b0.W, 0
  %b0.rest = urem i64 %b0.W, 8
  %b0.partial = icmp ne i64 %b0.rest, 0
  %b0.fullend = sub i64 %b0.W, %b0.rest
  %v5 = mul i64 %b0.r, %v4
  %v6 = getelementptr i8, ptr %v2, i64 %v5
  %v14 = mul i64 %b0.r, %v13
  %v15 = getelementptr i8, ptr %v11, i64 %v14
  %v23 = icmp sge i64 %b0.now, %y0
  %v24 = icmp slt i64 %b0.now, %y1
  %v25 = and i1 %v23, %v24
  %v26 = mul i64 %b0.r, %v22
  %v27 = getelementptr i8, ptr %v20, i64 %v26
  br i1 false, label %b0.done, label %b0.loop
b0.loop:
  %b0.column = phi i64 [ 0, %b0.row ], [ %b0.x.next, %b0.loop ]
  %b0.x = call i64 asm "", "=r,0"(i64 %b0.column)
  %b0.full = icmp slt i64 %b0.x, %b0.fullend
  %v7 = mul i64 %b0.x, 4
  %v8 = getelementptr i8, ptr %v6, i64 %v7
  %v9 = load <8 x float>, ptr %v8, align 1
  %v16 = getelementptr i8, ptr %v15, i64 %v7
  %v17 = load <8 x float>, ptr %v16, align 1
  %v18 = fadd <8 x float> %v9, %v17
  %v29 = getelementptr i8, ptr %v27, i64 %v7
  %v33 = and i1 %b0.full, %v25
  %v34 = select i1 %v33, ptr %v29, ptr %v28
  store <8 x float> %v18, ptr %v34, align 1
  %b0.x.next = add nsw i64 %b0.column, 8
  %b0.on = icmp slt i64 %b0.x.next, %b0.Wend
  br i1 %b0.on, label %b0.loop, label %b0.done
b0.done:
  %v40 = and i1 %b0.partial, %v25
  br i1 %v40, label %b0.out, label %b0.after
b0.out:
  %v30 = mul i64 %b0.fullend, 4
  %v31 = getelementptr i8, ptr %v27, i64 %v30
  %v32 = mul i64 %b0.rest, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %v31, ptr %v28, i64 %v32, i1 false)
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
