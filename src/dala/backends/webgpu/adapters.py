"""Which GPUs there are, which one is best, and what is missing if there is none.

``webgpu:N`` is the N-th of this list: real GPUs before software ones, discrete before integrated (the
other way round with DALA_GPU_POWER=low), Vulkan, Metal and DX12 before GL.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from logging import LogRecord
from typing import Any

from dala import forking
from dala.backends.webgpu.runtime_dir import some_runtime_dir
from dala.backends.webgpu.wgpu_log import import_wgpu, say, withheld_warnings
from dala.errors import DeviceError
from dala.leaving import native

INSTALL = "pip install 'dala-gpu[webgpu]'"
_KINDS = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")
_BACKENDS = ("Vulkan", "Metal", "D3D12", "OpenGL", "OpenGLES")
_lock = forking.lock()
_found: list[Adapter] | None = None
_fault = ""  # of a wgpu that is installed and does not work
_unsaid: list[LogRecord] = []  # why there may be none, until somebody wants one


@dataclass(frozen=True)
class Adapter:
    """One way to reach one GPU."""

    handle: Any
    name: str
    kind: str  # DiscreteGPU, IntegratedGPU, VirtualGPU, CPU, Unknown
    backend: str  # Vulkan, Metal, D3D12, OpenGL
    driver: str

    @property
    def is_software(self) -> bool:
        """Whether the CPU only pretends to be a GPU."""
        return self.kind == "CPU"

    def __str__(self) -> str:
        return f"{self.name} ({self.backend}{', software' if self.is_software else ''})"


def has_wgpu() -> bool:
    """Whether wgpu-py is installed; does not import it."""
    return importlib.util.find_spec("wgpu") is not None


def find_adapters() -> list[Adapter]:
    """All adapters, best first; empty if wgpu-py is not installed, does not work or finds none."""
    global _found
    with _lock:
        if _found is None:
            _found = _rank(_enumerate()) if has_wgpu() else []
        return _found


def fault_of_wgpu() -> str:
    """Why a wgpu-py that is installed does not work here; empty if it does."""
    find_adapters()
    return _fault


def _enumerate() -> list[Adapter]:
    global _fault
    try:
        wgpu = import_wgpu()
        forking.leave_drivers_alone()
        with withheld_warnings() as withheld, some_runtime_dir(), native:
            handles = wgpu.gpu.enumerate_adapters_sync()
    except Exception as error:  # of its library, as a system's is too old, or of a driver
        # The CPU is there all the same and goes on; who asks for a GPU is told.
        _fault = f"wgpu does not work here: {type(error).__name__}: {error}"
        return []
    _unsaid[:] = [] if handles else withheld
    adapters = []
    for handle in handles:
        info = handle.info
        name = info.get("device") or info.get("vendor") or "unknown GPU"
        adapters.append(
            Adapter(
                handle,
                name,
                info["adapter_type"],
                info["backend_type"],
                info.get("description", ""),
            )
        )
    return adapters


def _rank(adapters: list[Adapter]) -> list[Adapter]:
    kinds = list(_KINDS)
    if os.environ.get("DALA_GPU_POWER", "") == "low":
        kinds[:2] = kinds[1::-1]

    def rank(listed: list[str] | tuple[str, ...], word: str) -> int:
        return listed.index(word) if word in listed else len(listed)

    return sorted(adapters, key=lambda a: (rank(kinds, a.kind), rank(_BACKENDS, a.backend)))


def choose_adapter(number: int | None) -> Adapter:
    """The N-th adapter, or the best; refuses with what is missing."""
    adapters = find_adapters()
    if not adapters:
        with _lock:
            unsaid = _unsaid[:]
            _unsaid.clear()
        say(unsaid)
        raise DeviceError(f"webgpu: {why_none()}")
    if number is None:
        return adapters[0]
    if number >= len(adapters):
        listed = ", ".join(f"webgpu:{i} {a}" for i, a in enumerate(adapters))
        raise DeviceError(f"no device 'webgpu:{number}'; there is {listed}")
    return adapters[number]


def why_none() -> str:
    """What is missing where no adapter is found, and what would help."""
    if not has_wgpu():
        return f"wgpu is not installed; {INSTALL}"
    if _fault:
        return _fault
    return "no GPU was found; `python -m dala doctor` says what is missing"


def best_real_gpu() -> tuple[Adapter | None, str]:
    """The GPU that "auto" would take, or none; and why."""
    if not has_wgpu():
        return None, f"wgpu is not installed ({INSTALL})"
    adapters = find_adapters()
    real = [a for a in adapters if not a.is_software]
    if real:
        return real[0], f"{real[0]} is the best GPU here"
    if adapters:
        return None, f"the only adapter is {adapters[0]}, slower than the CPU compiler"
    return None, _fault or "no GPU was found"
