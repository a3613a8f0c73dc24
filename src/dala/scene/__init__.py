"""Scenes: pictures, videos, text and shapes, composed over time.

    description (nodes, tracks)  ──evaluate(t)──▶  Composition (layers)  ──paint──▶  pixels (RGBA or YUV)

    scene.py         what a user holds           adding.py      add_video, add_text, …, one for each type
    animating.py     animate, transition, …      editing.py     nodes, and what must hold between them
    times.py         times, exact                nodes/         frozen nodes, tables of their properties
    animation/       easings, tracks             description.py all nodes at one moment of the editing
    layout/          rows, grids, moves          evaluate/      a description and a time → a composition
    layers.py        what is to be painted at one moment: contents, where each goes, how they meet
    paint/           layers → pixels: the NumPy meaning, compiled code for CPUs, shaders for GPUs
    painting.py      where a scene's pictures are painted
    effects/         filters on a layer, a group, everything below
    transitions/     one picture becomes another
    sources/         videos, pictures, cameras …: the picture at a time
    sound/           files, samples, scenes as voices; the mixer
    files/           scenes as JSON, templates, the schema
    subtitles/       SRT, WebVTT and ASS as cues
    out/             files, streams, windows, canvases of other sizes
    frame.py         a picture and its time      pool.py        textures, handed out and taken back
    clock.py         what time it is

A picture is a pure function of the description and the time: the same in whatever order one asks.
"""

from __future__ import annotations

from dala.scene.animation.easing import Easing, cubic_bezier, spring, steps
from dala.scene.clock import Clock, ClockStats
from dala.scene.files import check, load, save, schema
from dala.scene.frame import Frame
from dala.scene.nodes.looks import Border, Box, Gradient, Outline, Shadow
from dala.scene.nodes.node import Node
from dala.scene.out import Broadcast, BroadcastStats, Canvas, export, show, stream
from dala.scene.pool import PoolStats, Texture, TexturePool
from dala.scene.scene import Scene
from dala.scene.sound.live import LiveSoundStats
from dala.scene.subtitles import (
    active_cue,
    cues_in_range,
    parse_ass,
    parse_srt,
    parse_vtt,
    to_overlay,
)

__all__ = [
    "Border", "Box", "Broadcast", "BroadcastStats", "Canvas", "Clock", "ClockStats", "Easing", "Frame",
    "Gradient", "LiveSoundStats", "Node", "Outline", "PoolStats", "Scene", "Shadow", "Texture",
    "TexturePool", "active_cue", "check", "cubic_bezier", "cues_in_range", "export", "load",
    "parse_ass", "parse_srt", "parse_vtt", "save", "schema", "show", "spring", "steps", "stream",
    "to_overlay",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
