"""Video files, cameras and streams, through PyAV (FFmpeg): the extra ``video``.

endings.py   names of videos
places.py    what can be opened        reader.py      frames, one after the other
source.py    packets, decoded          opening.py     FFmpeg's container and decoder
targets.py   what can be written       sink.py        under a temporary name, then moved
span.py      a part, speed, rate       retime.py      frames of a part, in time
pictures.py  FFmpeg's pictures         writer.py      pictures into a file
color.py     matrix, range, tags       encoder.py     encoding
pixels.py    formats of pixels         palette.py     256 colours for a GIF
keeping.py   what cannot be kept       weave.py       interlaced pictures made whole
timecode.py  the clock of a recording
hdr.py       its metadata, and SDR of it
concat.py    one after the other       joined.py      their sound
voice.py     sound being encoded       samples.py     a user's sound
touch.py     a user's function         rgba.py        a user's pictures
over.py      a picture over frames     hdr.py         HDR, and SDR made of it
device.py    YUV → passes → YUV        transcode.py   a video through filters
flow.py      threads and queues        merge.py       several videos in one picture
library.py   PyAV, and its errors      allowed.py     what FFmpeg may open
info.py      what is in a file         inputs.py      a source made ready
frame.py     a picture and its time    clock.py       exact times
latest.py    the newest frame          timeline.py    several inputs on one timeline
canvas.py    pictures on a larger one  production.py  from open inputs to a finished file
collage.py   each straight into its part of a frame
output.py    a file being made         trimming.py    freed memory, given back
encoding.py  how a file is encoded     codecs.py      which encoder that is
sound.py     what comes along          progress.py    how far it is
enclosed.py  covers, attachments
hearing.py   sound as it comes, of live sources
first_frame.py   what filters see before they begin
parts/       a video made in parts: which are finished, how they are joined

file ─ demux ─ decode ─ queue ─ one fused pass on the device ─ queue ─ encode ─ mux ─ file
          └──────── sound and subtitles, packet by packet, as they are ────────┘
"""

from __future__ import annotations

from dala.errors import DamagedVideoError, VideoError, VideoFileError
from dala.video.concat import concat
from dala.video.encoding import Encoding
from dala.video.frame import Frame
from dala.video.info import Info, Track, probe
from dala.video.merge import grid, letterbox, picture_in_picture, side_by_side
from dala.video.over import Instant
from dala.video.production import Report
from dala.video.progress import Progress
from dala.video.reader import Reader
from dala.video.transcode import transcode
from dala.video.writer import Writer

__all__ = [
    "DamagedVideoError", "Encoding", "Frame", "Info", "Instant", "Progress", "Reader", "Report",
    "Track", "VideoError", "VideoFileError", "Writer", "concat", "grid", "letterbox",
    "picture_in_picture", "probe", "side_by_side", "transcode",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
