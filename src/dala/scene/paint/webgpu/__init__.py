"""The painter for GPUs: compute shaders through WebGPU, within a level of the reference.

painter.py    a composition: all of it, what has changed, or as planes; reading.py into main memory
contents.py   groups, transitions and effects, which become pictures on the GPU
records.py    layers as numbers; textures.py the pictures they read, kept by version
layout.py     what Python and the shaders share
shader.py     the shaders, from tiles.wgsl (a tile, all layers), prepare.wgsl (pictures times alpha,
              reduced), planes.wgsl (YUV); records.wgsl, covering.wgsl, sampling.wgsl, blending.wgsl: what a
              pixel becomes, after sampled.py and meeting.py
"""

from __future__ import annotations

from dala.scene.paint.webgpu.painter import GpuPainter

__all__ = ["GpuPainter"]
