"""Pictures and frames through filters."""

from __future__ import annotations

from dala.media import looks
from dala.media.chain import Chain, Filters, Step
from dala.media.frames import Frame, FramePipeline
from dala.media.pictures import Channels

__all__ = ["Chain", "Channels", "Filters", "Frame", "FramePipeline", "Step", "looks", "process_frame",
           "start_pipeline", "stop_pipeline"]  # fmt: skip

process_frame = FramePipeline.process
stop_pipeline = FramePipeline.stop


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
