"""Workers, threads, memory and GPUs of a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

import dala
from dala.backends.webgpu import adapters
from dala.errors import DeviceError
from dala.fleet import placement
from dala.fleet.placement import (
    Placement,
    available_memory,
    find_gpus,
    place,
    task_environment,
    workers_in_memory,
)

GIB = 1 << 30
UHD = 3840 * 2160


@pytest.fixture
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "machine_threads", lambda: 16)
    monkeypatch.setattr(placement, "available_memory", lambda: 64 * GIB)


@pytest.mark.usefixtures("sixteen")
def test_workers_times_threads_are_the_cores() -> None:
    assert place("auto", 100) == Placement(16, 1)
    assert place("auto", 4) == Placement(4, 4)
    assert place(2, 100) == Placement(2, 8)
    assert place(2, 100, 3) == Placement(2, 3)
    assert place("auto", 1, here=False).threads == 1


@pytest.mark.usefixtures("sixteen")
def test_no_more_workers_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "available_memory", lambda: 8 * GIB)
    few = place("auto", 100, pixels=UHD)
    assert 1 < few.workers < 16
    assert few.workers * few.worker_bytes <= 8 * GIB
    assert place("auto", 100, pixels=64 * 48).workers == 16
    monkeypatch.setattr(placement, "available_memory", lambda: 1 << 20)
    assert place("auto", 100).workers == 1
    assert workers_in_memory(UHD, 16, free=1 << 62) > 1000


def test_a_container_has_less_than_its_machine(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9999 kB\nMemAvailable: 4096 kB\n")
    assert available_memory(meminfo, tmp_path) == 4 << 20
    (tmp_path / "memory.max").write_text("3145728\n")
    (tmp_path / "memory.current").write_text("2097152\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 1048576\n")
    assert available_memory(meminfo, tmp_path) == 2 << 20
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory(meminfo, tmp_path) == 4 << 20


def adapter(name: str, kind: str = "DiscreteGPU", backend: str = "Vulkan") -> adapters.Adapter:
    return adapters.Adapter(None, name, kind, backend, "")


def test_one_worker_for_each_gpu_of_a_kind(monkeypatch: pytest.MonkeyPatch, sixteen: None) -> None:
    listed = [adapter("H200"), adapter("H200"), adapter("Iris", "IntegratedGPU")]
    listed += [adapter("H200", backend="OpenGL")]
    monkeypatch.setattr(adapters, "find_adapters", lambda: listed)
    assert find_gpus("webgpu") == ("webgpu:0", "webgpu:1")
    assert find_gpus("webgpu:2") == ("webgpu:2",)
    assert find_gpus("cpu") == find_gpus("reference") == ()
    placed = place("auto", 100, device="webgpu")
    assert (placed.workers, placed.threads) == (2, 8)
    assert [placed.device_of(n) for n in range(3)] == ["webgpu:0", "webgpu:1", "webgpu:0"]
    assert place("auto", 100, device="webgpu", here=False).devices == ()
    monkeypatch.setattr(adapters, "find_adapters", list)
    assert find_gpus("webgpu") == ("webgpu",)  # and the worker says what is missing


def test_without_a_device_it_is_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "find_adapters", lambda: [adapter("A"), adapter("A")])
    monkeypatch.setattr("dala.backends.auto.choose_auto", lambda: ("webgpu", "it is the best"))
    assert find_gpus("auto") == ("webgpu:0", "webgpu:1")
    with dala.use("cpu"):
        assert find_gpus(None) == ()
    monkeypatch.setattr(placement, "default_name", lambda: "webgpu:1")
    assert find_gpus(None) == ("webgpu:1",)
    with pytest.raises(DeviceError, match="no device 'gpu'"):
        find_gpus("gpu")


def test_what_the_user_has_set_counts_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.setenv("DALA_THREADS", "8")
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    given = task_environment(2)
    assert given["DALA_THREADS"] == "2"  # theirs is for the whole machine
    assert "OPENBLAS_NUM_THREADS" not in given and given["MALLOC_ARENA_MAX"] == "1"
