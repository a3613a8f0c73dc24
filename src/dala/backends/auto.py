"""Which devices there are, and which one "auto" means here, with the reason."""

from __future__ import annotations

import os
import re

from dala import forking, locks
from dala.backends.base import Device
from dala.backends.webgpu.adapters import best_real_gpu, choose_adapter, find_adapters
from dala.errors import DeviceError, suggest

SPECS = ("auto", "cpu", "webgpu", "reference")
_NUMBERED = re.compile(r"webgpu:(\d+)")
_devices: dict[str, Device] = {}
_lock = locks.rlock()
# what a device needs is imported in there, and an import does not survive a fork
forking.hold(lambda: [_lock], outermost=True)


def open_device(spec: str) -> Device:
    """The device of that name; each is made once per process, and anew once it is lost."""
    name = name_device(spec)
    with _lock:
        found = _devices.get(name)
        if found is None or found.lost:
            found = _devices[name] = _make(name)
        return found


def name_device(spec: str) -> str:
    """What a device is called, which is not opened for that: its own name instead of "auto"."""
    if not isinstance(spec, str):
        raise DeviceError(f"a device is named by a string, got {type(spec).__name__}")
    if not is_spec(spec):
        listed = ", ".join(repr(s) for s in SPECS)
        raise DeviceError(f"no device {spec!r}; expected one of {listed}{suggest(spec, SPECS)}")
    return choose_auto()[0] if spec == "auto" else spec


def opened_devices() -> list[Device]:
    """The devices that are in use."""
    with _lock:
        return list(_devices.values())


def choose_auto() -> tuple[str, str]:
    """What "auto" picks, and why."""
    wanted = os.environ.get("DALA_DEVICE", "")
    if wanted and wanted != "auto":
        if not is_spec(wanted):
            raise DeviceError(
                f"DALA_DEVICE={wanted!r} names no device; expected one of {', '.join(SPECS)}"
            )
        return wanted, f"DALA_DEVICE asks for {wanted}"
    gpu, reason = best_real_gpu()
    if gpu is not None:
        return "webgpu", reason
    return "cpu", f"the CPU compiler is the fastest device here: {reason}"


def list_devices() -> list[str]:
    """The names of all devices here; a second GPU, or a second way to one, is ``webgpu:1``."""
    gpus = ["webgpu", *(f"webgpu:{n}" for n in range(1, len(find_adapters())))]
    return ["cpu", *(gpus if find_adapters() else []), "reference"]


def is_spec(name: str) -> bool:
    """Whether a name is one of SPECS or ``webgpu:N``."""
    return name in SPECS or _NUMBERED.fullmatch(name) is not None


def _make(name: str) -> Device:
    # imported here: a device's machinery is loaded when the device is first used
    if name == "cpu":
        from dala.backends.cpu.device import CpuDevice

        return CpuDevice()
    if name.startswith("webgpu"):
        from dala.backends.webgpu.device import WebGpuDevice

        _, _, number = name.partition(":")
        return WebGpuDevice(choose_adapter(int(number) if number else None), name)
    from dala.backends.reference.device import ReferenceDevice

    return ReferenceDevice()
