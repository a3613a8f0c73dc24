"""What there is to compute on, what is missing, and the command that fixes it: a part of ``dala doctor``.

``diagnose`` looks; ``advise`` turns what was seen into words and is pure, so that every case is tested.
"""

from __future__ import annotations

import ctypes.util
import glob
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from dala.backends.webgpu.adapters import INSTALL, fault_of_wgpu, find_adapters, has_wgpu

ICD_FOLDERS = (
    "/usr/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/local/nvidia/share/vulkan/icd.d",
)


@dataclass(frozen=True)
class Found:
    """Facts about a machine."""

    platform: str  # sys.platform
    wgpu: bool  # is wgpu-py installed
    adapters: tuple[tuple[str, bool], ...] = ()  # name and whether it is software, best first
    loader: bool = True  # the Vulkan loader (Linux)
    drivers: tuple[str, ...] = ()  # files that name Vulkan drivers (Linux)
    nvidia: bool = False  # an NVIDIA kernel driver is loaded
    display: bool = False  # an X or Wayland display
    fault: str = ""  # of a wgpu-py that does not load


def diagnose() -> Found:
    """Look at this machine."""
    folders = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES") or ""
    named = [f for f in folders.split(os.pathsep) if f]
    drivers = named or [f for folder in ICD_FOLDERS for f in sorted(glob.glob(f"{folder}/*.json"))]
    return Found(
        platform=sys.platform,
        wgpu=has_wgpu(),
        adapters=tuple((str(a), a.is_software) for a in find_adapters()),
        loader=not sys.platform.startswith("linux")
        or ctypes.util.find_library("vulkan") is not None,
        drivers=tuple(drivers),
        nvidia=os.path.exists("/proc/driver/nvidia/version")
        or bool(glob.glob("/dev/nvidia[0-9]*")),
        display=bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")),
        fault=fault_of_wgpu(),
    )


def advise(found: Found) -> list[str]:
    """What is missing, each with the command that helps; empty if there is a real GPU to use."""
    if not found.wgpu:
        return [f"wgpu-py is not installed:\n    {INSTALL}"]
    if found.fault:
        return [f"{found.fault}\n    pip install --force-reinstall wgpu"]
    if any(not software for _, software in found.adapters):
        return []
    advice = []
    linux = found.platform.startswith("linux")
    if linux and not found.loader:
        advice.append("the Vulkan loader is missing:\n    apt-get install libvulkan1")
    if linux and found.nvidia:
        advice.append(_nvidia(found))
    elif linux and not _real(found.drivers):
        advice.append(
            "no Vulkan driver of a GPU is installed. AMD or Intel:\n"
            "    apt-get install mesa-vulkan-drivers\n"
            "  NVIDIA: install its driver (it brings nvidia_icd.json)"
        )
    if not linux:
        advice.append("no GPU was found; update the graphics driver of this machine")
    if found.adapters:
        advice.append(
            f"only {found.adapters[0][0]} was found: right results, but slower than the CPU "
            'compiler; "auto" stays with the CPU'
        )
    return advice


def _nvidia(found: Found) -> str:
    """The driver is there, but Vulkan does not reach it: mostly for want of a display."""
    if not any("nvidia" in d for d in found.drivers):
        return (
            "an NVIDIA driver is loaded, but its Vulkan part (nvidia_icd.json) is not installed; in a "
            "container, start it with\n    NVIDIA_DRIVER_CAPABILITIES=all"
        )
    if found.display:
        return "an NVIDIA driver is loaded, but gives no adapter; is it the version of the kernel module?"
    icd = next(d for d in found.drivers if "nvidia" in d)
    return (
        "NVIDIA without a display: reached through GLX the driver wants an X server, through EGL it does "
        f"not:\n    sed s/libGLX_nvidia/libEGL_nvidia/ {icd} > ~/nvidia_egl.json\n"
        "    export VK_DRIVER_FILES=~/nvidia_egl.json"
    )


def _real(drivers: Sequence[str]) -> list[str]:
    return [d for d in drivers if "lvp" not in os.path.basename(d)]


def describe(found: Found) -> list[tuple[str, str]]:
    """What was seen, as pairs of words."""
    rows = [
        ("wgpu-py", "does not load" if found.fault else "installed" if found.wgpu else "missing")
    ]
    for number, (name, _) in enumerate(found.adapters):
        rows.append(("webgpu" if not number else f"webgpu:{number}", name))
    if found.platform.startswith("linux"):
        rows.append(("loader", "libvulkan" if found.loader else "missing"))
        rows.append(("drivers", ", ".join(found.drivers) or "none"))
    return rows
