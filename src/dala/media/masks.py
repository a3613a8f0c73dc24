"""Masks that a model makes of every picture: who is in front, for background_blur and the like.

    source → (filters before) → as small as the model looks at it → network → mask, steadied → further image

The model sees what its filter sees: whatever comes before it in the chain is done to a small picture, too.
What a chain says (which model) is part of the chain; what was seen in the frame before is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from dala.backends.host import HostArray
from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.engine import Engine
from dala.compute.pipelines import Pipeline
from dala.media.chain import Chain
from dala.media.further import Further
from dala.media.step import Step
from dala.ml.model import Model
from dala.ml.segmentation import Segmentation, scale_mask
from dala.ml.smoother import Smoother
from dala.ml.view import view_of

Array = npt.NDArray[Any]
Begin = Callable[[Pipeline], "Buffer | Scratch"]  # adds what makes an RGBA picture of the source


def has_masks(chain: Chain) -> bool:
    """Whether models make masks for it, so that a frame depends on those before it: they are steadied."""
    return any(image.model is not None for s in chain.steps for image in s.images.values())


class LiveMasks:
    """The masks of a chain that is run picture after picture; ``held`` stand for its further images."""

    def __init__(self, engine: Engine, chain: Chain, held: Sequence[Buffer], begin: Begin) -> None:
        self._engine = engine
        self._begin = begin
        self._makers: dict[Buffer, _Maker] = {}
        places = iter(held)
        for number, step in enumerate(chain.steps):
            for image in step.images.values():
                buffer = next(places)
                if image.model is not None:
                    small = self._pipeline(chain.steps[:number], image.model)
                    self._makers[buffer] = _Maker(image, number, small)

    def __bool__(self) -> bool:
        return bool(self._makers)

    def set_chain(self, chain: Chain) -> None:
        """Take over the values of a chain of the same structure; what was seen before stays."""
        for maker in self._makers.values():
            if maker.step:
                assert maker.image.model is not None
                maker.small = self._pipeline(chain.steps[: maker.step], maker.image.model)

    def stand_ins(self, sources: Mapping[Buffer, Buffer]) -> dict[Buffer, Buffer]:
        """The masks for a picture: what is put in place of each image that they make."""
        return {held: maker.mask(self._engine, sources) for held, maker in self._makers.items()}

    def _pipeline(self, before: Sequence[Step], model: Model) -> tuple[Pipeline, Buffer]:
        """From the source to a picture as small as the model looks at it."""
        pipeline = Pipeline(self._engine)
        picture = self._begin(pipeline)
        # filters with a mask of their own colour pixels and do not move them
        steps = [s for s in before if all(i.model is None for i in s.images.values())]
        if steps:
            chain = Chain(steps)
            wide, high = chain.size_after(picture.shape[1], picture.shape[0])
            filtered = Scratch(array_type((high, wide, *picture.shape[2:]), picture.dtype))
            chain.add_to(pipeline, picture, filtered)
            picture = filtered
        wide, high = _size_seen(model, picture.shape[1], picture.shape[0])
        type_ = array_type((high, wide, *picture.shape[2:]), picture.dtype)
        small = Buffer(self._engine, type_, self._engine.device.allocate(type_))
        pipeline.add({"kernel": "resize", "inputs": [picture], "output": small})
        return pipeline.compile(), small


class _Maker:
    """One mask, from picture to picture."""

    def __init__(self, image: Further, step: int, small: tuple[Pipeline, Buffer]) -> None:
        self.image = image
        self.step = step
        self.small = small
        self._smoother = Smoother()

    def mask(self, engine: Engine, sources: Mapping[Buffer, Buffer]) -> Buffer:
        assert self.image.model is not None
        pipeline, small = self.small
        pipeline.run(buffers=sources)
        storage = small.storage()
        seen = storage.array if isinstance(storage, HostArray) else engine.device.fetch(storage)
        found = self.image.model.predict_frame(seen)
        assert isinstance(found, Segmentation)
        if found.soft is not None:
            mask = self._smoother.update(found).small_mask()
        else:
            mask = self._smoother.update(found.small_mask())
        rows, columns = self.image.type.shape
        return self.image.made_on(engine, scale_mask(mask, (columns, rows)))


def _size_seen(model: Model, width: int, height: int) -> tuple[int, int]:
    """How large the picture is in the model's input; never larger than it is."""
    assert model.task is not None
    form = model.task.form
    view = view_of((width, height), (form.width, form.height), form.fit)
    wide, high = max(1, round(width / view.across)), max(1, round(height / view.down))
    return min(wide, width), min(high, height)
