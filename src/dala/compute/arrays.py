"""Buffers as functions: made from whatever holds numbers, read back, freed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.compute.buffers import Buffer, Scratch, array_type, check_shape
from dala.compute.default import default_engine
from dala.compute.interop import as_host_array, from_any
from dala.compute.interop import to_array as _to_array
from dala.compute.shape_order import is_turned
from dala.errors import ArgumentError, ShapeError, ShapeWarning
from dala.ir.dtypes import DType, parse_dtype

Array = npt.NDArray[Any]


def buffer(data: object, shape: object = None, dtype: object = "f32") -> Buffer:
    """A buffer with the given values: a nested or flat list, an array, anything array-like.

    >>> from dala import compute
    >>> compute.buffer([1.0, 2.0, 3.0, 4.0], (2, 2)).shape
    (2, 2)
    """
    wanted = None if shape is None else check_shape(shape)
    array = as_host_array(data, wanted, parse_dtype(dtype))
    return _upload(array, parse_dtype(dtype))


def buffer_zeros(shape: object, dtype: object = "f32") -> Buffer:
    """A buffer of zeros.

    >>> from dala import compute
    >>> compute.read_list(compute.buffer_zeros((3,)))
    [0.0, 0.0, 0.0]
    """
    engine = default_engine()
    type_ = array_type(shape, dtype)
    engine.device.require_dtype(type_.dtype)
    return Buffer(engine, type_, engine.device.allocate(type_, zero=True))


def buffer_from_binary(data: object, shape: object, dtype: object = "u8") -> Buffer:
    """A buffer from raw bytes, such as the pixels of an image: (height, width, channels).

    Where an image's shape is given as (width, height, channels) and its rows would fit together that way
    only, a ShapeWarning says so.

    >>> from dala import compute
    >>> compute.buffer_from_binary(bytes(2 * 3 * 4), (2, 3, 4)).size
    24
    """
    type_ = array_type(shape, dtype)
    try:
        raw = np.frombuffer(data, np.uint8)  # type: ignore[call-overload]
    except (TypeError, ValueError, BufferError) as error:
        raise ArgumentError(
            f"buffer_from_binary: expected contiguous bytes, got {type(data).__name__}"
        ) from error
    if raw.size != type_.nbytes:
        raise ShapeError(
            f"buffer_from_binary: shape {type_.shape} of {type_.dtype} needs {type_.nbytes} bytes, "
            f"got {raw.size}"
        )
    array = raw.view(type_.dtype.numpy).reshape(type_.shape)
    if is_turned(array):
        rows, columns, channels = type_.shape
        warnings.warn(
            f"buffer_from_binary: the rows of this image of {type_.shape} do not fit together, as "
            f"{(columns, rows, channels)} they do; a shape is (height, width, channels)",
            ShapeWarning,
            stacklevel=2,
        )
    return _upload(array, type_.dtype)


def scratch(shape: object, dtype: object = "u8") -> Scratch:
    """A buffer that exists only inside a pipeline: a fused pipeline never makes it.

    >>> from dala import compute
    >>> compute.scratch((480, 640, 4))
    <dala scratch (480, 640, 4) u8>
    """
    return Scratch(array_type(shape, dtype))


def shape(b: Buffer | Scratch) -> tuple[int, ...]:
    """The shape of a buffer.

    >>> from dala import compute
    >>> compute.shape(compute.buffer_zeros((2, 3)))
    (2, 3)
    """
    return _as_any_buffer(b, "shape").shape


def dtype(b: Buffer | Scratch) -> str:
    """The element type of a buffer.

    >>> from dala import compute
    >>> compute.dtype(compute.buffer_zeros((2,), "s64"))
    's64'
    """
    return _as_any_buffer(b, "dtype").dtype


def size(b: Buffer | Scratch) -> int:
    """The size of a buffer in bytes.

    >>> from dala import compute
    >>> compute.size(compute.buffer_zeros((640, 480, 4), "u8"))
    1228800
    """
    return _as_any_buffer(b, "size").size


def read(b: Buffer, out: Array | None = None) -> Array:
    """The content of a buffer as an array (into ``out``, if given), after all pending writes.

    >>> from dala import compute
    >>> compute.read(compute.buffer([1, 2], dtype="u8"))
    array([1, 2], dtype=uint8)
    """
    return _as_buffer(b, "read").read(out)


def read_list(b: Buffer) -> list[float | int]:
    """The content as a flat list of Python numbers.

    >>> from dala import compute
    >>> compute.read_list(compute.buffer([[1, 2], [3, 4]], dtype="s32"))
    [1, 2, 3, 4]
    """
    return list(_as_buffer(b, "read_list").read().reshape(-1).tolist())


def read_binary(b: Buffer) -> bytes:
    """The content as raw bytes.

    >>> from dala import compute
    >>> compute.read_binary(compute.buffer([1, 2], dtype="u8"))
    b'\\x01\\x02'
    """
    return _as_buffer(b, "read_binary").read().tobytes()


def free(b: Buffer | Scratch) -> None:
    """Give a buffer's memory back; freeing twice does nothing.

    >>> from dala import compute
    >>> b = compute.buffer_zeros((4,))
    >>> compute.free(b); compute.free(b); b.freed
    True
    """
    _as_any_buffer(b, "free").close()


def free_many(buffers: Iterable[Buffer | Scratch]) -> None:
    """Free several buffers.

    >>> from dala import compute
    >>> compute.free_many([compute.buffer_zeros((4,)), compute.buffer_zeros((4,))])
    """
    if not isinstance(buffers, Iterable):
        raise ArgumentError(
            f"free_many: expected several buffers, got {type(buffers).__name__}; "
            "put brackets around it"
        )
    for b in [_as_any_buffer(b, "free_many") for b in buffers]:
        b.close()


def from_array(x: object, dtype: object = None) -> Buffer:
    """A buffer with the shape, dtype and values of an array: NumPy, DLPack, PIL, memoryview, lists.

    Numbers of Python's own have no dtype: fractions become f32, as in Nx, and whole numbers s64. An array
    keeps its own, which for NumPy's fractions is f64; ``dtype`` asks for another one.

    >>> import numpy as np
    >>> from dala import compute
    >>> compute.from_array([1.0, 2.0, 3.0]).dtype, compute.from_array(np.arange(3)).dtype
    ('f32', 's64')
    >>> compute.from_array(np.array([1.0, 2.0, 3.0]), dtype="f32").dtype
    'f32'
    """
    if isinstance(x, Buffer):
        x = x.read()
    if dtype is not None:
        wanted = parse_dtype(dtype)
        return _upload(as_host_array(x, None, wanted), wanted)
    array, dtype_ = from_any(x)
    return _upload(array, dtype_)


def to_array(b: Buffer, shape: object = None, dtype: object = None) -> Array:
    """The content as a NumPy array, in another shape or dtype if asked.

    >>> from dala import compute
    >>> compute.to_array(compute.buffer([1.0, 2.0, 3.0, 4.0]), (2, 2), "s32").tolist()
    [[1, 2], [3, 4]]
    """
    wanted = None if shape is None else check_shape(shape)
    target = None if dtype is None else parse_dtype(dtype)
    return _to_array(_as_buffer(b, "to_array").read(), wanted, target)


def _upload(array: Array, dtype_: DType) -> Buffer:
    engine = default_engine()
    engine.device.require_dtype(dtype_)
    type_ = array_type(array.shape, dtype_)
    storage = engine.device.allocate(type_)
    engine.device.upload(storage, array)
    return Buffer(engine, type_, storage)


def _as_buffer(b: object, who: str) -> Buffer:
    if isinstance(b, Scratch):
        b.read()  # refuses, and says why
    if not isinstance(b, Buffer):
        raise ArgumentError(f"{who}: expected a buffer, got {type(b).__name__}")
    return b


def _as_any_buffer(b: object, who: str) -> Buffer | Scratch:
    return b if isinstance(b, Scratch) else _as_buffer(b, who)
