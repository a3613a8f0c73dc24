"""What a buffer has is read, replaced, and told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from foreign_arrays import Foreign

from dala import compute
from dala.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

BASE = np.arange(48, dtype=np.float32).reshape(6, 8)


def test_read_into_an_array() -> None:
    b = compute.buffer(BASE)
    out = np.full(BASE.shape, -1, np.float32)
    assert compute.read(b, out) is out
    np.testing.assert_array_equal(out, BASE)
    assert compute.read(b, out=out) is out
    assert b.read(out=out) is out


def test_read_into_a_view() -> None:
    big = np.zeros((6, 16), np.float32)
    compute.read(compute.buffer(BASE), big[:, ::2])
    np.testing.assert_array_equal(big[:, ::2], BASE)
    assert not big[:, 1::2].any()


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([0.0] * 3, ArgumentError, "read: out must be a NumPy array, got list"),
        (np.zeros(4, "f4"), ShapeError, "read: out must have shape (3,), got (4,)"),
        (np.zeros((3, 1), "f4"), ShapeError, "read: out must have shape (3,), got (3, 1)"),
        (np.zeros(3, "f8"), DTypeError, "read: out must be float32, got float64"),
        (np.zeros(3, ">f4"), DTypeError, "read: out must be float32, got >f4"),
        (np.broadcast_to(np.float32(0), 3), ArgumentError, "read: out is read-only"),
    ],
)
def test_read_into_what_does_not_fit(out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        compute.read(compute.buffer([1.0, 2.0, 3.0]), out)
    assert str(caught.value) == message
    assert not np.any(out)


def test_read_list_is_flat() -> None:
    assert compute.read_list(compute.buffer([[1, 2], [3, 4]], dtype="s32")) == [1, 2, 3, 4]


def test_to_array() -> None:
    b = compute.buffer([0.0, 1.0, 2.5, 300.0, -1.0, 4.0])
    assert compute.to_array(b).tolist() == [0.0, 1.0, 2.5, 300.0, -1.0, 4.0]
    assert compute.to_array(b, (2, 3)).shape == (2, 3)
    assert compute.to_array(b, 6).shape == (6,)
    assert compute.to_array(b, dtype="f64").dtype == np.float64
    assert compute.to_array(b, dtype=np.int64).tolist() == [0, 1, 2, 300, -1, 4]
    assert compute.to_array(b, (3, 2), "s32").tolist() == [[0, 1], [2, 300], [-1, 4]]
    with pytest.raises(ShapeError, match=r"^6 elements do not fill shape \(4,\)$"):
        compute.to_array(b, (4,))
    with pytest.raises(DTypeError, match="expected one of f32 f64 s32 s64 u32 u16 u8, got 'f16'"):
        compute.to_array(b, dtype="f16")


# -- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [[[1, 2], [3, 4]], [1, 2, 3, 4], np.array([[1, 3], [2, 4]]).T, Foreign(np.arange(1, 5))]
)
def test_write_replaces_the_content(data: object) -> None:
    b = compute.buffer_zeros((2, 2), "s32")
    b.write(data)
    assert b.read().tolist() == [[1, 2], [3, 4]]


def test_write_of_another_buffer() -> None:
    a, b = compute.buffer([1.0, 2.0]), compute.buffer_zeros((2,))
    b.write(a)
    assert compute.read_list(b) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("data", "error"),
    [([1, 2, 3], ShapeError), ([], ShapeError), ([1.5, 2], DTypeError), ("ab", DTypeError)],
)
def test_write_of_what_does_not_fit_changes_nothing(data: object, error: type[Exception]) -> None:
    b = compute.buffer([7, 8], dtype="s32")
    with pytest.raises(error):
        b.write(data)
    assert compute.read_list(b) == [7, 8]


# -- what a buffer says of itself --------------------------------------------------------------


def test_repr_and_properties(device: str) -> None:
    b = compute.buffer_zeros((2, 3), "s64")
    assert repr(b) == f"<dala buffer (2, 3) s64 on {device}>"
    assert (b.shape, b.dtype, b.size, b.device, b.freed) == ((2, 3), "s64", 48, device, False)
    b.free()
    assert repr(b) == f"<dala buffer (2, 3) s64 on {device}, freed>"
    assert (compute.shape(b), compute.dtype(b), compute.size(b)) == ((2, 3), "s64", 48)
    s = compute.scratch((2, 3), "f32")
    assert repr(s) == "<dala scratch (2, 3) f32>"
    assert (compute.shape(s), compute.dtype(s), compute.size(s)) == ((2, 3), "f32", 24)


def test_free_is_idempotent() -> None:
    a, b = compute.buffer_zeros((4,)), compute.buffer_zeros((4,))
    compute.free(a)
    compute.free(a)
    compute.free_many([a, b, b])
    compute.free_many(x for x in (a, b))
    compute.free(compute.scratch((4,)))
    assert a.freed
    assert b.freed


def test_free_many_frees_all_or_nothing() -> None:
    a = compute.buffer_zeros((4,))
    with pytest.raises(ArgumentError, match=r"^free_many: expected a buffer, got int$"):
        compute.free_many([a, 3])  # type: ignore[list-item]
    assert not a.freed
