"""Picture files: what a photo is stays what it is, in its bits, its colours and what else the file says.

content.py    pixels, metadata                 formats.py   which formats, plug-ins, hints
photo.py      the same, to be shown and saved
reading.py    a file → a Photo                 writing.py   a Photo → a file, and its losses
metadata.py   ICC, EXIF, XMP, orientation      deep_png.py  PNG of 16 bits in colour
tiff.py       TIFF of 16 bits and floats       lending.py   Pillow's memory, read where it lies
netpbm.py     PGM, PPM and PFM                 depth.py     what Pillow does not tell of a file
place.py      a file appears when it is complete

open → upright, deep → (filters) → save: what the format cannot hold is said in one line
"""

from __future__ import annotations

from dala.media.files.content import Metadata
from dala.media.files.formats import format_of, picture_endings
from dala.media.files.photo import Photo
from dala.media.files.reading import open_photo
from dala.media.files.writing import save_photo

__all__ = ["Metadata", "Photo", "format_of", "open_photo", "picture_endings", "save_photo"]
