"""The painter for CPUs: whole-number SIMD code through LLVM, the same bytes as the reference.

painter.py    a composition: all of it, what has changed, or as planes
running.py    one native run: memory, bands on the thread pool
records.py    layers as numbers; textures.py the pictures they read, kept by version
layout.py     what Python and machine code share
code.py       all functions compiled
walk.py       bands, layers, rows            covering.py   edges, and where a row is all there
sampling.py   what a row shows               turned.py     the same for rotated layers
planes.py     pixels as planes of YUV        whole.py      pictures reduced or multiplied by alpha
lanes.py, rows.py, colors.py, blending.py    vectors: words of the rasteriser's language
"""

from __future__ import annotations

from dala.scene.paint.cpu.painter import CpuPainter

__all__ = ["CpuPainter"]
