"""The shader that paints tiles, in three forms: for plain primitives, with ink, and with layers of it.

The text is in .wgsl files beside this one; numbers that others share are put before it. A form is compiled
when it is first needed, on a surface's render thread, and once for all surfaces of a GPU.
"""

from __future__ import annotations

import weakref
from importlib import resources
from typing import TYPE_CHECKING, Any

from dala import forking
from dala.backends.webgpu.faults import mapped
from dala.gpu.raster.ink import modes, shades
from dala.gpu.tiles import layout
from dala.once import OnceByKey

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

_LAYOUT = (
    "TILE", "BIN", "RECT", "DISC", "LINE", "TRIANGLE", "SPRITE", "IMAGE", "PUSH", "POP", "EDGES",
    "ELLIPSE", "LOOP", "SOLID", "OUTLINE", "WIDE", "FAR_X", "FAR_Y", "STEEP", "LEFTWARD", "UPWARD", "OPEN",
    "TABLES", "EVENODD", "MASKED", "BUCKETS", "PAINT_SHIFT", "REPLACES", "KEEP", "COPY", "FILL",
    "HEAD_WIDTH", "HEAD_HEIGHT", "HEAD_START", "HEAD_COLOR", "HEAD_DEPTH", "HEAD_DEPTH_AFTER",
    "HEAD_WORDS",
)  # fmt: skip
_MODES = (
    "MULTIPLY", "SCREEN", "OVERLAY", "DARKEN", "LIGHTEN", "ADD", "DIFFERENCE", "EXCLUSION",
    "HARD_LIGHT", "ERASE", "REPLACE_MODE",
)  # fmt: skip
_PAINTS = ("RADIAL", "CONIC", "PATTERN")
# the forms, as the marks of the lines that one has more than those before it, and how many buffers it binds
PLAIN, INK, LAYERS = range(3)
MARKS = ("", "// ink", "// layers")
BINDINGS = (6, 7, 8)
WRITTEN = (0, 7)


def shader_text(form: int) -> str:
    """One of the forms."""
    found = [(layout, _LAYOUT), (modes, _MODES), (shades, _PAINTS)]
    numbers = [f"const {n} = {getattr(home, n)}u;" for home, names in found for n in names]
    others = MARKS[form + 1 :]
    lines = [line for line in _file("tiles.wgsl").splitlines() if not line.endswith(others)]
    inked = [] if form == PLAIN else [_file("cover.wgsl"), _file("ink.wgsl")]
    return "\n\n".join(["\n".join(numbers), _file("plain.wgsl"), *inked, "\n".join(lines)])


def _file(name: str) -> str:
    return (resources.files("dala.gpu.tiles") / name).read_text(encoding="utf-8")


_by_device: weakref.WeakKeyDictionary[Any, OnceByKey[int, tuple[Any, Any]]] = (
    weakref.WeakKeyDictionary()
)
_lock = forking.lock()


def pipeline(device: WebGpuDevice, form: int) -> tuple[Any, Any]:
    """A form's pipeline on a GPU, and the layout of what is bound to it."""
    with _lock:
        forms = _by_device.setdefault(device, OnceByKey(len(MARKS)))
    return forms.get(form, lambda: create(device, shader_text(form), BINDINGS[form]))


def create(device: WebGpuDevice, text: str, bindings: int) -> tuple[Any, Any]:
    """A pipeline of such a text."""
    gpu = device.gpu
    entries = [
        {
            "binding": number,
            "visibility": "COMPUTE",
            "buffer": {"type": "storage" if number in WRITTEN else "read-only-storage"},
        }
        for number in range(bindings)
    ]
    with mapped("drawing", text, device):
        bound = gpu.create_bind_group_layout(entries=entries)
        module = gpu.create_shader_module(code=text)
        made = gpu.create_compute_pipeline(
            layout=gpu.create_pipeline_layout(bind_group_layouts=[bound]),
            compute={"module": module, "entry_point": "main"},
        )
    return made, bound
