"""Networks on a GPU: dispatches of our own, in one submit.

    program → forms and places of values (placing.py) → a shader per layer → one GpuExecutable

runner.py     programs compiled, weights held        compile.py    layers → shaders, in order
placing.py    where values lie, and for how long     access.py     arrays read and written four at a time
shader.py     a shader under way                     epilogue.py   element-wise steps in WGSL
products.py   pointwise, conv, separable, matmul     fills.py      what they read, into workgroup memory
tiling.py     how they are divided                   windows.py    depthwise, pooling, resizing
moves.py      map, take, concat                      whole.py      reductions, softmax, argmax
excite.py     squeeze and excite

Values are dense, channels last. An invocation computes four channels of a pixel, or of several; where the
channels are no multiple of four the last ones are read and written one by one. Sizes stand in the text:
layers share a pipeline only where they are equal, and no division or loop waits for a uniform.
"""
