"""From a picture to the input of a network in one pass: placed, scaled (bilinear), normalised, laid out.

The kernel writes a flat matrix instead of (1, H, W, 3): along an axis of three there would be nothing to
vectorise (2.2 ms instead of 0.6 from 1920 × 1080 to 256 × 256). Only the pixels that it needs are read,
where the caller has them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dala.backends.auto import open_device
from dala.backends.base import Device
from dala.backends.host import HostArray
from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.commands import is_busy
from dala.compute.engine import Prepared, engine_for, owner_of
from dala.compute.recipe import Known
from dala.compute.repeated import recall
from dala.compute.stages import Stage, kernel_stage
from dala.ir.arrays import ArrayType
from dala.kernels.geometry import any_size
from dala.language.kernel import make_kernel
from dala.language.parameter import param, static
from dala.language.values import Scalar, Tensor, Value
from dala.language.vocabulary import f32, floor, index, mix, s32, u8, where
from dala.ml.images import Image
from dala.ml.view import Fit, View, Window, view_of

Array = npt.NDArray[Any]
Triple = tuple[float, float, float]
Layout = Literal["nhwc", "nchw"]


@dataclass(frozen=True, slots=True)
class InputForm:
    """What a network wants to see: ``gain · value + bias`` of the picture's values in 0..255."""

    width: int
    height: int
    fit: Fit = "stretch"
    gain: Triple = (1.0, 1.0, 1.0)  # of red, green and blue
    bias: Triple = (0.0, 0.0, 0.0)
    dtype: Literal["f32", "u8"] = "f32"
    layout: Layout = "nhwc"
    fill: float = 0.0  # beside a picture that is not stretched, 0..255

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tensor."""
        if self.layout == "nchw":
            return 1, 3, self.height, self.width
        return 1, self.height, self.width, 3


def sample_picture(
    image: Tensor,
    place: tuple[float, ...] = param(length=4, help="Step and begin, across and down."),
    gain: tuple[float, ...] = param(length=3),
    bias: tuple[float, ...] = param(length=3),
    fill: float = param(),
    channels: int = static(help="Of the picture."),
    swapped: bool = static(help="Blue comes first."),
    whole: bool = static(help="The picture fills everything."),
    rows: int = static(help="Of the tensor; 0: its channels come last."),
) -> Value:
    """One number of the tensor, as (rows, 3 · columns), or with channels first (3 · rows, columns)."""
    if rows:
        channel, row, column = index(0) // rows, index(0) % rows, index(1)
    else:
        channel, row, column = index(1) % 3, index(0), index(1) // 3
    across, left, down, top = place
    u, v = f32(column) * across + left, f32(row) * down + top
    source = 0 if channels == 1 else 2 - channel if swapped else channel
    value = _bilinear(image, v, u, source)
    if not image.is_integer:
        value = value * 255.0
    if not whole:
        inside = (u > -0.5) & (u < image.size(1) - 0.5) & (v > -0.5) & (v < image.size(0) - 0.5)
        value = where(inside, value, fill)
    return value * _pick(gain, channel) + _pick(bias, channel)


def _bilinear(image: Tensor, row: Value, column: Value, channel: Scalar | int) -> Value:
    top, left = floor(row), floor(column)
    first, before = s32(top), s32(left)
    upper, lower = (
        mix(
            f32(image.at(first + k, before, channel)),
            f32(image.at(first + k, before + 1, channel)),
            column - left,
        )
        for k in (0, 1)
    )
    return mix(upper, lower, row - top)


def _pick(three: tuple[float, ...], channel: Scalar) -> Value:
    return where(channel == 0, three[0], where(channel == 1, three[1], three[2]))


def round_to_levels(tensor: Tensor) -> Value:
    """Whole numbers of 0..255; a kernel's parameters have its output's type, hence a kernel apart."""
    return u8(tensor + 0.5)


SAMPLE = make_kernel(sample_picture, domain="tensor", shape_rule=any_size)
LEVELS = make_kernel(round_to_levels, domain="tensor")


def tensor_of(image: Image, form: InputForm, window: Window | None = None) -> tuple[Array, View]:
    """The tensor as an array, and how the picture (or a window of it) lies in it."""
    sampled, view = sample_tensor(image, form, window)
    return np.asarray(sampled).reshape(form.shape), view


def sample_tensor(
    image: Image, form: InputForm, window: Window | None = None
) -> tuple[Sampled, View]:
    """The same, where the picture is, for whoever needs it there."""
    view = view_of(image.size, (form.width, form.height), form.fit, window)
    source = image.pixels if isinstance(image.pixels, Buffer) else _buffer_of(image.pixels)
    sign = (SAMPLE, source.type, image.swapped, form, window)
    known = recall(source.engine, sign, lambda: _stages(image, source, view, form))
    return Sampled(source, known, form), view


class Sampled:
    """The tensor of a picture, not made yet: a network on the same GPU makes it part of its own run."""

    __slots__ = ("_form", "known", "source")

    def __init__(self, source: Buffer, known: Known, form: InputForm) -> None:
        self.source = source
        self.known = known  # how to make it
        self._form = form

    @property
    def device(self) -> Device:
        """Where the picture is."""
        return self.source.engine.device

    @property
    def is_busy(self) -> bool:
        """Whether somebody is at work on the picture."""
        return is_busy(self.source)

    def make(self) -> Buffer:
        """As an array there; on a GPU it is submitted with what the caller does next."""
        engine = owner_of(self.source)
        type_ = _type_of(self._form, self._form.dtype)
        output = Buffer(engine, type_, engine.device.allocate(type_))
        arrays: list[Buffer | Scratch] = [self.source, *_between(self._form), output]
        engine.enqueue(Prepared(self.known.recipe, arrays, self.known.numbers), held=True)
        return output

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        storage = self.make().storage()
        found = storage.array if isinstance(storage, HostArray) else self.device.fetch(storage)
        return found if dtype is None else found.astype(np.dtype(dtype))  # type: ignore[call-overload]


def _between(form: InputForm) -> tuple[Scratch, ...]:
    """What lies between a picture and its tensor: the latter before it is rounded."""
    return () if form.dtype == "f32" else (Scratch(_type_of(form, "f32")),)


def _stages(image: Image, source: Buffer, view: View, form: InputForm) -> list[Stage]:
    engine, type_ = owner_of(source), _type_of(form, form.dtype)
    output = Buffer(engine, type_, engine.device.allocate(type_))
    arrays = [source, *_between(form), output]
    params = _params(image, view, form)
    made = [kernel_stage(SAMPLE, arrays[:1], arrays[1], params, allow_scratch=True)]
    if len(arrays) > 2:
        made.append(kernel_stage(LEVELS, arrays[1:2], output, None, allow_scratch=True))
    return made


@functools.lru_cache(64)
def _type_of(form: InputForm, dtype: str) -> ArrayType:
    first = form.layout == "nchw"
    shape = (3 * form.height, form.width) if first else (form.height, 3 * form.width)
    return array_type(shape, dtype)


def _params(image: Image, view: View, form: InputForm) -> dict[str, object]:
    # the centre of an input's pixel k is at k + ½; a picture's pixels have their centres there too
    across, down = view.across, view.down
    left, top = ((0.5 - view.left) * across - 0.5, (0.5 - view.top) * down - 0.5)
    return {
        "place": (across, left, down, top),
        "gain": form.gain,
        "bias": form.bias,
        "fill": form.fill,
        "channels": image.pixels.shape[2],
        "swapped": image.swapped,
        "whole": form.fit == "stretch",
        "rows": form.height if form.layout == "nchw" else 0,
    }


def _buffer_of(pixels: Array) -> Buffer:
    """The caller's array itself where it can be read there, else a copy."""
    engine = engine_for(open_device("cpu"))
    lent = HostArray.lent(pixels)
    if lent is not None:
        return Buffer(engine, lent.type, lent)
    type_ = array_type(pixels.shape, "u8" if pixels.dtype == np.uint8 else "f32")
    storage = engine.device.allocate(type_)
    engine.device.upload(storage, pixels)
    return Buffer(engine, type_, storage)
