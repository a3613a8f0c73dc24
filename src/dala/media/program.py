"""A chain made ready for pictures of one layout: a pipeline, and what may change from run to run.

    source → (BGR: swap) → the chain's filters → (no alpha: on black) → (swap back) → output

All of it is one pipeline, so that the planner can fuse across. Whoever runs it puts other buffers in
place for source, output and further images; new values of run-time parameters are only numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from dala.backends.auto import open_device
from dala.backends.host import HostArray
from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.default import default_engine
from dala.compute.engine import Engine, Stream, engine_for
from dala.compute.pipelines import Pipeline
from dala.errors import DeviceError
from dala.ir.arrays import ArrayType
from dala.media.chain import Chain
from dala.media.masks import LiveMasks
from dala.media.pictures import Array, Layout, Picture
from dala.media.stages import ON_BLACK, SWAP


class Program:
    """One chain for one layout on one device."""

    def __init__(
        self, engine: Engine, chain: Chain, layout: Layout, source: Buffer, output: Buffer
    ) -> None:
        self.chain = chain
        self.layout = layout
        self.source = source
        self.output = output
        self.pipeline = Pipeline(engine)
        swap = layout.swapped and layout.type.channels == 4 and len(chain) > 0
        ending = [ON_BLACK] if chain.writes_alpha and not layout.has_alpha else []
        ending += [SWAP] if swap else []
        last: Buffer | Scratch = source
        if swap:
            last = Scratch(source.type)
            self.pipeline.add({"kernel": SWAP, "inputs": [source], "output": last})
        filtered = Scratch(output.type) if ending else output
        self._added = chain.add_to(self.pipeline, last, filtered, images_are_bgr=layout.swapped)
        self._masks = LiveMasks(engine, chain, self._added.images, self._begin)
        for number, kernel in enumerate(ending, 1):
            target = output if number == len(ending) else Scratch(output.type)
            self.pipeline.add({"kernel": kernel, "inputs": [filtered], "output": target})
            filtered = target

    def _begin(self, pipeline: Pipeline) -> Buffer | Scratch:
        """The source as RGBA, or grey, at the begin of another pipeline."""
        if not self.layout.swapped or self.layout.type.channels != 4:
            return self.source
        swapped = Scratch(self.source.type)
        pipeline.add({"kernel": SWAP, "inputs": [self.source], "output": swapped})
        return swapped

    def set_values(self, chain: Chain) -> None:
        """Take over the values of a chain of the same structure."""
        if chain is self.chain:
            return
        columns, rows = self.layout.type.shape[1], self.layout.type.shape[0]
        steps = zip(self._added.stages, self.chain.steps, chain.steps, strict=False)
        for stage, old, new in steps:
            if old.values != new.values:
                self.pipeline.set_params(stage, **new.values_at(columns, rows))
            columns, rows = new.size_after(columns, rows)
        if chain.strength != self.chain.strength:
            self.pipeline.set_params(self._added.stages[-1], amount=chain.strength)
        self._masks.set_chain(chain)
        self.chain = chain

    def run(self) -> None:
        """Once, on its own buffers, and wait."""
        sources = {self.source: self.source}
        self.pipeline.run(buffers=self._masks.stand_ins(sources) if self._masks else None)

    def enqueue(self, source: Buffer, output: Buffer) -> None:
        """Run on these buffers before the device does anything else; the further images are those of the
        chain, as they are now.
        """
        self.pipeline.enqueue(buffers=self._stand_ins(source, output))

    def submit(self, source: Buffer, output: Buffer, stream: Stream) -> None:
        """The same in its own time, in order with what else is done to the buffers."""
        self.pipeline.submit(stream=stream, buffers=self._stand_ins(source, output))

    def _stand_ins(self, source: Buffer, output: Buffer) -> Mapping[Buffer, Buffer]:
        engine = self.pipeline.engine
        buffers = {self.source: source, self.output: output}
        if self._masks:
            buffers |= self._masks.stand_ins({self.source: source})
        for held, image in zip(self._added.images, self.chain.images, strict=True):
            if image.model is not None:
                continue
            if image.held is not None and image.held.engine is not engine:
                raise DeviceError(
                    f"a further image is on {image.held.device}, the picture on {engine.device.name}"
                )
            buffers[held] = image.buffer_on(engine)
        return buffers


def output_type(chain: Chain, layout: Layout) -> ArrayType:
    """What the chain makes of a picture of that layout."""
    rows, columns, *channels = layout.type.shape
    wide, high = chain.size_after(columns, rows)
    return array_type((high, wide, *channels), layout.type.dtype)


def new_buffer(engine: Engine, type_: ArrayType) -> Buffer:
    """Room on a device; whatever was in memory."""
    return Buffer(engine, type_, engine.device.allocate(type_))


def write_picture(buffer: Buffer, picture: Picture) -> None:
    """Copy a picture's pixels to the device."""
    buffer.engine.device.fill(buffer.storage(), picture.pack_into)


def read_result(buffer: Buffer) -> Array:
    """What was computed. In main memory that is the buffer itself, so it must not be written again."""
    storage = buffer.storage()
    if isinstance(storage, HostArray):
        return storage.array
    return buffer.engine.device.fetch(storage)


def engine_of(device: str | None) -> Engine:
    """The engine of a device by its name; of the default device without."""
    return default_engine() if device is None else engine_for(open_device(device))
