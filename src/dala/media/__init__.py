"""Pictures and frames through filters: blur a photo in one line, or grade a thousand frames a second.

    functions.py    one function per kernel    making.py    how they are made of the declarations
    apply.py        filters on one picture     stages.py    small stages around filters
    frames.py       picture after picture      chain.py     what filters a user wants, checked
    program.py      a chain made ready         looks.py     chains with a name (lookfile.py: their files)
    step.py         one filter of a chain      further.py   the further images it reads
    pictures.py     NumPy, PIL, bytes, …       pil.py       PIL images; packing.py: RGB ↔ RGBA
    overlays.py     a logo on a picture        automatic.py filters that look at the picture first
    surfaces.py     surfaces as pictures       measuring.py what those see
    backgrounds.py, planar.py, generate.py     shipped/     looks that come with dala
    losses.py       what an output cannot hold timed.py     filters that change from frame to frame
    photos.py       open and save              files/       picture files
    annotate/       boxes, masks, … drawn on pictures
    masks.py        masks that models make

    image → take → (upload) → chain, fused → (download) → give back: the caller's kind and channels

Pictures are paths, photos (``media.open``), NumPy arrays, PIL images, bytes with a width and a height,
DLPack (torch), buffers or surfaces; grey, RGB or RGBA, with ``channels="bgr"`` BGR(A); of uint8, uint16
(0..65535) or float32 (0..1; values beyond go through as they are, and are not clipped). What comes back is
of the same kind, and of a path a photo. The picture itself is not changed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dala.media import functions, looks
from dala.media.apply import apply_filter, apply_filters
from dala.media.backgrounds import replace_background
from dala.media.chain import Chain, Step
from dala.media.chain import Filters as Filters
from dala.media.files.photo import Photo
from dala.media.frames import Frame, FramePipeline
from dala.media.functions import *  # noqa: F403  # one for each image kernel
from dala.media.photos import open, save
from dala.media.pictures import Channels as Channels

if TYPE_CHECKING:
    from dala.media import annotate

__all__ = [
    "Chain", "Frame", "FramePipeline", "Photo", "Step", "annotate", "apply_filter", "apply_filters",
    "looks", "open", "process_frame", "replace_background", "save", "start_pipeline", "stop_pipeline",
]  # fmt: skip
__all__ += functions.__all__

process_frame = FramePipeline.process
stop_pipeline = FramePipeline.close


def start_pipeline(
    width: int,
    height: int,
    *,
    channels: Channels | None = None,
    device: str | None = None,
    depth: int = 3,
    background: bool = False,
) -> FramePipeline:
    """Filters on frames of one size; see FramePipeline.

    >>> from dala import media
    >>> frames = media.start_pipeline(4, 2)
    >>> media.process_frame(frames, bytes(4 * 2 * 4), ["invert"])[:4]
    b'\\xff\\xff\\xff\\x00'
    >>> media.stop_pipeline(frames)
    """
    return FramePipeline(
        width, height, channels=channels, device=device, depth=depth, background=background
    )


def __getattr__(name: str) -> object:
    if name == "annotate":  # it draws, so it brings all of ``dala.gpu`` along
        return importlib.import_module("dala.media.annotate")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
