"""What wgpu raises, as dala's own errors.

One thing cannot be caught here: an error inside wgpuQueueSubmit or wgpuDevicePoll itself (a GPU that is
lost in that very call) is fatal in wgpu-native and ends the process. Errors of recording are raised before
a submit: record.py.

Where ``mapped`` is entered threads go into the driver, so ``native`` follows, which keeps them from being
cut off in it.
"""

from __future__ import annotations

import re

from dala.backends.base import Device
from dala.errors import DalaError, DeviceError, DeviceLostError, OutOfMemoryError, ShaderError

_LINE_AND_COLUMN = re.compile(r"wgsl:(\d+):(\d+)")


class mapped:
    """Around wgpu calls; ``what`` names the kernel or the array they are for, ``text`` is its WGSL.

    ``with mapped(…), native:``: not one, as only what leaves in C leaves whatever signals come.
    """

    def __init__(self, what: str, text: str = "", device: Device | None = None) -> None:
        self._what, self._text, self._device = what, text, device

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception):
            known = self._known(error)
            if known is not error:
                raise known from error

    def _known(self, error: Exception) -> DalaError:
        known = error if isinstance(error, DalaError) else _translate(error, self._what, self._text)
        device = self._device
        if device is not None and device.lost and not isinstance(known, DeviceLostError):
            # Whatever it says: on a GPU that is gone every call fails somehow.
            known = lost_error(self._what)
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
