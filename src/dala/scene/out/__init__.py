"""Out of a scene: files, streams, windows, several canvases at once.

export.py        a scene → a file: exact frames, exact sound    canvas.py   a scene in another size
frames.py        compositions → frames for an encoder           tracks.py   the sound of a file
transcoding.py   a video through a scene                        show.py     a scene in a window
parts.py         parts that stay: an export goes on
stage.py         what is needed of a scene or a canvas          waiting.py  what waits for an output
stream.py        a scene → a server, live                       broadcast.py   its threads
lateness.py      how late a broadcast's frames are

times ─ evaluate (sources decode ahead) ─ queue ─ paint as YUV ─ queue ─ encode ─ mux ─ file
"""

from __future__ import annotations

from dala.scene.out.broadcast import Broadcast, BroadcastStats
from dala.scene.out.canvas import Canvas
from dala.scene.out.export import export
from dala.scene.out.show import show
from dala.scene.out.stream import stream

__all__ = ["Broadcast", "BroadcastStats", "Canvas", "export", "show", "stream"]
