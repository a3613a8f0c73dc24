"""What filters that look at a picture first (``auto_levels``) see in a video: its first frame."""

from __future__ import annotations

from dala.errors import ParameterError
from dala.media.apply import measured
from dala.media.chain import Chain
from dala.media.pictures import take_picture
from dala.video.places import Spec, place_of
from dala.video.reader import Reader


def look_at_first_frame(chain: Chain, source: Spec, device: str | None) -> Chain:
    """The chain with its open values measured once, so that all frames are treated alike."""
    if not chain.is_open:
        return chain
    name = next(step.name for step in chain.steps if step.is_open)
    if place_of(source).is_live_stream:
        raise ParameterError(
            f"{name} looks at the first frame before it begins; a stream has gone on"
        )
    with Reader(source, device=device) as reader:
        first = next(iter(reader), None)
        if first is None:
            raise ParameterError(f"{name}: the video has no frame to look at")
        return measured(chain, take_picture(first.rgba, who=name), device)
