"""Pictures as callers have them: what comes in one kind goes back in the same.

    take_picture(image)  →  Picture: its form, and its pixels as a device wants them
    picture.give_back(pixels)  →  the caller's kind, channels and element type

Kinds: NumPy arrays, photos of files and their paths, PIL images, bytes with a size, whatever speaks DLPack
(torch), buffers and surfaces of dala. A device has grey and RGBA; RGB gets an opaque alpha on the way in
and loses it on the way out, and BGR is swapped on the device, inside of the first and the last pass.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.backends.copying import copy_array
from dala.compute.buffers import Buffer, array_type
from dala.errors import (
    ArgumentError,
    DTypeError,
    MediaError,
    MediaFileError,
    ParameterError,
    ShapeError,
    suggest,
)
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import IMAGE_DTYPES, DType, parse_dtype
from dala.media.files.photo import Photo
from dala.media.files.reading import open_photo
from dala.media.packing import add_alpha, drop_alpha
from dala.media.pil import array_of_pil, is_pil, pil_like
from dala.media.surfaces import is_surface, pixels_of_surface, surface_like

__all__ = ["Channels", "Layout", "Picture", "add_alpha", "drop_alpha", "take_picture", "with_alpha"]

Array = npt.NDArray[Any]
Channels: TypeAlias = Literal["rgb", "bgr", "rgba", "bgra", "grey", "gray"]
COUNTS = {"rgb": (3, 4), "bgr": (3, 4), "rgba": (4,), "bgra": (4,), "grey": (1,), "gray": (1,)}


@dataclass(frozen=True, slots=True)
class Layout:
    """How pixels lie on a device, and what is done to them on the way in and out."""

    type: ArrayType  # (H, W, 4) or (H, W), u8, u16 or f32
    swapped: bool  # blue comes first
    has_alpha: bool  # else it is dropped, and what became transparent shows black


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture in the caller's form."""

    pixels: Array | Buffer  # (H, W), (H, W, 1), (H, W, 3) or (H, W, 4)
    layout: Layout
    restore: Callable[[Array], object]  # an array of the caller's channels → the caller's kind

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        rows, columns = self.layout.type.shape[:2]
        return columns, rows

    def pack_into(self, room: Array) -> None:
        """Write the pixels as the device has them."""
        assert not isinstance(self.pixels, Buffer)
        if self.layout.has_alpha:
            copy_array(room, self.pixels.reshape(room.shape))
        else:
            add_alpha(self.pixels, room)

    def give_back(self, result: Array) -> object:
        """What was made of the picture, in the caller's form; its size may be another."""
        if not self.layout.has_alpha:
            result = drop_alpha(result)
        elif result.ndim == 2 and self.pixels_rank == 3:
            result = result[..., None]
        return self.restore(result)

    @property
    def pixels_rank(self) -> int:
        return len(self.pixels.shape)


def take_picture(
    image: object,
    width: int | None = None,
    height: int | None = None,
    channels: str | None = None,
    *,
    who: str,
) -> Picture:
    """Read what a caller gave; whatever is wrong with it is said here, with the way to mend it."""
    if channels is not None and channels not in COUNTS:
        raise ParameterError(
            f"{who}: channels must be one of {', '.join(map(repr, COUNTS))}, got {channels!r}"
            f"{suggest(str(channels), COUNTS)}"
        )
    pixels, restore = _open(image, width, height, channels, who)
    _check_pixels(pixels, width, height, channels, who)
    swapped = channels in ("bgr", "bgra")
    if isinstance(pixels, Buffer):
        return Picture(pixels, Layout(pixels.type, swapped, has_alpha=True), restore)
    layout = _layout(pixels.shape, parse_dtype(pixels.dtype), swapped)
    return Picture(pixels, layout, restore)


@functools.lru_cache(64)
def _layout(shape: tuple[int, ...], dtype: DType, swapped: bool) -> Layout:
    """How an array of that shape lies on a device: RGB as RGBA, (H, W, 1) as (H, W)."""
    count = shape[2] if len(shape) == 3 else 1
    type_ = array_type(shape[:2] if count == 1 else (*shape[:2], 4), dtype)
    return Layout(type_, swapped and count > 1, has_alpha=count != 3)


def with_alpha(picture: Picture) -> Picture:
    """The same picture as one whose result has an alpha channel, whether it came with one or not."""
    pixels, layout = picture.pixels, picture.layout
    if layout.has_alpha and layout.type.channels == 4:
        return picture
    if isinstance(pixels, Buffer):
        raise ShapeError(f"a buffer of (H, W, 4) has room for alpha, got {pixels.shape}")
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        pixels = np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
    type_ = array_type((*pixels.shape[:2], 4), layout.type.dtype)
    return Picture(add_alpha(pixels), Layout(type_, layout.swapped, True), picture.restore)


