"""The WebGPU device: any GPU, through wgpu-py.

adapters.py   which GPUs there are             doctor.py    what is missing, in words
device.py     the contract                     memory.py    arrays and the pool they come from
opened.py     an open GPU                      runtime_dir.py   asking for GPUs in a container
tiles.py      how a pass is laid out, and what fits
shader.py     a FusedPass as WGSL              body.py      expressions at any pixel
blocks.py     one invocation's pixels          pipelines.py  compiled shaders
arrays.py     arrays in memory                 workgroup.py  tiles in workgroup memory
spelling.py   ops in WGSL                      functions.py   functions that they call
uniforms.py   what is the same everywhere      library.py   whole-array ops, matmul.py: products
whole.py      what is dispatched for whole arrays
tiled.py      products in tiles, convolution.py: conv2d, selection.py: top_k
code.py       WGSL being written               listing.py   the frame of shaders written by hand
by_hand.py    shaders that are files of WGSL
prepare.py    what changes rounding            half.py      half precision, functions16.py: its functions
ranges.py     what a value can be              functions64.py   mathematics in f64
division.py   floordiv and mod, exactly
staging.py    the way in and out
execute.py    a run: its command buffer        timers.py    how long it took
record.py     command buffers                  replay.py    their calls, by machine code
queue.py      what goes to the GPU, in order
faults.py     wgpu's errors as ours            waiting.py   waiting without being in the way
wgpu_private.py  what is used of wgpu-py that is not public
wgpu_log.py   its warnings while GPUs are looked for
"""
