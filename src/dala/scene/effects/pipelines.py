"""Effects as chains, and frame pipelines for them with what was compiled kept from frame to frame."""

from __future__ import annotations

from itertools import groupby

from dala.compute.engine import Engine
from dala.media.chain import Chain, Filter
from dala.media.frames import FramePipeline, engine_of
from dala.once import OnceByKey

KEPT = 16  # sizes of pictures
_pipelines: OnceByKey[tuple[Engine, int, int], FramePipeline] = OnceByKey(KEPT)


def pipeline_for(width: int, height: int, device: str | None = None) -> FramePipeline:
    """The one for pictures of this size on a device; on the default one without."""
    return _pipelines.get(
        (engine_of(device), width, height),
        lambda: FramePipeline(width, height, channels="rgba", device=device),
    )


def chains_of(effects: tuple[Filter, ...]) -> list[Chain]:
    """Filters in order, as few chains: one that is mixed with what was there stands alone."""
    found: list[Chain] = []
    for alone, group in groupby(effects, lambda e: isinstance(e, Chain) and e.strength < 1):
        filters = list(group)
        found += [Chain.of(f) for f in filters] if alone else [Chain.of(filters)]
    return found


def has_model(chain: Chain) -> bool:
    """Whether a model makes a mask for it."""
    return any(image.model is not None for image in chain.images)
