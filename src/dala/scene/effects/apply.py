"""Filters on a picture of a scene, with what was compiled kept from frame to frame."""

from __future__ import annotations

from dala.errors import ShapeError
from dala.media.chain import Chain, Filter
from dala.media.frames import FramePipeline
from dala.once import OnceByKey
from dala.scene.layers import Bytes

KEPT = 16  # sizes of pictures
_pipelines: OnceByKey[tuple[int, int], FramePipeline] = OnceByKey(KEPT)


def filtered(pixels: Bytes, effects: tuple[Filter, ...]) -> Bytes:
    """The picture through the filters, of the same size."""
    height, width = pixels.shape[:2]
    chain = Chain.of(list(effects))
    if chain.size_after(width, height) != (width, height):
        raise ShapeError(
            f"an effect keeps the size of what it is applied to, {width} × {height}; "
            f"{chain!r} makes {chain.size_after(width, height)}; scale the layer instead"
        )
    pipeline = _pipelines.get(
        (width, height), lambda: FramePipeline(width, height, channels="rgba")
    )
    return pipeline.process(pixels, chain)
