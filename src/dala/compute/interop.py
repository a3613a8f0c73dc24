"""What users have (lists, NumPy, DLPack, PIL, memoryview) as host arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import DTypeError, ShapeError
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
    if array.size != int(np.prod(wanted, dtype=np.int64)):
        raise ShapeError(
            f"shape {wanted} needs {int(np.prod(wanted, dtype=np.int64))} values, got {array.size}"
        )
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
        if int(np.prod(shape, dtype=np.int64)) != array.size:
            raise ShapeError(f"{array.size} elements do not fill shape {shape}")
        array = array.reshape(shape)
    if dtype is not None and dtype.numpy != array.dtype:
        array = cast_array(array, dtype)
    return array


def _to_numpy(data: object) -> Array:
    if isinstance(data, np.ndarray):
        return data
    if type(data).__module__.startswith("PIL."):
        return _from_pil(data)
    if isinstance(data, memoryview | bytearray | bytes):
        view = memoryview(data)
        return np.asarray(view)
    if hasattr(data, "__dlpack__") and not isinstance(data, np.generic):
        return np.from_dlpack(data)
    try:
        return np.asarray(data)
    except ValueError as error:  # ragged lists
        raise ShapeError(f"the rows of {_name(data)} have different lengths") from error


def _from_pil(image: Any) -> Array:
    """A PIL image: grey stays (H, W), everything else becomes RGBA."""
    if image.mode in ("L", "F", "I"):
        return np.asarray(image)
    return np.asarray(image if image.mode == "RGBA" else image.convert("RGBA"))


def _convert(array: Array, dtype: DType) -> Array:
    if array.dtype == dtype.numpy:
        return array
    if not dtype.is_int:
        with np.errstate(over="ignore"):
            return array.astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    fits = (array >= info.min) & (array <= info.max)
    if array.dtype.kind == "f":
        fits &= array == np.floor(array)
    if not fits.all():
        wrong = array[~fits].flat[0]
        raise DTypeError(
            f"{wrong!s} does not fit into {dtype} (whole numbers {info.min}..{info.max}); "
            "round or clip the values, or choose another dtype"
        )
    return array.astype(dtype.numpy)


def _name(data: object) -> str:
    return type(data).__name__
