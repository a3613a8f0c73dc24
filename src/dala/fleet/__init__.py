"""Jobs for more than one process: films and scenes in parts, many files at once, here or on a Ray cluster.

transcode.py  one long video       cuts.py       where it may be cut: at key frames
scenes.py     one scene            sizes.py      how large pictures are: how much memory they take
files.py      many files
tasks.py      what a worker does   placement.py  how many workers, how many threads each
worker.py     a local worker
starting.py   its process          nursery.py    where it is forked
local.py      a pool of them       cluster.py    tasks on a Ray cluster (extra ``fleet``)
running.py    tasks → outcomes     engines.py    where they run
resume.py     a job that was left  addresses.py  what fsspec reaches
parts.py      how they are encoded joining.py    their joint, while others are made
hashing.py    a file's hash

source ─ scan ─ segments ─┬─ worker: decode → chain → encode → part ─┬─ joint ─ file
                          └─ worker: …                               ─┘    └ sound, packet by packet

Frames stay where they are decoded: what travels are paths and small records.
"""

from __future__ import annotations

from dala.errors import FleetError
from dala.fleet.files import map  # the API's own name
from dala.fleet.resume import resume
from dala.fleet.running import Failure, Progress, Report
from dala.fleet.scenes import export
from dala.fleet.transcode import transcode
from dala.video.parts.journal import Status, status

__all__ = [
    "Failure",
    "FleetError",
    "Progress",
    "Report",
    "Status",
    "export",
    "map",
    "resume",
    "status",
    "transcode",
]
