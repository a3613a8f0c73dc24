"""Buffers: arrays that live on a device."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dala.backends.base import Device, Storage
from dala.closing import Closing
from dala.compute.commands import submit_command
from dala.compute.recipe import Known
from dala.compute.running import Command
from dala.errors import ArgumentError, BufferFreedError, DTypeError, PipelineError, ShapeError
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import parse_dtype

Array = npt.NDArray[Any]
MAX_AXIS = 2**31 - 1  # positions are 32-bit on every device
MAX_RANK = 8


class Owner(Protocol):
    """An engine, as far as its buffers know it; ``owner_of`` in engine.py gives all of it."""

    @property
    def device(self) -> Device: ...

    @property
    def known(self) -> dict[Hashable, Known]: ...


class Buffer(Closing):
    """An array on a device.

    >>> from dala import compute
    >>> b = compute.buffer([1.0, 2.0, 3.0])
    >>> b.shape, b.dtype, b.size
    ((3,), 'f32', 12)
    """

    __slots__ = ("__weakref__", "_storage", "engine", "readers", "type", "writer")

    def __init__(self, engine: Owner, type_: ArrayType, storage: Storage) -> None:
        self.engine = engine
        self.type = type_
        self._storage: Storage | None = storage
        self.writer: Command | None = None
        self.readers: list[Command] = []

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.type.shape

    @property
    def dtype(self) -> str:
        """The element type: ``"f32"``, ``"u8"``, …"""
        return self.type.dtype.name

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.type.nbytes

    @property
    def device(self) -> str:
        """The name of the device it lives on."""
        return self.engine.device.name

    @property
    def closed(self) -> bool:
        """Whether its memory was given back."""
        return self._storage is None

    freed = closed

    def __repr__(self) -> str:
        state = ", freed" if self.freed else ""
        return f"<dala buffer {self.shape} {self.dtype} on {self.device}{state}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a picture, or some of the numbers."""
        from dala.compute.notebook import array_html

        return array_html(repr(self), None if self.freed else self.read())

    def __len__(self) -> int:
        return self.shape[0]

    def storage(self) -> Storage:
        """What holds the data; refuses once freed."""
        if self._storage is None:
            raise BufferFreedError(f"this buffer of {self.shape} {self.dtype} has been freed")
        return self._storage

    def read(self, out: Array | None = None) -> Array:
        """The content as a NumPy array, after all writes submitted so far.

        >>> from dala import compute
        >>> compute.buffer([5, 7], dtype="s32").read()
        array([5, 7], dtype=int32)
        """
        storage, device = self.storage(), self.engine.device
        target = [] if out is None else [self._check_out(out)]

        def work() -> None:
            if target:
                device.download(storage, target[0])
            else:
                target.append(device.fetch(storage))

        submit_command("read", work, [self], reads=(0,), writes=(), stream=None, inline=True)
        return target[0]

    def _check_out(self, out: Array) -> Array:
        if not isinstance(out, np.ndarray):
            raise ArgumentError(f"read: out must be a NumPy array, got {type(out).__name__}")
        if out.shape != self.shape:
            raise ShapeError(f"read: out must have shape {self.shape}, got {out.shape}")
        if out.dtype != self.type.dtype.numpy:
            raise DTypeError(f"read: out must be {self.type.dtype.numpy}, got {out.dtype}")
        if not out.flags.writeable:
            raise ArgumentError("read: out is read-only")
        return out

    def write(self, data: object) -> None:
        """Replace the content by ``data`` of the same shape; ordered after every use so far.

        >>> from dala import compute
        >>> b = compute.buffer_zeros((2,), "u8")
        >>> b.write([3, 4])
        >>> b.read()
        array([3, 4], dtype=uint8)
        """
        from dala.compute.interop import as_host_array

        array = as_host_array(data, self.type.shape, self.type.dtype)
        storage = self.storage()
        submit_command(
            "write",
            functools.partial(self.engine.device.upload, storage, array),
            [self],
            reads=(),
            writes=(0,),
            stream=None,
            inline=True,
        )

    def close(self) -> None:
        """Give the memory back. Commands under way keep theirs; twice does nothing.

        >>> from dala import compute
        >>> with compute.buffer([1.0, 2.0]) as b:
        ...     b.read().tolist()
        [1.0, 2.0]
        >>> b.closed
        True
        """
        self._storage = None

    free = close

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a dala buffer's content is always copied; drop copy=False")
        array = self.read()
        return array if dtype is None else array.astype(np.dtype(dtype))  # type: ignore[call-overload]

    def __dlpack__(self, **options: Any) -> Any:
        return self.read().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # host memory: what is exported is a copy


class Scratch(Closing):
    """A buffer that exists only inside a pipeline, and perhaps not even there.

    >>> from dala import compute
    >>> between = compute.scratch((480, 640, 4), "u8")
    >>> between.shape, between.dtype, between.size
    ((480, 640, 4), 'u8', 1228800)
    """

    __slots__ = ("__weakref__", "type")

    def __init__(self, type_: ArrayType) -> None:
        self.type = type_

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.type.shape

    @property
    def dtype(self) -> str:
        """The element type: ``"f32"``, ``"u8"``, …"""
        return self.type.dtype.name

    @property
    def size(self) -> int:
        """The size in bytes it would have."""
        return self.type.nbytes

    def __repr__(self) -> str:
        return f"<dala scratch {self.shape} {self.dtype}>"

    def read(self, out: Array | None = None) -> Array:
        """Refused: a scratch buffer may never exist."""
        raise PipelineError(
            "a scratch buffer lives only inside a pipeline and may never exist; "
            "give the stage a real buffer to read its result"
        )

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return self.read()

    def close(self) -> None:
        """Nothing is held."""

    @property
    def closed(self) -> bool:
        """Never: it holds nothing."""
        return False

    free = close


def check_shape(shape: object) -> tuple[int, ...]:
    """A shape as a tuple of positive whole numbers, or a ShapeError."""
    if isinstance(shape, int | np.integer) and not isinstance(shape, bool):
        shape = (shape,)
    if not isinstance(shape, Sequence) or isinstance(shape, str | bytes):
        raise ShapeError(f"a shape is a tuple of whole numbers, got {shape!r}")
    if not 1 <= len(shape) <= MAX_RANK:
        raise ShapeError(f"a shape has 1 to {MAX_RANK} axes, got {len(shape)}")
    result = []
    for length in shape:
        if isinstance(length, bool) or not isinstance(length, int | np.integer):
            raise ShapeError(f"a shape is a tuple of whole numbers, got {tuple(shape)!r}")
        if not 1 <= int(length) <= MAX_AXIS:
            raise ShapeError(f"every axis must have 1..{MAX_AXIS} elements, got {tuple(shape)!r}")
        result.append(int(length))
    return tuple(result)


def array_type(shape: object, dtype: object) -> ArrayType:
    """A checked ArrayType; arrays of one type share it, which makes it quick to recognise."""
    return _shared_type(check_shape(shape), parse_dtype(dtype))


_shared_type = functools.lru_cache(1024)(ArrayType)
