"""A job for dala and its peers, and the pictures it is done on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import cv2
import numpy as np
from PIL import Image

from dala import compute
from measure import Run

Stage = tuple[str, dict[str, object]]
Shape = Callable[[int, int], tuple[int, ...]]
EQUAL = 2  # levels: more apart than this is another result


class Scene:
    """Pictures of one size, as each library wants them; made when first asked for."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.out = np.empty((height, width, 4), np.uint8)
        self._buffers: dict[str, compute.Buffer] = {}

    def _photo(self, seed: int) -> np.ndarray:
        """Clouds of every colour under a little noise, opaque: neither flat nor hard as noise is."""
        rng = np.random.default_rng(seed)
        size = (self.height // 16 + 1, self.width // 16 + 1, 4)
        clouds = cv2.resize(rng.random(size, np.float32), (self.width, self.height))
        photo = np.clip(clouds * 270 - 8 + rng.normal(0, 2, clouds.shape), 0, 255).astype(np.uint8)
        photo[..., 3] = 255
        return photo

    @cached_property
    def rgba(self) -> np.ndarray:
        return self._photo(0)

    @cached_property
    def top(self) -> np.ndarray:
        return self._photo(1)

    @cached_property
    def rgb(self) -> np.ndarray:
        return np.ascontiguousarray(self.rgba[..., :3])

    @cached_property
    def grey(self) -> np.ndarray:
        return cv2.cvtColor(self.rgba, cv2.COLOR_RGBA2GRAY)

    @cached_property
    def mask(self) -> np.ndarray:
        return np.ascontiguousarray(self.top[..., 0])

    @cached_property
    def yuv420p(self) -> np.ndarray:
        return cv2.cvtColor(self.rgba, cv2.COLOR_RGBA2YUV_I420)

    @cached_property
    def nv12(self) -> np.ndarray:
        u, v = self.yuv420p[self.height :].reshape(2, -1)
        pairs = np.stack([u, v], -1).reshape(-1, self.width)
        return np.concatenate([self.yuv420p[: self.height], pairs])

    @cached_property
    def picture(self) -> Image.Image:
        return Image.fromarray(self.rgb)

    @cached_property
    def top_picture(self) -> Image.Image:
        return Image.fromarray(np.ascontiguousarray(self.top[..., :3]))

    def buffer(self, name: str) -> compute.Buffer:
        if name not in self._buffers:
            self._buffers[name] = compute.from_array(getattr(self, name))
        return self._buffers[name]


Peer = Callable[[Scene], Run]


def full(height: int, width: int) -> tuple[int, ...]:
    return height, width, 4


@dataclass(frozen=True)
class Job:
    """Stages, and what the peers do for the same result."""

    name: str
    stages: Sequence[Stage]
    opencv: Peer | None = None  # the fastest calls we know, into arrays made before
    plain: Peer | None = None  # OpenCV calls as people write them
    pillow: Peer | None = None
    skimage: Peer | None = None
    inputs: tuple[str, ...] = ("rgba",)
    output: Shape = full
    between: Shape = full  # the images between the stages
    dtype: str = "u8"
    apart: str = ""  # why OpenCV's result is another one; if empty it has to be the same
    strays: float = 0.0  # the share of values that may be further apart all the same (borders)
    view: Callable[[np.ndarray], np.ndarray] = field(default=lambda result: result)  # compared


def point(
    kernel: str, params: dict[str, object], opencv: Peer | None = None, **more: object
) -> Job:
    """A job of one stage."""
    return Job(str(more.pop("name", kernel)), [(kernel, params)], opencv, **more)  # type: ignore[arg-type]


def dala_pipeline(job: Job, scene: Scene) -> tuple[compute.Pipeline, compute.Buffer]:
    """The job as a pipeline, and the buffer that it writes."""
    pipeline = compute.pipeline()
    inputs: list[compute.Buffer | compute.Scratch] = [scene.buffer(name) for name in job.inputs]
    result = compute.buffer_zeros(job.output(scene.height, scene.width), job.dtype)
    for index, (kernel, params) in enumerate(job.stages):
        last = index == len(job.stages) - 1
        between = job.between(scene.height, scene.width)
        output = result if last else compute.scratch(between, "u8")
        pipeline.add({"kernel": kernel, "inputs": inputs, "output": output, "params": params})
        inputs = [output]
    return pipeline, result


def difference(job: Job, ours: np.ndarray, theirs: object) -> tuple[float, float]:
    """The largest difference in levels, and the share of values that are not EQUAL."""
    assert isinstance(theirs, np.ndarray)
    a, b = job.view(ours), job.view(theirs)
    if a.ndim == 3 and a.shape[-1] == 4:
        a = a[..., :3] if b.ndim == 3 else a[..., 0]  # alpha is not everyone's
    if b.ndim == 3 and b.shape[-1] == 4:
        b = b[..., :3]
    assert a.shape == b.shape, f"{job.name}: {a.shape} against {b.shape}"
    levels = np.abs(a.astype(np.float32) - b)
    return float(levels.max()), float((levels > EQUAL).mean())
