"""Filters on a picture of a scene."""

from __future__ import annotations

from typing import TypeVar

from dala.compute.buffers import Buffer
from dala.errors import ShapeError
from dala.media.apply import apply_chain
from dala.media.chain import Filter
from dala.scene.effects.pipelines import chains_of, has_model, pipeline_for
from dala.scene.effects.prepare import prepare
from dala.scene.layers import Bytes, Upcoming

Image = TypeVar("Image", Bytes, Buffer)


def filtered(
    pixels: Image,
    effects: tuple[Filter, ...],
    upcoming: Upcoming | None = None,
    device: str | None = None,
) -> Image:
    """The picture through the filters, of the same size; what is upcoming is compiled beside it. One on a
    device is filtered there, and stays there; the others by the default device."""
    height, width = pixels.shape[:2]
    chains = chains_of(effects)
    for chain in chains:
        if chain.size_after(width, height) != (width, height):
            raise ShapeError(
                f"an effect keeps the size of what it is applied to, {width} × {height}; "
                f"{chain!r} makes {chain.size_after(width, height)}; scale the layer instead"
            )
    if upcoming is not None:
        prepare(width, height, upcoming, device)
    for chain in chains:
        if has_model(chain):  # from frame to frame masks would be steadied: the order would be seen
            pixels = apply_chain(pixels, chain, None, "rgba", device, who="effect")
        else:
            pixels = pipeline_for(width, height, device).process(pixels, chain)
    return pixels
