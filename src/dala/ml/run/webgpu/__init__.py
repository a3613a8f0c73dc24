"""Networks on a GPU: dispatches of our own, in one submit.

    program → forms and places of values (placing.py) → a shader per layer → one GpuExecutable

runner.py     programs compiled, weights held        compile.py    layers → shaders, in order
placing.py    where values lie, and for how long     access.py     arrays read and written four at a time
shader.py     a shader under way                     epilogue.py   element-wise steps in WGSL
products.py   pointwise, matmul                      windows.py    convolutions, pooling, resizing
moves.py      map, take, concat                      whole.py      reductions, softmax, argmax

Values are dense, channels last. An invocation computes four channels of one pixel (of four pixels in a
product); where the channels are no multiple of four the last ones are read and written one by one. Sizes
are uniforms, so layers of one kind share a pipeline.
"""
