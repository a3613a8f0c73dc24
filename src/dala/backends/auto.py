"""Which devices there are, and which one "auto" means here, with the reason."""

from __future__ import annotations

import os
import threading

from dala.backends.base import Device
from dala.errors import DeviceError, suggest

SPECS = ("auto", "cpu", "reference")
_devices: dict[str, Device] = {}
_lock = threading.Lock()


def open_device(spec: str) -> Device:
    """The device of that name; each is made once per process."""
    if not isinstance(spec, str):
        raise DeviceError(f"a device is named by a string, got {type(spec).__name__}")
    name = choose_auto()[0] if spec == "auto" else spec
    if name not in SPECS:
        listed = ", ".join(repr(s) for s in SPECS)
        raise DeviceError(f"no device {spec!r}; expected one of {listed}{suggest(spec, SPECS)}")
    with _lock:
        if name not in _devices:
            _devices[name] = _make(name)
        return _devices[name]


def choose_auto() -> tuple[str, str]:
    """What "auto" picks, and why."""
    wanted = os.environ.get("DALA_DEVICE", "")
    if wanted and wanted != "auto":
        if wanted not in SPECS:
            raise DeviceError(
                f"DALA_DEVICE={wanted!r} names no device; expected one of {', '.join(SPECS)}"
            )
        return wanted, f"DALA_DEVICE asks for {wanted}"
    return "cpu", "the CPU compiler is the fastest device in this installation"


def _make(name: str) -> Device:
    # imported here: a device's machinery is loaded when the device is first used
    if name == "cpu":
        from dala.backends.cpu.device import CpuDevice

        return CpuDevice()
    from dala.backends.reference.device import ReferenceDevice

    return ReferenceDevice()