def _open(
    image: object, width: int | None, height: int | None, channels: str | None, who: str
) -> tuple[Array | Buffer, Callable[[Array], object]]:
    """The pixels as an array, and the way back."""
    if isinstance(image, Buffer):
        image.storage()  # refuses a freed one
        return image, _no_way_back
    if isinstance(image, np.ndarray):
        return image, _as_it_is
    if isinstance(image, str | os.PathLike):
        image = _open_file(image, who)
    if isinstance(image, Photo):
        if len(image.frames) > 1:
            raise ArgumentError(f"{who}: {image!r} is no single picture; take one of its frames")
        return image.pixels, lambda result: image.with_frames([result])
    if is_surface(image):
        return pixels_of_surface(image), surface_like(image)
    if isinstance(image, bytes | bytearray | memoryview):
        return _from_bytes(image, width, height, channels, who)
    if is_pil(image):
        if channels in ("bgr", "bgra"):
            raise ParameterError(f"{who}: a PIL image is never BGR; leave channels out")
        return array_of_pil(image, who), pil_like(image)
    if hasattr(image, "__dlpack__"):
        return _from_dlpack(image, who)
    raise ArgumentError(
        f"{who}: expected a picture (path, NumPy array, PIL image, bytes with width and height, DLPack, "
        f"dala buffer, surface), got {type(image).__name__}"
    )


def _open_file(path: str | os.PathLike[str], who: str) -> Photo:
    try:
        return open_photo(path)
    except MediaFileError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise MediaError(f"{who}: cannot read the picture {str(path)!r}: {reason}") from error


def _from_bytes(
    data: bytes | bytearray | memoryview,
    width: int | None,
    height: int | None,
    channels: str | None,
    who: str,
) -> tuple[Array, Callable[[Array], object]]:
    if width is None or height is None:
        raise ArgumentError(f"{who}: bytes need a width and a height")
    for name, side in (("width", width), ("height", height)):
        if isinstance(side, bool) or not isinstance(side, int | np.integer) or side < 1:
            raise ShapeError(f"{who}: {name} must be a whole number from 1 up, got {side!r}")
    flat = np.frombuffer(data, np.uint8)
    counts = COUNTS[channels] if channels else (4, 3, 1)
    for count in counts:
        if flat.size == width * height * count:
            pixels = flat.reshape(height, width, count)
            return pixels, _to_bytearray if isinstance(data, bytearray) else _to_bytes
    needs = " or ".join(f"{width * height * count}" for count in counts)
    raise ShapeError(
        f"{who}: {width} × {height} pixels are {needs} bytes "
        f"({channels or 'RGBA, RGB or grey'}), got {flat.size}"
    )


def _from_dlpack(image: Any, who: str) -> tuple[Array, Callable[[Array], object]]:
    """DLPack, and back through the ``from_dlpack`` of the library that the object comes from."""
    try:
        array = np.from_dlpack(image)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"{who}: the memory of {type(image).__name__} cannot be read from here ({error}); "
            "move it to the host first, e.g. x.cpu()"
        ) from error
    library = sys.modules.get(type(image).__module__.partition(".")[0])
    return array, getattr(library, "from_dlpack", _as_it_is)


def _to_bytes(result: Array) -> bytes:
    return result.tobytes()


def _to_bytearray(result: Array) -> bytearray:
    return bytearray(result.tobytes())


def _as_it_is(result: Array) -> Array:
    return result


def _no_way_back(result: Array) -> object:
    raise AssertionError("a buffer's result is a buffer, and is never read")


def _check_pixels(
    pixels: Array | Buffer,
    width: int | None,
    height: int | None,
    channels: str | None,
    who: str,
) -> None:
    shape = pixels.shape
    if isinstance(pixels, Buffer):
        if pixels.type.dtype not in IMAGE_DTYPES:
            raise DTypeError(f"{who}: expected a buffer of u8, u16 or f32, got {pixels.dtype}")
    elif pixels.dtype not in (np.uint8, np.uint16, np.float32) or not pixels.dtype.isnative:
        raise DTypeError(
            f"{who}: expected uint8, uint16 or float32, got {pixels.dtype}; {_advice(pixels)}"
        )
    known = len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4))
    if not known or (isinstance(pixels, Buffer) and shape[2:] == (3,)):
        last = "; channels come last: np.moveaxis(x, 0, -1), or x.permute(1, 2, 0) in torch"
        hint = last if _channels_first(shape) else ""
        raise ShapeError(
            f"{who}: expected (height, width) or (height, width, channels), 1, 3 or 4 of them"
            f"{', and 1 or 4 of a buffer' if isinstance(pixels, Buffer) else ''}, got {shape}{hint}"
        )
    if min(shape[:2]) < 1:
        raise ShapeError(f"{who}: a picture has at least one pixel, got {shape}")
    for name, wanted, side in (("width", width, shape[1]), ("height", height, shape[0])):
        if wanted is not None and wanted != side:
            raise ShapeError(
                f"{who}: {name} is {wanted}, but the picture is {shape[1]} × {shape[0]}"
            )
    count = shape[2] if len(shape) == 3 else 1
    if channels is not None and count not in COUNTS[channels]:
        raise ShapeError(f"{who}: {channels!r} does not have {count} channels; got {shape}")


def _advice(pixels: Array) -> str:
    if pixels.dtype == np.bool_:
        return "use x.astype('uint8') * 255"
    if pixels.dtype.kind == "u" and pixels.dtype.itemsize == 2:
        return "its bytes are in the other order; use x.astype('uint16')"
    if pixels.dtype.kind == "f":
        return "use x.astype('float32'), with values of 0..1"
    return "convert it: uint8 is 0..255, uint16 is 0..65535, float32 is 0..1"


def _channels_first(shape: tuple[int, ...]) -> bool:
    return len(shape) == 3 and shape[0] in (1, 3, 4) and shape[2] > 4
