"""What filters that look at a picture first see in it: the picture behind the filters before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from dala.compute.buffers import Buffer
from dala.compute.engine import Engine
from dala.media.chain import Chain, Step
from dala.media.pictures import Picture
from dala.media.program import Program, new_buffer, output_type, read_result, write_picture


def measured(chain: Chain, picture: Picture, engine: Engine) -> Chain:
    """The chain with what its filters see in this picture, each behind those before it."""
    steps: list[Step] = []
    for step in chain.steps:
        steps.append(step.measured(_seen(picture, steps, engine)) if step.is_open else step)
    return chain.replaced(steps)


def _seen(picture: Picture, steps: Sequence[Step], engine: Engine) -> npt.NDArray[Any]:
    """The picture behind these steps, as RGB."""
    if steps:
        pixels = _filtered(picture, Chain(steps), engine)
    else:
        pixels = picture.pixels.read() if isinstance(picture.pixels, Buffer) else picture.pixels
    if pixels.ndim == 3 and picture.layout.swapped:
        pixels = pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
    return pixels


def _filtered(picture: Picture, chain: Chain, engine: Engine) -> npt.NDArray[Any]:
    source = picture.pixels
    if not isinstance(source, Buffer):
        source = new_buffer(engine, picture.layout.type)
        write_picture(source, picture)
    output = new_buffer(engine, output_type(chain, picture.layout))
    Program(engine, chain, picture.layout, source, output).run()
    return read_result(output)
