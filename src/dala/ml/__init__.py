"""Models: networks from ONNX files, on the CPU, on any GPU, and as stages of a pipeline.

network.py   a network that is open     onnx/     reading its file
layers/      what layers mean           run/      where they run
"""

from __future__ import annotations
