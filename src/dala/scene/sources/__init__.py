"""Where a scene's pictures come from: whatever it is, it is asked for the picture at a time.

source.py     what every source can do; Supply: memory, open files and reports that sources share
opening.py    a path, an array, a camera … as a source
timemap.py    a node's time → its source's: trims, speed, loops, pauses
film.py       a video's file: any frame, exactly         ahead.py      its frames, before they are asked for
decoding.py   frames in order from any time on           contents.py   FFmpeg's pictures as contents
stills.py     one picture, numbered pictures, arrays     made.py       a user's function; pushed pictures
live.py       cameras, screens, streams                  nested.py     a scene within a scene

node's time ─ TimeMap ─ source's time ─ frame_at ─ Planes or Rgba
"""

from __future__ import annotations

from dala.scene.sources.film import FilmSource
from dala.scene.sources.live import LiveSource
from dala.scene.sources.made import CallSource, Feed
from dala.scene.sources.nested import SceneSource
from dala.scene.sources.opening import open_media
from dala.scene.sources.source import Content, Source, Supply
from dala.scene.sources.stills import ArraySource, ImageSource, PicturesSource
from dala.scene.sources.timemap import Pause, Segment, TimeMap

__all__ = [
    "ArraySource", "CallSource", "Content", "Feed", "FilmSource", "ImageSource", "LiveSource", "Pause",
    "PicturesSource", "SceneSource", "Segment", "Source", "Supply", "TimeMap", "open_media",
]  # fmt: skip
