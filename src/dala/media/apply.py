"""Filters on one picture: take it, run them fused, give it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

import numpy as np

from dala.backends.host import HostArray, HostDevice
from dala.compute.buffers import Buffer
from dala.compute.engine import Engine, owner_of
from dala.errors import DeviceError
from dala.ir.arrays import ArrayType
from dala.language.kernel import Kernel
from dala.media.chain import Chain, Filters, find_filter, make_step
from dala.media.files.photo import Photo
from dala.media.frames import FramePipeline
from dala.media.measuring import measured
from dala.media.packing import add_alpha, drop_alpha
from dala.media.pictures import Array, Channels, Picture, take_picture, with_alpha
from dala.media.program import (
    Program,
    engine_of,
    new_buffer,
    output_type,
    read_result,
    write_picture,
)

Image = TypeVar("Image")
Size: TypeAlias = tuple[int | None, int | None]  # width and height, of bytes


def apply_filter(
    image: Image,
    name: str | Kernel,
    /,
    *,
    image_size: tuple[int, int] | None = None,
    channels: Channels | None = None,
    device: str | None = None,
    **params: object,
) -> Image:
    """A filter by its name, built-in or registered; ``image_size`` is the width and height of bytes.

    >>> import numpy as np
    >>> from dala import media
    >>> grey = np.full((2, 2), 100, np.uint8)
    >>> media.apply_filter(grey, "brightness", value=0.2)
    array([[151, 151],
           [151, 151]], dtype=uint8)
    """
    return run_filter(find_filter(name), image, image_size, channels, device, params)


def apply_filters(
    image: Image,
    filters: Filters,
    *,
    image_size: tuple[int, int] | None = None,
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """Several filters, or a look, fused into as few passes over the picture as can be.

    >>> import numpy as np
    >>> from dala import media
    >>> photo = np.full((2, 2, 3), 100, np.uint8)
    >>> media.apply_filters(photo, [("blur", {"radius": 1}), "invert"])[0, 0]
    array([155, 155, 155], dtype=uint8)
    """
    return apply_chain(image, Chain.of(filters), image_size, channels, device, who="apply_filters")


def run_filter(
    kernel: Kernel,
    image: Image,
    size: Size | None,
    channels: str | None,
    device: str | None,
    params: Mapping[str, object],
) -> Image:
    """One filter on a picture, which gets an alpha channel where that is what the filter makes."""
    chain = Chain([make_step(kernel, params)])
    needs_alpha = kernel.alpha == "added"
    return apply_chain(
        image, chain, size, channels, device, who=kernel.name, needs_alpha=needs_alpha
    )


def apply_chain(
    image: Image,
    chain: Chain,
    size: Size | None,
    channels: str | None,
    device: str | None,
    *,
    who: str,
    needs_alpha: bool = False,
) -> Image:
    """The picture through a chain; with ``needs_alpha`` an RGB one comes back as RGBA."""
    if isinstance(image, Photo):
        return apply_to_photo(image, chain, device)  # type: ignore[return-value]
    picture = take_picture(image, *(size or (None, None)), channels, who=who)
    if needs_alpha:
        picture = with_alpha(picture)
    engine = engine_with(picture, device, who)
    if chain.is_open:
        chain = measured(chain, picture, engine)
    output = new_buffer(engine, output_type(chain, picture.layout))
    source = upload_to(picture, engine)
    Program(engine, chain, picture.layout, source, output).run()
    if isinstance(picture.pixels, Buffer):
        return output  # type: ignore[return-value]
    return picture.give_back(read_result(output))  # type: ignore[return-value]


def apply_to_photo(photo: Photo, chain: Chain, device: str | None = None) -> Photo:
    """A file's picture, or all of an animation: grey may become coloured, and opaque transparent."""
    pages = photo.format == "TIFF"
    return photo.with_frames(filter_frames(list(photo.frames), chain, device, pages=pages))


def filter_frames(
    frames: list[Array],
    chain: Chain,
    device: str | None = None,
    room: Callable[[ArrayType], HostArray] | None = None,
    *,
    pages: bool = False,
) -> list[Array]:
    """The same for frames alone. They are taken out of the list, so that whoever holds them nowhere else
    has a large photo in memory twice at most. ``room`` gives the memory for a result on a host device.
    ``pages`` are pictures of their own: what is measured of one says nothing of the next.
    """
    if pages and len(frames) > 1:
        return [filter_frames([frames.pop(0)], chain, device)[0] for _ in range(len(frames))]
    height, width = frames[0].shape[:2]
    grey = frames[0].ndim == 2
    for number, frame in enumerate(frames):
        frames[number] = _in_colour(frame, alpha=chain.writes_alpha)
    del frame
    if len(frames) == 1:  # a frame pipeline keeps more than one picture needs
        made = [_filter_alone(frames, chain, device, room)]
    else:
        with FramePipeline(width, height, device=device) as pipeline:
            made = [np.asarray(result) for result in pipeline.map(frames, chain)]
    if grey and all(map(_is_grey, made)):
        made = [np.ascontiguousarray(frame[..., 0]) for frame in made]
    return made


def _filter_alone(
    frames: list[Array],
    chain: Chain,
    device: str | None,
    room: Callable[[ArrayType], HostArray] | None,
) -> Array:
    """The only frame, taken out of the list; each form of it is let go before the next but one is made."""
    picture, engine = take_picture(frames.pop(), who="filter"), engine_of(device)
    if chain.is_open:
        chain = measured(chain, picture, engine)
    layout = picture.layout
    source = upload_to(picture, engine)
    del picture
    type_ = output_type(chain, layout)
    own = room is not None and isinstance(engine.device, HostDevice)
    output = Buffer(engine, type_, room(type_)) if room and own else new_buffer(engine, type_)
    Program(engine, chain, layout, source, output).run()
    source.close()
    result = read_result(output)
    return result if layout.has_alpha else drop_alpha(result)


def _in_colour(frame: Array, *, alpha: bool) -> Array:
    if frame.ndim == 2:
        frame = np.repeat(frame[..., None], 3, axis=2)
    return add_alpha(frame) if alpha and frame.shape[2] == 3 else frame


def _is_grey(frame: Array) -> bool:
    red, opaque = frame[..., :1], frame.shape[2] == 3
    return opaque and bool((frame == red).all())


def upload_to(picture: Picture, engine: Engine) -> Buffer:
    if isinstance(picture.pixels, Buffer):
        return picture.pixels
    if isinstance(engine.device, HostDevice) and picture.layout.has_alpha:
        lent = HostArray.lent(picture.pixels.reshape(picture.layout.type.shape))
        if lent is not None:  # what is waited for can be read where it lies
            return Buffer(engine, lent.type, lent)
    source = new_buffer(engine, picture.layout.type)
    write_picture(source, picture)
    return source


def engine_with(picture: Picture, device: str | None, who: str) -> Engine:
    """Where to run: on the device that was asked for, or where the picture is."""
    if not isinstance(picture.pixels, Buffer):
        return engine_of(device)
    engine = owner_of(picture.pixels)
    if device is not None and engine_of(device) is not engine:
        raise DeviceError(f"{who}: the picture is on {engine.device.name}, not on {device}")
    return engine
