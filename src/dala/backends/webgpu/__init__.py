"""The WebGPU device: any GPU, through wgpu-py.

adapters.py   which GPUs there are             doctor.py    what is missing, in words
device.py     the contract                     memory.py    arrays, pool, staging
tiles.py      how a pass is laid out           split.py     what does not fit, in parts
shader.py     a FusedPass as WGSL              blocks.py    one invocation's pixels
arrays.py     arrays in memory                 held.py      tiles in workgroup memory
spelling.py   ops in WGSL                      functions.py   functions that they call
uniforms.py   what is the same everywhere      library.py   whole-array ops
pipelines.py  compiled shaders                 execute.py   a run: its command buffer
record.py     command buffers                  queue.py     what goes to the GPU, in order
faults.py     wgpu's errors as ours            waiting.py   waiting without being in the way
"""
