"""Scenes: pictures, videos, text and shapes, composed over time.

description (nodes, tracks)  ──evaluate(t)──▶  Composition (layers)  ──paint──▶  pixels (RGBA or YUV)

layers.py      what is to be painted at one moment: contents, where each goes, how they meet
paint/         layers → pixels: the NumPy meaning, compiled code for CPUs
effects/       filters on a layer, a group, everything below
transitions/   one picture becomes another
sources/       videos, pictures, cameras …: the picture at a time
subtitles/     SRT, WebVTT and ASS as cues
"""

from __future__ import annotations
