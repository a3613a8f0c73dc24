"""Models: networks from ONNX files, on the CPU, on any GPU, and as stages of a pipeline.

kernel.py    a network as a kernel
    network.py   a network that is open     onnx/     reading its file
layers/      what layers mean           run/      where they run
"""

from __future__ import annotations
