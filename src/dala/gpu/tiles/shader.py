"""The shader that paints tiles, in two forms: for plain primitives, and with ink.

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
    "ELLIPSE", "SOLID", "OUTLINE", "WIDE", "FAR_X", "FAR_Y", "STEEP", "LEFTWARD", "UPWARD", "OPEN",
    "TABLES", "EVENODD", "MASKED", "BUCKETS", "PAINT_SHIFT", "REPLACES", "KEEP", "COPY", "FILL",
    "HEAD_WIDTH", "HEAD_HEIGHT", "HEAD_START", "HEAD_COLOR", "HEAD_DEPTH", "HEAD_DEPTH_AFTER",
    "HEAD_WORDS",
)  # fmt: skip
_MODES = (
    "MULTIPLY", "SCREEN", "OVERLAY", "DARKEN", "LIGHTEN", "ADD", "DIFFERENCE", "EXCLUSION",
    "HARD_LIGHT", "ERASE", "REPLACE_MODE",
)  # fmt: skip
_PAINTS = ("RADIAL", "CONIC", "PATTERN")
INK_LINE = "// ink"
BINDINGS = 8  # of the form with ink; the other has two fewer
WRITTEN = (0, 7)


def shader_text(*, ink: bool) -> str:
    """One of the two forms."""
    found = [(layout, _LAYOUT), (modes, _MODES), (shades, _PAINTS)]
    numbers = [f"const {n} = {getattr(home, n)}u;" for home, names in found for n in names]
    main = _file("tiles.wgsl")
    if not ink:
        main = "\n".join(line for line in main.splitlines() if not line.endswith(INK_LINE))
    parts = ["\n".join(numbers), _file("plain.wgsl"), *([_file("ink.wgsl")] if ink else []), main]
    return "\n\n".join(parts)


def _file(name: str) -> str:
    return (resources.files("dala.gpu.tiles") / name).read_text(encoding="utf-8")


def pipeline(device: WebGpuDevice, *, ink: bool) -> HandShader:
    """A form on a GPU."""
    count = BINDINGS if ink else BINDINGS - 2
    make = lambda: (shader_text(ink=ink), count)  # noqa: E731
    return hand_shader(device, ("tiles", ink), "drawing", make, WRITTEN)
