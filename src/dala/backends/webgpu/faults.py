"""What wgpu raises, as dala's own errors.

One thing cannot be caught here: an error inside wgpuQueueSubmit or wgpuDevicePoll itself (a GPU that is
lost in that very call) is fatal in wgpu-native and ends the process. Errors of recording are raised before
a submit: record.py.

This is also where threads go into the driver, so it is here that they are kept from being cut off in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from dala.backends.base import Device
from dala.errors import DalaError, DeviceError, DeviceLostError, OutOfMemoryError, ShaderError
from dala.leaving import native

_LINE_AND_COLUMN = re.compile(r"wgsl:(\d+):(\d+)")


@contextmanager
def mapped(what: str, text: str = "", device: Device | None = None) -> Iterator[None]:
    """Run wgpu calls; ``what`` names the kernel or the array they are for, ``text`` is its WGSL."""
    try:
        with native:
            yield
    except Exception as error:
        known = translated(error, what, text, device)
        if known is error:
            raise
        raise known from error


def translated(
    error: Exception, what: str, text: str = "", device: Device | None = None
) -> DalaError:
    """An error of wgpu's as one of dala's, which stay as they are; a device that is lost is marked."""
    known = error if isinstance(error, DalaError) else _translate(error, what, text)
    if device is not None and device.lost and not isinstance(known, DeviceLostError):
        known = lost_error(what)  # whatever it says: on a GPU that is gone every call fails somehow
    if device is not None and isinstance(known, DeviceLostError):
        device.lost = True
    return known


def _translate(error: Exception, what: str, text: str) -> DalaError:
    message = str(error)
    kind = type(error).__name__
    if "lost" in message.lower() or "destroyed device" in message.lower():
        return lost_error(what)
    if kind == "GPUOutOfMemoryError" or "out of memory" in message.lower():
        return OutOfMemoryError(f"{what}: the GPU has no memory left for it")
    if text and kind in ("GPUValidationError", "GPUPipelineError", "GPUInternalError"):
        return ShaderError(f"{what}: the driver refuses the shader: {_quote(message, text)}")
    first = next((line.strip() for line in message.splitlines() if line.strip()), kind)
    return DeviceError(f"{what}: {first}")


def lost_error(what: str) -> DeviceLostError:
    """What whoever uses a lost GPU is told."""
    return DeviceLostError(f"{what}: the GPU was lost; open it again with dala.use('webgpu')")


def _quote(message: str, text: str) -> str:
    """The driver's words, with the line of WGSL they point at."""
    words = [line.strip() for line in message.splitlines() if line.strip()]
    found = _LINE_AND_COLUMN.search(message)
    line = ""
    if found:
        number = int(found.group(1))
        lines = text.splitlines()
        if 1 <= number <= len(lines):
            line = f"\n    {number}: {lines[number - 1].strip()}"
    return " / ".join(words[:4])[:400] + line
