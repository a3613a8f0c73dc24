"""What users have (lists, NumPy, DLPack, PIL, memoryview) as host arrays, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ArgumentError, DalaError, DTypeError, ShapeError
from dala.ir.dtypes import BUFFER_DTYPES, DType, parse_dtype
from dala.ir.ops import cast_array

Array = npt.NDArray[Any]


def as_host_array(data: object, shape: tuple[int, ...] | None, dtype: DType) -> Array:
    """``data`` as a C-contiguous array of the given type; refuses what would change a value."""
    array = _to_numpy(data)
    if array.dtype.kind not in "fiub":
        raise DTypeError(f"expected numbers, got {_name(data)} of {array.dtype}")
    if array.size == 0:
        raise ShapeError("a buffer has at least one element, got none")
    wanted = array.shape or (1,) if shape is None else shape
    if array.size != math.prod(wanted):
        raise ShapeError(f"shape {wanted} needs {math.prod(wanted)} values, got {array.size}")
    return np.ascontiguousarray(_convert(array, dtype)).reshape(wanted)


def from_any(data: object) -> tuple[Array, DType]:
    """Any array as a host array in its own dtype."""
    array = _to_numpy(data)
    native = array.dtype.newbyteorder("=")
    try:
        dtype = parse_dtype(native)
    except DTypeError:
        names = " ".join(d.name for d in BUFFER_DTYPES)
        raise DTypeError(
            f"no buffer holds {array.dtype}; convert it first, e.g. x.astype('float32') "
            f"(dtypes: {names})"
        ) from None
    if array.size == 0:
        raise ShapeError("a buffer has at least one element, got none")
    return np.ascontiguousarray(array, native).reshape(array.shape or (1,)), dtype


def to_array(array: Array, shape: tuple[int, ...] | None, dtype: DType | None) -> Array:
    """A host array in another shape or dtype (converted by the cast policy)."""
    if shape is not None:
        if math.prod(shape) != array.size:
            raise ShapeError(f"{array.size} elements do not fill shape {shape}")
        array = array.reshape(shape)
    if dtype is not None and dtype.numpy != array.dtype:
        array = cast_array(array, dtype)
    return array


def _to_numpy(data: object) -> Array:
    if isinstance(data, np.ndarray):
        return data
    if any(base.__module__.startswith("PIL.") for base in type(data).__mro__):
        return _from_pil(data)
    if isinstance(data, memoryview | bytearray | bytes):
        view = memoryview(data)
        return np.asarray(view)
    if hasattr(data, "__dlpack__") and not isinstance(data, np.generic):
        return _from_dlpack(data)
    try:
        return np.asarray(data)
    except DalaError:  # a buffer that was freed, a scratch
        raise
    except ValueError as error:  # ragged lists
        raise ShapeError(f"the rows of {_name(data)} have different lengths") from error


def _from_dlpack(data: Any) -> Array:
    try:
        return np.from_dlpack(data)
    except DalaError:
        raise
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"{_name(data)}: its memory cannot be read from here ({error}); "
            "move it to the host first, e.g. x.cpu()"
        ) from error


def _from_pil(image: Any) -> Array:
    """A PIL image: grey stays (H, W), everything else becomes RGBA."""
    mode = image.mode
    if mode in ("L", "F", "I"):
        return np.asarray(image)
    if mode.startswith("I;16"):  # as RGBA it would be clipped to 8 bits
        return np.asarray(image).astype(np.uint16)
    try:
        return np.asarray(image if mode == "RGBA" else image.convert("RGBA"))
    except ValueError as error:
        raise DTypeError(f"no buffer holds a PIL image of mode {mode}; convert it first") from error


def _convert(array: Array, dtype: DType) -> Array:
    if array.dtype == dtype.numpy:
        return array
    if not dtype.is_int:
        with np.errstate(over="ignore"):
            return array.astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    if array.dtype.kind == "f":
        # the largest integer may not be a float; the power of two above it always is
        exact = array.astype(np.float64) if array.dtype.itemsize < 8 else array
        fits = (exact >= info.min) & (exact < float(info.max + 1)) & (exact == np.floor(exact))
    else:
        fits = (array >= info.min) & (array <= info.max)
    if not fits.all():
        wrong = array[~fits].flat[0]
        raise DTypeError(
            f"{wrong!s} does not fit into {dtype} (whole numbers {info.min}..{info.max}); "
            "round or clip the values, or choose another dtype"
        )
    return array.astype(dtype.numpy)


def _name(data: object) -> str:
    return type(data).__name__
