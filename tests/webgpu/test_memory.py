"""Memory of a GPU: sizes, staging, the pool, and what does not fit."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from pipelines_apart import pixels
from several_threads import use_threads

from dala import compute
from dala.backends import copying
from dala.backends.webgpu import memory, staging
from dala.backends.webgpu.device import WebGpuDevice
from dala.errors import (
    OutOfMemoryError,
    UnsupportedError,
)
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F64, S64, U8

pytestmark = pytest.mark.webgpu


@pytest.mark.parametrize(
    "count", [1, 3, 31, 65_536, 65_537, (8 << 20) - 1, (8 << 20) + 5, 20 << 20]
)
def test_every_size_goes_in_and_out(gpu: WebGpuDevice, count: int) -> None:
    data = pixels((count,))
    b = compute.from_array(data)
    np.testing.assert_array_equal(b.read(), data)
    out = np.empty_like(data)
    assert b.read(out) is out
    np.testing.assert_array_equal(out, data)


@pytest.mark.parametrize("shape", [(3, 5), (300, 700), (2000, 5000)], ids=str)
def test_content_written_in_place(gpu: WebGpuDevice, shape: tuple[int, int]) -> None:
    data = pixels(shape)
    b = compute.buffer_zeros(shape, "u8")
    for turn in range(5):  # over the same staging buffers
        gpu.fill(b.storage(), lambda room, turn=turn: np.copyto(room, data + np.uint8(turn)))
        np.testing.assert_array_equal(b.read(), data + np.uint8(turn))


def test_content_that_fails_halfway_leaves_the_array(gpu: WebGpuDevice) -> None:
    data = pixels((700, 700))
    b = compute.from_array(data)

    def fail(room: np.ndarray) -> None:
        room[:300] = 0
        raise OutOfMemoryError("no more")

    for _ in range(2 * staging.IN_FLIGHT):
        with pytest.raises(OutOfMemoryError, match="no more"):
            gpu.fill(b.storage(), fail)
    np.testing.assert_array_equal(b.read(), data)


def test_a_strided_array_can_be_filled(gpu: WebGpuDevice) -> None:
    data = pixels((60, 80))
    wide = np.zeros((60, 160), np.uint8)
    compute.from_array(data).read(wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], data)
    assert not wide[:, 1::2].any()


def test_a_large_read_is_a_view_and_its_own(gpu: WebGpuDevice) -> None:
    """No copy is made; yet what one reader does to it, nobody else sees."""
    data = pixels((1 << 21,))
    b = compute.from_array(data)
    first, second = b.read(), b.read()
    assert not first.flags.owndata
    first[:] = 7
    np.testing.assert_array_equal(second, data)
    np.testing.assert_array_equal(b.read(), data)
    part = first[10:20]
    del first, second
    gc.collect()
    b.read()
    assert part.tolist() == [7] * 10  # as long as a part of it lives, the memory is not used again


@pytest.mark.parametrize("parts", [1, 2, 4, 7])
@pytest.mark.parametrize("size", [1, 1000, 4096, 4097, 100_003])
def test_copies_on_several_threads(monkeypatch: pytest.MonkeyPatch, parts: int, size: int) -> None:
    use_threads(monkeypatch, parts)
    monkeypatch.setattr(copying, "LARGE", 1024)
    source, target = pixels((size,)), np.zeros(size + 8, np.uint8)
    copying.copy_bytes(target[:size], source)
    np.testing.assert_array_equal(target[:size], source)
    assert not target[size:].any()


def test_a_copy_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "LARGE", 1024)
    target = np.zeros(10_000, np.uint8)
    target.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        copying.copy_bytes(target, pixels((10_000,)))


def test_staging_is_used_again(gpu: WebGpuDevice) -> None:
    b = compute.from_array(pixels((3 << 20,)))
    for _ in range(staging.IN_FLIGHT):
        b.write(pixels((3 << 20,)))
        b.read()
    made = []
    original = gpu.gpu.create_buffer
    gpu.gpu.create_buffer = lambda **kw: made.append(kw) or original(**kw)
    try:
        for seed in range(5):
            b.write(pixels((3 << 20,), seed))
            b.read()
        assert made == []
    finally:
        del gpu.gpu.create_buffer


def test_what_was_read_is_unmapped_behind_the_next_submit(
    own: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two buffers by turns: while the GPU is at work for one the other one is put back."""
    done: list[str] = []
    for owner, name in ((own.queue, "submit_run"), (own.staging, "_release")):
        call = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *a, call=call, name=name: (done.append(name), call(*a))[1]
        )
    type_ = ArrayType((19,), U8)
    arrays = [own.allocate(type_) for _ in range(5)]
    for number, array in enumerate(arrays):
        own.upload(array, np.full(19, number, np.uint8))
    found = [own.fetch(array) for array in arrays]
    assert done == ["submit_run", *["submit_run", "_release"] * 4]
    landings = own.staging._readbacks[arrays[0].memory.bytes]
    assert len(landings) == 1 and len(own.staging._read) == 1
    for number, array in enumerate(found):
        assert array.tolist() == [number] * 19 and array.flags.writeable


def test_memory_is_used_again_and_zeros_are_zeros(gpu: WebGpuDevice) -> None:
    shape = (123, 457)
    first = compute.from_array(pixels(shape))
    number = first.storage().memory.serial
    first.free()
    again = compute.buffer_zeros(shape, "u8")
    assert again.storage().memory.serial == number
    assert not again.read().any()


def test_the_pool_keeps_to_its_budget(gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SPARE_BYTES", 1 << 20)
    pool = memory.MemoryPool(gpu.gpu, gpu.limits, "here", gpu.queue)
    held = [pool.array(ArrayType((size,), U8), False) for size in range(100_000, 1_000_000, 50_000)]
    del held
    gc.collect()
    assert pool._spare_bytes <= 1 << 20
    assert pool._spare_bytes == sum(size * len(m) for size, m in pool._spare.items())


def test_a_buffer_over_the_binding_size_is_refused_with_the_numbers(gpu: WebGpuDevice) -> None:
    most = min(gpu.limits["max-storage-buffer-binding-size"], gpu.limits["max-buffer-size"])
    if most > 1 << 33:
        pytest.skip(f"this adapter binds {most / 2**30:.0f} GiB")
    with pytest.raises(OutOfMemoryError) as caught:
        compute.buffer_zeros((rows := most // 2**20 + 1, 1 << 20), "u8")
    assert f"{gpu.adapter} binds {most / 2**20:,.0f} MiB at most" in str(caught.value)
    assert f"needs {rows:,} MiB" in str(caught.value)


@pytest.mark.parametrize("dtype", [F64, S64], ids=str)
def test_a_dtype_that_the_adapter_lacks(own: WebGpuDevice, dtype: object) -> None:
    own.dtypes = tuple(d for d in own.dtypes if d is not dtype)
    words = f"{own.adapter} has no {dtype} "
    with pytest.raises(UnsupportedError) as caught:
        own.allocate(ArrayType((3,), dtype))  # type: ignore[arg-type]
    assert words in str(caught.value)
