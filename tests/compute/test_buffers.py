"""What goes into a buffer comes out of it, from and to everything that holds numbers."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from foreign_arrays import Foreign
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from searching import examples

import dala
from dala import compute
from dala.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

DTYPES = {
    "f32": np.float32, "f64": np.float64, "s32": np.int32,
    "s64": np.int64, "u32": np.uint32, "u8": np.uint8,
}  # fmt: skip


def extremes(dtype: str) -> npt.NDArray[Any]:
    """The values of a type that are easiest to get wrong."""
    kind = DTYPES[dtype]
    if np.issubdtype(kind, np.floating):
        f = np.finfo(kind)
        return np.array([0.0, -0.0, f.max, f.min, f.tiny, np.inf, -np.inf, np.nan], kind)
    i = np.iinfo(kind)
    return np.array([0, 1, i.min, i.max, i.max - 1], kind)


# -- lists -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "shape", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], None, (6,)),
        ([1, 2, 3, 4, 5, 6], (2, 3), (2, 3)),
        ([1, 2, 3, 4, 5, 6], [3, 2], (3, 2)),
        ([1, 2, 3, 4, 5, 6], 6, (6,)),
        ([1, 2, 3, 4, 5, 6], (np.int64(2), 3), (2, 3)),
        ([[1, 2, 3], [4, 5, 6]], None, (2, 3)),
        ([[1, 2, 3], [4, 5, 6]], (6,), (6,)),
        ([[[1], [2], [3]], [[4], [5], [6]]], None, (2, 3, 1)),
        (((1, 2, 3), (4, 5, 6)), None, (2, 3)),
        (range(1, 7), None, (6,)),
        (array.array("i", [1, 2, 3, 4, 5, 6]), (2, 3), (2, 3)),
        (bytes([1, 2, 3, 4, 5, 6]), None, (6,)),
        (bytearray([1, 2, 3, 4, 5, 6]), (1, 6), (1, 6)),
        (np.arange(1, 7).reshape(2, 3), None, (2, 3)),
        ([np.float32(v) for v in range(1, 7)], None, (6,)),
    ],
)
def test_lists_and_what_is_like_them(data: object, shape: object, expected: object) -> None:
    b = compute.buffer(data, shape)
    assert b.shape == expected
    assert b.dtype == "f32"
    assert b.size == 24
    assert compute.read_list(b) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_number_alone_is_one_element() -> None:
    assert compute.buffer(2.5).shape == (1,)
    assert compute.read_list(compute.buffer(2.5)) == [2.5]


def test_booleans_count_as_numbers() -> None:
    assert compute.read_list(compute.buffer([True, False], dtype="u8")) == [1, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    values = extremes(dtype)
    b = compute.buffer(values, dtype=dtype)
    assert b.dtype == compute.dtype(b) == dtype
    assert b.size == compute.size(b) == values.nbytes
    result = compute.read(b)
    assert result.dtype == DTYPES[dtype]
    assert result.tobytes() == values.tobytes()


@pytest.mark.parametrize("spec", ["u8", "uint8", np.uint8, np.dtype("u1")])
def test_ways_to_name_a_dtype(spec: object) -> None:
    assert compute.buffer([1, 2], dtype=spec).dtype == "u8"


@pytest.mark.parametrize("dtype", DTYPES)
def test_lists_are_python_numbers(dtype: str) -> None:
    (value,) = compute.read_list(compute.buffer([3], dtype=dtype))
    assert type(value) is (float if dtype.startswith("f") else int)


@pytest.mark.parametrize(
    ("data", "shape", "message"),
    [
        ([1, 2, 3], (2,), r"shape \(2,\) needs 2 values, got 3"),
        ([1, 2, 3], (2, 2), r"shape \(2, 2\) needs 4 values, got 3"),
        ([1], (10**9, 10**9, 10**9), r"needs 1000000000000000000000000000 values, got 1"),
        ([], None, "a buffer has at least one element, got none"),
        ([[1], [2, 3]], None, "the rows of list have different lengths"),
    ],
)
def test_wrong_counts(data: object, shape: object, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        compute.buffer(data, shape)


# -- values that do not fit --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, "u8"),
        (-1, "u8"),
        (-1, "u32"),
        (2**32, "u32"),
        (2**31, "s32"),
        (-(2**31) - 1, "s32"),
        (2**63, "s64"),
        (1.5, "s32"),
        (1.5, "u8"),
        (255.5, "u8"),
        (float("nan"), "s32"),
        (float("nan"), "u8"),
        (float("inf"), "s64"),
        (float("-inf"), "u32"),
        (2.0**63, "s64"),
        (-(2.0**63) - 2048, "s64"),
        (2.0**31, "s32"),
        (2.0**32, "u32"),
        (np.float32(2**31), "s32"),
        (np.float32(2**32), "u32"),
        (np.float32(2**63), "s64"),
        (np.float16(300), "u8"),
        (np.uint64(2**63), "s64"),
        (np.longdouble(2) ** 63, "s64"),
    ],
)
@pytest.mark.parametrize("how", ["buffer", "write"])
def test_values_that_do_not_fit_are_refused(value: Any, dtype: str, how: str) -> None:
    kept = compute.buffer([7, 8], dtype=dtype)
    data = np.array([1, value], np.asarray(value).dtype)
    with pytest.raises(DTypeError, match=rf"does not fit into {dtype} \(whole numbers -?\d+\.\."):
        compute.buffer(data, dtype=dtype) if how == "buffer" else kept.write(data)
    assert compute.read_list(kept) == [7, 8]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (255.0, "u8"),
        (-0.0, "u8"),
        (-(2.0**63), "s64"),
        (2.0**63 - 1024, "s64"),
        (np.float32(-(2**31)), "s32"),
        (np.float32(2**31 - 128), "s32"),
        (2.0**32 - 1, "u32"),
        (np.uint64(2**63 - 1), "s64"),
        (np.float16(60000), "u32"),
    ],
)
def test_the_last_values_that_fit(value: Any, dtype: str) -> None:
    assert compute.read_list(compute.buffer([value], dtype=dtype)) == [int(value)]


@pytest.mark.parametrize("data", ["text", b"x".decode(), None, [1j], object(), [{}], [2**70]])
def test_what_is_not_a_number_is_refused(data: object) -> None:
    with pytest.raises(DTypeError, match=r"^expected numbers, got \w+ of "):
        compute.buffer(data)


@given(
    st.lists(st.floats(allow_nan=True) | st.integers(-(2**64), 2**64), min_size=1, max_size=5),
    st.sampled_from(["s32", "s64", "u32", "u16", "u8"]),
)
@settings(max_examples=examples(200))
def test_integers_are_exact_or_refused(values: list[float], dtype: str) -> None:
    with dala.use("reference"):
        try:
            result = compute.read_list(compute.buffer(values, dtype=dtype))
        except DTypeError:
            return
        given_as = np.asarray(values).tolist()  # a list that mixes ints and floats is all floats
        assert [int(v) for v in given_as] == result


# -- zeros and bytes ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (7,), (5, 3), (2, 3, 4), (1,) * 8])
def test_zeros_are_zero(shape: tuple[int, ...], dtype: str) -> None:
    dirty = compute.buffer(np.full(shape, 77), dtype=dtype)
    compute.free(dirty)  # its memory may come back
    b = compute.buffer_zeros(shape, dtype)
    assert compute.read(b).shape == shape
    assert not compute.read(b).any()
    assert len(b) == shape[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_round_trip(dtype: str) -> None:
    raw = extremes(dtype).tobytes()
    count = len(raw) // np.dtype(DTYPES[dtype]).itemsize
    b = compute.buffer_from_binary(raw, (count,), dtype)
    assert compute.read_binary(b) == raw


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda x: np.frombuffer(x, "u1")])
def test_binary_takes_anything_with_bytes(wrap: Any) -> None:
    b = compute.buffer_from_binary(wrap(bytes(range(24))), (2, 3, 4))
    assert b.dtype == "u8"
    assert compute.read_binary(b) == bytes(range(24))


def test_binary_may_be_unaligned() -> None:
    raw = b"\0" + np.float32([1, 2, 3]).tobytes()
    b = compute.buffer_from_binary(memoryview(raw)[1:], (3,), "f32")
    assert compute.read_list(b) == [1, 2, 3]


def test_a_buffer_is_a_copy() -> None:
    source = np.array([1.0, 2.0], np.float32)
    buffers = [compute.buffer(source), compute.from_array(source)]
    raw = bytearray(source.tobytes())
    buffers.append(compute.buffer_from_binary(raw, (2,), "f32"))
    source[:] = 9
    raw[:] = bytes(8)
    assert [compute.read_list(b) for b in buffers] == [[1.0, 2.0]] * 3
    result = buffers[0].read()
    result[:] = 5
    assert compute.read_list(buffers[0]) == [1.0, 2.0]


# -- from_array --------------------------------------------------------------------------------

BASE = np.arange(48, dtype=np.float32).reshape(6, 8)


@pytest.mark.parametrize(
    "x",
    [
        BASE,
        BASE[::2, 1::3],
        BASE[::-1, ::-1],
        BASE.T,
        np.asfortranarray(BASE),
        BASE.astype(">f4"),
        BASE.astype(">f4")[1::2].T,
        np.broadcast_to(np.float32(3), (4, 5)),
        BASE.reshape(2, 3, 8).transpose(2, 0, 1),
        np.array(3.5, np.float32),
        np.float32(3.5),
        np.frombuffer(BASE.tobytes(), np.float32),
    ],
    ids=[
        "plain", "strided", "reversed", "transposed", "fortran", "big-endian", "big-endian-view",
        "broadcast", "3d-permuted", "0-d", "scalar", "read-only",
    ],
)  # fmt: skip
def test_from_array_keeps_shape_and_values(x: Any) -> None:
    b = compute.from_array(x)
    assert b.shape == (np.shape(x) or (1,))
    assert b.dtype == "f32"
    np.testing.assert_array_equal(b.read(), np.reshape(x, b.shape))
    assert b.read().flags.c_contiguous
    assert b.read().dtype.isnative
    np.testing.assert_array_equal(compute.buffer(x).read(), b.read())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["<", ">"])
def test_from_array_keeps_the_dtype(dtype: str, order: str) -> None:
    values = extremes(dtype)
    b = compute.from_array(values.astype(values.dtype.newbyteorder(order)))
    assert b.dtype == dtype
    assert compute.read_binary(b) == values.tobytes()


@pytest.mark.parametrize(
    "dtype", [np.float16, np.int8, np.int16, np.uint64, np.bool_, np.complex64]
)
def test_from_array_refuses_what_no_buffer_holds(dtype: Any) -> None:
    with pytest.raises(DTypeError) as caught:
        compute.from_array(np.ones(3, dtype))
    assert str(caught.value) == (
        f"no buffer holds {np.dtype(dtype)}; convert it first, e.g. x.astype('float32') "
        "(dtypes: f32 f64 s32 s64 u32 u16 u8)"
    )


def test_from_array_of_memoryviews() -> None:
    view = memoryview(array.array("i", range(6)))
    assert compute.from_array(view).dtype == "s32"
    assert compute.read_list(compute.from_array(view[::2])) == [0, 2, 4]
    table = memoryview(bytes(range(6))).cast("B", (2, 3))
    assert compute.from_array(table).shape == (2, 3)
    assert compute.from_array(b"abc").read().tolist() == [97, 98, 99]


def test_from_array_of_a_buffer_copies_it() -> None:
    a = compute.buffer([1, 2, 3], dtype="s64")
    b = compute.from_array(a)
    a.write([4, 5, 6])
    assert b.dtype == "s64"
    assert compute.read_list(b) == [1, 2, 3]


def test_from_array_brings_a_buffer_to_the_default_device(device: str) -> None:
    with dala.use("cpu" if device == "reference" else "reference"):
        elsewhere = compute.buffer([1.0, 2.0])
    here = compute.from_array(elsewhere)
    assert elsewhere.device != here.device == device
    assert compute.read_list(here) == [1.0, 2.0]


def test_lists_have_the_usual_dtypes() -> None:
    assert compute.from_array([1, 2]).dtype == "s64"
    assert compute.from_array([1.0, 2.0]).dtype == "f32"  # as Nx has it


# -- PIL ---------------------------------------------------------------------------------------


def picture(mode: str) -> Image.Image:
    pixels = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10
    return Image.fromarray(pixels).convert(mode)


def test_pil_grey() -> None:
    image = picture("L")
    b = compute.from_array(image)
    assert (b.shape, b.dtype) == ((2, 3), "u8")
    np.testing.assert_array_equal(b.read(), np.asarray(image))


def test_pil_rgba() -> None:
    image = picture("RGBA")
    b = compute.from_array(image)
    assert (b.shape, b.dtype) == ((2, 3, 4), "u8")
    assert compute.read_binary(b) == image.tobytes()


def test_pil_rgb_gets_an_opaque_alpha() -> None:
    image = picture("RGB")
    b = compute.from_array(image)
    assert (b.shape, b.dtype) == ((2, 3, 4), "u8")
    np.testing.assert_array_equal(b.read()[..., :3], np.asarray(image))
    assert (b.read()[..., 3] == 255).all()
    assert Image.fromarray(b.read()).convert("RGB").tobytes() == image.tobytes()


def test_pil_modes_that_need_care() -> None:
    deep = Image.fromarray(np.array([[0, 300], [40000, 65535]], np.uint16))
    assert deep.mode == "I;16"
    b = compute.from_array(deep)
    assert b.dtype == "u16"  # as RGBA it would be cut to 8 bits
    assert b.read().tolist() == [[0, 300], [40000, 65535]]
    assert compute.from_array(Image.new("F", (3, 2), 0.25)).read().tolist() == [[0.25] * 3] * 2
    assert compute.from_array(Image.new("1", (3, 2), 1)).read()[0, 0].tolist() == [255] * 4
    with pytest.raises(DTypeError, match="no buffer holds a PIL image of mode La"):
        compute.from_array(Image.new("La", (3, 2)))


def test_pil_subclasses() -> None:
    class Photo(Image.Image):
        pass

    photo = Photo()
    photo.__dict__.update(picture("RGB").__dict__)
    assert compute.from_array(photo).shape == (2, 3, 4)


# -- DLPack and __array__ ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_in(dtype: str) -> None:
    values = extremes(dtype)
    b = compute.from_array(Foreign(values))
    assert b.dtype == dtype
    assert compute.read_binary(b) == values.tobytes()
    assert compute.read_binary(compute.buffer(Foreign(values), dtype=dtype)) == values.tobytes()


def test_dlpack_in_strided() -> None:
    b = compute.from_array(Foreign(BASE.T))
    np.testing.assert_array_equal(b.read(), BASE.T)


def test_dlpack_from_another_device_is_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        compute.from_array(Foreign(BASE, (2, 0)))
    assert str(caught.value) == (
        "Foreign: its memory cannot be read from here (device memory); "
        "move it to the host first, e.g. x.cpu()"
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_out(dtype: str) -> None:
    values = extremes(dtype)
    b = compute.from_array(values)
    assert b.__dlpack_device__() == (1, 0)
    out = np.from_dlpack(b)
    assert out.dtype == values.dtype
    assert out.tobytes() == values.tobytes()
    compute.free(b)
    assert out.tobytes() == values.tobytes()


def test_numpy_takes_a_buffer() -> None:
    b = compute.buffer([[1.0, 2.0], [3.0, 4.0]])
    assert np.asarray(b).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert np.asarray(b, np.int64).dtype == np.int64
    assert np.array(b, copy=True).dtype == np.float32
    assert np.sum(b) == 10
    with pytest.raises(ValueError, match="always copied"):
        np.array(b, copy=False)
