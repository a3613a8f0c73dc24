"""A video that is made in parts, and goes on where it was left.

folder.py    where they are: a folder beside the output, in which only what is ours is deleted
journal.py   which parts are finished: a line for each
joint.py     parts and sound into one file, packet by packet

parts ─ encoded one by one, noted ─ joined, the sound beside them ─ file
"""

from __future__ import annotations

from dala.video.parts.folder import part_key
from dala.video.parts.joint import Part, Track, encoding_for, join_parts, join_with_track, suffix_of
from dala.video.parts.journal import Journal, Record, Status, folder_of, hash_file, status

__all__ = [
    "Journal",
    "Part",
    "Record",
    "Status",
    "Track",
    "encoding_for",
    "folder_of",
    "hash_file",
    "join_parts",
    "join_with_track",
    "part_key",
    "status",
    "suffix_of",
]
