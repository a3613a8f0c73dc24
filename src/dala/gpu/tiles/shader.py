"""The shader that paints tiles, in three forms: for plain primitives, with ink, and with layers of it.

The text is in .wgsl files beside this one; numbers that others share are put before it. A form is compiled
when it is first needed, on a surface's render thread, and once for all surfaces of a GPU.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from dala.backends.webgpu.by_hand import HandShader, hand_shader
from dala.gpu.raster.ink import modes, shades
from dala.gpu.tiles import layout

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

_LAYOUT = (
    "TILE", "BIN", "RECT", "DISC", "LINE", "TRIANGLE", "SPRITE", "IMAGE", "PUSH", "POP", "EDGES",
    "ELLIPSE", "LOOP", "SOLID", "OUTLINE", "WIDE", "FAR_X", "FAR_Y", "STEEP", "LEFTWARD", "UPWARD", "OPEN",
    "TABLES", "EVENODD", "MASKED", "BUCKETS", "PARALLEL", "PAINT_SHIFT", "REPLACES", "KEEP", "COPY", "FILL",
    "HEAD_WIDTH", "HEAD_HEIGHT", "HEAD_START", "HEAD_COLOR", "HEAD_DEPTH", "HEAD_DEPTH_AFTER",
    "HEAD_WORDS", "NEAR",
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


def pipeline(device: WebGpuDevice, form: int) -> HandShader:
    """A form on a GPU."""
    make = lambda: (shader_text(form), BINDINGS[form])  # noqa: E731
    return hand_shader(device, ("tiles", form), "drawing", make, WRITTEN)
